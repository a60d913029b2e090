// The closed form of a pipeline schedule.
//
// A step is the longest path through its slots. Every path is a lower bound, so it is enough to
// look at the few that can be the longest. Each has a home, the stage whose slots it does one after
// the other; it gets there with the first micro-batch and leaves with the last:
//
//   fill to home + all slots of home + drain
//
// which for even stages is (m + p - 1) (tF + tB) under GPipe and 1F1B, a bubble of (p - 1) / (v m)
// with chunks, and (p - 1) (tF + tB - tW) of idle under H1, (p - 1) (tF + tB - 2 tW) under H2.
// Or it leaves home with one message and comes back with another, and skips what home does
// meanwhile. Such a detour counts when what it passes is longer than what it skips:
//
//   rounds    with chunks, the first micro-batch goes round all stages before home does its next
//   chunk,
//             and so does the last one at the end: groups smaller than p, messages that take time
//   loops     the first micro-batch goes up to the last stage and comes back as home's first
//   backward;
//             the last one likewise at the end: slow stages early in the pipeline
//   zigzags   1F1B has no more micro-batches under way than a round trip of pure compute needs, so
//   that
//             every latency shows: p micro-batches pay 2 (p - 1) messages
//   spirals   a last group with gaps lets a path step down a stage at each gap and come round again
//   heavy ends  the embedding (first part) and the loss (last part) are not done in parallel with
//   each
//             other in the first and the last group of micro-batches
//
// tests/predict/pipeline_closed_form_test.cpp holds all of it against the timeline.

#include <algorithm>
#include <cassert>

#include "predict/detail/schedule_walk.h"
#include "predict/pipeline.h"

namespace railyard::predict {

namespace {

constexpr Seconds positive(Seconds t) { return max(t, Seconds{}); }

/// Times of one micro-batch on one part, or sums of such.
struct Cost {
  Seconds forward = {}, backward = {}, weight = {};

  constexpr Seconds sum() const { return forward + backward + weight; }
  constexpr Seconds pair() const { return forward + backward; }
  friend constexpr Cost operator+(Cost a, Cost b) {
    return {a.forward + b.forward, a.backward + b.backward, a.weight + b.weight};
  }
  friend constexpr Cost operator-(Cost a, Cost b) {
    return {a.forward - b.forward, a.backward - b.backward, a.weight - b.weight};
  }
  friend constexpr Cost operator/(Cost a, double k) {
    return {a.forward / k, a.backward / k, a.weight / k};
  }
};

/// The longest that any path reached.
struct Reach {
  Seconds total = {}, makespan = {};

  /// A path ends at `end` on a stage that starts work at `start`.
  void operator()(Seconds start, Seconds end) {
    total = max(total, end - start);
    makespan = max(makespan, end);
  }
};

/// A stage as the home of paths.
struct Home {
  int stage = 0;
  detail::ScheduleRule rule = {};
  Cost all = {}, mean = {};    ///< over its chunks
  Cost first = {}, last = {};  ///< of its first and its last chunk
  Cost before = {};            ///< parts of the first chunk in front of it
  Cost behind = {};            ///< parts of the last chunk behind it
  Cost round = {};             ///< from its first chunk to its second (backward: and back)

  /// Weight gradients between backwards `from` and `to` of the order.
  int weights(int from, int to) const {
    return rule.split ? rule.present(to - rule.delay) - rule.present(from - rule.delay) : 0;
  }
};

class LongestPath {
 public:
  LongestPath(const PipelineView& work, Seconds send)
      : work_(work),
        p_(work.stages),
        v_(work.chunks),
        m_(work.micro_batches),
        n_(work.chunks * work.micro_batches),
        split_(detail::splits_backward(work.schedule)),
        hop_(work.stages > 1 ? send : Seconds{}),
        hold_(work.overlap_send ? Seconds{} : hop_) {
    const detail::ScheduleRule rule = detail::schedule_rule(work, 0);
    first_group_ = std::min(m_, rule.group);
    last_group_ = rule.last_group;
    groups_ = rule.full / (rule.group * v_);
    last_ = rule.full - 1 - (rule.group - rule.last_group);
    last_turn_ = last_ - (v_ - 1) * rule.group;
    for (int i = 0; i < p_ * v_; ++i) everything_ = everything_ + part(i);
    first_stage_ = over_chunks(0);
  }

  Reach find() {
    if (work_.schedule == model::Schedule::gpipe) return gpipe();
    Home home;
    for (int s = 1; s < p_; ++s) home.behind = home.behind + part((v_ - 1) * p_ + s);
    if (v_ > 1) {
      for (int i = 0; i < p_; ++i) home.round = home.round + part(i);
      home.round.forward += part(p_).forward - part(0).forward;
    }
    for (int s = 0; s < p_; ++s) {
      home.stage = s;
      home.rule = detail::schedule_rule(work_, s);
      home.all = over_chunks(s);
      home.mean = home.all / v_;
      home.first = part(s);
      home.last = part((v_ - 1) * p_ + s);
      consider(home);
      if (s + 1 == p_) break;
      home.before = home.before + home.first;
      home.behind = home.behind - part((v_ - 1) * p_ + s + 1);
      if (v_ > 1) {
        home.round.forward += part(p_ + s + 1).forward - part(s + 1).forward;
        home.round.backward += part(p_ + s).backward - part(s).backward;
      }
    }
    latency_bound();
    return reach_;
  }

 private:
  Cost part(int index) const {
    const PartCost& c = work_.parts[static_cast<std::size_t>(index)];
    if (split_) return {c.forward, c.backward_input, c.backward_weight};
    return {c.forward, c.backward_input + c.backward_weight, {}};
  }
  Cost over_chunks(int stage) const {
    Cost sum;
    for (int c = 0; c < v_; ++c) sum = sum + part(c * p_ + stage);
    return sum;
  }

  void consider(const Home& home) {
    const Seconds fill = home.before.forward + home.stage * hop_;
    const Seconds slots = m_ * home.all.sum() + held(home);
    const Seconds wave = zigzags(home);
    const int trailing = home.rule.split ? n_ - home.rule.present(last_ - home.rule.delay) : 0;
    const Seconds last_backward = fill + slots + rounds(home) + loops(home) + spirals(home) +
                                  heavy_middle(home) + wave - trailing * home.mean.weight;
    reach_({}, last_backward + home.before.backward + home.stage * hop_ + first_stage_.weight / v_);
    const Seconds hold = home.stage > 0 ? hold_ : Seconds{};
    reach_(fill - hold, last_backward + trailing * home.mean.weight + hold);
    if (split_ && v_ == 1) early_weights(home, fill + slots + wave);
  }

  /// Time that messages hold home between its slots up to its last backward. All slots of a stage
  /// send or receive but the forwards of the first part and the turn at the last part.
  Seconds held(const Home& home) const {
    if (hold_ == Seconds{}) return {};
    const detail::ScheduleRule& rule = home.rule;
    const bool first = home.stage == 0, last = home.stage == p_ - 1;
    const int warm = rule.present(rule.warmup + 1) - 1;
    const int weights = rule.split ? rule.present(last_ - rule.delay) : 0;
    double steps = 2 * n_ - 1 + weights;
    if (v_ > 1) {
      if (last) steps -= m_;
      if (first) steps -= m_ * (p_ - 1.0) / p_;
    } else {
      if (last) steps = n_ - 1 + weights;
      if (first) steps = n_ + warm;
    }
    return steps * hold_;
  }

  /// The first micro-batch goes round for its next chunks; the last one does on its way back.
  Seconds rounds(const Home& home) const {
    if (v_ == 1) return {};
    const int k = home.stage, more = v_ - 2;
    const Cost second = part(p_ + k), between = home.all - home.first - home.last;
    const Cost way = everything_ - home.before - home.behind;  // with home's own parts
    const auto around = [&](int turns) { return turns * p_ * hop_; };

    // Forward: the rest of the chunk's group is skipped, and the first of the next chunk passed.
    const Seconds out = home.round.forward + around(1) - (first_group_ - 1) * home.first.forward -
                        second.forward - first_group_ * hold_;
    const Seconds out_more = way.forward - home.first.forward - home.round.forward + around(more) -
                             (first_group_ - 1) * between.forward -
                             (home.all - home.first - second).forward - more * first_group_ * hold_;
    // Backward: the next chunk's whole group is skipped.
    const Seconds weight = home.mean.weight + hold_;
    const int turn = last_ - p_;
    const Seconds back = home.round.backward + around(1) -
                         last_group_ * (home.first.backward + hold_) -
                         home.weights(turn, last_) * weight;
    const Seconds back_more = way.backward - home.last.backward - home.round.backward +
                              around(more) - last_group_ * between.backward -
                              more * last_group_ * hold_ - home.weights(last_turn_, turn) * weight;
    // Or the path stays at the first part for as long as that part's group lasts.
    Seconds stay = {}, stay_back = {};
    if (k > 0) {
      const Cost embedding = part(0);
      stay = (first_group_ - 1) * (embedding.forward - home.first.forward);
      stay_back =
          (last_group_ - 1) * (embedding.backward + embedding.weight - home.first.backward) -
          home.weights(last_ - last_group_ + 1, last_) * home.mean.weight;
    }
    return positive(max(out, stay)) + positive(out_more) + positive(max(back, stay_back)) +
           positive(back_more);
  }

  /// The first (opening) and the last micro-batch (closing) go up to the last stage and back.
  Seconds loops(const Home& home) const {
    if (home.stage == p_ - 1) return {};
    const detail::ScheduleRule& rule = home.rule;
    const Seconds loop = home.behind.pair() + 2 * (p_ - 1 - home.stage) * hop_;
    const int others = (v_ - 1) * first_group_, others_back = (v_ - 1) * last_group_;

    const int skipped = rule.present(rule.warmup + 1) - 1 - others;
    Seconds opening =
        loop - of_last_group(skipped, first_group_, home.last.forward, home.first.forward);
    const int skipped_back = n_ - 1 - rule.present(last_ - rule.warmup) - others_back;
    Seconds closing =
        loop - of_last_group(skipped_back, last_group_, home.last.backward, home.first.backward) -
        home.weights(last_ - rule.warmup, last_turn_) * (home.mean.weight + hold_);

    Seconds whole = {};
    if (v_ > 1) {
      // While at the last part, the path may stay there for the rest of the group.
      const Cost loss = part(p_ * v_ - 1);
      const int rest = first_group_ - 1;
      const Seconds weights = std::max(0, rest - rule.delay) * home.mean.weight;
      if (groups_ == 1) {
        whole = loop + rest * (loss - home.last).pair() - weights - first_group_ * hold_;
      } else if (loss.sum() > home.mean.sum()) {
        opening += rest * (loss - home.mean).pair() - weights;
        closing += (last_group_ - 1) * (loss.sum() - home.mean.sum());
      }
    }
    const bool both = last_ > rule.warmup;  // the first is back before the last one leaves
    const Seconds separate = both ? positive(opening) + positive(closing) : max(opening, closing);
    return positive(max(separate, whole));
  }
  /// `count` slots next to the turn: those of the same group belong to the last chunk, the others
  /// to the first chunk of the neighbouring group.
  Seconds of_last_group(int count, int group, Seconds last, Seconds first) const {
    const int near = std::min(count, group - 1);
    return near * last + (count - near) * first + (count + 1) * hold_;
  }

  /// A backward runs down to the first stages, and the forward that it lets in comes up again.
  Seconds zigzags(const Home& home) const {
    const int k = home.stage;
    if (hold_ > Seconds{} || v_ > 1 || k == 0 || k < p_ - 2 ||
        work_.schedule == model::Schedule::zero_bubble_h2) {
      return {};
    }
    const int available = m_ - 1 - std::min(home.rule.warmup, m_ - 1);
    Seconds best = {};
    for (int low = 0; low < std::min(k, 2); ++low) {
      const int width = k - low + 1, count = available / width, rest = available % width;
      Seconds whole = -(width - 1) * home.all.pair();
      Seconds partial = -std::max(0, rest - 1) * home.all.pair();
      for (int s = low; s < k; ++s) {
        const Seconds step = part(s).pair() + 2 * hop_;
        whole += step;
        if (s > k - rest) partial += step;
      }
      // Weight gradients: one at the low end, instead of one for each micro-batch at home once the
      // delay is over.
      const Seconds at_home = home.all.weight;
      const Seconds low_weight = part(low).weight,
                    rest_weight = part(k - std::max(rest, 1) + 1).weight;
      Seconds gain;
      if (count == 0) {
        gain = positive(partial);
      } else {
        const Seconds early = low == 0 ? low_weight : Seconds{};
        gain = positive(whole + early - std::max(0, width - home.rule.delay) * at_home) +
               (count - 1) * positive(whole + low_weight - width * at_home);
        if (rest > 0) gain += positive(partial + rest_weight - rest * at_home);
      }
      best = max(best, gain);
    }
    return best;
  }

  /// While the last, incomplete group goes forward, the gaps in home's order cost nothing. A step
  /// down by a backward message skips two places of the order; from the first stage the message
  /// goes round to the last, p - 2 places back, so that forwards are passed once more.
  Seconds spirals(const Home& home) const {
    if (v_ == 1 || last_group_ == p_ || groups_ == 1) return {};
    const int gaps = p_ - last_group_, again = std::min(last_group_, p_ - 2);
    const int gaps_again = p_ - 2 - again;
    Seconds best = {};
    for (int turns = 1; turns < v_; ++turns) {
      const int free = (v_ - 1) * (gaps / 2) + turns * (gaps_again / 2);  // steps over two gaps
      const int half =
          (v_ - 1) * (gaps % 2) + turns * (gaps_again % 2);  // over a gap and a forward
      const int dear = std::max(0, turns * (p_ - 1) - free);
      const int lost = std::min(dear, half) + 2 * std::max(0, dear - half);
      best = max(best, (turns * again - lost) * (home.mean.forward + hold_) +
                           turns * p_ * (hop_ - hold_) - turns * p_ * home.mean.weight);
    }
    return best;
  }

  /// The path is at the first stage in the middle of the step and at home at both ends.
  Seconds heavy_middle(const Home& home) const {
    if (v_ == 1 || home.stage == 0 || groups_ < 3) return {};
    const int count = (groups_ - 3) * p_ + last_group_;
    const double free_turns = (home.stage == p_ - 1 ? 1.0 : 0.0) - (p_ - 1.0) / p_;
    return positive(count * (first_stage_.sum() - home.all.sum() + free_turns * hold_) -
                    home.mean.pair() + 2 * (hop_ - hold_));
  }

  /// Zero-bubble: the path leaves home after its last forward for a stage in front, whose weight
  /// gradients begin earlier.
  void early_weights(const Home& home, Seconds base) {
    if (home.stage < p_ - 2) return;
    const int from = std::max(0, m_ - 1 - home.rule.warmup);
    const Seconds opening =
        positive(home.behind.pair() + 2 * (p_ - 1 - home.stage) * hop_ -
                 of_last_group(m_ - 1 - from, m_, home.last.forward, home.first.forward));
    Seconds at = base + opening - ending(part(home.stage), home.stage, from);
    Seconds start = home.before.forward + home.stage * hop_;
    for (int s = home.stage - 1; s >= 0; --s) {
      const Cost cost = part(s);
      at += cost.backward + hop_;
      start -= cost.forward + hop_;
      reach_(s > 0 ? start - hold_ : start, at + ending(cost, s, from));
    }
  }
  /// What a stage does after its backward number `from`, when no forwards are left.
  Seconds ending(Cost cost, int stage, int from) const {
    const int delay = detail::schedule_rule(work_, stage).delay, rest = m_ - 1 - from;
    const int begun = std::max(0, from - delay), weights = m_ - begun;
    const int between = std::min(rest, std::max(0, m_ - 1 - delay) - begun);
    const int holds = rest - between + between * ((stage > 0 ? 1 : 0) + (stage < p_ - 1 ? 1 : 0)) +
                      (stage > 0 && weights > between ? 1 : 0);
    return rest * cost.backward + weights * cost.weight + holds * hold_;
  }

  /// Messages slower than compute: chunk after chunk the path goes round with one micro-batch.
  void latency_bound() {
    const bool h2 = work_.schedule == model::Schedule::zero_bubble_h2;
    if (hold_ > Seconds{} || p_ == 1 || (v_ == 1 && !h2)) return;
    const Cost mean = everything_ / (p_ * v_);
    const Seconds once = everything_.pair() + 2 * (p_ * v_ - 1) * hop_ + first_stage_.weight / v_;
    if (v_ == 1) {
      const Seconds cycle = p_ * mean.pair() + 2 * (p_ - 1) * hop_ + mean.weight;
      const int length = 2 * p_ - 1;
      reach_({}, once + (m_ - 1) / length * cycle + (m_ - 1) % length * mean.pair());
    } else {
      const int length = v_ * p_ + p_ - 1;
      const Seconds cycle = v_ * p_ * max(mean.forward, mean.backward) +
                            p_ * min(mean.forward, mean.backward) + (length - 1) * hop_ +
                            mean.weight;
      const double cycles = std::max(0, n_ - v_ * first_group_) / static_cast<double>(length);
      reach_({}, once + (first_group_ - 1) * mean.pair() + cycles * cycle);
    }
  }

  /// All forwards, then all backwards: two flow shops in a row, and the second starts where the
  /// first ends. A chunk's turn comes when its first micro-batch is round again or its stage is
  /// free.
  Reach gpipe() {
    const Seconds forward = flow_shop([&](int i) { return part(i).forward; });
    const Seconds backward = flow_shop([&](int i) { return part(p_ * v_ - 1 - i).backward; });
    reach_({}, forward + backward);
    return reach_;
  }
  template <class Of>
  Seconds flow_shop(const Of& of) const {
    const int count = p_ * v_;
    const Seconds wire = hop_ - hold_;  // with overlap a message may be what a stage waits for
    const auto pace = [&](int i) { return max(of(i) + hold_, wire); };
    Seconds chain = (count - 1) * hop_, slowest = {}, fill = {}, drain = {}, round = p_ * hop_;
    for (int i = 0; i < count; ++i) {
      chain += of(i);
      slowest = max(slowest, pace(i));
      if (i > 0 && i < p_) round += of(i);
      if (i >= count - p_) drain += of(i);
    }
    Seconds best = chain + (m_ - 1) * slowest;
    // All micro-batches at the first part, the first one of the next chunk round to the last part.
    if (v_ > 1) best = max(best, chain - round + (m_ - 1) * (pace(0) + pace(count - 1)));
    for (int s = 0; s < p_; ++s) {
      Seconds stage = {};
      for (int c = 0; c < v_; ++c) stage += pace(c * p_ + s);
      const int last = count - p_ + s;
      const Seconds ends = positive(pace(0) - pace(s)) + positive(pace(count - 1) - pace(last));
      best = max(best, fill + m_ * stage + (m_ - 1) * (v_ > 1 ? ends : Seconds{}) -
                           (pace(last) - of(last)) + drain - of(last) + (p_ - 1) * hop_);
      fill += of(s);
      drain -= of(last);
    }
    return best;
  }

  const PipelineView& work_;
  int p_, v_, m_, n_;
  bool split_;
  Seconds hop_;   ///< one message on the path
  Seconds hold_;  ///< what a message takes from a stage; zero with overlap
  int first_group_ = 1, last_group_ = 1, groups_ = 1;
  int last_ = 0;       ///< place of the last micro-batch in the last chunk's turn of the order
  int last_turn_ = 0;  ///< its place in the first turn of its group
  Cost everything_ = {}, first_stage_ = {};
  Reach reach_ = {};
};

}  // namespace

PipelineTime pipeline_closed_form(const PipelineView& work) {
  assert(work.parts.size() == static_cast<std::size_t>(work.stages * work.chunks));
  Seconds busy = {};
  for (int s = 0; s < work.stages; ++s) {
    Seconds stage = {};
    for (int c = 0; c < work.chunks; ++c) {
      const PartCost& part = work.parts[static_cast<std::size_t>(c * work.stages + s)];
      stage += part.forward + part.backward_input + part.backward_weight;
    }
    busy = max(busy, work.micro_batches * stage);
  }
  const Reach silent = LongestPath(work, {}).find();
  const Reach real = work.send > Seconds{} ? LongestPath(work, work.send).find() : silent;
  return {.total = real.total,
          .makespan = real.makespan,
          .busy = busy,
          .bubble = silent.total - busy,
          .exposed_send = real.total - silent.total};
}

}  // namespace railyard::predict
