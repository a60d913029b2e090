#include "judge/nccl/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace railyard::judge::nccl {

namespace {

using facts::NcclRun;
using facts::NcclWarning;

struct Known {
  std::string_view has = {};   ///< in the text
  std::string_view also = {};  ///< in the text too, when not empty
  std::string_view rule = {}, topic = {}, cause = {}, fix = {};
  std::string_view source = {};  ///< in the name of the source file, when not empty
};

// The first that matches counts. [NCCL 2.4 to 2.30: WARN in src/; aws-ofi-nccl; RCCL]
constexpr Known kKnown[] = {
    // Memory.
    {"posix_fallocate", "", "nccl-memory-limit", "", "/dev/shm is full or too small",
     "docker --shm-size=16g or --ipc=host; a memory-backed emptyDir on /dev/shm in Kubernetes"},
    {"shared memory segment", "", "nccl-memory-limit", "",
     "a shared-memory segment could not be made: /dev/shm is full or too small",
     "docker --shm-size=16g or --ipc=host; a memory-backed emptyDir on /dev/shm in Kubernetes"},
    {"ibv_reg_mr", "Cannot allocate memory", "nccl-memory-limit", "",
     "the limit on locked memory is too low for RDMA",
     "ulimit -l unlimited in the job's shell or container (limits.conf, --ulimit memlock=-1)"},
    {"ibv_create_", "Cannot allocate memory", "nccl-memory-limit", "",
     "the NIC or the host has no more queues: too many connections, or locked memory is limited",
     "ulimit -l unlimited; fewer channels and queue pairs (NCCL_MAX_NCHANNELS, "
     "NCCL_IB_QPS_PER_CONNECTION)"},
    {"Failed to CUDA calloc", "", "nccl-gpu-memory", "",
     "a GPU had no memory left for NCCL's buffers", "leave NCCL 1 to 2 GB of every GPU's memory"},
    {"out of memory", "", "nccl-gpu-memory", "", "a GPU had no memory left",
     "leave NCCL 1 to 2 GB of every GPU's memory"},
    // NVLink.
    {"NVLink SHARP", "bind", "nccl-nvswitch-state", "",
     "NVLink multicast could not be set up: fabric manager or NVSwitch in a stale state",
     "restart the fabric manager with all GPUs idle; NCCL_NVLS_ENABLE=0 to go on without"},
    {"Cuda failure", "", "nccl-nvswitch-state", "",
     "NVLink multicast could not be set up: fabric manager or NVSwitch in a stale state",
     "restart the fabric manager with all GPUs idle; NCCL_NVLS_ENABLE=0 to go on without", "nvls"},
    {"P2P is disabled between NVLINK", "", "nccl-nvswitch-state", "",
     "the driver does not let NVLink neighbours reach each other",
     "nvidia-smi topo -p2p r; nvidia-smi nvlink -s; MIG, confidential computing, fabric manager"},
    {"Cuda failure", "", "nccl-warning", "gpu-fault", "a CUDA call failed",
     "dmesg for Xid lines of that GPU"},
    // Topology.
    {"Could not find real path", "", "nccl-topology-file", "",
     "the topology file names PCI devices that this machine does not have",
     "the file of this machine type, or unset NCCL_TOPO_FILE"},
    {"Could not find NET with id", "", "nccl-topology-file", "nccl-version-or-setting",
     "a topology or graph file names a NIC that this machine does not have",
     "unset NCCL_GRAPH_FILE and NCCL_TOPO_FILE, or write them anew on this machine"},
    {"Could not find a path for pattern", "", "nccl-topology-file", "nccl-version-or-setting",
     "no ring could be laid through the GPUs and NICs that NCCL sees",
     "check NCCL_TOPO_FILE, NCCL_GRAPH_FILE and NCCL_IB_HCA"},
    {"busid of node nic not found", "", "nccl-vm-topology", "wrong-nic",
     "a NIC without a PCI address (a virtual function) is among the data NICs",
     "name the data NICs in NCCL_IB_HCA"},
    // RDMA devices.
    {"ibv_open_device", "", "nccl-rdma-device", "", "an RDMA device could not be opened",
     "pass /dev/infiniband into the container (--device=/dev/infiniband, IPC_LOCK)"},
    {"Unable to open device", "", "nccl-rdma-device", "", "an RDMA device could not be opened",
     "pass /dev/infiniband into the container (--device=/dev/infiniband, IPC_LOCK)"},
    {"fi_getinfo", "", "nccl-rdma-device", "",
     "libfabric offers no provider for the network plugin",
     "fi_info -p efa inside the container; pass /dev/infiniband into it"},
    {"find any optimal provider", "", "nccl-rdma-device", "",
     "libfabric offers no provider for the network plugin",
     "fi_info -p efa inside the container; install the EFA libraries there"},
    {"async", "port error", "nccl-port-event", "", "a port of a NIC lost its link",
     "cable, transceiver and switch port; ibstat, ethtool, the switch's log"},
    {"local access violation", "", "nccl-connection-failed", "mtu",
     "the NIC met a request that does not fit: MTUs that differ, or memory it may not reach",
     "compare active_mtu on all hosts (ibv_devinfo); then GPUDirect and ACS"},
    // Ranks that do not fit together.
    {"AF_INET", "family", "nccl-version-mix", "",
     "ranks do not understand each other's addresses: versions of NCCL that differ",
     "the same container on all hosts"},
    {"collective mismatch", "", "nccl-mismatch", "",
     "a message and its receiver do not belong together: ranks call different collectives, or "
     "writes arrive out of order",
     "the same program and sizes on all ranks; relaxed ordering as NCCL asks for it, not forced "
     "in the NIC's firmware"},
    {"Duplicate GPU", "", "nccl-mismatch", "", "two ranks use one GPU",
     "one GPU per rank (CUDA_VISIBLE_DEVICES, local rank)"},
    {"no socket interface found", "", "nccl-interface", "",
     "NCCL_SOCKET_IFNAME names no interface of this host", "ip -br addr; correct the variable"},
    {"iommu=pt", "", "nccl-iommu", "", "the IOMMU translates what devices send each other",
     "iommu=pt on the kernel's command line"},
    // Noise.
    {"CollNet", "", "nccl-harmless", "", "SHARP is asked for and not there; NCCL goes on without",
     "nothing; NCCL_COLLNET_ENABLE=0 silences it"},
    {"SHARP", "", "nccl-harmless", "", "SHARP is asked for and not there; NCCL goes on without",
     "nothing; NCCL_COLLNET_ENABLE=0 silences it"},
    {"MSCCL", "", "nccl-harmless", "", "an optional library is not there", "nothing"},
    {"[Service thread]", "", "nccl-harmless", "", "noise of ranks that end one after the other",
     "nothing, where it comes at the end of the job"},
    {"operation Close", "", "nccl-harmless", "", "noise of ranks that end one after the other",
     "nothing, where it comes at the end of the job"},
    {"Disabling shared memory failed", "", "nccl-harmless", "",
     "a setting that this libfabric provider does not have", "nothing"},
    {"sable peer access", "", "nccl-harmless", "", "a setting without effect", "nothing"},
};

// What the others see when one rank is gone.
constexpr std::string_view kConsequences[] = {"losed by remote peer",
                                              "onnection reset",
                                              "onnection refused",
                                              "socketProgress",
                                              "socketPoll",
                                              "Proxy Call",
                                              "Proxy call",
                                              "remote process exited",
                                              "imed out waiting",
                                              "unhandled system",
                                              "unhandled cuda",
                                              "ncclRemoteError",
                                              "Watchdog",
                                              "imeout"};

facts::Where where(const NcclWarning& w) { return w.where; }

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

const Known* known(const NcclWarning& w) {
  for (const Known& k : kKnown)
    if (has(w.text, k.has) && has(w.text, k.also) && has(w.source, k.source)) return &k;
  return nullptr;
}

/// "::ffff:10.0.5.1" to "::ffff:10.0.5": the rail's network, where a /24 is one.
std::string_view subnet(std::string_view gid) {
  const std::size_t dot = gid.rfind('.');
  return dot == std::string_view::npos ? gid.substr(0, gid.rfind(':')) : gid.substr(0, dot);
}

std::string_view word_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.rfind(key);  // "local GID index 3, local GID ::ffff:10.0.5.1"
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, rest.find_first_of(" ,;"));
}

bool roce(const NcclRun& log) {
  for (const auto& list : log.devices)
    for (const auto& d : list.devices)
      if (d.link == "RoCE") return true;
  return false;
}

const facts::NcclVariable* gid_variable(const NcclRun& log) {
  for (const auto& v : log.environment)
    if (v.name == "NCCL_IB_GID_INDEX") return &v;
  return nullptr;
}

/// Before 2.21 the index is 0 unless a variable says otherwise: RoCE v1, or a link-local address.
/// [NCCL 2.21 release notes]
bool default_gid(const NcclRun& log) {
  if (gid_variable(log) || log.versions.empty()) return false;
  const auto& v = log.versions.front();
  return v.major == 2 && v.minor < 21;
}

/// Why two RoCE or InfiniBand ports do not hear each other, as far as their addresses tell.
void explain_path(const NcclRun& log, std::string_view local, std::string_view remote,
                  NcclFinding& out) {
  const bool link_local = local.starts_with("fe80") || remote.starts_with("fe80");
  if (link_local || (roce(log) && (default_gid(log) || gid_variable(log)) && local.empty())) {
    out.topic = "roce-gid";
    out.cause += link_local ? ": link-local addresses, which no router passes on"
                 : gid_variable(log)
                     ? ": NCCL_IB_GID_INDEX is fixed and may name a link-local or RoCE v1 address"
                     : ": GID index 0 is the default before NCCL 2.21, mostly RoCE v1";
    out.fix =
        "show_gids or ibv_devinfo -v: NCCL_IB_GID_INDEX of the routable RoCE v2 address on "
        "every host, or NCCL 2.21 and later without the variable";
    out.settle = "ibv_devinfo -v or show_gids of both hosts";
    if (const auto* v = gid_variable(log)) out.evidence.push_back({.at = v->at});
    out.confidence = 0.7;
  } else if (!local.empty() && !remote.empty() && subnet(local) != subnet(remote)) {
    out.topic = "fabric-path";
    out.cause += fmt::format(": {} and {} lie in different networks, without a route in between",
                             local, remote);
    out.fix = "route between the rails, or NCCL_CROSS_NIC=0 and NICs in the same order everywhere";
    out.settle = "ib_write_bw or ping between these two addresses";
    out.confidence = 0.8;
  } else if (roce(log)) {
    out.topic = "roce-gid";
    out.fix = "test the pair with ib_write_bw and the same GID index; then ECN, PFC and MTU";
    out.settle = "ibv_devinfo -v of both hosts, ethtool -S of the ports";
  } else {
    out.topic = "fabric-path";
    out.fix = "ib_write_bw over each NIC of the pair; ibstat and the subnet manager's log";
    out.settle = "ibstat of both hosts; the same job with NCCL_IB_HCA=one NIC";
  }
}

NcclFinding decode(const NcclRun& log, const facts::NcclCompletionError& e) {
  constexpr int kProtection = 4, kFlushed = 5, kRemoteAccess = 10, kRetry = 12, kRnrRetry = 13;
  std::string text = fmt::format("a request came back with status {}", e.status);
  if (e.vendor_error != 0) text += fmt::format(", vendor error {}", e.vendor_error);
  NcclFinding out = nccl_finding("nccl-completion-error", text, "");
  out.evidence.push_back({.at = e.at});
  out.confidence = 0.6;
  switch (e.status) {
    case kRetry:
    case kRnrRetry:
      out.cause += ": the peer did not answer";
      explain_path(log, e.local_gid, e.remote_gid, out);
      break;
    case kProtection:
    case kRemoteAccess:
      out.topic = "pcie-peer-path";
      out.cause +=
          ": the NIC may not reach that memory (GPUDirect through ACS or an IOMMU, or a "
          "peer-memory module that does not fit)";
      out.fix = "NCCL_NET_GDR_LEVEL=LOC for a test; then ACS off, iommu=pt, nvidia-peermem anew";
      out.settle = "lspci -vvv as root (ACSCtl), dmesg, the kernel's command line";
      break;
    case kFlushed:
      out.severity = NcclSeverity::note;
      out.rule = "nccl-consequence";
      out.kind = NcclKind::word;
      out.cause += ": flushed after an earlier failure of the same connection";
      out.fix = "look for the first error of this connection, on both hosts";
      break;
    default:
      out.fix = "look for the first error of this connection, on both hosts";
      out.settle = "the logs of both hosts";
  }
  return out;
}

void merge(std::vector<NcclFinding>& all, NcclFinding one) {
  for (NcclFinding& f : all)
    if (f.rule == one.rule && f.topic == one.topic &&
        (f.cause == one.cause || one.kind == NcclKind::word)) {
      for (const facts::Where& w : one.evidence) add_evidence(f, w);
      return;
    }
  all.push_back(std::move(one));
}

NcclFinding connection(const NcclRun& log, const NcclWarning& w) {
  NcclFinding out = nccl_finding("nccl-connection-failed", "two NICs could not connect", "");
  out.evidence = {where(w)};
  out.confidence = 0.6;
  if (has(w.text, "No such device")) {
    out.topic = "roce-gid";
    out.cause = "the address (GID) chosen for a NIC belongs to no interface here";
    out.fix = "the NIC's interface must be in the container's network; NCCL_IB_GID_INDEX";
    out.settle = "show_gids inside the container";
    return out;
  }
  explain_path(log, word_after(w.text, "local GID "), word_after(w.text, "remote GID "), out);
  return out;
}

}  // namespace

std::vector<NcclFinding> read_warnings(const NcclRun& log) {
  std::vector<NcclFinding> causes, rest;
  std::vector<const NcclWarning*> unknown;
  for (const NcclWarning& w : log.warnings) {
    if (has(w.text, "Got completion")) continue;  // decoded below
    if (has(w.text, "ibv_modify_qp")) {
      merge(causes, connection(log, w));
      continue;
    }
    if (const Known* k = known(w)) {
      NcclFinding f = nccl_finding(k->rule, std::string(k->cause), std::string(k->fix));
      if (!k->topic.empty()) f.topic = k->topic;
      f.confidence = 0.8;
      f.evidence.push_back(where(w));
      merge(f.kind == NcclKind::word ? rest : causes, std::move(f));
      continue;
    }
    if (std::ranges::any_of(kConsequences, [&](std::string_view c) { return has(w.text, c); })) {
      NcclFinding f = nccl_finding("nccl-consequence", "other ranks see that one is gone",
                                   "look for the first failure, on the rank that ended first");
      f.evidence.push_back(where(w));
      merge(rest, std::move(f));
      continue;
    }
    unknown.push_back(&w);
  }
  std::vector<NcclFinding> completions;
  for (const auto& e : log.completion_errors) merge(completions, decode(log, e));
  for (NcclFinding& f : completions) {
    // A port that went down explains the requests that were lost on it.
    const bool port =
        std::ranges::find(causes, "nccl-port-event", &NcclFinding::rule) != causes.end();
    if (port && f.rule == "nccl-completion-error") {
      f.topic = "port-state";
      f.severity = NcclSeverity::note;
      f.cause += "; a port went down before";
    }
    (f.kind == NcclKind::word ? rest : causes).push_back(std::move(f));
  }
  for (const NcclWarning* w : unknown) {
    NcclFinding f =
        nccl_finding("nccl-warning", "NCCL warns: " + w->text, "see the lines around it");
    f.evidence.push_back(where(*w));
    f.confidence = 0.3;
    merge(causes, std::move(f));
  }
  std::ranges::move(rest, std::back_inserter(causes));
  return causes;
}

}  // namespace railyard::judge::nccl
