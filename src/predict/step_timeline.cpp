#include "predict/step_timeline.h"

#include <algorithm>

namespace railyard::predict {

namespace {

PipelineView view_of(const model::Job& job, const StepModel::Pieces& pieces) {
  const model::Layout& l = job.layout;
  return {.stages = l.pipeline,
          .chunks = static_cast<int>(pieces.parts.size()) / l.pipeline,
          .micro_batches = std::max(job.micro_batches(), 1),
          .schedule = l.schedule,
          .parts = pieces.costs,
          .send = pieces.send,
          .overlap_send = job.software.overlap_pipeline};
}

/// What a stage does when its last backward is over.
class Tail {
 public:
  Tail(const StepModel& model, const Prediction& prediction, const StepModel::Pieces& pieces)
      : gradients_(pieces.gradient_sync),
        parameters_(pieces.parameter_sync),
        optimizer_(prediction.time.optimizer + prediction.time.offload),
        fixed_(Seconds::si(model.calibration().constants.step_fixed)) {
    // Of what is exposed, each of the two gets its part by size.
    const Seconds both = gradients_ + parameters_;
    const double share = both > Seconds{} ? gradients_ / both : 1;
    exposed_gradients_ = share * pieces.data_exposed;
    exposed_parameters_ = pieces.data_exposed - exposed_gradients_;
  }

  /// Appends the bars of `stage`, whose schedule ends at `end`; the optimizer waits for `barrier`.
  void add(int stage, Seconds end, Seconds barrier, std::vector<Event>& events) const {
    const auto bar = [&](EventKind kind, Seconds from, Seconds to) {
      if (to > from) events.push_back({.kind = kind, .stage = stage, .start = from, .end = to});
    };
    const Seconds reduced = end + exposed_gradients_;
    bar(EventKind::gradients, max(reduced - gradients_, Seconds{}), reduced);
    const Seconds begin = barrier + exposed_gradients_;
    bar(EventKind::optimizer, begin, begin + optimizer_);
    // Gathering that hides does so behind the next step's forward: only the exposed rest is this
    // step's.
    const Seconds updated = begin + optimizer_;
    bar(EventKind::gradients, updated, updated + exposed_parameters_);
    bar(EventKind::other, updated + exposed_parameters_, updated + exposed_parameters_ + fixed_);
  }

 private:
  Seconds gradients_, parameters_, optimizer_, fixed_;
  Seconds exposed_gradients_, exposed_parameters_;
};

}  // namespace

StepTimeline step_timeline(const model::Job& job, const StepModel& model,
                           const Prediction& prediction, const StepModel::Pieces& pieces) {
  const Timeline schedule = run_timeline(view_of(job, pieces));
  StepTimeline out{
      .stages = job.layout.pipeline, .total = prediction.time.total, .pipeline = schedule.makespan};
  const Tail tail(model, prediction, pieces);
  auto next = schedule.events.begin();
  for (int stage = 0; stage < out.stages; ++stage) {
    Seconds end{};
    const auto first = static_cast<std::ptrdiff_t>(out.events.size());
    for (; next != schedule.events.end() && next->stage == stage; ++next) {
      if (next->kind != EventKind::send) end = max(end, next->end);
      out.events.push_back(*next);
    }
    tail.add(stage, end, schedule.makespan, out.events);
    std::stable_sort(out.events.begin() + first, out.events.end(),
                     [](const Event& a, const Event& b) { return a.start < b.start; });
  }
  return out;
}

}  // namespace railyard::predict
