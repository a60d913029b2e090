// `railyard compare A B JOB`: two clusters, or two jobs, side by side, and what each change gives.

#include <string>
#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "app/workbench.h"
#include "plan/compare.h"
#include "report/comparison.h"

namespace railyard::app {

namespace {

template <class... Read>
Problems problems_of(const Read&... read) {
  Problems all;
  ((read ? void() : void(all.insert(all.end(), read.error().begin(), read.error().end()))), ...);
  return all;
}

Exit compare(const Given& given, Io& io) {
  auto bench = Workbench::open(given, io);
  if (!bench) return refuse(bench.error(), io);
  auto a = bench->cluster(given.text("A"));
  auto b = bench->cluster(given.text("B"));
  auto job = bench->job(given.text("JOB"));
  auto job_b = given.has("--job-b") ? bench->job(given.text("--job-b")) : job;
  if (!given.has("--job-b")) {
    if (!a || !b || !job) return refuse(problems_of(a, b, job), io);
  } else if (!a || !b || !job || !job_b) {
    return refuse(problems_of(a, b, job, job_b), io);
  }
  const plan::Workload before{*std::move(a), *std::move(job)};
  const plan::Workload after{*std::move(b), *std::move(job_b)};
  const auto comparison = plan::compare(before, after, bench->calibration());
  if (!comparison) return refuse(comparison.error(), io);
  give({.inputs = bench->inputs(),
        .json = [&](json::Writer& out) { report::to_json(*comparison, out); },
        .text =
            [&](int width) {
              return report::to_text(*comparison, {before.cluster, after.cluster}, width);
            },
        .csv = [&] { return report::to_csv(report::table_of(*comparison)); }},
       given, io);
  return comparison->a.fit.fits() && comparison->b.fit.fits() ? Exit::ok : Exit::findings;
}

}  // namespace

std::vector<Command> compare_commands() {
  return {
      {.words = "compare",
       .summary = "two clusters side by side, and the share of each change between them",
       .arguments = {{.name = "A", .summary = "cluster.yaml"},
                     {.name = "B", .summary = "another"},
                     {.name = "JOB", .summary = "the job, as for predict"}},
       .options = {{.name = "--job-b",
                    .value = Value::file,
                    .placeholder = "FILE",
                    .summary = "the job on B, where it is not the same"}},
       .examples = {{"railyard compare before.yaml after.yaml job.yaml", "an upgrade"},
                    {"railyard compare pod.yaml pod.yaml a.yaml --job-b b.yaml", "two layouts"}},
       .exits = {{Exit::findings, "one side does not fit into memory"},
                 {Exit::bad_input, "a file is wrong, or describes what cannot be"}},
       .run = compare}};
}

}  // namespace railyard::app
