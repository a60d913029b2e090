#include "plan/compare.h"

#include <algorithm>
#include <utility>

namespace railyard::plan {

namespace {

/// Work of a step, for sides that do different amounts.
double work_of(const predict::Outlook& o) {
  return o.prediction.tokens_per_second * o.prediction.time.total.si();
}

class Comparer {
 public:
  Comparer(const Workload& a, const Workload& b, const predict::Calibration& calibration)
      : a_(a), b_(b), calibration_(calibration) {}

  Checked<Comparison> run() {
    Comparison out;
    out.a = RY_TRY(look(a_));
    out.b = RY_TRY(look(b_));
    work_ = work_of(out.a);
    out.time_a = time_of(out.a);
    out.time_b = time_of(out.b);
    attribute(out);
    return out;
  }

 private:
  Checked<predict::Outlook> look(const Workload& s) const {
    const model::Job job = RY_TRY(model::fit_to(s.job, s.cluster.accelerators()));
    return predict::outlook(s.cluster, job, calibration_);
  }

  Seconds time_of(const predict::Outlook& o) const {
    return Seconds::si(work_ / o.prediction.tokens_per_second);
  }

  /// From A to B, change by change.
  void attribute(Comparison& out) const {
    Workload current = a_;
    Seconds before = out.time_a;
    Contribution joined;
    int together = 0;
    for (const Difference& d : applicable_order()) {
      d.apply(current, b_);
      ++together;
      joined.what += (joined.what.empty() ? "" : " + ") + std::string(d.what);
      joined.from += (joined.from.empty() ? "" : "; ") + d.from;
      joined.to += (joined.to.empty() ? "" : "; ") + d.to;
      const auto after = look(current);
      if (!after) continue;  // only together with the next
      if (together == 1) joined.alone = alone(d, out.time_a);
      joined.step = time_of(*after);
      joined.in_order = joined.step - before;
      joined.limited_by = after->limited_by().what;
      before = joined.step;
      out.changes.push_back(std::exchange(joined, {}));
      together = 0;
    }
    settle(out, before);
  }

  /// The fixed order, but for changes that another must make room for: they follow it.
  std::vector<Difference> applicable_order() const {
    std::vector<Difference> left = differences(a_, b_), out;
    Workload current = a_;
    while (!left.empty()) {
      auto next = std::ranges::find_if(left, [&](const Difference& d) {
        Workload tried = current;
        d.apply(tried, b_);
        return d.same(tried, b_);
      });
      if (next == left.end()) next = left.begin();
      next->apply(current, b_);
      out.push_back(std::move(*next));
      left.erase(next);
    }
    return out;
  }

  std::optional<Seconds> alone(const Difference& d, Seconds time_a) const {
    Workload only = a_;
    d.apply(only, b_);
    if (!d.same(only, b_)) return std::nullopt;  // it needs another change first
    const auto o = look(only);
    if (!o) return std::nullopt;
    return time_of(*o) - time_a;
  }

  /// What the changes that we know leave open, so that the sum is right in any case.
  void settle(Comparison& out, Seconds reached) const {
    const Seconds rest = out.time_b - reached;
    if (max(rest, -rest) <= 1e-9 * out.time_a) return;
    out.changes.push_back({.what = "other differences",
                           .in_order = rest,
                           .step = out.time_b,
                           .limited_by = out.b.limited_by().what});
  }

  const Workload& a_;
  const Workload& b_;
  const predict::Calibration& calibration_;
  double work_ = 1;
};

}  // namespace

std::optional<Seconds> Comparison::interaction() const {
  Seconds sum{};
  for (const Contribution& c : changes) {
    if (!c.alone) return std::nullopt;
    sum += *c.alone;
  }
  return gain() - sum;
}

Checked<Comparison> compare(const Workload& a, const Workload& b,
                            const predict::Calibration& calibration) {
  return Comparer(a, b, calibration).run();
}

}  // namespace railyard::plan
