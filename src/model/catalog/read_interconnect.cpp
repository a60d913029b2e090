// catalog/interconnect.yaml: what lies between the accelerators and the network.

#include "model/catalog/readers.h"

namespace railyard::model::catalog {

void read_pcie_switch(yaml::Fields& fields, PcieSwitch& out) {
  fields.text("id", out.id);
  fields.integer("generation", out.generation, 1, 6);
  fields.integer("lanes", out.lanes, 1, 512);
  fields.seconds("latency", out.latency);
  fields.watts("power", out.power);
  read_provenance(fields, out.from);
}

void read_retimer(yaml::Fields& fields, Retimer& out) {
  fields.text("id", out.id);
  fields.integer("generation", out.generation, 1, 6);
  fields.seconds("latency", out.latency);
  fields.watts("power", out.power);
  read_provenance(fields, out.from);
}

void read_cxl(yaml::Fields& fields, CxlMemory& out) {
  fields.text("id", out.id);
  fields.bytes("capacity", out.capacity);
  fields.bandwidth("bandwidth", out.bandwidth);
  fields.seconds("latency", out.latency);
  read_pcie(fields, out.pcie_generation, out.pcie_lanes);
  read_provenance(fields, out.from);
}

void read_host_memory(yaml::Fields& fields, HostMemory& out) {
  fields.text("id", out.id);
  fields.bandwidth("per_socket", out.per_socket);
  read_provenance(fields, out.from);
}

void read_nvme(yaml::Fields& fields, Nvme& out) {
  fields.text("id", out.id);
  fields.bandwidth("read", out.read);
  fields.bandwidth("write", out.write);
  read_provenance(fields, out.from);
}

void read_socket_link(yaml::Fields& fields, SocketLink& out) {
  fields.text("id", out.id);
  fields.bandwidth("peer_stream", out.peer_stream);
  read_provenance(fields, out.from);
}

void read_scale_up_generation(yaml::Fields& fields, ScaleUpGeneration& out) {
  fields.text("id", out.id);
  fields.text("name", out.name);
  fields.integer("generation", out.generation, 1, 9);
  fields.integer("links", out.links, 1, 64);
  fields.bandwidth("per_link", out.per_link);
  fields.bandwidth("raw_per_link", out.raw_per_link);
  fields.bandwidth("total", out.total);
  fields.bandwidth("nccl_per_link", out.nccl_per_link);
  fields.flag("announced", out.announced);
  read_provenance(fields, out.from);
}

void read_pcie_generation(yaml::Fields& fields, PcieGeneration& out) {
  fields.text("id", out.id);
  fields.integer("generation", out.generation, 1, 6);
  fields.number("gigatransfers", out.gigatransfers);
  fields.bandwidth("encoded", out.encoded);
  fields.bandwidth("payload_256", out.payload_256);
  fields.bandwidth("payload_512", out.payload_512);
  fields.bandwidth("nccl", out.nccl);
  fields.bandwidth("measured_to_device", out.measured_to_device);
  fields.bandwidth("measured_to_host", out.measured_to_host);
  read_provenance(fields, out.from);
}

}  // namespace railyard::model::catalog
