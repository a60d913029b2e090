#include "predict/fit_advice.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace railyard::predict {

namespace {

using model::Job;
using model::Layout;
using model::Offload;
using model::Recompute;
using model::Shard;

/// Changes a layout, or says that it does not apply: what it would set is already so.
struct Change {
  std::function<bool(Job&)> apply;
  std::function<std::string(const Job&)> name;  ///< from the changed job
};

std::string text(int n) { return std::to_string(n); }

/// Takes a factor of two from data parallelism for another dimension.
bool from_data(Layout& l, int Layout::* degree) {
  if (l.data % 2 != 0) return false;
  l.*degree *= 2;
  l.data /= 2;
  if (l.shard_group > l.data * l.context) l.shard_group = 0;
  return true;
}

/// Shards more than now, where there is somebody to share with.
bool shard_up_to(Job& j, Shard level) {
  if (j.layout.shard >= level || j.layout.data * j.layout.context == 1) return false;
  j.layout.shard = level;
  return true;
}

/// A change stands behind those that it may need. Activations offloaded to the host are left out:
/// no published run holds what the model charges for them.
const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {[](Job& j) { return from_data(j.layout, &Layout::tensor); },
       [](const Job& j) { return "layout.tensor_parallel: " + text(j.layout.tensor); }},
      {[](Job& j) {
         if (j.layout.sequence_parallel || j.layout.tensor == 1) return false;
         return j.layout.sequence_parallel = true;
       },
       [](const Job&) { return std::string("layout.sequence_parallel: true"); }},
      {[](Job& j) { return shard_up_to(j, Shard::optimizer); },
       [](const Job&) { return std::string("layout.zero: 1"); }},
      {[](Job& j) { return j.layout.pipeline == 1 && shard_up_to(j, Shard::gradients); },
       [](const Job&) { return std::string("layout.zero: 2"); }},
      {[](Job& j) { return shard_up_to(j, Shard::full); },
       [](const Job&) { return std::string("layout.zero: 3"); }},
      {[](Job& j) {
         if (j.layout.shard_group == 0) return false;
         j.layout.shard_group = 0;
         return true;
       },
       [](const Job&) { return std::string("no layout.shard_group"); }},
      {[](Job& j) {
         if (j.layout.recompute != Recompute::none) return false;
         j.layout.recompute = Recompute::selective;
         return true;
       },
       [](const Job&) { return std::string("layout.recompute: selective"); }},
      {[](Job& j) {
         if (j.layout.recompute == Recompute::full && j.layout.recompute_layers == 0) return false;
         j.layout.recompute = Recompute::full;
         j.layout.recompute_layers = 0;
         j.layout.recompute_modules = 0;
         return true;
       },
       [](const Job&) { return std::string("layout.recompute: full"); }},
      {[](Job& j) {
         if (j.layout.micro_batch % 2 != 0) return false;
         j.layout.micro_batch /= 2;
         return true;
       },
       [](const Job& j) { return "layout.micro_batch: " + text(j.layout.micro_batch); }},
      {[](Job& j) { return from_data(j.layout, &Layout::pipeline); },
       [](const Job& j) { return "layout.pipeline_parallel: " + text(j.layout.pipeline); }},
      {[](Job& j) { return from_data(j.layout, &Layout::context); },
       [](const Job& j) { return "layout.context_parallel: " + text(j.layout.context); }},
      {[](Job& j) {
         if (!j.model.experts) return false;
         j.layout.expert *= 2;
         return true;
       },
       [](const Job& j) { return "layout.expert_parallel: " + text(j.layout.expert); }},
      {[](Job& j) {
         if (j.layout.offload_optimizer == Offload::none) return false;
         j.layout.offload_optimizer = Offload::none;
         return true;
       },
       [](const Job&) { return std::string("layout.offload: {optimizer: none}"); }},
      {[](Job& j) {
         if (j.layout.offload_optimizer == Offload::host) return false;
         j.layout.offload_optimizer = Offload::host;
         return true;
       },
       [](const Job&) { return std::string("layout.offload: {optimizer: host}"); }},
      {[](Job& j) {
         if (j.layout.offload_optimizer == Offload::cxl) return false;
         j.layout.offload_optimizer = Offload::cxl;
         return true;
       },
       [](const Job&) { return std::string("layout.offload: {optimizer: cxl}"); }}};
  return all;
}

class Search {
 public:
  Search(const Job& job, const StepModel& model) : job_(job), model_(model) {}

  std::vector<FitChange> run() {
    for (std::size_t together = 1; together <= kMostTogether && found_.empty(); ++together)
      combine(0, together);
    std::ranges::stable_sort(found_, {}, &FitChange::step);
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kMostTogether = 3;

  /// All choices of `more` further changes from `first` on.
  void combine(std::size_t first, std::size_t more) {
    if (more == 0) {
      if (auto fits = attempt(chosen_)) found_.push_back(*std::move(fits));
      return;
    }
    for (std::size_t i = first; i + more <= changes().size(); ++i) {
      chosen_.push_back(&changes()[i]);
      combine(i + 1, more - 1);
      chosen_.pop_back();
    }
  }

  std::optional<FitChange> attempt(const std::vector<const Change*>& together) const {
    FitChange out{.job = job_};
    for (const Change* change : together) {
      if (!change->apply(out.job)) return std::nullopt;
      out.change += (out.change.empty() ? "" : ", ") + change->name(out.job);
    }
    if (!model::check(out.job).empty() || !tier_exists(out.job.layout)) return std::nullopt;
    const Prediction prediction = model_.predict(out.job);
    out.fit = check_fit(out.job, model_.machine(), prediction.memory);
    if (!out.fit.fits()) return std::nullopt;
    out.step = prediction.time.total;
    return out;
  }

  bool tier_exists(const Layout& l) const {
    const fabric::Machine& m = model_.machine();
    const auto exists = [&](Offload tier) {
      return tier == Offload::none ||
             (tier == Offload::cxl ? m.cxl_capacity : m.host_capacity) > Bytes{};
    };
    return exists(l.offload_optimizer) && exists(l.offload_activations);
  }

  const Job& job_;
  const StepModel& model_;
  std::vector<const Change*> chosen_ = {};
  std::vector<FitChange> found_ = {};
};

}  // namespace

Fit check_fit(const Job& job, const fabric::Machine& machine, const MemoryTerms& memory) {
  Fit out{.need = memory.total(), .capacity = memory.capacity};
  const Layout& l = job.layout;
  if (memory.host <= Bytes{}) return out;
  out.host_need = memory.host * std::min(machine.gpus_per_server, job.accelerators());
  const auto uses = [&](Offload tier) {
    return l.offload_optimizer == tier || l.offload_activations == tier;
  };
  if (uses(Offload::host)) out.host_capacity += machine.host_capacity;
  if (uses(Offload::cxl)) out.host_capacity += machine.cxl_capacity;
  out.tier_is_missing = uses(Offload::cxl) && machine.cxl_capacity <= Bytes{};
  return out;
}

std::vector<FitChange> fit_advice(const Job& job, const StepModel& model) {
  return Search(job, model).run();
}

}  // namespace railyard::predict
