// `railyard topo show FILE`: a server as NCCL sees it. `railyard topo lint FILE...`: what is wrong
// with a topology file before NCCL is asked.

#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "app/workbench.h"
#include "base/text.h"
#include "intake/nccl_graph_xml.h"
#include "intake/nccl_topology_xml.h"
#include "judge/topology_lint.h"
#include "model/nccl/topology_of_server.h"
#include "report/nccl_topology.h"
#include "report/nccl_topology_xml.h"
#include "report/topology_lint.h"

namespace railyard::app {

namespace {

struct Topology {
  facts::NcclTopology topology;
  std::vector<report::Input> inputs;
};

/// A topology file, or the server of a cluster file. XML is told by its first character; whatever
/// XML it is, the reader of topologies says what is wrong with it.
Checked<Topology> load(const Given& given, const Io& io) {
  const std::string path = given.text("FILE");
  auto bytes = read_file(path);
  if (!bytes) return as_problems(std::move(bytes).error());
  const std::size_t first = bytes->find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (intake::looks_like_nccl_topology(*bytes) ||
      (first != std::string::npos && (*bytes)[first] == '<'))
    return Topology{.topology = RY_TRY(intake::read_nccl_topology({path, *bytes})),
                    .inputs = {report::input_of(path, *bytes)}};
  Workbench bench = RY_TRY(Workbench::open(given, io));
  const model::Cluster cluster = RY_TRY(bench.cluster(path));
  return Topology{.topology = model::nccl::topology_of(cluster), .inputs = bench.inputs()};
}

Exit show(const Given& given, Io& io) {
  const auto loaded = load(given, io);
  if (!loaded) return refuse(loaded.error(), io);
  if (given.flag("--xml")) {
    io.out(report::to_xml(loaded->topology));
    return Exit::ok;
  }
  give({.inputs = loaded->inputs,
        .json = [&](json::Writer& out) { report::to_json(loaded->topology, out); },
        .text = [&](int width) { return report::to_text(loaded->topology, width); },
        .csv = [&] { return report::to_csv(report::table_of(loaded->topology)); }},
       given, io);
  return Exit::ok;
}

Exit lint(const Given& given, Io& io) {
  const auto catalog = open_catalog(given, io);
  if (!catalog) return refuse(catalog.error(), io);
  report::TopologyFindings findings;
  std::vector<report::Input> inputs;
  Problems problems;
  for (const std::string& path : given.list("FILE")) {
    auto bytes = read_file(path);
    if (!bytes) {
      problems.push_back(std::move(bytes).error());
      continue;
    }
    const auto topology = intake::read_nccl_topology({path, *bytes});
    if (!topology) {
      problems.insert(problems.end(), topology.error().begin(), topology.error().end());
      continue;
    }
    ++findings.files;
    inputs.push_back(report::input_of(path, *bytes));
    for (judge::TopologyFinding& f : judge::lint_topology(*topology, *catalog))
      findings.found.push_back(std::move(f));
  }
  if (!problems.empty()) return refuse(problems, io);
  for (report::Input& i : inputs_of(*catalog)) inputs.push_back(std::move(i));
  give({.inputs = std::move(inputs),
        .json = [&](json::Writer& out) { report::to_json(findings, out); },
        .text = [&](int width) { return report::to_text(findings, width); },
        .csv = [&] { return report::to_csv(report::table_of(findings)); }},
       given, io);
  const int severe = findings.count(judge::TopologySeverity::error) +
                     findings.count(judge::TopologySeverity::warning);
  return severe > 0 ? Exit::findings : Exit::ok;
}

}  // namespace

std::vector<Command> topo_commands() {
  return {{.words = "topo show",
           .summary = "a server as NCCL sees it: every device and link",
           .arguments = {{.name = "FILE",
                          .summary = "a topology file (NCCL_TOPO_DUMP_FILE), or cluster.yaml"}},
           .options = {{.name = "--xml", .summary = "write the file that NCCL_TOPO_FILE takes"}},
           .examples = {{"railyard topo show topo.xml", "what NCCL found on a server"},
                        {"railyard topo show cluster.yaml --xml > topo.xml",
                         "what it would find on a server that is not built yet"}},
           .exits = {{Exit::bad_input, "the file is neither, or broken"}},
           .run = show},
          {.words = "topo lint",
           .summary = "what is wrong or suspicious in topology files of NCCL",
           .arguments = {{.name = "FILE", .summary = "topology files", .repeats = true}},
           .examples = {{"railyard topo lint topo.xml", "before NCCL_TOPO_FILE=topo.xml"},
                        {"railyard topo lint *.xml --format csv", "of a whole fleet"}},
           .exits = {{Exit::findings, "there are errors or warnings"},
                     {Exit::bad_input, "a file is no topology, or broken"}},
           .run = lint}};
}

}  // namespace railyard::app
