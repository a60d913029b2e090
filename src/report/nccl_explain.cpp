#include "report/nccl_explain.h"

#include <fmt/format.h>

#include "base/measure.h"

namespace railyard::report {

namespace {

using predict::nccl::Algorithm;
using predict::nccl::Choice;
using predict::nccl::Communicator;
using predict::nccl::Crossover;
using predict::nccl::FunctionStory;
using predict::nccl::Graph;
using predict::nccl::GraphId;
using predict::nccl::NetUse;
using predict::nccl::Protocol;
using predict::nccl::SizeChoice;

const Graph& graph(const Communicator& comm, GraphId id) {
  return comm.graphs[static_cast<std::size_t>(id)];
}

std::string speed(float gb_per_s) { return fmt::format("{:g}", gb_per_s); }

std::string channel_order(const Graph& g, int channel) {
  std::string out;
  if (g.net(channel, 0) >= 0) out += fmt::format("NET {} > ", g.net(channel, 0));
  const int steps = g.pattern == predict::nccl::Pattern::nvls ? 1 : g.gpus;
  for (int step = 0; step < steps; ++step)
    out += fmt::format("{}{}", step ? " " : "", g.gpu(channel, step));
  if (g.net(channel, 1) >= 0) out += fmt::format(" > NET {}", g.net(channel, 1));
  return out;
}

/// Channels that run alike share a line: "0-5".
void add_orders(const Graph& g, std::string& out) {
  for (int c = 0; c < g.channels;) {
    const std::string order = channel_order(g, c);
    int last = c;
    while (last + 1 < g.channels && channel_order(g, last + 1) == order) ++last;
    out += fmt::format("      {:>5}  {}\n",
                       last == c ? fmt::format("{}", c) : fmt::format("{}-{}", c, last), order);
    c = last + 1;
  }
}

std::string graphs_text(const Communicator& comm) {
  std::string out;
  for (int id = 0; id < predict::nccl::kGraphs; ++id) {
    const Graph& g = comm.graphs[static_cast<std::size_t>(id)];
    if (g.channels == 0) continue;
    out += fmt::format("  {:<14} {:>2} x {} GB/s inside", name(static_cast<GraphId>(id)),
                       g.channels, speed(g.intra));
    out += comm.inputs.nodes > 1
               ? fmt::format(" ({}), {} GB/s between nodes (NIC at {})", name(g.type_intra),
                             speed(g.inter), name(g.type_inter))
               : fmt::format(" ({})", name(g.type_intra));
    if (g.cross_nic != 0) out += ", crosses NICs";
    out += '\n';
    add_orders(g, out);
  }
  return out;
}

std::string networks_text(const std::vector<NetUse>& uses) {
  std::string out;
  for (const NetUse& use : uses) {
    std::string nets;
    for (const int n : use.nets) nets += fmt::format("{}{}", nets.empty() ? "" : ", ", n);
    out += fmt::format("  GPU {:<3} NET {} ({}){}{}\n", use.dev, nets, name(use.type),
                       use.gpu_direct ? ", GPUDirect RDMA" : ", through the host",
                       use.sharing > 1 ? fmt::format(", shared by {} GPUs", use.sharing) : "");
  }
  return out;
}

Cell margin(const Choice& choice) {
  if (choice.others.empty()) return {};
  const double ratio = choice.others.front().time_us / choice.pick.time_us - 1;
  return {ratio, fmt::format("+{}", show_percent(ratio))};
}

std::string crossovers_text(const FunctionStory& f) {
  std::string out;
  for (const Crossover& c : f.crossovers)
    out += fmt::format("  {} -> {} at {}\n", show(c.before), show(c.after), show_size(c.bytes));
  return out;
}

Table choices_of(const FunctionStory& f, bool with_function) {
  Table out;
  if (with_function) out.columns.push_back({.key = "collective", .title = "collective"});
  out.columns.push_back({.key = "bytes", .title = "size", .align = Align::right});
  out.columns.push_back({.key = "algorithm", .title = "algorithm"});
  out.columns.push_back({.key = "protocol", .title = "protocol"});
  out.columns.push_back({.key = "channels", .title = "channels", .align = Align::right});
  out.columns.push_back(
      {.key = "channels_used", .title = "used", .align = Align::right, .priority = 1});
  out.columns.push_back(
      {.key = "threads", .title = "threads", .align = Align::right, .priority = 2});
  out.columns.push_back({.key = "estimate_us", .title = "NCCL's us", .align = Align::right});
  out.columns.push_back({.key = "next", .title = "next best", .priority = 1});
  out.columns.push_back({.key = "margin", .title = "margin", .align = Align::right, .priority = 1});
  for (const SizeChoice& s : f.sizes) {
    std::vector<Cell> row;
    if (with_function) row.emplace_back(name(f.function));
    row.emplace_back(static_cast<double>(s.bytes), show_size(s.bytes));
    if (s.choice) {
      const Choice& c = *s.choice;
      row.insert(row.end(), {Cell(name(c.pick.algorithm)), Cell(name(c.pick.protocol)),
                             Cell(c.channels), Cell(c.used), Cell(c.threads),
                             Cell(c.pick.time_us, show_number(c.pick.time_us, 4)),
                             c.others.empty() ? Cell() : Cell(show(c.others.front())), margin(c)});
    } else {
      row.insert(row.end(),
                 {Cell("none usable"), Cell(), Cell(), Cell(), Cell(), Cell(), Cell(), Cell()});
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

void graph_to_json(const Graph& g, GraphId id, json::Writer& out) {
  out.begin_object()
      .field("graph", name(id))
      .field("pattern", static_cast<int>(g.pattern))
      .field("channels", g.channels)
      .field("intra_gb_per_s", double{g.intra})
      .field("inter_gb_per_s", double{g.inter})
      .field("type_intra", name(g.type_intra))
      .field("type_inter", name(g.type_inter))
      .field("cross_nic", g.cross_nic)
      .field("same_channels", g.same_channels);
  out.key("order").begin_array();
  for (int c = 0; c < g.channels; ++c) {
    out.begin_object();
    if (g.net(c, 0) >= 0) out.field("net_in", g.net(c, 0)).field("net_out", g.net(c, 1));
    out.key("gpus").begin_array();
    const int steps = g.pattern == predict::nccl::Pattern::nvls ? 1 : g.gpus;
    for (int step = 0; step < steps; ++step) out.value(g.gpu(c, step));
    out.end_array().end_object();
  }
  out.end_array().end_object();
}

void table_to_json(const Communicator& comm, json::Writer& out) {
  out.begin_array();
  for (int f = 0; f < predict::nccl::kFunctions; ++f)
    for (int a = 0; a < predict::nccl::kAlgorithms; ++a)
      for (int p = 0; p < predict::nccl::kProtocols; ++p) {
        const auto& cell = comm.table[static_cast<std::size_t>(f)][static_cast<std::size_t>(a)]
                                     [static_cast<std::size_t>(p)];
        if (cell.gb_per_s <= 0) continue;
        out.begin_object()
            .field("collective", name(static_cast<predict::nccl::Function>(f)))
            .field("algorithm", name(static_cast<Algorithm>(a)))
            .field("protocol", name(static_cast<Protocol>(p)))
            .field("latency_us", cell.latency_us)
            .field("algbw_gb_per_s", cell.gb_per_s)
            .end_object();
      }
  out.end_array();
}

void choices_to_json(const FunctionStory& f, json::Writer& out) {
  out.begin_object().field("collective", name(f.function));
  out.key("sizes").begin_array();
  for (const SizeChoice& s : f.sizes) {
    out.begin_object().field("bytes", s.bytes);
    if (s.choice) {
      const Choice& c = *s.choice;
      out.field("algorithm", name(c.pick.algorithm))
          .field("protocol", name(c.pick.protocol))
          .field("channels", c.channels)
          .field("channels_used", c.used)
          .field("threads", c.threads)
          .field("estimate_us", c.pick.time_us);
      out.key("others").begin_array();
      for (const auto& other : c.others)
        out.begin_object()
            .field("algorithm", name(other.algorithm))
            .field("protocol", name(other.protocol))
            .field("estimate_us", other.time_us)
            .end_object();
      out.end_array();
    } else {
      out.key("algorithm").null();
    }
    out.end_object();
  }
  out.end_array();
  out.key("crossovers").begin_array();
  for (const Crossover& c : f.crossovers)
    out.begin_object()
        .field("bytes", c.bytes)
        .field("before", show(c.before))
        .field("after", show(c.after))
        .end_object();
  out.end_array().end_object();
}

std::string heading(const NcclStory& s) {
  return fmt::format("NCCL {} on {} GPU{} in {} node{}: {}\n", s.comm.options.version.text(),
                     s.comm.ranks(), s.comm.ranks() == 1 ? "" : "s", s.comm.nodes(),
                     s.comm.nodes() == 1 ? "" : "s", s.subject);
}

std::string channels_text(const Communicator& comm) {
  std::string out = fmt::format("channels: {} for rings and trees", comm.channels);
  if (comm.nvls_channels > 0) out += fmt::format(", {} for NVLS", comm.nvls_channels);
  return out + '\n';
}

bool alike(const Graph& a, const Graph& b) {
  return a.channels == b.channels && a.intra == b.intra && a.inter == b.inter &&
         a.type_intra == b.type_intra && a.type_inter == b.type_inter && a.pattern == b.pattern;
}

std::string in_short(const Graph& g) {
  if (g.channels == 0) return "none";
  return fmt::format("{} x {}/{} GB/s {}/{}", g.channels, speed(g.intra), speed(g.inter),
                     name(g.type_intra), name(g.type_inter));
}

}  // namespace

std::string show_size(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::string show(const predict::nccl::Candidate& candidate) {
  return fmt::format("{} {}", name(candidate.algorithm), name(candidate.protocol));
}

Table choices_of(const NcclStory& story) {
  Table out;
  for (const FunctionStory& f : story.functions) {
    Table part = choices_of(f, true);
    out.columns = std::move(part.columns);
    for (auto& row : part.rows) out.rows.push_back(std::move(row));
  }
  return out;
}

std::string to_text(const NcclStory& story, int width) {
  std::string out =
      heading(story) + channels_text(story.comm) + "\ngraphs\n" + graphs_text(story.comm);
  if (story.comm.nodes() > 1 && !story.networks.empty())
    out += "\nnetwork devices\n" + networks_text(story.networks);
  for (const FunctionStory& f : story.functions) {
    out += fmt::format("\n{}\n", name(f.function)) + to_text(choices_of(f, false), width);
    out += crossovers_text(f);
  }
  out += '\n';
  for (const std::string& remark : story.remarks) out += remark + '\n';
  return out;
}

void to_json(const NcclStory& story, json::Writer& out) {
  const Communicator& comm = story.comm;
  out.begin_object()
      .field("subject", story.subject)
      .field("nccl", comm.options.version.text())
      .field("ranks", comm.ranks())
      .field("nodes", comm.nodes())
      .field("channels", comm.channels)
      .field("nvls_channels", comm.nvls_channels);
  out.key("graphs").begin_array();
  for (int id = 0; id < predict::nccl::kGraphs; ++id)
    if (comm.graphs[static_cast<std::size_t>(id)].channels > 0)
      graph_to_json(comm.graphs[static_cast<std::size_t>(id)], static_cast<GraphId>(id), out);
  out.end_array();
  table_to_json(comm, out.key("table"));
  out.key("collectives").begin_array();
  for (const FunctionStory& f : story.functions) choices_to_json(f, out);
  out.end_array();
  out.key("networks").begin_array();
  for (const NetUse& use : story.networks) {
    out.begin_object().field("gpu", use.dev).field("type", name(use.type));
    out.field("gpu_direct", use.gpu_direct).field("sharing", use.sharing);
    out.key("nets").begin_array();
    for (const int n : use.nets) out.value(n);
    out.end_array().end_object();
  }
  out.end_array();
  out.key("remarks").begin_array();
  for (const std::string& remark : story.remarks) out.value(remark);
  out.end_array().end_object();
}

Table differences_of(const NcclComparison& comparison) {
  Table out;
  out.columns = {{.key = "collective", .title = "collective"},
                 {.key = "bytes", .title = "size", .align = Align::right},
                 {.key = "before", .title = "before"},
                 {.key = "before_us", .title = "NCCL's us", .align = Align::right},
                 {.key = "after", .title = "after"},
                 {.key = "after_us", .title = "NCCL's us", .align = Align::right},
                 {.key = "change", .title = "change", .align = Align::right}};
  // "Ring LL x22": with the channels that get work.
  const auto shown = [](const std::optional<Choice>& c) {
    return c ? fmt::format("{} x{}", show(c->pick), c->used) : std::string("none usable");
  };
  for (std::size_t f = 0; f < comparison.a.functions.size(); ++f)
    for (std::size_t s = 0; s < comparison.a.functions[f].sizes.size(); ++s) {
      const SizeChoice &x = comparison.a.functions[f].sizes[s],
                       &y = comparison.b.functions[f].sizes[s];
      if (shown(x.choice) == shown(y.choice) && x.choice &&
          x.choice->pick.time_us == y.choice->pick.time_us)
        continue;
      std::vector<Cell> row{Cell(name(comparison.a.functions[f].function)),
                            Cell(static_cast<double>(x.bytes), show_size(x.bytes))};
      for (const SizeChoice* side : {&x, &y}) {
        row.emplace_back(shown(side->choice));
        row.push_back(side->choice ? Cell(side->choice->pick.time_us,
                                          show_number(side->choice->pick.time_us, 4))
                                   : Cell());
      }
      if (x.choice && y.choice) {
        const double ratio = y.choice->pick.time_us / x.choice->pick.time_us - 1;
        row.emplace_back(ratio, fmt::format("{}{}", ratio >= 0 ? "+" : "", show_percent(ratio)));
      } else {
        row.emplace_back();
      }
      out.rows.push_back(std::move(row));
    }
  return out;
}

std::string to_text(const NcclComparison& comparison, int width) {
  const Communicator &a = comparison.a.comm, &b = comparison.b.comm;
  std::string out = heading(comparison.a) + fmt::format("against: {}\n\n", comparison.change);
  bool any = false;
  for (int id = 0; id < predict::nccl::kGraphs; ++id) {
    const Graph &x = graph(a, static_cast<GraphId>(id)), &y = graph(b, static_cast<GraphId>(id));
    if (alike(x, y)) continue;
    any = true;
    out += fmt::format("  {:<14} {}  ->  {}\n", name(static_cast<GraphId>(id)), in_short(x),
                       in_short(y));
  }
  if (a.channels != b.channels || a.nvls_channels != b.nvls_channels) {
    any = true;
    out += fmt::format("  channels       {} + {} NVLS  ->  {} + {} NVLS\n", a.channels,
                       a.nvls_channels, b.channels, b.nvls_channels);
  }
  const Table differences = differences_of(comparison);
  if (any) out += '\n';
  out += differences.rows.empty() ? "the same choice and estimate at every size\n"
                                  : to_text(differences, width);
  out += "\nNCCL's us is its own estimate, which decides; 'nccl expect' says how long it takes\n";
  return out;
}

void to_json(const NcclComparison& comparison, json::Writer& out) {
  out.begin_object().field("change", comparison.change);
  to_json(comparison.a, out.key("before"));
  to_json(comparison.b, out.key("after"));
  to_json(differences_of(comparison), out.key("differences"));
  out.end_object();
}

}  // namespace railyard::report
