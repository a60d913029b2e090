#include "report/nccl_topology.h"

#include <fmt/format.h>

#include <vector>

#include "model/nccl/system.h"
#include "predict/explain.h"
#include "report/tree.h"

namespace railyard::report {

namespace {

using facts::NcclCpu;
using facts::NcclGpu;
using facts::NcclNet;
using facts::NcclNic;
using facts::NcclPci;
using facts::NcclTopology;
using predict::Term;

constexpr double kGiga = 1e9;

/// A line of the tree and a row of the table.
struct Node {
  std::string kind = {}, id = {}, name = {};
  std::string link = {};  ///< as the file has it: "32.0 GT/s PCIe"
  std::optional<int> width = {};
  double gb_per_s = 0;  ///< as NCCL counts; 0: no link
  std::string note = {};
  int line = 0;
  std::vector<Node> children = {};
};

struct Counts {
  int cpus = 0, gpus = 0, nets = 0;
};

std::string counted(int n, const char* one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

class Forest {
 public:
  explicit Forest(const NcclTopology& topology) : rccl_(topology.rccl) {
    for (const NcclCpu& c : topology.cpus) cpu(c);
  }

  const std::vector<Node>& nodes() const { return nodes_; }
  const Counts& counts() const { return counts_; }

 private:
  void cpu(const NcclCpu& c) {
    const int number = c.numaid.value_or(counts_.cpus);
    ++counts_.cpus;
    Node node{.kind = "cpu", .id = "cpu " + std::to_string(number), .line = c.at.line};
    node.name = "CPU " + std::to_string(number);
    node.note = c.vendor.value_or("").empty() ? c.arch : *c.vendor;
    if (c.family && c.model) node.note += fmt::format(" family {} model {}", *c.family, *c.model);
    for (const NcclPci& p : c.pci) node.children.push_back(device(p));
    for (const NcclNic& n : c.nics) nic(n, node);
    nodes_.push_back(std::move(node));
  }

  static std::string kind_of(const NcclPci& p) {
    if (p.gpu || p.device_class.starts_with("0x03")) return "gpu";
    if (!p.nics.empty() || p.device_class.starts_with("0x02")) return "nic";
    if (p.device_class.starts_with("0x068000")) return "nvswitch";
    return p.device_class.empty() && p.below.empty() ? "device" : "switch";
  }

  Node device(const NcclPci& p) {
    Node node{.kind = kind_of(p), .id = p.busid, .link = p.link_speed, .line = p.at.line};
    node.width = p.link_width;
    // A static file may leave both to NCCL, which asks the machine.
    const bool left_open = p.link_speed.empty() && !p.link_width;
    if (!left_open)
      node.gb_per_s = model::nccl::pcie_gb_per_s(p.link_speed, p.link_width.value_or(0));
    std::string title = node.kind;
    if (node.kind == "gpu") {
      ++counts_.gpus;
      title = p.gpu && p.gpu->dev ? "GPU " + std::to_string(*p.gpu->dev) : "GPU";
    } else if (node.kind == "nic") {
      title = "NIC";
    }
    node.name = title + "  " + p.busid;
    if (left_open) {
      node.note = "link as the machine says";
    } else {
      node.note = p.link_speed.empty() ? "speed not known" : p.link_speed;
      node.note += p.link_width.value_or(0) > 0 ? fmt::format(" x{}", *p.link_width)
                                                : std::string(", width not known");
    }
    if (p.gpu) gpu(*p.gpu, node);
    for (const NcclPci& below : p.below) node.children.push_back(device(below));
    for (const NcclNic& n : p.nics) nic(n, node);
    for (const auto& link : p.pcilinks)
      node.children.push_back({.kind = "pcilink",
                               .id = p.busid + " to " + link.second,
                               .name = "link to switch " + link.second,
                               .line = link.first.line});
    return node;
  }

  void gpu(const NcclGpu& g, Node& node) const {
    if (g.sm) node.note += fmt::format(", sm {}", *g.sm);
    if (g.gcn) node.note += ", " + *g.gcn;
    if (g.rank) node.note += fmt::format(", rank {}", *g.rank);
    const float one = model::nccl::nvlink_gb_per_s(g.sm.value_or(0));
    for (const facts::NcclNvlink& n : g.nvlinks) {
      const bool to_switch = n.target_class == "0x068000" || n.target.starts_with("fffffff");
      Node link{.kind = "nvlink", .id = node.id + " to " + n.target, .line = n.at.line};
      const std::string name = rccl_ ? "xGMI" : "NVLink";
      link.name = name + " to " + (to_switch ? "NVSwitch" : n.target);
      link.width = n.count;
      link.note = counted(n.count, "link");
      if (!rccl_) {  // RCCL has constants of its own
        link.gb_per_s = static_cast<double>(one) * n.count;
        link.note += fmt::format(" x {:.4g} GB/s", one);
      }
      node.children.push_back(std::move(link));
    }
    for (const facts::NcclC2c& c : g.c2c)
      node.children.push_back({.kind = "c2c",
                               .id = node.id + " c2c",
                               .name = "C2C to its CPU",
                               .width = c.count,
                               .gb_per_s = c.bandwidth_mbps * 1e-3 * c.count,
                               .note = fmt::format("{} links x {} MB/s", c.count, c.bandwidth_mbps),
                               .line = c.at.line});
  }

  void nic(const NcclNic& n, Node& parent) {
    for (const NcclNet& net : n.nets) {
      ++counts_.nets;
      // What NCCL takes where there is no speed. [NCCL 2.28: src/graph/topo.cc]
      constexpr int kUnknownMbps = 10000;
      const int given = net.speed_mbps.value_or(0);
      Node node{.kind = "net", .id = net.name, .line = net.at.line};
      if (node.id.empty()) node.id = "net " + std::to_string(net.dev.value_or(0));
      node.name = net.dev ? fmt::format("net {}  {}", *net.dev, net.name) : net.name;
      node.gb_per_s = (given > 0 ? given : kUnknownMbps) / 8000.0;
      node.note = given > 0 ? fmt::format("{:.4g} Gb/s", given / 1000.0)
                            : std::string("no speed: 10 Gb/s assumed");
      if (net.port) node.note += fmt::format(", port {}", *net.port);
      if (net.gdr) node.note += *net.gdr != 0 ? ", GPUDirect" : ", no GPUDirect";
      parent.children.push_back(std::move(node));
    }
  }

  bool rccl_;
  std::vector<Node> nodes_ = {};
  Counts counts_ = {};
};

Term term_of(const Node& node) {
  Term out{.name = node.name, .formula = node.note};
  if (node.gb_per_s > 0) {
    out.value = fmt::format("{:.4g} GB/s", node.gb_per_s);
    out.number = node.gb_per_s * kGiga;
    out.unit = "B/s";
  }
  for (const Node& child : node.children) out.children.push_back(term_of(child));
  return out;
}

void add_rows(const Node& node, const std::string& parent, Table& out) {
  out.add({Cell(node.kind), Cell(node.id), Cell(parent),
           node.link.empty() ? Cell() : Cell(node.link), node.width ? Cell(*node.width) : Cell(),
           node.gb_per_s > 0 ? Cell(node.gb_per_s) : Cell(), Cell(node.note),
           node.line > 0 ? Cell(node.line) : Cell()});
  for (const Node& child : node.children) add_rows(child, node.id, out);
}

}  // namespace

std::string to_text(const NcclTopology& topology, int width) {
  const Forest forest(topology);
  const Counts& n = forest.counts();
  Term root{.name = "server", .value = "NCCL counts"};
  root.formula = counted(n.cpus, "CPU") + ", " + counted(n.gpus, "GPU") + ", " +
                 counted(n.nets, "network device") + (topology.rccl ? "; RCCL's dialect" : "");
  for (const Node& node : forest.nodes()) root.children.push_back(term_of(node));
  std::string out = to_text(root, {.width = width});
  for (const facts::Skipped& s : topology.skipped)
    out += fmt::format("passed over: {} x {} ({})\n", s.count, s.what, s.hint);
  return out;
}

Table table_of(const NcclTopology& topology) {
  Table out{.columns = {{"kind", "kind"},
                        {"id", "id"},
                        {"parent", "in", Align::left, 2},
                        {"link_speed", "speed", Align::left, 1},
                        {"links", "width", Align::right, 1},
                        {"nccl_gb_per_s", "GB/s", Align::right},
                        {"what", "what", Align::left, 3},
                        {"line", "line", Align::right, 4}},
            .rows = {}};
  const Forest forest(topology);
  for (const Node& node : forest.nodes()) add_rows(node, "", out);
  return out;
}

void to_json(const NcclTopology& topology, json::Writer& out) {
  const Forest forest(topology);
  out.begin_object().field("version", topology.version).field("rccl", topology.rccl);
  out.field("cpus", forest.counts().cpus).field("gpus", forest.counts().gpus);
  out.field("net_devices", forest.counts().nets);
  to_json(table_of(topology), out.key("devices"));
  out.key("skipped").begin_array();
  for (const facts::Skipped& s : topology.skipped)
    out.begin_object().field("what", s.what).field("count", s.count).end_object();
  out.end_array().end_object();
}

}  // namespace railyard::report
