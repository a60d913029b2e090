// Fidelity of the NCCL engine: a real log reproduced line by line, and the time law against
// published measurements. Each test prints its number as `bar: what | measured | at least | aim`,
// and fails when a number that was reached is lost.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "base/text.h"
#include "intake/busbw_csv.h"
#include "intake/nccl_log.h"
#include "intake/nccl_topology_xml.h"
#include "judge/validate_nccl.h"
#include "model/nccl/system_builder.h"
#include "model/nccl/topology_of_log.h"
#include "predict/nccl/communicator.h"
#include "predict/nccl/priors.h"
#include "support/support.h"

namespace railyard::predict::nccl {
namespace {

#define NEEDS_SHARED(path) \
  if (test::shared(path).empty()) GTEST_SKIP() << "no shared data: " path

facts::NcclRun log_of(const std::string& relative) {
  const std::string path = test::shared(relative);
  const std::string bytes = read_file(path).value();
  return intake::read_nccl_log({path, bytes});
}

/// Two H200, NVLS off, rebuilt from nothing but the lines of their log.
Communicator rebuilt(const facts::NcclRun& run) {
  const auto logged = model::nccl::topology_of(run.systems.at(0), true).value();
  CommunicatorOptions options{.version = version_named(run.versions.at(0).text).value()};
  std::vector<Variable> environment;
  for (const facts::NcclVariable& v : run.environment)
    environment.push_back({.name = v.name, .value = v.value});
  options.settings = read_settings(environment).value().settings;
  return set_up(model::nccl::build_system(logged.topology).value(), options);
}

TEST(NcclLog, TheTuningTableOfTheLog) {
  NEEDS_SHARED("data/h200/nccl_debug.txt");
  const facts::NcclRun run = log_of("data/h200/nccl_debug.txt");
  const Communicator comm = rebuilt(run);
  int equal = 0, cells = 0;
  for (const facts::NcclCommunicator& c : run.communicators)
    for (const facts::NcclTuningCell& printed : c.tuning) {
      if (printed.bandwidth_gbs == 0) continue;  // not to be chosen
      ++cells;
      const Cell& cell =
          comm.table[static_cast<std::size_t>(function_named(printed.collective).value())]
                    [static_cast<std::size_t>(algorithm_named(printed.algorithm).value())]
                    [static_cast<std::size_t>(protocol_named(printed.protocol).value())];
      const bool same = std::abs(cell.latency_us - printed.latency_us) <= 0.051 &&
                        std::abs(cell.gb_per_s - printed.bandwidth_gbs) <= 0.051;
      equal += same;
      EXPECT_TRUE(same) << printed.collective << ' ' << printed.algorithm << ' '
                        << printed.protocol;
    }
  std::printf("bar: %-55s %d of %d  at least all  aim all\n", "log of two H200: cells of the table",
              equal, cells);
  EXPECT_EQ(cells, 18);
}

TEST(NcclLog, TheGraphsAndChannelsOfTheLog) {
  NEEDS_SHARED("data/h200/nccl_debug.txt");
  const facts::NcclRun run = log_of("data/h200/nccl_debug.txt");
  const Communicator comm = rebuilt(run);
  // The log names GPUs by bus id.
  const auto logged = model::nccl::topology_of(run.systems.at(0), true).value();
  const auto system = model::nccl::build_system(logged.topology).value();
  std::map<std::int64_t, int> index;
  for (std::size_t g = 0; g < system.gpus().size(); ++g)
    index[system.nodes[system.gpus()[g]].id] = static_cast<int>(g);
  int graphs = 0;
  for (const facts::NcclGraph& printed : run.communicators.at(0).graphs) {
    const Graph& graph = comm.graphs[static_cast<std::size_t>(printed.id)];
    EXPECT_EQ(graph.channels, printed.channels);
    EXPECT_FLOAT_EQ(graph.intra, static_cast<float>(printed.speed_intra));
    EXPECT_EQ(name(graph.type_intra), printed.type_intra);
    EXPECT_EQ(static_cast<int>(graph.pattern), printed.pattern);
    ASSERT_EQ(printed.list.size(), static_cast<std::size_t>(graph.channels));
    for (int c = 0; c < graph.channels; ++c)
      for (int step = 0; step < graph.gpus; ++step)
        EXPECT_EQ(
            graph.gpu(c, step),
            index.at(
                printed.list[static_cast<std::size_t>(c)].gpus[static_cast<std::size_t>(step)]));
    ++graphs;
  }
  EXPECT_EQ(graphs, 2);
  EXPECT_EQ(comm.channels, run.communicators.at(0).coll_channels);
  std::printf("bar: %-55s %d of 2  at least all  aim all\n", "log of two H200: graphs", graphs);
}

TEST(NcclLog, TheChoicesOfTheLog) {
  NEEDS_SHARED("data/h200/nccl_debug.txt");
  const facts::NcclRun run = log_of("data/h200/nccl_debug.txt");
  const Communicator comm = rebuilt(run);
  int equal = 0;
  for (const facts::NcclCall& call : run.calls) {
    const Choice choice =
        choose(comm, function_named(call.collective).value(), static_cast<std::int64_t>(call.bytes))
            .value();
    const bool same = algorithm_named(call.algorithm) == choice.pick.algorithm &&
                      protocol_named(call.protocol) == choice.pick.protocol &&
                      call.first_channel == 0 && call.last_channel == choice.used - 1;
    equal += same;
    EXPECT_TRUE(same) << call.bytes;
  }
  std::printf("bar: %-55s %d of %zu  at least all  aim all\n",
              "log of two H200: choice and channels by size", equal, run.calls.size());
  EXPECT_EQ(run.calls.size(), 6u);
}

// A topology that a log was turned into gives what the file of the same machine gives.
TEST(NcclLog, ItsSystemIsThatOfTheTopologyFile) {
  NEEDS_SHARED("data/h200/nccl_topo.xml");
  const std::string path = test::shared("data/h200/nccl_topo.xml");
  const std::string bytes = read_file(path).value();
  CommunicatorOptions options;
  options.settings.nvls_enable = 0;
  const Communicator file =
      set_up(model::nccl::build_system(intake::read_nccl_topology({path, bytes}).value()).value(),
             options);
  const Communicator log = rebuilt(log_of("data/h200/nccl_debug.txt"));
  for (int id = 0; id < kGraphs; ++id)
    EXPECT_EQ(file.graphs[static_cast<std::size_t>(id)].order,
              log.graphs[static_cast<std::size_t>(id)].order);
  EXPECT_EQ(file.channels, log.channels);
}

void bar(const char* what, double measured, double least, double aim) {
  std::printf("bar: %-62s %6.2f %%  at least %5.1f %%  aim %5.1f %%\n", what, 100 * measured,
              100 * least, 100 * aim);
}

TEST(NcclTime, PublishedMeasurementsLeavingOneSystemOut) {
  const std::string path = test::repository("validation/nccl_busbw.csv");
  const std::string bytes = read_file(path).value();
  const auto rows = intake::read_busbw_csv({path, bytes}).value().rows;
  const Priors priors = load_priors(test::repository("catalog/nccl_priors.yaml")).value();
  const judge::NcclValidation v = judge::validate_nccl(
      rows, rows, priors, model::load_catalog(test::repository("catalog")).value());
  bar("nccl_busbw, system left out, 32 MiB and above: within 10 %", v.within_10pct, 0.75, 0.85);
  bar("nccl_busbw, system left out, 64 KiB to 32 MiB: inside the band", v.inside_band, 0.80, 0.90);
  std::printf("bar: %-62s %6.2f    at most x2\n", "width of that band", v.widest_band);
  bar("nccl_busbw: pathological rows flagged (mean of sources)", v.flagged_pathological, 0.80,
      0.95);
  bar("nccl_busbw: healthy rows flagged (lower is better)", v.flagged_healthy, 0.05, 0.02);
  EXPECT_GE(v.within_10pct, 0.85);
  EXPECT_GE(v.inside_band, 0.82);
  EXPECT_LE(v.widest_band, 2);
  EXPECT_GE(v.flagged_pathological, 0.95);
  EXPECT_LE(v.flagged_healthy, 0.025);
  for (const judge::NcclRow& r : v.rows) EXPECT_TRUE(r.error || !r.reason.empty()) << r.at.line;
}

}  // namespace
}  // namespace railyard::predict::nccl
