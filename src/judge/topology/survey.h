#pragma once
// A topology laid flat, for rules that compare its devices with each other.

#include <string>
#include <string_view>
#include <vector>

#include "facts/nccl_topology.h"

namespace railyard::judge::topology {

struct Device {
  const facts::NcclPci* pci = nullptr;
  const facts::NcclPci* parent = nullptr;  ///< the switch above; none below a CPU
  const facts::NcclPci* top = nullptr;     ///< the outermost device above, itself included
  const facts::NcclCpu* cpu = nullptr;
};

struct Net {
  const facts::NcclNet* net = nullptr;
  const facts::NcclPci* pci = nullptr;  ///< none: directly on a CPU
};

struct Survey {
  std::vector<Device> devices = {}, gpus = {}, nics = {};  ///< nics: PCI devices
  std::vector<Net> nets = {};
};

Survey survey(const facts::NcclTopology& topology);

/// By class or by what stands in it; a static file has the class alone.
bool is_gpu(const facts::NcclPci& pci);
bool is_nic(const facts::NcclPci& pci);

/// 1 to 6; 0 where NCCL does not know the text (and assumes 3).
int generation_of(std::string_view link_speed);

/// Bus ids and classes in lower case, as they are compared.
std::string lower(std::string_view text);

}  // namespace railyard::judge::topology
