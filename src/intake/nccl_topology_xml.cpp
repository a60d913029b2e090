#include "intake/nccl_topology_xml.h"

#include <utility>

#include "base/xml.h"
#include "intake/line_index.h"
#include "intake/nccl_attributes.h"

namespace railyard::intake {

namespace {

using facts::NcclC2c;
using facts::NcclCpu;
using facts::NcclGpu;
using facts::NcclNet;
using facts::NcclNic;
using facts::NcclNvlink;
using facts::NcclPci;
using facts::NcclTopology;
using xml::Element;

class Reader {
 public:
  Reader(const xml::Document& document, NcclTopology& out) : document_(document), out_(out) {}

  void system(const Element& from) {
    NcclFields f = fields(from);
    out_.at = document_.place(from);
    out_.version = f.needed_integer("version");
    out_.other = f.other();
    children(from, {{"cpu", [&](const Element& e) { cpu(e, out_.cpus.emplace_back()); }}});
    if (out_.version == 2) out_.rccl = true;
  }

 private:
  NcclFields fields(const Element& from) { return {document_, from, out_.misread}; }
  void children(const Element& from,
                std::initializer_list<std::pair<std::string_view, ElementReader>> readers) {
    read_children(document_, from, readers, out_.skipped);
  }

  void cpu(const Element& from, NcclCpu& to) {
    NcclFields f = fields(from);
    to.at = document_.place(from);
    to.host_hash = f.text("host_hash");
    to.numaid = f.integer("numaid");
    to.affinity = f.text("affinity");
    to.arch = f.text("arch").value_or("");
    to.vendor = f.text("vendor");
    to.family = f.integer("familyid");
    to.model = f.integer("modelid");
    to.other = f.other();
    int position = 0;
    children(from,
             {{"pci", [&](const Element& e) { pci(e, to.pci.emplace_back(), position++); }},
              {"nic", [&](const Element& e) { nic(e, to.nics.emplace_back(), position++); }}});
  }

  void pci(const Element& from, NcclPci& to, int position) {
    NcclFields f = fields(from);
    to.at = document_.place(from);
    to.position = position;
    to.busid = f.needed_text("busid");
    to.device_class = f.text("class").value_or("");
    to.vendor = f.text("vendor");
    to.device = f.text("device");
    to.subsystem_vendor = f.text("subsystem_vendor");
    to.subsystem_device = f.text("subsystem_device");
    to.link_speed = f.text("link_speed").value_or("");
    to.link_width = f.integer("link_width");
    to.other = f.other();
    int below = 0;
    children(from, {{"gpu", [&](const Element& e) { one_gpu(e, to); }},
                    {"pci", [&](const Element& e) { pci(e, to.below.emplace_back(), below++); }},
                    {"nic", [&](const Element& e) { nic(e, to.nics.emplace_back(), below++); }},
                    {"pcilink", [&](const Element& e) {
                       to.pcilinks.emplace_back(document_.place(e),
                                                fields(e).needed_text("target"));
                     }}});
  }

  /// Of several GPUs in one device NCCL takes the first.
  void one_gpu(const Element& from, NcclPci& pci) {
    if (!pci.gpu)
      gpu(from, pci.gpu.emplace());
    else
      facts::count(out_.skipped, "second <gpu> in <pci>", document_.place(from),
                   "NCCL takes the first GPU of a device");
  }

  void gpu(const Element& from, NcclGpu& to) {
    NcclFields f = fields(from);
    to.at = document_.place(from);
    to.dev = f.integer("dev");
    to.sm = f.integer("sm");
    to.rank = f.integer("rank");
    to.gdr = f.integer("gdr");
    to.gcn = f.text("gcn");
    to.other = f.other();
    if (to.gcn) out_.rccl = true;
    children(from, {{"nvlink", [&](const Element& e) { nvlink(e, to.nvlinks.emplace_back()); }},
                    {"xgmi",
                     [&](const Element& e) {
                       nvlink(e, to.nvlinks.emplace_back());
                       out_.rccl = true;
                     }},
                    {"c2c", [&](const Element& e) { c2c(e, to.c2c.emplace_back()); }}});
  }

  void nvlink(const Element& from, NcclNvlink& to) {
    NcclFields f = fields(from);
    to.at = document_.place(from);
    to.target = f.needed_text("target");
    to.count = f.needed_integer("count");
    to.target_class = f.text("tclass").value_or("");
    to.other = f.other();
  }

  void c2c(const Element& from, NcclC2c& to) {
    NcclFields f = fields(from);
    to.at = document_.place(from);
    to.bandwidth_mbps = f.needed_integer("bw");
    to.count = f.needed_integer("count");
    to.other = f.other();
  }

  void nic(const Element& from, NcclNic& to, int position) {
    NcclFields f = fields(from);
    to.at = document_.place(from);
    to.position = position;
    to.other = f.other();
    children(from, {{"net", [&](const Element& e) { net(e, to.nets.emplace_back()); }}});
  }

  void net(const Element& from, NcclNet& to) {
    NcclFields f = fields(from);
    to.at = document_.place(from);
    to.name = f.text("name").value_or("");
    to.dev = f.integer("dev");
    to.speed_mbps = f.integer("speed");
    to.latency = f.number("latency");
    to.port = f.integer("port");
    to.guid = f.text("guid");
    to.maxconn = f.integer("maxconn");
    to.gdr = f.integer("gdr");
    to.coll = f.integer("coll");
    to.keep = f.integer("keep");
    to.other = f.other();
  }

  const xml::Document& document_;
  NcclTopology& out_;
};

/// XML has more than NCCL's parser knows. It has blanks and line ends between elements but no tabs,
/// one blank between attributes but no line end, and comments but no instructions.
std::vector<facts::NcclStumble> stumbles_of(Text text) {
  std::vector<facts::NcclStumble> out;
  const LineIndex lines(text);
  const std::string_view bytes = text.bytes;
  const auto note = [&](std::size_t at, const char* what) {
    if (out.size() < 3) out.push_back({.at = lines.place(at), .what = what});
  };
  if (bytes.starts_with("\xEF\xBB\xBF")) note(0, "a byte order mark");
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string_view rest = bytes.substr(at);
    if (rest.starts_with("<!--")) {
      at = std::min(bytes.find("-->", at), bytes.size() - 3) + 3;
    } else if (rest.starts_with("<?")) {
      note(at, "an instruction <? ... ?>");
      at = std::min(bytes.find("?>", at), bytes.size() - 2) + 2;
    } else if (rest.starts_with("<!")) {
      note(at, "a document type or a section <! ... >");
      at = std::min(bytes.find('>', at), bytes.size() - 1) + 1;
    } else if (rest.starts_with('<')) {
      for (char quote = 0; at < bytes.size() && (quote != 0 || bytes[at] != '>'); ++at) {
        const char c = bytes[at];
        if (quote != 0) {
          if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
          quote = c;
        } else if (c == '\t' || c == '\n' || c == '\r') {
          note(at, c == '\t' ? "a tab inside of an element" : "a line end inside of an element");
        } else if (c == '=' && at > 0 && at + 1 < bytes.size() &&
                   (bytes[at - 1] == ' ' || bytes[at + 1] == ' ')) {
          note(at, "a blank beside '='");
        }
      }
    } else {
      if (bytes[at] == '\t') note(at, "a tab between elements");
      ++at;
    }
  }
  return out;
}

/// Files that people take for a topology.
std::string hint_for(std::string_view root) {
  if (root == "graphs")
    return "this is a graph file, for NCCL_GRAPH_FILE; a topology comes from NCCL_TOPO_DUMP_FILE";
  if (root == "topology")
    return "this is hwloc's topology; one of NCCL comes from NCCL_TOPO_DUMP_FILE";
  if (root == "nvidia_smi_log")
    return "this is nvidia-smi -q -x; a topology comes from NCCL_TOPO_DUMP_FILE";
  return "a topology comes from a run with NCCL_TOPO_DUMP_FILE=topo.xml";
}

}  // namespace

bool looks_like_nccl_topology(std::string_view bytes) {
  if (xml::root_name(bytes) != "system") return false;
  // Others may call their outermost element so; a version or a CPU follows at once in NCCL's.
  constexpr std::size_t kLook = 4096;
  const std::string_view from = bytes.substr(bytes.find("<system"), kLook);
  return from.substr(0, from.find('>')).contains("version=") || from.contains("<cpu");
}

Checked<facts::NcclTopology> read_nccl_topology(Text text) {
  const xml::Document document = RY_TRY(xml::Document::parse(text));
  const Element& root = document.root();
  if (root.name != "system")
    return as_problems(document.problem(document.place(root), "<system>, a topology of NCCL",
                                        "<" + root.name.substr(0, 40) + ">", hint_for(root.name)));
  if (Problems stray = stray_text(document); !stray.empty())
    return std::unexpected(std::move(stray));
  NcclTopology out;
  Reader(document, out).system(root);
  out.stumbles = stumbles_of(text);
  return out;
}

}  // namespace railyard::intake
