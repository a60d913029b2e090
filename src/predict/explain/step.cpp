// The whole tree, and the terms of a step that are one sum.

#include "base/measure.h"
#include "predict/explain/terms.h"
#include "predict/explain_step.h"
#include "predict/step_parts.h"
#include "predict/words.h"

namespace railyard::predict {

namespace explained {

namespace {

std::string text(int n) { return std::to_string(n); }

std::string bubble_formula(const Facts& f) {
  const model::Layout& l = f.outlook.job.layout;
  const int m = static_cast<int>(f.micro_batches);
  const int v = l.schedule == model::Schedule::interleaved ? l.virtual_stages : 1;
  return text(l.pipeline) + " stages, " + text(m) + " micro-batches" +
         (v > 1 ? ", " + text(v) + " parts a stage" : "") +
         ": (p-1)/(v m) = " + show_percent((l.pipeline - 1.0) / (static_cast<double>(v) * m)) +
         " of the work, and what uneven stages wait";
}

std::vector<Term> overhead_terms(const Facts& f) {
  const Outlook& o = f.outlook;
  const StepModel model(o.machine, f.calibration);
  const Overhead parts = overhead(model, o.prediction, o.pieces);
  const char* source = "catalog/calibration.yaml, constants";
  std::vector<Term> out;
  if (parts.launches > Seconds{})
    out.push_back(term("host launches", parts.launches, "the device waits for the host", source));
  out.push_back(term("fixed", parts.fixed, "data loader, logging, scalar reductions", source));
  if (parts.stragglers > Seconds{})
    out.push_back(term("stragglers", parts.stragglers,
                       show_percent(o.pieces.lateness - 1) + ": the slowest of " +
                           text(o.accelerators) + " accelerators",
                       source));
  return out;
}

bool is_compute(std::string_view part) {
  return part == "matmul" || part == "attention" || part == "memory_bound" || part == "recompute";
}

/// How a part of the step came about, in one sentence.
std::string formula_of(const Facts& f, std::string_view part) {
  const Outlook& o = f.outlook;
  if (is_compute(part)) return "stage " + text(o.pieces.pacing_stage) + ", which sets the pace";
  if (part == "bubble") return bubble_formula(f);
  if (part == "optimizer")
    return show(o.prediction.time.optimizer * o.pieces.device.memory) +
           " of state and gradients at " + show(o.pieces.device.memory);
  if (part == "offload")
    return show(o.prediction.memory.host) + " a rank beside the accelerator: what does not hide";
  if (part == "overhead") return {};
  return "exposed";
}

std::vector<Term> children_of(const Facts& f, const TimePart& part) {
  if (is_compute(part.key)) return compute_terms(f, part);
  if (part.key.ends_with("_communication")) return communication_terms(f, part);
  if (part.key == "overhead") return overhead_terms(f);
  return {};
}

Term mfu_term(const Facts& f) {
  const Prediction& p = f.outlook.prediction;
  const FlopRate peak = f.outlook.pieces.device.peak;
  return term("MFU", p.utilisation.mfu,
              show_number(p.model_flops.in(TFLOP)) +
                  " TFLOP of the model an accelerator and step / (" + show(p.time.total) + " x " +
                  show(peak) + ")",
              "6 x parameters in matrices, and half of the attention square, a token");
}

}  // namespace

Term step_term(const Facts& f) {
  const Prediction& p = f.outlook.prediction;
  Term out = term("step", p.time.total,
                  "80 % of runs like this lie between " + show(p.low * p.time.total) + " and " +
                      show(p.high * p.time.total),
                  "docs/accuracy.md");
  for (const TimePart& part : time_parts()) {
    const Seconds time = time_of(p.time, part);
    if (time == Seconds{}) continue;
    Term t = term(std::string(part.title), time, formula_of(f, part.key));
    t.children = children_of(f, part);
    out.children.push_back(std::move(t));
  }
  return out;
}

}  // namespace explained

Term explain(const Outlook& outlook, const model::Cluster& cluster,
             const Calibration& calibration) {
  const explained::Facts facts = explained::gather(outlook, cluster, calibration);
  Term root{.name = "prediction",
            .formula = outlook.job.model.id + " on " + cluster_in_words(cluster) + "; " +
                       layout_in_words(outlook.job)};
  root.children.push_back(explained::step_term(facts));
  root.children.push_back(explained::mfu_term(facts));
  root.children.push_back(explained::memory_term(facts));
  root.children.push_back(explained::machine_term(facts));
  return root;
}

}  // namespace railyard::predict
