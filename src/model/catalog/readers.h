#pragma once
// What the readers of the catalogue's files share. Private to the model room.

#include <string>
#include <vector>

#include "base/problem.h"
#include "base/yaml.h"
#include "model/catalog.h"

namespace railyard::model::catalog {

/// Reads `source`, `confidence` and `note` of a part.
void read_provenance(yaml::Fields& fields, Provenance& out);
void read_aliases(yaml::Fields& fields, std::vector<std::string>& out);

/// Calls `read` with the fields of a map inside a part ("peak", "memory"), if it is there.
void read_map(yaml::Fields& fields, std::string_view key,
              const std::function<void(yaml::Fields&)>& read);
/// A PCIe generation that exists and a lane count that links train to.
void read_pcie(yaml::Fields& fields, int& generation, int& lanes);

void read_switch(yaml::Fields& fields, NetworkSwitch& out);
void read_pcie_switch(yaml::Fields& fields, PcieSwitch& out);
void read_retimer(yaml::Fields& fields, Retimer& out);
void read_cxl(yaml::Fields& fields, CxlMemory& out);
void read_host_memory(yaml::Fields& fields, HostMemory& out);
void read_nvme(yaml::Fields& fields, Nvme& out);
void read_socket_link(yaml::Fields& fields, SocketLink& out);
void read_scale_up_generation(yaml::Fields& fields, ScaleUpGeneration& out);
void read_pcie_generation(yaml::Fields& fields, PcieGeneration& out);

/// A value of a part may be given with its own source:
///     memory: {bandwidth: {value: 7700 GB/s, source: aiconfigurator, confidence: conflict}}
/// Returns the part with plain values and adds the sources found to `sources`.
yaml::Node plain_values(const yaml::Document& doc, const yaml::Node& part, const std::string& id,
                        std::vector<Catalog::ValueSource>& sources, Problems& problems);

}  // namespace railyard::model::catalog
