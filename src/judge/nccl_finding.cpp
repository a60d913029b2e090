#include "judge/nccl_finding.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace railyard::judge {

std::string_view name(NcclSeverity severity) {
  switch (severity) {
    case NcclSeverity::note: return "note";
    case NcclSeverity::warning: return "warning";
    case NcclSeverity::error: break;
  }
  return "error";
}

const std::vector<NcclRule>& nccl_rules() {
  using enum NcclSeverity;
  using enum NcclKind;
  static const std::vector<NcclRule> rules = {
      // The numbers by themselves.
      {"nccl-wrong-results", error, fault, "nccl-version-or-setting", "results are wrong"},
      {"nccl-test-failed", error, fault, "hang-or-crash", "the program reports a failure"},
      {"nccl-unstable", warning, speed, "roce-lossy", "the same size takes very different times"},
      {"nccl-collapse", warning, speed, "fabric-path", "bus bandwidth falls as messages grow"},
      {"nccl-dip", note, speed, "nccl-version-or-setting", "a smaller size takes longer"},
      {"nccl-slow-host", warning, speed, "fabric-path", "slow pairs have a host in common"},
      {"nccl-slow-pair", warning, speed, "fabric-path", "the same test, other hosts: slower"},
      {"nccl-two-levels", warning, speed, "fabric-path", "equal runs fall into two levels"},
      {"nccl-version-slower", warning, speed, "nccl-version-or-setting",
       "the same test, another version of NCCL: slower"},
      // The numbers against the law.
      {"nccl-slow", warning, speed, "", "large messages are slower than a healthy system's"},
      {"nccl-fits-other-nics", note, speed, "", "healthy if the server has fewer or slower NICs"},
      {"nccl-host-slow", note, speed, "cpu-binding", "only small messages are slow"},
      // The log.
      {"nccl-sockets", warning, speed, "rdma-not-used", "nodes talk over TCP sockets"},
      {"nccl-gpudirect-off", warning, speed, "gpudirect-off", "NICs do not reach GPU memory"},
      {"nccl-p2p-off", warning, speed, "nvlink", "GPUs of a node do not reach each other"},
      {"nccl-shm-off", note, speed, "nccl-version-or-setting", "shared memory is switched off"},
      {"nccl-nvls-off", warning, speed, "nvlink", "NVLink SHARP is not used though it could be"},
      {"nccl-algo-left", warning, speed, "nccl-version-or-setting", "the algorithm is forced"},
      {"nccl-proto-left", warning, speed, "nccl-version-or-setting", "the protocol is forced"},
      {"nccl-few-channels", warning, speed, "affinity-topology",
       "fewer channels than the GPUs need"},
      {"nccl-nics-left-out", warning, speed, "wrong-nic", "not all NICs carry traffic"},
      {"nccl-mixed-nics", warning, speed, "wrong-nic", "InfiniBand and RoCE ports in one list"},
      {"nccl-relaxed-ordering-off", note, speed, "pcie-peer-path", "PCIe relaxed ordering is off"},
      {"nccl-vm-topology", warning, speed, "affinity-topology", "NCCL does not see what is near"},
      {"nccl-far-nic", warning, speed, "affinity-topology", "GPUs reach their NIC through the CPU"},
      {"nccl-topology-file", warning, speed, "affinity-topology",
       "a topology or graph file of another machine"},
      {"nccl-split-node", error, fault, "fabric-path", "one server counts as several nodes"},
      {"nccl-version-mix", error, fault, "nccl-version-or-setting", "hosts run different versions"},
      {"nccl-completion-error", error, fault, "roce-lossy", "a NIC gave a request back"},
      {"nccl-connection-failed", error, fault, "roce-gid", "two NICs could not connect"},
      {"nccl-port-event", error, fault, "port-state", "a port went down under the job"},
      {"nccl-memory-limit", error, fault, "memory-limits", "a limit of memory was hit"},
      {"nccl-gpu-memory", error, fault, "hang-or-crash", "a GPU had no memory left"},
      {"nccl-nvswitch-state", error, fault, "nvlink", "NVLink or its switches are not sound"},
      {"nccl-rdma-device", warning, speed, "rdma-not-used", "an RDMA device cannot be opened"},
      {"nccl-mismatch", error, fault, "nccl-version-or-setting", "ranks do not fit together"},
      {"nccl-interface", error, fault, "wrong-nic", "no usable network interface"},
      {"nccl-affinity", warning, speed, "cpu-binding", "a job has fewer CPUs than another"},
      {"nccl-iommu", warning, speed, "pcie-peer-path", "the IOMMU translates between devices"},
      {"nccl-warning", warning, fault, "hang-or-crash", "another warning of NCCL"},
      {"nccl-consequence", note, word, "hang-or-crash", "follows from an earlier failure"},
      {"nccl-harmless", note, word, "healthy", "looks like a fault and is none"},
      {"nccl-rccl", note, word, "", "AMD's RCCL, whose times are not modelled"},
  };
  return rules;
}

NcclFinding nccl_finding(std::string_view rule, std::string cause, std::string fix) {
  const auto& rules = nccl_rules();
  const auto known = std::ranges::find(rules, rule, &NcclRule::id);
  if (known == rules.end()) throw std::logic_error("no rule " + std::string(rule));
  return {.rule = std::string(rule),
          .topic = std::string(known->topic),
          .severity = known->severity,
          .kind = known->kind,
          .cause = std::move(cause),
          .fix = std::move(fix)};
}

void add_evidence(NcclFinding& finding, facts::Where where) {
  constexpr std::size_t kMost = 4;
  const bool known = std::ranges::any_of(finding.evidence, [&](const facts::Where& e) {
    return e.at.file == where.at.file && e.at.line == where.at.line;
  });
  if (!known && where.at.line > 0 && finding.evidence.size() < kMost)
    finding.evidence.push_back(std::move(where));
}

}  // namespace railyard::judge
