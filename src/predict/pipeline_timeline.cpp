// The event timeline of a pipeline schedule.
//
// The order on each stage is fixed, so when a slot starts is a matter of sums and maxima only: no
// event queue is needed, any order of evaluation that respects the dependencies gives the same
// picoseconds. The engine sweeps over the stages, up and down; each works through its slots until
// one needs a message that does not exist yet. What is kept is one time per part, micro-batch and
// direction: when its message can be used. From these every stage can be replayed alone, and that
// is how events come out in their final order.

#include <algorithm>
#include <cstdlib>

#include "base/sim_time.h"
#include "predict/detail/schedule_walk.h"
#include "predict/pipeline.h"

namespace railyard::predict {

namespace {

constexpr SimTime unknown{-1};

constexpr SimTime later(SimTime a, SimTime b) { return a < b ? b : a; }

/// What one slot is and whom it talks to.
struct Link {
  SimTime duration = {};
  bool receives = false, sends = false;
  const SimTime* input = nullptr;  ///< set when it receives
  SimTime* output = nullptr;       ///< set when it sends
};

struct SlotTimes {
  SimTime start = {}, end = {};
  SimTime send_start = {};  ///< when the slot sends
};

class Engine {
 public:
  explicit Engine(const PipelineView& work)
      : work_(work),
        send_(SimTime::from(work.send)),
        split_(detail::splits_backward(work.schedule)),
        row_(static_cast<std::size_t>(work.micro_batches)),
        parts_(static_cast<std::size_t>(work.stages * work.chunks)),
        forward_ready_(parts_ * row_, unknown),
        backward_ready_(parts_ * row_, unknown) {
    if (work.parts.size() != parts_) std::abort();  // the caller's sizes disagree: our bug
    durations_.reserve(parts_);
    for (const PartCost& part : work.parts) {
      const Seconds backward =
          split_ ? part.backward_input : part.backward_input + part.backward_weight;
      durations_.push_back({SimTime::from(part.forward), SimTime::from(backward),
                            SimTime::from(part.backward_weight)});
    }
  }

  /// A stage on its way through its slots.
  class Stage {
   public:
    Stage(Engine& engine, int stage) : engine_(engine), stage_(stage), walk_(engine.work_, stage) {
      open_ = walk_.next(slot_);
    }

    /// Works until a message is missing or all is done; tells `each(slot, link, times)`.
    /// Returns whether any slot was done.
    template <class Each>
    bool advance(Each&& each) {
      bool moved = false;
      while (open_) {
        const Link link = engine_.link(stage_, slot_);
        if (link.receives && *link.input == unknown) break;
        const SlotTimes times = place(link);
        each(slot_, link, times);
        moved = true;
        open_ = walk_.next(slot_);
      }
      return moved;
    }
    bool done() const { return !open_; }
    SimTime first() const { return first_; }
    SimTime last() const { return end_; }
    SimTime busy() const { return busy_; }

   private:
    SimTime& wire() { return slot_.kind == EventKind::forward ? activation_wire_ : gradient_wire_; }

    SlotTimes place(const Link& link) {
      const SimTime send = engine_.send_;
      SlotTimes times;
      times.start = engine_.work_.overlap_send ? end_ : held_;
      if (link.receives) {
        // With overlap the input is the arrival; without, it is when the sender had it ready.
        const SimTime arrival =
            engine_.work_.overlap_send ? *link.input : later(end_, *link.input) + send;
        times.start = later(times.start, arrival);
      }
      times.end = times.start + link.duration;
      held_ = times.end;
      if (link.sends) {
        times.send_start = later(times.end, wire());
        const SimTime sent = times.send_start + send;
        wire() = sent;
        held_ = sent;
        *link.output = engine_.work_.overlap_send ? sent : times.end;
      }
      if (first_ == unknown) {
        first_ = link.receives && !engine_.work_.overlap_send ? times.start - send : times.start;
      }
      end_ = times.end;
      busy_ = busy_ + link.duration;
      return times;
    }

    Engine& engine_;
    int stage_;
    detail::ScheduleWalk walk_;
    Slot slot_ = {};
    bool open_ = false;
    SimTime first_ = unknown, end_ = {}, busy_ = {};
    SimTime held_ = {};  ///< without overlap: until then the stage's last message holds it
    SimTime activation_wire_ = {}, gradient_wire_ = {};
  };

  /// Sweeps until all stages are done.
  void run(std::vector<Stage>& stages) {
    const auto quiet = [](const Slot&, const Link&, const SlotTimes&) {};
    for (bool moved = true; moved;) {
      moved = false;
      for (Stage& stage : stages) moved |= stage.advance(quiet);
      for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
        moved |= stage->advance(quiet);
      }
    }
    for (const Stage& stage : stages) {
      if (!stage.done()) std::abort();  // an order that waits for itself: our bug
    }
  }

  /// Replays the stages one by one; all messages are known by now.
  std::vector<Event> events() {
    std::vector<Event> all;
    all.reserve(row_ * (parts_ * (split_ ? 3 : 2) + (work_.stages > 1 ? 2 * (parts_ - 1) : 0)));
    for (int s = 0; s < work_.stages; ++s) {
      const auto begin = static_cast<std::ptrdiff_t>(all.size());
      Stage(*this, s).advance([&](const Slot& slot, const Link& link, const SlotTimes& t) {
        all.push_back(
            {slot.kind, s, slot.chunk, slot.micro_batch, t.start.seconds(), t.end.seconds()});
        if (!link.sends) return;
        all.push_back({EventKind::send, s, slot.chunk, slot.micro_batch, t.send_start.seconds(),
                       (t.send_start + send_).seconds()});
      });
      // Messages leave the order of the slots only where the wire is slower than compute.
      const auto earlier = [](const Event& a, const Event& b) { return a.start < b.start; };
      if (!std::is_sorted(all.begin() + begin, all.end(), earlier)) {
        std::stable_sort(all.begin() + begin, all.end(), earlier);
      }
    }
    return all;
  }

 private:
  struct Durations {
    SimTime forward = {}, backward = {}, weight = {};
  };

  Link link(int stage, const Slot& slot) {
    const int p = work_.stages;
    const auto part = static_cast<std::size_t>(slot.chunk * p + stage);
    const std::size_t at = part * row_ + static_cast<std::size_t>(slot.micro_batch);
    const Durations& cost = durations_[part];
    const bool first = part == 0 || p == 1, last = part + 1 == parts_ || p == 1;
    switch (slot.kind) {
      case EventKind::forward:
        return {cost.forward, !first, !last, first ? nullptr : &forward_ready_[at - row_],
                &forward_ready_[at]};
      case EventKind::backward:
        return {cost.backward, !last, !first, last ? nullptr : &backward_ready_[at + row_],
                &backward_ready_[at]};
      default: return {.duration = cost.weight};
    }
  }

  const PipelineView& work_;
  SimTime send_;
  bool split_;
  std::size_t row_, parts_;
  std::vector<Durations> durations_;
  std::vector<SimTime> forward_ready_, backward_ready_;  ///< by part, then micro-batch
};

}  // namespace

Timeline run_timeline(const PipelineView& work, bool record) {
  Engine engine(work);
  std::vector<Engine::Stage> stages;
  stages.reserve(static_cast<std::size_t>(work.stages));
  for (int s = 0; s < work.stages; ++s) stages.emplace_back(engine, s);
  engine.run(stages);

  Timeline timeline;
  timeline.busy.reserve(stages.size());
  SimTime span = {}, end = {};
  for (const Engine::Stage& stage : stages) {
    timeline.busy.push_back(stage.busy().seconds());
    span = later(span, stage.last() - stage.first());
    end = later(end, stage.last());
  }
  timeline.total = span.seconds();
  timeline.makespan = end.seconds();
  if (record) timeline.events = engine.events();
  return timeline;
}

}  // namespace railyard::predict
