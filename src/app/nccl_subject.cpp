#include "app/nccl_subject.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

#include "app/workbench.h"
#include "base/measure.h"
#include "base/text.h"
#include "intake/busbw_csv.h"
#include "intake/nccl_graph_xml.h"
#include "intake/nccl_inspector.h"
#include "intake/nccl_log.h"
#include "intake/nccl_tests_json.h"
#include "intake/nccl_tests_text.h"
#include "intake/nccl_topology_xml.h"
#include "model/nccl/system_builder.h"
#include "model/nccl/topology_of_log.h"
#include "model/nccl/topology_of_server.h"
#include "predict/nccl/explain.h"
#include "report/nccl_log.h"

namespace railyard::app {

namespace {

using predict::nccl::Version;

Problems wrong(std::string expected, const std::string& found, std::string hint = {}) {
  return {Problem{
      .expected = std::move(expected), .found = "'" + found + "'", .hint = std::move(hint)}};
}

std::optional<int> whole(std::string_view text, int low, int high) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < low || out > high)
    return std::nullopt;
  return out;
}

constexpr int kMostNodes = 100'000;

Checked<Version> version_of(const std::string& text) {
  const auto version = predict::nccl::version_named(text);
  if (!version) return std::unexpected(wrong("a version of NCCL, such as 2.28.9", text));
  if (*version < predict::nccl::kOldest)
    return std::unexpected(
        wrong("NCCL 2.18 or newer", text, "the rules of older releases are not in the engine"));
  if (*version > Version{2, 99, 99})
    return std::unexpected(wrong("NCCL 2", text, "2.30 is the newest release that is known here"));
  return *version;
}

predict::nccl::Variable variable_of(std::string_view text, std::size_t equals) {
  return {.name = std::string(text.substr(0, equals)),
          .value = std::string(text.substr(equals + 1))};
}

Checked<NcclVariant> with(NcclVariant out, const std::string& change) {
  const std::size_t equals = change.find('=');
  if (equals == std::string::npos || equals == 0)
    return std::unexpected(wrong(
        "NAME=value", change, "NCCL_ALGO=Ring, nccl=2.30.7, nodes=4, topology=FILE, graph=FILE"));
  const std::string key = change.substr(0, equals), value = change.substr(equals + 1);
  if (key.starts_with("NCCL_")) {
    out.environment.push_back(variable_of(change, equals));
  } else if (key == "nccl") {
    out.version = RY_TRY(version_of(value));
  } else if (key == "nodes") {
    out.nodes = whole(value, 1, kMostNodes);
    if (!out.nodes) return std::unexpected(wrong("a number of nodes", value));
  } else if (key == "topology") {
    out.file = value;
  } else if (key == "graph") {
    out.graph_file = value;
  } else {
    return std::unexpected(wrong("NCCL_..., nccl, nodes, topology or graph before '='", key));
  }
  return out;
}

}  // namespace

Checked<NcclVariant> variant_of(const Given& given) {
  NcclVariant out{.file = given.text("FILE"), .graph_file = given.text("--graph")};
  Problems problems;
  if (given.has("--nodes")) {
    out.nodes = static_cast<int>(given.integer("--nodes"));
    if (*out.nodes < 1 || *out.nodes > kMostNodes)
      problems = wrong(fmt::format("--nodes from 1 to {}", kMostNodes), given.text("--nodes"));
  }
  if (given.has("--nccl")) {
    auto version = version_of(given.text("--nccl"));
    if (version)
      out.version = *version;
    else
      problems.insert(problems.end(), version.error().begin(), version.error().end());
  }
  for (const std::string& text : given.list("--env")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      const Problems more = wrong("--env NAME=value", text);
      problems.insert(problems.end(), more.begin(), more.end());
      continue;
    }
    out.environment.push_back(variable_of(text, equals));
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

Checked<NcclVariant> changed(NcclVariant base, const std::vector<std::string>& changes) {
  for (const std::string& change : changes) base = RY_TRY(with(std::move(base), change));
  return base;
}

namespace {

Checked<model::nccl::System> system_of(const facts::NcclTopology& topology, int hosts = 1) {
  auto system = model::nccl::build_system(topology, hosts);
  if (!system) return as_problems(std::move(system).error());
  return *std::move(system);
}

/// The largest communicator of a log that has a system; of equals the first.
int largest_communicator(const facts::NcclRun& run) {
  int best = -1;
  const auto rank = [&](int c) {
    const facts::NcclCommunicator& comm = run.communicators[static_cast<std::size_t>(c)];
    return std::pair(comm.ranks.value_or(0), comm.system >= 0 ? 1 : 0);
  };
  for (int c = 0; c < static_cast<int>(run.communicators.size()); ++c)
    if (best < 0 || rank(c) > rank(best)) best = c;
  return best;
}

bool says_gpu_direct(const facts::NcclRun& run) {
  for (const facts::NcclGpuDirect& g : run.gpu_direct)
    if (!g.gpu.empty()) return g.enabled;
  for (const facts::NcclGpuDirect& g : run.gpu_direct)
    if (!g.enabled) return false;
  return true;
}

/// What the log says of versions, variables and nodes, unless the command line says otherwise.
Checked<void> open_log(Text text, const NcclVariant& variant, Need need, NcclSubject& out) {
  facts::NcclRun run = intake::read_nccl_log(text);
  const int c = largest_communicator(run);
  const facts::NcclSystem* system = nullptr;
  if (c >= 0 && run.communicators[static_cast<std::size_t>(c)].system >= 0)
    system = &run.systems[static_cast<std::size_t>(
        run.communicators[static_cast<std::size_t>(c)].system)];
  else if (!run.systems.empty())
    system = &run.systems.front();
  const auto logged =
      system ? model::nccl::topology_of(*system, says_gpu_direct(run)) : std::nullopt;
  if (!logged && need == Need::log) {
    out.system_known = false;
    out.log = std::move(run);
    out.communicator = c;
    return {};
  }
  if (!logged)
    return std::unexpected(Problems{
        Problem{.at = {.file = std::string(text.file)},
                .expected = "the lines '=== System : maxBw ...' of NCCL",
                .found = "a log without them",
                .hint = "run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,TUNING, or give "
                        "the file of NCCL_TOPO_DUMP_FILE"}});
  for (const facts::NcclVersion& v : run.versions)
    if (v.rccl)
      return std::unexpected(Problems{Problem{.at = v.at,
                                              .expected = "a log of NVIDIA's NCCL",
                                              .found = "one of RCCL",
                                              .hint = "AMD's rules are not modelled"}});
  out.notes = logged->assumed;
  out.notes.push_back("log: " + report::skipped_text(run));
  out.system = RY_TRY(system_of(logged->topology));
  if (!variant.version && !run.versions.empty())
    if (const auto version = predict::nccl::version_named(run.versions.front().text))
      out.options.version = *version;
  if (!variant.nodes && c >= 0)
    out.options.nodes =
        std::max(1, run.communicators[static_cast<std::size_t>(c)].nodes.value_or(1));
  std::vector<predict::nccl::Variable> environment;
  for (const facts::NcclVariable& v : run.environment)
    environment.push_back({.name = v.name, .value = v.value, .at = v.at});
  environment.insert(environment.end(), variant.environment.begin(), variant.environment.end());
  // Of the log's own variables only those that matter; the rest went without saying.
  out.options.settings = RY_TRY(predict::nccl::read_settings(environment)).settings;
  out.log = std::move(run);
  out.communicator = c;
  return {};
}

/// The graphs of a file, in the indices of the system.
Checked<void> give_graphs(const facts::NcclGraphs& graphs, const std::string& file,
                          NcclSubject& out) {
  Problems problems;
  for (const facts::NcclGraph& g : graphs.graphs) {
    if (g.id < 0 || g.id >= predict::nccl::kGraphs || g.list.empty()) continue;
    auto graph = predict::nccl::empty_graph({g.id, g.pattern}, out.system);
    graph.channels = g.channels;
    graph.intra = static_cast<float>(g.speed_intra);
    graph.inter = static_cast<float>(g.speed_inter);
    graph.latency_inter = static_cast<float>(g.latency_inter);
    graph.cross_nic = g.cross_nic;
    graph.same_channels = g.same_channels;
    for (const auto& [text, type] :
         {std::pair{&g.type_intra, &graph.type_intra}, {&g.type_inter, &graph.type_inter}})
      if (const auto read = predict::nccl::path_type_named(*text)) *type = *read;
    graph.channels = std::min(graph.channels, static_cast<int>(g.list.size()));
    for (int c = 0; c < graph.channels; ++c) {
      const auto& channel = g.list[static_cast<std::size_t>(c)];
      if (const auto wrong_dev = predict::nccl::add_channel(
              graph, {.gpus = channel.gpus, .nets = channel.nets}, out.system))
        problems.push_back({.at = channel.at,
                            .expected = "devices of this system, each GPU once",
                            .found = *wrong_dev,
                            .hint = "NCCL refuses a graph file of another machine"});
    }
    out.options.given[static_cast<std::size_t>(g.id)] = std::move(graph);
  }
  if (graphs.graphs.empty())
    problems.push_back({.at = {.file = file}, .expected = "graphs", .found = "none"});
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return {};
}

/// What the file is instead, where it is something else that we know.
std::optional<Problem> another_format(Text text) {
  Problem out{.at = {.file = std::string(text.file)}, .expected = "a topology, a cluster or a log"};
  if (intake::looks_like_nccl_graph(text.bytes)) {
    out.found = "a graph file of NCCL";
    out.hint = "give it with --graph, beside the topology";
  } else if (intake::looks_like_busbw_csv(text.bytes)) {
    out.found = "a table of measured collectives";
    out.hint = "'railyard nccl calibrate' and 'railyard validate nccl' read it";
  } else if (!intake::looks_like_nccl_log(text.bytes) &&
             (intake::looks_like_nccl_tests_text(text.bytes) ||
              intake::looks_like_nccl_tests_json(text.bytes) ||
              intake::looks_like_nccl_inspector(text.bytes))) {
    out.found = "measurements of collectives";
    out.hint = "'railyard nccl judge' reads them";
  } else {
    return std::nullopt;
  }
  return out;
}

void note_newer(NcclSubject& out) {
  if (out.options.version.minor <= predict::nccl::kNewest.minor) return;
  out.notes.push_back("NCCL " + out.options.version.text() + " is not known here: the rules of " +
                      predict::nccl::kNewest.text() + " stand in");
}

/// A communicator needs two ranks, and a network where they are on several nodes.
std::optional<Problem> cannot_run(const NcclSubject& subject) {
  const int nodes = subject.options.nodes;
  if (static_cast<int>(subject.system.gpus().size()) * nodes < 2)
    return Problem{.at = {.file = subject.shown},
                   .expected = "two GPUs or more",
                   .found = "one",
                   .hint = "one rank has nothing to exchange; --nodes gives several such servers"};
  if (nodes > 1 && subject.system.nets().empty())
    return Problem{.at = {.file = subject.shown},
                   .expected = fmt::format("network devices, for {} nodes", nodes),
                   .found = "none",
                   .hint = "NCCL writes them as <net> below <nic>"};
  return std::nullopt;
}

Checked<void> open_cluster(Workbench bench, const NcclVariant& variant, NcclSubject& out) {
  out.cluster = RY_TRY(bench.cluster(variant.file));
  const int hosts = std::max(1, out.cluster->server.domain_servers);
  out.system = RY_TRY(
      system_of(model::nccl::topology_of(*out.cluster), std::min(hosts, out.cluster->servers)));
  if (!variant.nodes) out.options.nodes = std::max(1, out.cluster->servers / hosts);
  return {};
}

}  // namespace

Checked<NcclSubject> open_subject(const NcclVariant& variant, const Given& given, const Io& io,
                                  std::vector<report::Input>& inputs, Need need) {
  const auto bytes_of = [&](const std::string& path) -> Checked<std::string> {
    auto bytes = read_file(path);
    if (!bytes) return as_problems(std::move(bytes).error());
    inputs.push_back(report::input_of(path, *bytes));
    return *std::move(bytes);
  };
  NcclSubject out{.shown = variant.file};
  out.options.nodes = variant.nodes.value_or(1);
  out.options.version = variant.version.value_or(Version{});
  auto read = RY_TRY(predict::nccl::read_settings(variant.environment));
  out.options.settings = std::move(read.settings);
  for (const std::string& name : read.without_effect)
    out.notes.push_back(name + " has no part in the decision (or is not known here)");

  const std::string bytes = RY_TRY(bytes_of(variant.file));
  if (auto other = another_format({variant.file, bytes})) return as_problems(*std::move(other));
  if (intake::looks_like_nccl_topology(bytes)) {
    const auto topology = RY_TRY(intake::read_nccl_topology({variant.file, bytes}));
    out.system = RY_TRY(system_of(topology));
  } else if (intake::looks_like_nccl_log(bytes)) {
    RY_TRY(open_log({variant.file, bytes}, variant, need, out));
    if (!out.system_known) return out;
  } else {
    Workbench bench = RY_TRY(Workbench::open(given, io));
    RY_TRY(open_cluster(std::move(bench), variant, out));
  }

  if (auto wrong_size = cannot_run(out)) return as_problems(*std::move(wrong_size));
  note_newer(out);

  const std::string graphs =
      variant.graph_file.empty() ? out.options.settings.graph_file : variant.graph_file;
  if (!graphs.empty()) {
    const std::string graph_bytes = RY_TRY(bytes_of(graphs));
    const auto given_graphs = RY_TRY(intake::read_nccl_graph({graphs, graph_bytes}));
    RY_TRY(give_graphs(given_graphs, graphs, out));
  }
  return out;
}

predict::nccl::Platform platform_of(const NcclSubject& subject, const Given& given) {
  using predict::nccl::Network;
  Network network = Network::infiniband;
  if (subject.cluster) {
    switch (subject.cluster->fabric.transport) {
      case model::Transport::infiniband: network = Network::infiniband; break;
      case model::Transport::roce: network = Network::roce; break;
      case model::Transport::efa: network = Network::efa; break;
      case model::Transport::tcp: network = Network::sockets; break;
    }
  }
  if (subject.options.settings.sockets) network = Network::sockets;
  if (given.has("--network"))
    network = predict::nccl::network_named(given.text("--network")).value_or(network);
  auto out = predict::nccl::platform_of(subject.system, subject.options.nodes, network);
  out.nvls &= subject.options.settings.nvls_enable != 0;
  // Forced off, peers copy through host memory whatever the links could do.
  if (subject.options.settings.p2p_level == predict::nccl::PathType::loc) {
    out.inside = out.gpus > 1 ? predict::nccl::Inside::pcie : out.inside;
    out.nvls = false;
    out.peer_to_peer = false;
  }
  return out;
}

Option network_option() {
  return {.name = "--network",
          .value = Value::choice,
          .placeholder = "KIND",
          .summary = "between nodes; default: as the cluster file, or infiniband",
          .choices = {"infiniband", "roce", "efa", "slingshot", "tcpx", "tcpxo", "sockets"}};
}

std::vector<Option> subject_options() {
  return {{.name = "--nodes",
           .value = Value::integer,
           .placeholder = "N",
           .summary = "equal servers; default: as the file has them, or 1"},
          {.name = "--nccl",
           .value = Value::text,
           .placeholder = "VERSION",
           .summary = "release of NCCL, 2.18 to 2.30; default 2.28.9"},
          {.name = "--env",
           .value = Value::text,
           .placeholder = "NAME=VALUE",
           .summary = "an environment variable of NCCL",
           .repeats = true},
          {.name = "--graph",
           .value = Value::file,
           .placeholder = "FILE",
           .summary = "graph file instead of the search (NCCL_GRAPH_FILE)"}};
}

std::vector<Option> size_options() {
  return {{.name = "--minbytes",
           .letter = 'b',
           .value = Value::text,
           .placeholder = "SIZE",
           .summary = "smallest size",
           .fallback = "1K"},
          {.name = "--maxbytes",
           .letter = 'e',
           .value = Value::text,
           .placeholder = "SIZE",
           .summary = "largest size",
           .fallback = "8G"},
          {.name = "--stepfactor",
           .letter = 'f',
           .value = Value::integer,
           .placeholder = "N",
           .summary = "from one size to the next",
           .fallback = "4"}};
}

std::optional<std::int64_t> size_named(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  constexpr std::string_view kLetters = "KMGT";
  int shift = 0;
  if (!unit.empty()) {
    const std::size_t at =
        kLetters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front()))));
    if (at != std::string_view::npos) {
      shift = 10 * (static_cast<int>(at) + 1);
      unit.remove_prefix(1);
      if (unit.starts_with('i')) unit.remove_prefix(1);
    }
  }
  if (!unit.empty() && unit != "B" && unit != "b") return std::nullopt;
  if (number > (std::int64_t{1} << 62 >> shift)) return std::nullopt;
  return number << shift;
}

Checked<std::vector<std::int64_t>> sizes_of(const Given& given) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 44;
  std::int64_t ends[2] = {};
  const char* const names[2] = {"--minbytes", "--maxbytes"};
  for (int i = 0; i < 2; ++i) {
    const auto size = size_named(given.text(names[i]));
    if (!size || *size < 1 || *size > kLargest)
      return std::unexpected(
          wrong(fmt::format("{} as 8, 64K, 1M, 8G (up to 16T)", names[i]), given.text(names[i])));
    ends[i] = *size;
  }
  const std::int64_t factor = given.integer("--stepfactor");
  if (factor < 2 || ends[0] > ends[1])
    return std::unexpected(wrong("--stepfactor of at least 2 and --minbytes not above --maxbytes",
                                 given.text("--stepfactor")));
  return predict::nccl::size_grid(ends[0], ends[1], factor);
}

}  // namespace railyard::app
