#pragma once
// The catalogue: every part and model that the program knows, read from catalog/*.yaml.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "base/yaml.h"
#include "model/architecture.h"
#include "model/parts.h"

namespace railyard::model {

struct Catalog {
  std::vector<Accelerator> accelerators;
  std::vector<Nic> nics;
  std::vector<NetworkSwitch> switches;
  std::vector<PcieSwitch> pcie_switches;
  std::vector<Retimer> retimers;
  std::vector<CxlMemory> cxl;
  std::vector<HostMemory> host_memory;
  std::vector<Nvme> nvme;
  std::vector<SocketLink> socket_links;
  std::vector<Architecture> architectures;
  /// Server templates stay YAML: a cluster file overrides parts of them before they are read.
  struct Template {
    std::string id, file;
    const yaml::Document* document = nullptr;
    const yaml::Node* node = nullptr;
    Provenance from;
  };
  std::vector<Template> servers;
  std::vector<std::shared_ptr<const yaml::Document>> documents;

  const Accelerator* accelerator(std::string_view id_or_alias) const;
  const Nic* nic(std::string_view id) const;
  const Architecture* architecture(std::string_view id_or_alias) const;
  const Template* server(std::string_view id) const;
};

/// Reads all files of the folder. A broken catalogue lists all its problems.
Checked<Catalog> load_catalog(const std::string& folder);

/// The ids of a list of parts, for "did you mean".
template <class Part>
std::vector<std::string> ids(const std::vector<Part>& parts) {
  std::vector<std::string> out;
  out.reserve(parts.size());
  for (const Part& p : parts) out.push_back(p.id);
  return out;
}

/// Reads one architecture from a map (of the catalogue, or inline in a job file).
void read_architecture(yaml::Fields& fields, Architecture& out);
/// Reads one accelerator or NIC; used for parts defined in place in a cluster file.
void read_accelerator(yaml::Fields& fields, Accelerator& out);
void read_nic(yaml::Fields& fields, Nic& out);

}  // namespace railyard::model
