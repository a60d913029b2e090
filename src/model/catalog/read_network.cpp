// catalog/nics.yaml and catalog/switches.yaml.

#include "model/catalog/readers.h"

namespace railyard::model {

void read_nic(yaml::Fields& fields, Nic& out) {
  fields.text("id", out.id);
  fields.text("vendor", out.vendor);
  fields.integer("ports", out.ports, 1, 16);
  fields.bandwidth("port_rate", out.port_rate);
  fields.bandwidth("chip_limit", out.chip_limit);
  catalog::read_pcie(fields, out.pcie_generation, out.pcie_lanes);
  fields.seconds("latency", out.latency);
  catalog::read_provenance(fields, out.from);
}

namespace catalog {

void read_switch(yaml::Fields& fields, NetworkSwitch& out) {
  fields.text("id", out.id);
  fields.text("vendor", out.vendor);
  fields.integer("ports", out.ports, 1, 4096);
  fields.bandwidth("port_rate", out.port_rate);
  if (!fields.bandwidth("total", out.total)) out.total = out.ports * out.port_rate;
  fields.bytes("buffer", out.buffer);
  fields.seconds("latency", out.latency);
  fields.watts("power", out.power);
  read_provenance(fields, out.from);
}

}  // namespace catalog
}  // namespace railyard::model
