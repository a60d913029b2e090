// `railyard predict CLUSTER JOB`: what a training step does on a cluster, and what holds it back.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "app/workbench.h"
#include "base/text.h"
#include "predict/explain_step.h"
#include "predict/outlook.h"
#include "predict/step_timeline.h"
#include "report/prediction.h"
#include "report/step_trace.h"
#include "report/tree.h"

namespace railyard::app {

namespace {

/// The mistakes of both files, in one go.
Problems problems_of(const Checked<model::Cluster>& cluster, const Checked<model::Job>& job) {
  Problems out;
  if (!cluster) out = cluster.error();
  if (!job) out.insert(out.end(), job.error().begin(), job.error().end());
  return out;
}

/// Writes the timeline; Exit::output when that cannot be done.
Exit write_trace(const std::string& path, const predict::Outlook& outlook,
                 const predict::Calibration& calibration, Io& io) {
  const predict::StepModel model(outlook.machine, calibration);
  const predict::StepTimeline timeline =
      predict::step_timeline(outlook.job, model, outlook.prediction, outlook.pieces);
  if (const auto written = write_file(path, report::chrome_trace(timeline, outlook.job.name));
      !written) {
    io.err(written.error().text() + '\n');
    return Exit::output;
  }
  io.err("the timeline is in " + path + "; it opens in ui.perfetto.dev\n");
  return Exit::ok;
}

Exit predict_step(const Given& given, Io& io) {
  auto bench = Workbench::open(given, io);
  if (!bench) return refuse(bench.error(), io);
  const auto cluster = bench->cluster(given.text("CLUSTER"));
  auto job = bench->job(given.text("JOB"));
  if (!cluster || !job) return refuse(problems_of(cluster, job), io);
  const auto fitted = model::fit_to(*std::move(job), cluster->accelerators());
  if (!fitted) return refuse(fitted.error(), io);

  const predict::Outlook outlook = predict::outlook(*cluster, *fitted, bench->calibration());
  std::optional<predict::Term> why;
  if (given.flag("--explain")) why = predict::explain(outlook, *cluster, bench->calibration());
  if (given.has("--trace"))
    if (const Exit exit = write_trace(given.text("--trace"), outlook, bench->calibration(), io);
        exit != Exit::ok)
      return exit;

  give({.inputs = bench->inputs(),
        .json = [&](json::Writer& out) { report::to_json(outlook, why ? &*why : nullptr, out); },
        .text =
            [&](int width) {
              return why ? report::to_text(*why, {.width = width})
                         : report::to_text(outlook, *cluster, width);
            },
        .csv =
            [&] {
              return report::to_csv(why ? report::table_of(*why) : report::table_of(outlook));
            }},
       given, io);
  return outlook.fit.fits() ? Exit::ok : Exit::findings;
}

}  // namespace

std::vector<Command> predict_commands() {
  return {
      {.words = "predict",
       .summary = "what a training step does on a cluster, and what holds it back",
       .arguments = {{.name = "CLUSTER", .summary = "cluster.yaml"},
                     {.name = "JOB",
                      .summary = "job.yaml, or the log or launch script of a Megatron-LM run"}},
       .options = {{.name = "--explain",
                    .summary = "the tree of terms: how every number came about, and from where"},
                   {.name = "--trace",
                    .value = Value::file,
                    .placeholder = "FILE",
                    .summary = "write the timeline of the step, for ui.perfetto.dev"}},
       .examples = {{"railyard predict cluster.yaml job.yaml", "one screen"},
                    {"railyard predict cluster.yaml job.yaml --explain", "every term of it"},
                    {"railyard predict cluster.yaml pretrain.sh --format json",
                     "a launch script, for a program"}},
       .exits = {{Exit::findings, "the job does not fit into memory"},
                 {Exit::bad_input, "a file is wrong, or describes what cannot be"}},
       .run = predict_step}};
}

}  // namespace railyard::app
