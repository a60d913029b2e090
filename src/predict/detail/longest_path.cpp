#include "predict/detail/longest_path.h"

#include <algorithm>

#include "predict/detail/schedule_walk.h"

namespace railyard::predict::detail {

namespace {

/// A stage as the home of paths.
struct Home {
  int stage = 0;
  ScheduleRule rule = {};
  PartTime all = {}, mean = {};    ///< over its chunks
  PartTime first = {}, last = {};  ///< of its first and its last chunk
  PartTime before = {};            ///< parts of the first chunk in front of it
  PartTime behind = {};            ///< parts of the last chunk behind it
  PartTime round = {};             ///< from its first chunk to its second (backward: and back)

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
        split_(splits_backward(work.schedule)),
        hop_(work.stages > 1 ? send : Seconds{}),
        hold_(work.overlap_send ? Seconds{} : hop_),
        first_stage_(stage_time(work, 0)) {
    const ScheduleRule rule = schedule_rule(work, 0);
    first_group_ = std::min(m_, rule.group);
    last_group_ = rule.last_group;
    groups_ = rule.full / (rule.group * v_);
    last_ = rule.full - 1 - (rule.group - rule.last_group);
    last_turn_ = last_ - (v_ - 1) * rule.group;
    for (int i = 0; i < p_ * v_; ++i) everything_ = everything_ + part(i);
  }

  Reach find() {
    Home home;
    for (int s = 1; s < p_; ++s) home.behind = home.behind + part((v_ - 1) * p_ + s);
    if (v_ > 1) {
      for (int i = 0; i < p_; ++i) home.round = home.round + part(i);
      home.round.forward += part(p_).forward - part(0).forward;
    }
    for (int s = 0; s < p_; ++s) {
      home.stage = s;
      home.rule = schedule_rule(work_, s);
      home.all = stage_time(work_, s);
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
  PartTime part(int index) const { return part_time(work_, index); }

  void consider(const Home& home) {
    const Seconds fill = home.before.forward + home.stage * hop_;
    const Seconds slots = m_ * home.all.sum() + held(home);
    const Seconds zigzag = zigzags(home);
    const int trailing = split_ ? n_ - home.rule.present(last_ - home.rule.delay) : 0;
    const Seconds last_backward = fill + slots + rounds(home) + loops(home) + spirals(home) +
                                  heavy_middle(home) + zigzag - trailing * home.mean.weight;
    const Seconds drain = home.before.backward + home.stage * hop_ + first_stage_.weight / v_;
    reach_.note({}, last_backward + drain);
    const Seconds hold = home.stage > 0 ? hold_ : Seconds{};
    reach_.note(fill - hold, last_backward + trailing * home.mean.weight + hold);
    if (split_ && v_ == 1) early_weights(home, fill + slots + zigzag);
  }

  /// Time that messages hold home between its slots, up to its last backward. All slots of a stage
  /// send or receive but the forwards of the first part and the turn at the last part.
  Seconds held(const Home& home) const {
    if (hold_ == Seconds{}) return {};
    const bool first = home.stage == 0, last = home.stage == p_ - 1;
    const int weights = home.rule.split ? home.rule.present(last_ - home.rule.delay) : 0;
    double steps = 2 * n_ - 1 + weights;
    if (v_ > 1) {
      if (last) steps -= m_;
      if (first) steps -= m_ * (p_ - 1.0) / p_;
    } else {
      if (last) steps = n_ - 1 + weights;
      if (first) steps = n_ + home.rule.present(home.rule.warmup + 1) - 1;
    }
    return steps * hold_;
  }

  /// The first micro-batch goes round for its next chunks; the last one does on its way back.
  Seconds rounds(const Home& home) const {
    if (v_ == 1) return {};
    const int more = v_ - 2;
    const PartTime second = part(p_ + home.stage), between = home.all - home.first - home.last;
    const PartTime way = everything_ - home.before - home.behind;  // with home's own parts
    const Seconds hops = p_ * hop_;

    // Forward: the rest of the chunk's group is skipped, and the first of the next chunk passed.
    const Seconds out = home.round.forward + hops - (first_group_ - 1) * home.first.forward -
                        second.forward - first_group_ * hold_;
    const Seconds out_more = way.forward - home.first.forward - home.round.forward -
                             (first_group_ - 1) * between.forward -
                             (home.all - home.first - second).forward +
                             more * (hops - first_group_ * hold_);
    // Backward: the next chunk's whole group is skipped.
    const Seconds weight = home.mean.weight + hold_;
    const int turn = last_ - p_;
    const Seconds back = home.round.backward + hops - last_group_ * (home.first.backward + hold_) -
                         home.weights(turn, last_) * weight;
    const Seconds back_more =
        way.backward - home.last.backward - home.round.backward - last_group_ * between.backward -
        home.weights(last_turn_, turn) * weight + more * (hops - last_group_ * hold_);
    // Or the path stays at the first part for as long as that part's group lasts.
    Seconds stay = {}, stay_back = {};
    if (home.stage > 0) {
      const PartTime embedding = part(0);
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
    const ScheduleRule& rule = home.rule;
    const Seconds loop = home.behind.pair() + 2 * (p_ - 1 - home.stage) * hop_;

    const int forwards = rule.present(rule.warmup + 1) - 1 - (v_ - 1) * first_group_;
    Seconds opening = loop - skipped(forwards, first_group_, home.last.forward, home.first.forward);
    const int backwards = n_ - 1 - rule.present(last_ - rule.warmup) - (v_ - 1) * last_group_;
    Seconds closing = loop -
                      skipped(backwards, last_group_, home.last.backward, home.first.backward) -
                      home.weights(last_ - rule.warmup, last_turn_) * (home.mean.weight + hold_);

    Seconds whole = {};
    if (v_ > 1) {
      // While at the last part, the path may stay there for the rest of the group.
      const PartTime loss = part(p_ * v_ - 1);
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
  /// What home does in `count` slots beside a loop: those of the loop's own group are of the last
  /// chunk, the others of the first chunk of the next group.
  Seconds skipped(int count, int group, Seconds last, Seconds first) const {
    const int near = std::min(count, group - 1);
    return near * last + (count - near) * first + (count + 1) * hold_;
  }

  /// A backward runs down to the first stages, and the forward that it lets in comes up again.
  Seconds zigzags(const Home& home) const {
    const bool h2 = work_.schedule == model::Schedule::zero_bubble_h2;
    if (hold_ > Seconds{} || v_ > 1 || h2 || home.stage < p_ - 2) return {};
    Seconds best = {};
    for (int low = 0; low < std::min(home.stage, 2); ++low) best = max(best, zigzags(home, low));
    return best;
  }
  /// Between home and the stage `low` in front of it: as many as the micro-batches allow, and a
  /// shorter one for the rest.
  Seconds zigzags(const Home& home, int low) const {
    const int width = home.stage - low + 1;
    const int available = m_ - 1 - std::min(home.rule.warmup, m_ - 1);
    const int count = available / width, rest = available % width;
    Seconds full = -(width - 1) * home.all.pair();
    Seconds partial = -std::max(0, rest - 1) * home.all.pair();
    for (int s = low; s < home.stage; ++s) {
      const Seconds step = part(s).pair() + 2 * hop_;
      full += step;
      if (s > home.stage - rest) partial += step;
    }
    if (count == 0) return positive(partial);
    // Each passes one weight gradient at its low end, and skips one a micro-batch at home once the
    // delay there is over.
    const Seconds weight = home.all.weight, low_weight = part(low).weight;
    const Seconds first =
        full + (low == 0 ? low_weight : Seconds{}) - std::max(0, width - home.rule.delay) * weight;
    Seconds gain = positive(first) + (count - 1) * positive(full + low_weight - width * weight);
    if (rest > 0) {
      gain += positive(partial + part(home.stage - rest + 1).weight - rest * weight);
    }
    return gain;
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
      // Steps down over two gaps are free; over a gap and a forward they lose one, else two.
      const int free = (v_ - 1) * (gaps / 2) + turns * (gaps_again / 2);
      const int half = (v_ - 1) * (gaps % 2) + turns * (gaps_again % 2);
      const int dear = std::max(0, turns * (p_ - 1) - free);
      const int lost = std::min(dear, half) + 2 * std::max(0, dear - half);
      best = max(best, (turns * again - lost) * (home.mean.forward + hold_) +
                           turns * p_ * (hop_ - hold_ - home.mean.weight));
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

  /// Zero-bubble: after home's last forward the path leaves for a stage in front, whose weight
  /// gradients begin earlier. `base` is the time of all slots of home.
  void early_weights(const Home& home, Seconds base) {
    if (home.stage < p_ - 2) return;
    const int from = std::max(0, m_ - 1 - home.rule.warmup), rest = m_ - 1 - from;
    // What a stage does after backward `from`.
    const auto ending = [&](int stage) {
      const PartTime time = part(stage);
      const int delay = schedule_rule(work_, stage).delay, begun = std::max(0, from - delay);
      const int weights = m_ - begun;
      const int between = std::min(rest, std::max(0, m_ - 1 - delay) - begun);
      const bool first = stage == 0, last = stage == p_ - 1;
      const int holds = rest - between + between * ((first ? 0 : 1) + (last ? 0 : 1)) +
                        (!first && weights > between ? 1 : 0);
      return rest * time.backward + weights * time.weight + holds * hold_;
    };
    const Seconds loop = home.behind.pair() + 2 * (p_ - 1 - home.stage) * hop_;
    const Seconds opening =
        positive(loop - skipped(rest, m_, home.last.forward, home.first.forward));
    Seconds at = base + opening - ending(home.stage);
    Seconds start = home.before.forward + home.stage * hop_;
    for (int s = home.stage - 1; s >= 0; --s) {
      const PartTime time = part(s);
      at += time.backward + hop_;
      start -= time.forward + hop_;
      reach_.note(s > 0 ? start - hold_ : start, at + ending(s));
    }
  }

  /// Messages slower than the compute beside them: a path goes round and round with one
  /// micro-batch, and on to the one whose forward waits for its last backward.
  void latency_bound() {
    const bool h2 = work_.schedule == model::Schedule::zero_bubble_h2;
    if (hold_ > Seconds{} || p_ == 1 || (v_ == 1 && !h2)) return;
    const PartTime mean = everything_ / (p_ * v_);
    const Seconds once = everything_.pair() + 2 * (p_ * v_ - 1) * hop_ + first_stage_.weight / v_;
    if (v_ == 1) {
      const int length = 2 * p_ - 1, cycles = (m_ - 1) / length, rest = (m_ - 1) % length;
      const Seconds cycle = p_ * mean.pair() + 2 * (p_ - 1) * hop_ + mean.weight;
      reach_.note({}, once + cycles * cycle + rest * mean.pair());
    } else {
      const int length = v_ * p_ + p_ - 1;
      const double cycles = std::max(0, n_ - v_ * first_group_) / static_cast<double>(length);
      const Seconds cycle = v_ * p_ * max(mean.forward, mean.backward) +
                            p_ * min(mean.forward, mean.backward) + (length - 1) * hop_ +
                            mean.weight;
      reach_.note({}, once + (first_group_ - 1) * mean.pair() + cycles * cycle);
    }
  }

  const PipelineView& work_;
  int p_, v_, m_, n_;  ///< n: micro-batch-parts of a stage
  bool split_;
  Seconds hop_;   ///< one message on the path
  Seconds hold_;  ///< what a message takes from a stage; zero with overlap
  int first_group_ = 1, last_group_ = 1, groups_ = 1;
  int last_ = 0;       ///< place of the last micro-batch in the last chunk's turn of the order
  int last_turn_ = 0;  ///< its place in the first turn of its group
  PartTime everything_ = {}, first_stage_ = {};
  Reach reach_ = {};
};

}  // namespace

Reach longest_path(const PipelineView& work, Seconds send) {
  return LongestPath(work, send).find();
}

}  // namespace railyard::predict::detail
