#include "report/parts.h"

#include "base/measure.h"

namespace railyard::report {

namespace {

using model::Precision;

// A value of zero means "not known" all through the catalogue: an empty cell, never a zero.
Attribute text(std::string key, std::string title, std::string_view value) {
  return {std::move(key), std::move(title), value.empty() ? Cell() : Cell(value), Align::left};
}
Attribute count(std::string key, std::string title, int value) {
  return {std::move(key), std::move(title), value == 0 ? Cell() : Cell(value)};
}
Attribute quantity(std::string key, std::string title, double si, std::string shown) {
  return {std::move(key), std::move(title), si == 0 ? Cell() : Cell(si, std::move(shown))};
}
Attribute bytes(const std::string& name, std::string title, Bytes b) {
  return quantity(name + "_bytes", std::move(title), b.si(), show(b));
}
Attribute rate(const std::string& name, std::string title, Bandwidth b) {
  return quantity(name + "_bytes_per_s", std::move(title), b.si(), show(b));
}
Attribute line_rate(const std::string& name, std::string title, Bandwidth b) {
  return quantity(name + "_bits_per_s", std::move(title), b.si() * 8, show_bits(b));
}
Attribute time(const std::string& name, std::string title, Seconds t) {
  return quantity(name + "_s", std::move(title), t.si(), show(t));
}
Attribute power(Watts w) { return quantity("power_w", "power", w.si(), show(w)); }
Attribute peak(const model::Accelerator& a, Precision p) {
  const std::string name(model::name(p));
  return quantity(name + "_flop_per_s", name + " dense", a.peak_of(p).si(), show(a.peak_of(p)));
}
Attribute pcie(int generation, int lanes) {
  return text("pcie", "PCIe",
              generation == 0 ? std::string()
                              : "gen" + std::to_string(generation) + " x" + std::to_string(lanes));
}

PartView view(const model::Accelerator& a) {
  std::string scale_up = a.scale_up.name;
  if (scale_up.empty() && a.scale_up.kind != model::ScaleUpKind::none)
    scale_up = model::name(a.scale_up.kind);
  return {
      .attributes = {bytes("memory", "memory", a.memory_usable),
                     rate("memory_bandwidth", "bandwidth", a.memory), peak(a, Precision::bf16),
                     peak(a, Precision::fp8), rate("scale_up", "scale-up", a.scale_up.total),
                     text("scale_up_kind", "link", scale_up), pcie(a.pcie_generation, a.pcie_lanes),
                     power(a.power), count("multiprocessors", "SMs", a.multiprocessors),
                     text("vendor", "vendor", a.vendor),
                     text("architecture", "architecture", a.architecture), peak(a, Precision::fp32),
                     peak(a, Precision::tf32), peak(a, Precision::fp16), peak(a, Precision::mxfp8),
                     peak(a, Precision::nvfp4),
                     bytes("memory_label", "memory label", a.memory_label),
                     rate("host_link", "host link", a.coherent_host_link)},
      .aliases = a.aliases};
}

PartView view(const model::Nic& n) {
  return {.attributes = {count("ports", "ports", n.ports), line_rate("port", "port", n.port_rate),
                         line_rate("chip_limit", "chip limit", n.chip_limit),
                         pcie(n.pcie_generation, n.pcie_lanes),
                         time("latency", "latency", n.latency),
                         text("vendor", "vendor", n.vendor)}};
}

PartView view(const model::NetworkSwitch& s) {
  return {.attributes = {count("ports", "ports", s.ports), line_rate("port", "port", s.port_rate),
                         line_rate("total", "total", s.total), bytes("buffer", "buffer", s.buffer),
                         time("latency", "latency", s.latency), power(s.power),
                         text("vendor", "vendor", s.vendor)}};
}

PartView view(const model::PcieSwitch& s) {
  return {.attributes = {count("generation", "generation", s.generation),
                         count("lanes", "lanes", s.lanes), time("latency", "latency", s.latency),
                         power(s.power)}};
}

PartView view(const model::Retimer& r) {
  return {.attributes = {count("generation", "generation", r.generation),
                         time("latency", "latency", r.latency), power(r.power)}};
}

PartView view(const model::CxlMemory& c) {
  return {.attributes = {bytes("capacity", "capacity", c.capacity),
                         rate("bandwidth", "bandwidth", c.bandwidth),
                         time("latency", "latency", c.latency),
                         pcie(c.pcie_generation, c.pcie_lanes)}};
}

PartView view(const model::HostMemory& h) {
  return {.attributes = {rate("per_socket", "per socket", h.per_socket)}};
}

PartView view(const model::Nvme& n) {
  return {.attributes = {rate("read", "read", n.read), rate("write", "write", n.write)}};
}

PartView view(const model::SocketLink& s) {
  return {.attributes = {rate("peer_stream", "one peer stream", s.peer_stream)}};
}

PartView view(const model::ScaleUpGeneration& g) {
  return {.attributes = {text("name", "name", g.name),
                         count("generation", "generation", g.generation),
                         count("links", "links", g.links), rate("per_link", "per link", g.per_link),
                         rate("total", "total", g.total),
                         rate("nccl_per_link", "as NCCL counts", g.nccl_per_link)}};
}

PartView view(const model::PcieGeneration& g) {
  return {.attributes = {{"gigatransfers_per_s", "GT/s", Cell(g.gigatransfers)},
                         rate("encoded_x16", "x16 encoded", g.encoded),
                         rate("payload_256_x16", "payload at 256 B", g.payload_256),
                         rate("payload_512_x16", "payload at 512 B", g.payload_512),
                         rate("nccl_x16", "as NCCL counts", g.nccl)}};
}

PartView view(const model::Architecture& a) {
  const model::ParameterCount n = model::count_parameters(a);
  const auto billions = [](double p) { return show_number(p / 1e9) + " B"; };
  return {
      .attributes = {quantity("parameters", "parameters", n.total, billions(n.total)),
                     quantity("active_parameters", "active", n.active, billions(n.active)),
                     count("layers", "layers", a.layers), count("hidden", "hidden", a.hidden),
                     count("heads", "heads", a.heads), count("kv_heads", "kv heads", a.kv_heads),
                     count("ffn", "ffn", a.ffn), count("vocab", "vocab", a.vocab),
                     count("experts", "experts", a.experts ? a.experts->experts : 0),
                     count("top_k", "top-k", a.experts ? a.experts->top_k : 0),
                     text("family", "family", a.family)},
      .aliases = a.aliases};
}

PartView view(const model::Catalog::Template& t) {
  return {.attributes = {text("file", "file", "catalog/" + t.file.substr(t.file.rfind('/') + 1)),
                         count("line", "line", t.node ? t.node->line : 0)}};
}

template <class Part>
void add(std::vector<PartView>& out, std::string_view kind, const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    out.push_back(view(part));
    out.back().id = part.id;
    out.back().kind = kind;
    out.back().from = part.from;
  }
}

/// "memory 80 GiB, bandwidth 3.35 TB/s, ...": the first values that are known.
std::string in_words(const PartView& part) {
  constexpr int kMost = 3;
  std::string out;
  int used = 0;
  for (const Attribute& a : part.attributes) {
    if (a.value.shown().empty()) continue;
    if (++used > kMost) break;
    out += (out.empty() ? "" : ", ") + a.title + ' ' + a.value.shown();
  }
  return out;
}

void add_provenance(std::vector<Cell>& row, const model::Provenance& from) {
  row.emplace_back(model::name(from.confidence));
  row.emplace_back(from.source);
}

}  // namespace

const std::vector<std::string>& part_kinds() {
  static const std::vector<std::string> kinds{
      "accelerators", "nics", "switches",     "pcie_switches",        "retimers",         "cxl",
      "host_memory",  "nvme", "socket_links", "scale_up_generations", "pcie_generations", "servers",
      "models"};
  return kinds;
}

std::vector<PartView> parts_of(const model::Catalog& c) {
  std::vector<PartView> out;
  add(out, "accelerators", c.accelerators);
  add(out, "nics", c.nics);
  add(out, "switches", c.switches);
  add(out, "pcie_switches", c.pcie_switches);
  add(out, "retimers", c.retimers);
  add(out, "cxl", c.cxl);
  add(out, "host_memory", c.host_memory);
  add(out, "nvme", c.nvme);
  add(out, "socket_links", c.socket_links);
  add(out, "scale_up_generations", c.scale_up_generations);
  add(out, "pcie_generations", c.pcie_generations);
  add(out, "servers", c.servers);
  add(out, "models", c.architectures);
  return out;
}

Table overview_table(const std::vector<PartView>& parts) {
  Table table{.columns = {{"id", "id"},
                          {"kind", "kind", Align::left, 1},
                          {"what", "what"},
                          {"confidence", "confidence", Align::left, 2},
                          {"source", "source", Align::left, 3}}};
  for (const PartView& part : parts) {
    std::vector<Cell> row{part.id, part.kind, in_words(part)};
    add_provenance(row, part.from);
    table.add(std::move(row));
  }
  return table;
}

Table kind_table(const std::vector<PartView>& parts) {
  Table table{.columns = {{"id", "id"}}};
  if (parts.empty()) return table;
  int priority = 0;
  for (const Attribute& a : parts.front().attributes)
    table.columns.push_back({a.key, a.title, a.align, ++priority});
  table.columns.push_back({"confidence", "confidence", Align::left, ++priority});
  table.columns.push_back({"source", "source", Align::left, ++priority});
  for (const PartView& part : parts) {
    std::vector<Cell> row{part.id};
    for (const Attribute& a : part.attributes) row.push_back(a.value);
    add_provenance(row, part.from);
    table.add(std::move(row));
  }
  return table;
}

}  // namespace railyard::report
