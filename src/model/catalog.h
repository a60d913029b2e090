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
  std::vector<ScaleUpGeneration> scale_up_generations;
  std::vector<PcieGeneration> pcie_generations;
  std::vector<Architecture> architectures;
  /// Server templates stay YAML: a cluster file overrides parts of them before they are read.
  struct Template {
    std::string id, file;
    const yaml::Document* document = nullptr;
    const yaml::Node* node = nullptr;
    Provenance from;
  };
  std::vector<Template> servers;
  /// Values that carry their own source inside a part, in file order.
  struct ValueSource {
    std::string part, field;  ///< field: "memory.bandwidth"
    Provenance from;
  };
  std::vector<ValueSource> values;
  std::vector<std::shared_ptr<const yaml::Document>> documents;

  // Upper and lower case are one, and so are blank, '-' and '_': `LLAMA3_70B` finds llama3-70b.
  const Accelerator* accelerator(std::string_view id_or_alias) const;
  const Nic* nic(std::string_view id) const;
  const Architecture* architecture(std::string_view id_or_alias) const;
  const Template* server(std::string_view id) const;
};

/// Reads the files of the folder whose names begin with accelerators, nics, switches, interconnect,
/// models or servers, in the order of their names; the others belong to other readers. A broken
/// catalogue lists all its problems.
Checked<Catalog> load_catalog(const std::string& folder);

/// Whether two spellings name one part: case, and blank against '-' against '_', do not matter.
bool same_name(std::string_view a, std::string_view b);

/// A part by its id, or nullptr.
template <class Part>
const Part* find(const std::vector<Part>& parts, std::string_view id) {
  for (const Part& p : parts)
    if (same_name(p.id, id)) return &p;
  return nullptr;
}

/// The architecture that a spelling is a variation of: `Llama3-70B cut to 12 layers` is llama3-70b,
/// `BLOOM-like-176B` has the traits of BLOOM. The caller brings the dimensions that differ. Plain
/// names are found too. nullptr: none.
const Architecture* find_base(const Catalog& catalog, std::string_view spelling);

/// The ids of a list of parts, for "did you mean".
template <class Part>
std::vector<std::string> ids(const std::vector<Part>& parts) {
  std::vector<std::string> out;
  out.reserve(parts.size());
  for (const Part& p : parts) out.push_back(p.id);
  return out;
}

// The three below read over what is already there, so that a design file can override a part of the
// catalogue; they leave `fields.done()` to the caller, who may know further keys.

/// Reads one architecture from a map (of the catalogue, or inline in a job file).
void read_architecture(yaml::Fields& fields, Architecture& out);
/// Reads one accelerator or NIC; used for parts defined in place in a cluster file.
void read_accelerator(yaml::Fields& fields, Accelerator& out);
void read_nic(yaml::Fields& fields, Nic& out);

}  // namespace railyard::model
