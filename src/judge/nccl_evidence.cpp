#include "judge/nccl_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "judge/nccl/hosts.h"
#include "judge/nccl/warnings.h"
#include "predict/nccl/settings.h"

namespace railyard::judge {

namespace {

using facts::NcclConnection;
using facts::NcclRun;
using facts::NcclTransport;
using facts::NcclVariable;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_off(const NcclVariable* v) { return v && v->value == "0"; }
bool is_on(const NcclVariable* v) {
  return v && (v->value == "1" || v->value == "true" || v->value == "TRUE");
}

bool socket_device(const NcclConnection& c) { return c.network == "Socket"; }

/// One log, rule by rule.
class Reading {
 public:
  Reading(const NcclRun& log, const NcclSite& site)
      : log_(log), site_(site), nodes_(site.nodes > 0 ? site.nodes : nodes_of(log)) {
    for (const NcclConnection& c : log.connections)
      if (c.transport == NcclTransport::net) network_used_ = true;
  }

  NcclEvidence all() {
    for (const auto& v : log_.versions)
      if (v.rccl) {
        add("nccl-rccl", "AMD's RCCL: its times are not modelled", "", 1, v.at);
        break;
      }
    sockets();
    gpu_direct();
    inside();
    nvls();
    forced();
    channels();
    nics();
    relaxed_ordering();
    topology();
    std::ranges::move(nccl::compare_hosts(log_), std::back_inserter(out_.findings));
    for (NcclFinding& f : nccl::read_warnings(log_)) {
      if (f.rule == "nccl-rdma-device" && !between_nodes()) f.severity = NcclSeverity::note;
      out_.findings.push_back(std::move(f));
    }
    return std::move(out_);
  }

 private:
  NcclFinding& add(std::string_view rule, std::string cause, std::string fix, double confidence,
                   const Place& at) {
    NcclFinding f = nccl_finding(rule, std::move(cause), std::move(fix));
    f.confidence = confidence;
    if (at.line > 0) f.evidence.push_back({.at = at});
    out_.findings.push_back(std::move(f));
    return out_.findings.back();
  }
  static void also(NcclFinding& f, const Place& at) { add_evidence(f, {.at = at}); }
  void rule_out(std::string_view hypothesis, std::string why) {
    if (!out_.witness.shown.contains(hypothesis))
      out_.witness.ruled_out.emplace(hypothesis, std::move(why));
  }
  const NcclVariable* set(std::string_view name) const { return variable(log_, name); }

  /// Where nothing tells the number of nodes, a network that was prepared is taken for used.
  bool between_nodes() const { return nodes_ != 1; }

  void sockets() {
    const Place* shown = nullptr;
    for (const NcclConnection& c : log_.connections)
      if (c.transport == NcclTransport::net && socket_device(c) && !shown) shown = &c.at;
    bool only_sockets = shown != nullptr;
    for (const auto& c : log_.communicators)
      if (c.network == "Socket" && !shown) shown = &c.at;
    const Place* none = nullptr;
    bool rdma = false;
    for (const auto& list : log_.devices) {
      if (list.none_found && !none) none = &list.at;
      rdma |= list.network != "Socket" && !list.devices.empty();
      if (list.network == "Socket" && !shown && !rdma) shown = &list.at;
    }
    const Place* tcp = nullptr;
    for (const auto& p : log_.plugins)
      if (has(p.text, "rovider is tcp") || has(p.text, "rovider is sockets")) tcp = &p.at;
    if (!between_nodes()) return;
    if (shown && (only_sockets || !rdma)) {
      auto& f = add("nccl-sockets", "nodes exchange through TCP sockets instead of RDMA",
                    "give the job the RDMA devices: --device=/dev/infiniband in a container, "
                    "ibv_devinfo on the host, the network plugin in the image",
                    nodes_ > 1 || network_used_ ? 0.95 : 0.7, *shown);
      f.expected = "'Using network IB' or a plugin's name, 'via NET/IB/0/GDRDMA'";
      f.settle = "ibv_devinfo or fi_info inside the job's environment";
      blame_sockets(f, none);
      out_.witness.shown.insert("sockets");
    } else if (tcp) {
      auto& f = add("nccl-sockets", "libfabric took its TCP provider instead of RDMA",
                    "pass /dev/infiniband into the container; fi_info -p efa", 0.9, *tcp);
      f.expected = "'Selected Provider is efa'";
      out_.witness.shown.insert("sockets");
    } else if (rdma) {
      rule_out("sockets", "the log takes RDMA devices");
    }
  }

  /// Why no RDMA was taken, as far as the log tells.
  void blame_sockets(NcclFinding& f, const Place* none) const {
    if (const auto* v = set("NCCL_IB_DISABLE"); is_on(v)) {
      f.cause += ": NCCL_IB_DISABLE=1";
      f.fix = "unset NCCL_IB_DISABLE";
      also(f, v->at);
    } else if (const auto* net = set("NCCL_NET"); net && net->value == "Socket") {
      f.cause += ": NCCL_NET=Socket";
      f.fix = "unset NCCL_NET";
      also(f, net->at);
    } else if (none) {
      f.cause += ": no RDMA device is visible to the job";
      also(f, *none);
    }
    for (const auto& p : log_.plugins)
      if (has(p.text, "Failed to open libibverbs")) also(f, p.at);
    for (const auto& w : log_.warnings)
      if (has(w.text, "ibv_open_device") || has(w.text, "Unable to open device") ||
          has(w.text, "fi_getinfo") || has(w.text, "optimal provider"))
        also(f, w.where.at);
  }

  struct GpuDirect {
    int with = 0, without = 0;              ///< network connections
    const NcclConnection* plain = nullptr;  ///< one without, a sending one if there is
    const facts::NcclGpuDirect *device_off = nullptr, *pair_off = nullptr, *pair_on = nullptr;
    const facts::NcclPluginLine* plugin = nullptr;  ///< that switched it off

    bool said() const { return device_off || pair_off || plugin; }
  };
  GpuDirect survey_gpu_direct() const {
    GpuDirect out;
    for (const NcclConnection& c : log_.connections) {
      if (c.transport != NcclTransport::net || socket_device(c)) continue;
      (c.gpu_direct ? out.with : out.without)++;
      if (!c.gpu_direct && (!out.plain || c.direction == facts::NcclDirection::send))
        out.plain = &c;
    }
    for (const auto& g : log_.gpu_direct) {
      auto& place = g.enabled ? out.pair_on : g.gpu.empty() ? out.device_off : out.pair_off;
      if (!place && !(g.enabled && g.gpu.empty())) place = &g;
    }
    for (const auto& p : log_.plugins)
      if (has(p.text, "disabling GDR") && !out.plugin) out.plugin = &p;
    return out;
  }

  void gpu_direct() {
    if (!between_nodes() || out_.witness.shown.contains("sockets")) return;
    const GpuDirect seen = survey_gpu_direct();
    if (!seen.said() && seen.without == 0) {
      if (seen.with > 0) rule_out("gpudirect-off", "every channel of the log has /GDRDMA");
      return;
    }
    // A pair that is not used.
    if (!seen.device_off && !seen.plugin && seen.with > 0 && seen.without == 0) return;
    const Place at = seen.plugin       ? seen.plugin->at
                     : seen.device_off ? seen.device_off->at
                     : seen.pair_off   ? seen.pair_off->at
                                       : seen.plain->at;
    auto& f = add("nccl-gpudirect-off", "NICs copy through host memory: GPUDirect RDMA is off", "",
                  seen.said() ? 0.9 : 0.75, at);
    f.expected = "'GPU Direct RDMA Enabled' and '/GDRDMA' behind every 'via NET/'";
    blame_gpu_direct(f, seen);
    if (seen.plain) also(f, seen.plain->at);
    if (seen.pair_off && seen.pair_on) also(f, seen.pair_on->at);
    out_.witness.shown.insert("gpudirect-off");
  }

  static void blame_gpu_direct(NcclFinding& f, const GpuDirect& seen) {
    if (seen.plugin) {
      f.cause += ": the network plugin switched it off";
      f.fix = "a newer driver, libfabric and plugin; FI_EFA_USE_DEVICE_RDMA=1 where supported";
    } else if (seen.device_off) {
      const std::string& reason = seen.device_off->reason;
      f.cause += reason.empty() ? " for the NIC as such" : fmt::format(" ({})", reason);
      f.fix =
          "modprobe nvidia-peermem (after the RDMA driver), or an open kernel module with "
          "DMA-BUF";
      f.settle = "lsmod | grep peermem; /sys/kernel/mm/memory_peers/nv_mem/version";
    } else if (const auto* pair = seen.pair_off) {
      f.cause += seen.pair_on ? " for some pairs of GPU and NIC, on for others" : "";
      if (pair->distance && pair->threshold)
        f.cause += fmt::format(": GPU {} and NIC {} are {} apart, {} is allowed", pair->gpu,
                               pair->nic, *pair->distance, *pair->threshold);
      f.fix =
          "NCCL_NET_GDR_LEVEL=PHB (or SYS) on every host, where the platform carries it; better a "
          "NIC on the GPU's switch";
      f.settle = "nvidia-smi topo -m; the environment of every host";
    } else if (seen.with > 0) {
      f.cause +=
          fmt::format(" on {} of {} network connections", seen.without, seen.with + seen.without);
      f.fix = "NCCL_NET_GDR_READ=1 where only sending is without it";
    } else {
      f.fix = "modprobe nvidia-peermem; NCCL_NET_GDR_LEVEL";
      f.settle = "the lines 'GPU Direct RDMA' of NCCL_DEBUG=INFO";
    }
  }

  /// Peer to peer inside a node.
  void inside() {
    int p2p = 0, shm = 0;
    const NcclConnection* first = nullptr;
    for (const NcclConnection& c : log_.connections) {
      p2p += c.transport == NcclTransport::p2p;
      shm += c.transport == NcclTransport::shm;
      if (c.transport == NcclTransport::shm && !first) first = &c;
    }
    const NcclVariable* off = set("NCCL_P2P_DISABLE");
    if (!is_on(off)) off = nullptr;
    if (const auto* level = set("NCCL_P2P_LEVEL");
        !off && level && (level->value == "0" || level->value == "LOC"))
      off = level;
    if (off) {
      auto& f =
          add("nccl-p2p-off", off->name + "=" + off->value + ": GPUs copy through host memory",
              "unset " + off->name, 0.95, off->at);
      if (first) also(f, first->at);
      if (site_.nvlink) f.loss = 10;  // 302 to 28 GB/s on two H200 [measured]
      out_.witness.shown.insert("p2p-off");
    } else if (shm > 0 && p2p == 0 && site_.nvlink) {
      auto& f = add("nccl-p2p-off", "GPUs with NVLink exchange through shared memory",
                    "nvidia-smi topo -p2p r; the devices of the container; NCCL's topology", 0.7,
                    first->at);
      f.expected = "'via P2P'";
      out_.witness.shown.insert("p2p-off");
    } else if (p2p > 0) {
      rule_out("p2p-off", "the log says 'via P2P'");
    }
    if (const auto* v = set("NCCL_SHM_DISABLE"); is_on(v)) {
      auto& f = add("nccl-shm-off",
                    "NCCL_SHM_DISABLE=1: what peers cannot exchange goes over the "
                    "network",
                    "unset NCCL_SHM_DISABLE", 0.8, v->at);
      if (off) f.severity = NcclSeverity::warning;
    }
  }

  void nvls() {
    const bool could = site_.nvswitch && site_.sm >= 90 && site_.sm < 120 && site_.gpus > 2;
    int most = -1;
    const Place* none = nullptr;
    for (const auto& c : log_.communicators)
      if (c.nvls_channels) {
        most = std::max(most, *c.nvls_channels);
        if (*c.nvls_channels == 0 && !none) none = &c.at;
      }
    if (most > 0) return rule_out("nvls-off", "the log has NVLS channels");
    if (!could) return;
    if (const auto* v = set("NCCL_NVLS_ENABLE"); is_off(v)) {
      auto& f = add("nccl-nvls-off", "NCCL_NVLS_ENABLE=0: no reduction in the NVSwitch",
                    "unset NCCL_NVLS_ENABLE", 0.9, v->at);
      f.loss = 1.3;  // 480 to 365 GB/s on eight H100
      out_.witness.shown.insert("nvls-off");
    } else if (none) {
      auto& f = add("nccl-nvls-off", "NCCL built no NVLS channels on GPUs behind NVSwitch",
                    "restart the fabric manager; NCCL 2.18 or newer; nvidia-smi -q | grep Fabric",
                    0.7, *none);
      f.expected = "16 or more nvls channels";
      out_.witness.shown.insert("nvls-off");
    }
  }

  void forced() {
    for (const auto& [name, rule] :
         {std::pair{"NCCL_ALGO", "nccl-algo-left"}, {"NCCL_PROTO", "nccl-proto-left"}}) {
      const auto* v = set(name);
      if (!v || v->value.empty()) continue;
      add(rule, fmt::format("{}={} keeps NCCL from choosing by size", name, v->value),
          fmt::format("unset {}", name), 0.8, v->at);
      if (std::string_view(name) == "NCCL_ALGO" && !has(v->value, "NVLS") && !has(v->value, "nvls"))
        if (site_.nvswitch && site_.sm >= 90) out_.witness.shown.insert("nvls-off");
    }
  }

  void channels() {
    int most = 0;
    const facts::NcclCommunicator* of = nullptr;
    for (const auto& c : log_.communicators)
      if (c.coll_channels && (!of || *c.coll_channels > most)) {
        most = *c.coll_channels;
        of = &c;
      }
    for (const char* name : {"NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS", "NCCL_MAX_NRINGS"})
      if (const auto* v = set(name)) {
        auto& f = add("nccl-few-channels", fmt::format("{}={} caps the channels", name, v->value),
                      fmt::format("unset {}", name), 0.85, v->at);
        f.topic = "nccl-version-or-setting";
        if (of) also(f, of->at);
        out_.witness.shown.insert("few-channels");
        return;
      }
    if (!of) return;
    constexpr int kFew = 4, kMany = 12;
    // NVLink alone gives two dozen; a network gives two a NIC at least.
    const int expected = site_.channels > 0                                         ? site_.channels
                         : site_.nvlink && nodes_ == 1 && of->ranks.value_or(0) > 1 ? kMany
                                                                                    : 0;
    if (expected > 0 && most * 2 <= expected && most <= kFew * 2) {
      auto& f = add("nccl-few-channels",
                    fmt::format("NCCL built {} channels where {} are usual", most, expected),
                    "nvidia-smi topo -m against 'railyard nccl explain'; NCCL_TOPO_FILE in a "
                    "virtual machine",
                    0.7, of->at);
      f.expected = site_.channels > 0 ? "the engine's number for this topology"
                                      : "NVLink gives two dozen channels";
      out_.witness.shown.insert("few-channels");
    } else if (most > kMany) {
      rule_out("few-channels", fmt::format("the log has {} channels", most));
    }
    for (const auto& g : of->graphs)
      if (g.speed_intra > 0 && g.speed_intra < 1 && g.pattern != 5) {
        auto& f =
            add("nccl-few-channels",
                fmt::format("NCCL's search found no good way: {:.1f} GB/s a channel, {} inside",
                            g.speed_intra, g.type_intra),
                "NCCL_TOPO_FILE or NCCL_GRAPH_FILE with the real links; NCCL_MIN_NCHANNELS=8", 0.7,
                g.at);
        f.expected = "15 GB/s or more a channel";
        break;
      }
  }

  void nics() {
    for (const auto& list : log_.devices) {
      int ib = 0, roce = 0;
      for (const auto& d : list.devices) (d.link == "RoCE" ? roce : ib)++;
      if (list.network == "Socket" || ib == 0 || roce == 0) continue;
      auto& f =
          add("nccl-mixed-nics",
              fmt::format("{} InfiniBand and {} RoCE ports are all taken for data NICs", ib, roce),
              "name the data NICs in NCCL_IB_HCA, on every host alike", 0.8, list.at);
      f.settle = "ibstat of the hosts: which ports belong to the data network";
      break;
    }
    std::map<std::string, std::size_t> count;
    std::set<int> used;
    const facts::NcclDeviceList* longest = nullptr;
    for (const auto& list : log_.devices)
      if (list.network != "Socket" && (!longest || list.devices.size() > longest->devices.size()))
        longest = &list;
    const NcclConnection* some = nullptr;
    for (const NcclConnection& c : log_.connections)
      if (c.transport == NcclTransport::net && c.device >= 0 && !socket_device(c)) {
        used.insert(c.device);
        some = &c;
      }
    const NcclVariable* hca = set("NCCL_IB_HCA");
    // Only whole logs tell: every rank of a node has printed its connections.
    const bool whole = site_.gpus > 0 && processes_of_a_host() >= site_.gpus && site_.gpus > 1;
    if (longest && some && whole && used.size() < longest->devices.size()) {
      auto& f =
          add("nccl-nics-left-out",
              fmt::format("{} of {} NICs carry the channels", used.size(), longest->devices.size()),
              "NIC names in the same order on all hosts; NCCL_IB_HCA; the distance of each "
              "GPU to its NIC",
              0.6, longest->at);
      also(f, some->at);
      out_.witness.shown.insert(used.size() == 1 ? "one-nic" : "half-nics");
    } else if (longest && whole && !hca && used.size() == longest->devices.size()) {
      rule_out("one-nic", "all NICs of the list carry channels");
    }
    if (hca && longest && site_.gpus > 1 &&
        longest->devices.size() * 2 <= static_cast<std::size_t>(site_.gpus)) {
      auto& f = add("nccl-nics-left-out",
                    fmt::format("NCCL_IB_HCA={} leaves {} for {} GPUs", hca->value,
                                longest->devices.size() == 1
                                    ? std::string("one NIC")
                                    : fmt::format("{} NICs", longest->devices.size()),
                                site_.gpus),
                    "unset NCCL_IB_HCA, or name all data NICs", 0.6, hca->at);
      also(f, longest->at);
      out_.witness.shown.insert(longest->devices.size() == 1 ? "one-nic" : "half-nics");
    }
  }

  int processes_of_a_host() const {
    std::map<std::string, int> per_host;
    int most = 0;
    for (const auto& c : log_.communicators)
      if (c.process >= 0)
        most = std::max(most, ++per_host[log_.processes[static_cast<std::size_t>(c.process)].host]);
    return most;
  }

  void relaxed_ordering() {
    if (!between_nodes()) return;
    if (const auto* v = set("NCCL_IB_PCI_RELAXED_ORDERING"); is_off(v)) {
      auto& f = add("nccl-relaxed-ordering-off", "NCCL_IB_PCI_RELAXED_ORDERING=0",
                    "unset it, or 1 in virtual machines", 0.7, v->at);
      f.severity = NcclSeverity::warning;
      out_.witness.shown.insert("relaxed-ordering-off");
      return;
    }
    for (const auto& list : log_.devices)
      if (list.relaxed_ordering) return rule_out("relaxed-ordering-off", "the log says [RO]");
  }

  void topology() {
    const facts::NcclTopologyRemark* remark = nullptr;
    for (const auto& r : log_.topology_remarks)
      if (has(r.text, "could not read") || has(r.text, "falling back")) {
        remark = &r;
        break;
      }
    if (remark) {
      auto& f = add("nccl-vm-topology",
                    "NCCL cannot read the PCI links (a virtual machine or container): it assumes "
                    "Gen3 and that nothing is near",
                    "NCCL_TOPO_FILE of this machine type from the cloud vendor; /sys in the "
                    "container",
                    0.8, remark->at);
      f.settle = "NCCL_TOPO_DUMP_FILE, then 'railyard topo lint'";
      if (!between_nodes()) f.severity = NcclSeverity::note;  // no NIC to be near to
    }
    if (!between_nodes()) return;
    for (const auto& system : log_.systems) {
      std::map<std::string, std::string> nearest;
      int line = 0;
      for (const auto& p : system.paths) {
        if (!p.from.starts_with("GPU") || !p.to.starts_with("NET")) continue;
        auto& best = nearest[p.from];
        if (best.empty() || rank(p.type) < rank(best)) best = p.type;
        line = line ? line : p.line;
      }
      int far = 0;
      std::string worst;
      for (const auto& [gpu, type] : nearest)
        if (rank(type) >= rank("PHB")) {
          ++far;
          worst = type;
        }
      if (far == 0 || remark) continue;
      auto& f = add(
          "nccl-far-nic",
          fmt::format("{} of {} GPUs reach their nearest NIC over {}", far, nearest.size(), worst),
          "NICs on the GPUs' switches; in a virtual machine the vendor's NCCL_TOPO_FILE", 0.5,
          {.file = system.at.file, .line = line, .column = 1});
      f.severity = NcclSeverity::note;
      break;
    }
  }
  static int rank(std::string_view type) {
    const auto known = predict::nccl::path_type_named(type);
    return known ? static_cast<int>(*known) : 0;
  }

  const NcclRun& log_;
  const NcclSite& site_;
  int nodes_ = 0;
  bool network_used_ = false;
  NcclEvidence out_ = {};
};

}  // namespace

NcclEvidence evidence_of(const NcclRun& log, const NcclSite& site) {
  return Reading(log, site).all();
}

}  // namespace railyard::judge
