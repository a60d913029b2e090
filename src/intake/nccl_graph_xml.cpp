#include "intake/nccl_graph_xml.h"

#include <utility>

#include "base/xml.h"
#include "intake/nccl_attributes.h"

namespace railyard::intake {

namespace {

using facts::NcclGraph;
using facts::NcclGraphChannel;
using facts::NcclGraphs;
using xml::Element;

class Reader {
 public:
  Reader(const xml::Document& document, NcclGraphs& out) : document_(document), out_(out) {}

  void graphs(const Element& from) {
    out_.version = fields(from).needed_integer("version");
    children(from, {{"graph", [&](const Element& e) { graph(e, out_.graphs.emplace_back()); }}});
  }

 private:
  NcclFields fields(const Element& from) { return {document_, from, out_.misread}; }
  void children(const Element& from,
                std::initializer_list<std::pair<std::string_view, ElementReader>> readers) {
    read_children(document_, from, readers, out_.skipped);
  }

  void graph(const Element& from, NcclGraph& to) {
    NcclFields f = fields(from);
    to.at = document_.place(from);
    to.id = f.needed_integer("id");
    to.pattern = f.needed_integer("pattern");
    to.cross_nic = f.needed_integer("crossnic");
    to.channels = f.needed_integer("nchannels");
    to.speed_intra = f.number("speedintra").value_or(0);
    to.speed_inter = f.number("speedinter").value_or(0);
    to.latency_inter = f.number("latencyinter").value_or(0);
    to.type_intra = f.needed_text("typeintra");
    to.type_inter = f.needed_text("typeinter");
    to.same_channels = f.needed_integer("samechannels") != 0;
    children(from, {{"channel", [&](const Element& e) { channel(e, to.list.emplace_back()); }}});
  }

  void channel(const Element& from, NcclGraphChannel& to) {
    to.at = document_.place(from);
    children(from, {{"net", [&](const Element& e) { to.nets.push_back(device(e)); }},
                    {"gpu", [&](const Element& e) { to.gpus.push_back(device(e)); }}});
  }

  std::int64_t device(const Element& from) {
    const std::string text = fields(from).needed_text("dev");
    const LooseInteger read = read_loosely(text, Base::hexadecimal);
    if (!read.as_it_looks)
      out_.misread.push_back({.at = document_.place(from),
                              .element = from.name,
                              .attribute = "dev",
                              .text = text,
                              .read_as = read.value});
    return read.value;
  }

  const xml::Document& document_;
  NcclGraphs& out_;
};

}  // namespace

bool looks_like_nccl_graph(std::string_view bytes) { return xml::root_name(bytes) == "graphs"; }

Checked<facts::NcclGraphs> read_nccl_graph(Text text) {
  const xml::Document document = RY_TRY(xml::Document::parse(text));
  const Element& root = document.root();
  if (root.name != "graphs")
    return as_problems(document.problem(
        document.place(root), "<graphs>, channels of NCCL", "<" + root.name.substr(0, 40) + ">",
        root.name == "system" ? "this is a topology, for NCCL_TOPO_FILE"
                              : "graphs come from a run with NCCL_GRAPH_DUMP_FILE=graph.xml"));
  if (Problems stray = stray_text(document); !stray.empty())
    return std::unexpected(std::move(stray));
  NcclGraphs out;
  Reader(document, out).graphs(root);
  return out;
}

}  // namespace railyard::intake
