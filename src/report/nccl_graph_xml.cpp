#include "report/nccl_graph_xml.h"

#include <fmt/format.h>

#include "report/detail/xml_writer.h"

namespace railyard::report {

namespace {

using detail::XmlWriter;
using facts::NcclGraph;
using facts::NcclGraphChannel;
using Element = XmlWriter::Element;

/// Zero stands alone, everything else has 0x before it.
std::string hexadecimal(std::int64_t device) {
  return fmt::format("{:#x}", device) == "0x0" ? "0" : fmt::format("{:#x}", device);
}

void device(XmlWriter& out, const char* kind, std::int64_t number) {
  Element e(out, kind);
  e.text("dev", hexadecimal(number));
}

/// The way in, the GPUs in their order, the way out.
void channel(XmlWriter& out, const NcclGraphChannel& c) {
  Element e(out, "channel");
  if (!c.nets.empty()) device(out, "net", c.nets.front());
  for (const std::int64_t gpu : c.gpus) device(out, "gpu", gpu);
  for (std::size_t i = 1; i < c.nets.size(); ++i) device(out, "net", c.nets[i]);
}

void graph(XmlWriter& out, const NcclGraph& g) {
  Element e(out, "graph");
  e.integer("id", g.id).integer("pattern", g.pattern).integer("crossnic", g.cross_nic);
  e.integer("nchannels", g.channels).number("speedintra", g.speed_intra);
  e.number("speedinter", g.speed_inter).number("latencyinter", g.latency_inter);
  e.text("typeintra", g.type_intra);
  e.text("typeinter", g.type_inter);
  e.integer("samechannels", g.same_channels ? 1 : 0);
  for (const NcclGraphChannel& c : g.list) channel(out, c);
}

}  // namespace

std::string to_xml(const facts::NcclGraphs& graphs) {
  XmlWriter out;
  {
    Element e(out, "graphs");
    e.integer("version", graphs.version);
    for (const NcclGraph& g : graphs.graphs) graph(out, g);
  }
  return out.take();
}

}  // namespace railyard::report
