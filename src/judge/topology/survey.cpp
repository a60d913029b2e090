#include "judge/topology/survey.h"

#include <array>

namespace railyard::judge::topology {

namespace {

using facts::NcclCpu;
using facts::NcclNic;
using facts::NcclPci;

class Walk {
 public:
  explicit Walk(Survey& out) : out_(out) {}

  void cpu(const NcclCpu& cpu) {
    for (const NcclNic& n : cpu.nics) nic(n, nullptr);
    for (const NcclPci& p : cpu.pci) device({.pci = &p, .top = &p, .cpu = &cpu});
  }

 private:
  void device(const Device& at) {
    out_.devices.push_back(at);
    if (is_gpu(*at.pci)) out_.gpus.push_back(at);
    if (is_nic(*at.pci)) out_.nics.push_back(at);
    for (const NcclNic& n : at.pci->nics) nic(n, at.pci);
    for (const NcclPci& p : at.pci->below)
      device({.pci = &p, .parent = at.pci, .top = at.top, .cpu = at.cpu});
  }

  void nic(const NcclNic& nic, const NcclPci* pci) {
    for (const facts::NcclNet& n : nic.nets) out_.nets.push_back({.net = &n, .pci = pci});
  }

  Survey& out_;
};

}  // namespace

Survey survey(const facts::NcclTopology& topology) {
  Survey out;
  Walk walk(out);
  for (const NcclCpu& cpu : topology.cpus) walk.cpu(cpu);
  return out;
}

bool is_gpu(const NcclPci& pci) { return pci.gpu || pci.device_class.starts_with("0x03"); }
bool is_nic(const NcclPci& pci) {
  return !pci.nics.empty() || (!pci.gpu && pci.device_class.starts_with("0x02"));
}

int generation_of(std::string_view link_speed) {
  struct Spelling {
    std::string_view begins;
    int generation;
  };
  // NCCL compares beginnings, with the kernel's spellings before and after Linux 5.7. A fraction
  // counts only with "PCIe" behind it: "16.0 GT/s" alone is unknown. [NCCL 2.28: topo.cc]
  constexpr std::array<Spelling, 10> kSpellings{{{"2.5 GT/s", 1},
                                                 {"5 GT/s", 2},
                                                 {"8 GT/s", 3},
                                                 {"16 GT/s", 4},
                                                 {"32 GT/s", 5},
                                                 {"5.0 GT/s PCIe", 2},
                                                 {"8.0 GT/s PCIe", 3},
                                                 {"16.0 GT/s PCIe", 4},
                                                 {"32.0 GT/s PCIe", 5},
                                                 {"64.0 GT/s PCIe", 6}}};
  for (const Spelling& s : kSpellings)
    if (link_speed.starts_with(s.begins)) return s.generation;
  return 0;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace railyard::judge::topology
