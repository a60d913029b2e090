// The closed form against the laws of the papers and against the timeline. The grids print the
// worst error of each schedule, so that a change shows what it did.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "predict/pipeline.h"
#include "predict/pipeline_cases.h"

namespace railyard::predict {
namespace {

using enum model::Schedule;
using test::even;
using test::Shape;

constexpr std::array schedules{gpipe, one_f_one_b, interleaved, zero_bubble_h1, zero_bubble_h2};
constexpr std::array shares{
    PartCost{.forward = 1.0 * ms, .backward_input = 1.0 * ms, .backward_weight = 1.0 * ms},
    PartCost{.forward = 1.0 * ms, .backward_input = 1.2 * ms, .backward_weight = 0.8 * ms},
    PartCost{.forward = 1.0 * ms, .backward_input = 1.0 * ms, .backward_weight = 0.6 * ms},
    PartCost{.forward = 1.0 * ms, .backward_input = 2.0 * ms}};

std::string name(model::Schedule s) {
  switch (s) {
    case gpipe: return "gpipe";
    case one_f_one_b: return "1f1b";
    case interleaved: return "interleaved";
    case zero_bubble_h1: return "zero-bubble h1";
    case zero_bubble_h2: return "zero-bubble h2";
  }
  return "";
}

bool zero_bubble(const PipelineWork& work) {
  return work.schedule == zero_bubble_h1 || work.schedule == zero_bubble_h2;
}
/// Megatron-LM and PyTorch refuse such a group; with a split backward it is the worst case.
bool gaps(const PipelineWork& work) {
  return work.chunks > 1 && work.schedule != gpipe && work.micro_batches % work.stages != 0;
}

/// The largest error over many pipelines, and which one it was.
class Worst {
 public:
  void add(const PipelineWork& work) {
    const PipelineTime formula = pipeline_closed_form(work);
    const Timeline exact = run_timeline(work, false);
    for (const double e :
         {formula.total / exact.total - 1, formula.makespan / exact.makespan - 1}) {
      sum_ += std::abs(e);
      ++count_;
      if (std::abs(e) <= std::abs(error_)) continue;
      error_ = e;
      where_ = "p " + std::to_string(work.stages) + " v " + std::to_string(work.chunks) + " m " +
               std::to_string(work.micro_batches);
    }
  }
  double error() const { return std::abs(error_); }
  const std::string& where() const { return where_; }
  void print(const std::string& what) const {
    std::printf("  %-52s n %6ld  mean %.4f %%  worst %+.2f %% at %s\n", what.c_str(), count_,
                100 * sum_ / static_cast<double>(std::max(count_, 1L)), 100 * error_,
                where_.c_str());
  }

 private:
  double error_ = 0, sum_ = 0;
  long count_ = 0;
  std::string where_;
};

struct Grid {
  std::vector<int> stages = {1, 2, 3, 4, 5, 8, 12, 16};
  std::vector<int> chunks = {1, 2, 3, 4, 8};
  std::vector<int> micro_batches = {1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17, 24, 32, 40, 64};
  int most_slots = 4096;
};

/// Calls `each` for every shape that `schedule` has, with every share of forward and backward.
template <class Each>
void for_each(const Grid& grid, model::Schedule schedule, const Each& each) {
  for (const int p : grid.stages) {
    for (const int v : grid.chunks) {
      if ((v > 1 && schedule == one_f_one_b) || (v == 1 && schedule == interleaved)) continue;
      if (v > 1 && schedule == zero_bubble_h2) continue;  // the same as h1
      for (const int m : grid.micro_batches) {
        if (p * v * m > grid.most_slots) continue;
        for (const PartCost& cost : shares) each(even({schedule, p, v, m}, cost));
      }
    }
  }
}

TEST(ClosedForm, IsExactForThePapersLaws) {
  const PartCost c = shares[1];  // tF 1, tB 1.2, tW 0.8: a pair is 3
  const auto total = [&](Shape shape) { return pipeline_closed_form(even(shape, c)).total.in(ms); };
  EXPECT_NEAR(total({gpipe, 4, 1, 8}), (8 + 3) * 3.0, 1e-9);
  EXPECT_NEAR(total({one_f_one_b, 4, 1, 8}), (8 + 3) * 3.0, 1e-9);
  EXPECT_NEAR(total({interleaved, 4, 2, 8}), (8 * 2 + 3) * 3.0, 1e-9);
  EXPECT_NEAR(total({zero_bubble_h1, 4, 1, 12}), 12 * 3.0 + 3 * (1 + 1.2 - 0.8), 1e-9);
  EXPECT_NEAR(total({zero_bubble_h2, 4, 1, 12}), 12 * 3.0 + 3 * (1 + 1.2 - 2 * 0.8), 1e-9);
  EXPECT_NEAR(total({one_f_one_b, 1, 1, 7}), 7 * 3.0, 1e-9);
}

TEST(ClosedForm, TheBubbleOfInterleavingIsPMinusOneOverVTimesM) {
  for (const int v : {1, 2, 4}) {
    const PipelineTime t = pipeline_closed_form(even({interleaved, 8, v, 32}, shares[0]));
    EXPECT_NEAR(t.bubble / t.busy, 7.0 / (v * 32), 1e-12);
  }
}

TEST(ClosedForm, MessagesOfOneStageCostNothing) {
  PipelineWork work = even({one_f_one_b, 1, 1, 8}, shares[0]);
  work.send = 1.0 * ms;
  EXPECT_EQ(pipeline_closed_form(work).exposed_send, Seconds{});
}

// p = 2, m = 2, message x: overlapped, two hops for fill and drain; blocking, (m + 1) x.
TEST(ClosedForm, CountsMessagesOnTheCriticalPath) {
  PipelineWork work = even({one_f_one_b, 2, 1, 2}, shares[0]);
  work.send = 0.25 * ms;
  work.overlap_send = true;
  EXPECT_NEAR(pipeline_closed_form(work).exposed_send.in(ms), 2 * 0.25, 1e-9);
  work.overlap_send = false;
  EXPECT_NEAR(pipeline_closed_form(work).exposed_send.in(ms), 3 * 0.25, 1e-9);
  // Blocking and p > 2: every stage in the middle is held twice a micro-batch.
  PipelineWork longer = even({one_f_one_b, 4, 1, 8}, shares[0]);
  longer.send = 0.25 * ms;
  EXPECT_NEAR(pipeline_closed_form(longer).exposed_send.in(ms), (2 * 2 + 2 * 8 - 1) * 0.25, 1e-9);
}

TEST(ClosedForm, TotalIsBusyAndBubbleAndMessages) {
  Random random(11);
  for (int i = 0; i < 500; ++i) {
    const PipelineTime t = pipeline_closed_form(test::random_work(random));
    EXPECT_NEAR((t.busy + t.bubble + t.exposed_send).si(), t.total.si(), 1e-12);
    EXPECT_GE(t.bubble.si(), -1e-12);
    EXPECT_GE(t.exposed_send.si(), -1e-12);
  }
}

TEST(ClosedForm, EqualsTheTimelineOnEvenStagesWithoutMessages) {
  for (const auto schedule : schedules) {
    Worst worst, with_gaps;
    for_each(Grid{}, schedule, [&](const PipelineWork& work) {
      (zero_bubble(work) && gaps(work) ? with_gaps : worst).add(work);
    });
    worst.print(name(schedule) + ", even");
    EXPECT_LT(worst.error(), 1e-9) << name(schedule) << " at " << worst.where();
    if (with_gaps.where().empty()) continue;
    with_gaps.print(name(schedule) + ", even, chunks and an incomplete group");
    EXPECT_LT(with_gaps.error(), 0.12) << with_gaps.where();
  }
}

TEST(ClosedForm, IsWithinOnePercentOnEvenStagesWithMessages) {
  for (const auto schedule : schedules) {
    for (const bool overlap : {true, false}) {
      Worst worst, held, with_gaps;
      for_each({.most_slots = 1024}, schedule, [&](PipelineWork work) {
        for (const double share : {0.02, 0.05, 0.1, 0.2}) {
          work.send = share * ms;
          work.overlap_send = overlap;
          if (zero_bubble(work) && gaps(work)) {
            with_gaps.add(work);
          } else if (zero_bubble(work) && !overlap) {
            held.add(work);  // nobody holds a zero-bubble pipeline up with its messages
          } else {
            worst.add(work);
          }
        }
      });
      const std::string what =
          name(schedule) + (overlap ? ", even, overlapped" : ", even, blocking");
      for (const Worst* w : {&worst, &held, &with_gaps}) {
        if (!w->where().empty()) w->print(what + (w == &with_gaps ? ", incomplete group" : ""));
      }
      EXPECT_LT(worst.error(), 0.01) << what << " at " << worst.where();
      EXPECT_LT(held.error(), 0.03) << what << " at " << held.where();
      EXPECT_LT(with_gaps.error(), 0.12) << what << " at " << with_gaps.where();
    }
  }
}

// The first stage embeds, the last one does logits and loss.
TEST(ClosedForm, IsWithinThreePercentOnUnevenStages) {
  const Grid grid{.stages = {2, 3, 4, 8, 16},
                  .chunks = {1, 2, 4},
                  .micro_batches = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64},
                  .most_slots = 1024};
  for (const auto schedule : schedules) {
    Worst worst, chunked, with_gaps;
    for_each(grid, schedule, [&](const PipelineWork& base) {
      for (const double first : {1.0, 1.1}) {
        for (const double last : {1.0, 1.05, 1.2, 1.5}) {
          for (const double share : {0.0, 0.05, 0.1}) {
            for (const bool overlap : {true, false}) {
              if (share == 0 && overlap) continue;
              PipelineWork work = base;
              test::slow_down(work.parts.front(), first, work.chunks);
              test::slow_down(work.parts.back(), last, work.chunks);
              work.send = share * ms;
              work.overlap_send = overlap;
              const bool split = zero_bubble(work) && work.chunks > 1;
              (gaps(work) ? with_gaps : split ? chunked : worst).add(work);
            }
          }
        }
      }
    });
    const std::string what = name(schedule) + ", uneven";
    worst.print(what);
    EXPECT_LT(worst.error(), 0.03) << what << " at " << worst.where();
    if (!chunked.where().empty()) chunked.print(what + ", chunks");
    EXPECT_LT(chunked.error(), 0.08) << what << " at " << chunked.where();
    if (!with_gaps.where().empty()) with_gaps.print(what + ", incomplete group");
    EXPECT_LT(with_gaps.error(), schedule == interleaved ? 0.04 : 0.12) << with_gaps.where();
  }
}

// One stage that is slower than the others, wherever it stands, and parts that all differ.
TEST(ClosedForm, FollowsAStragglerAndScatteredParts) {
  Random random(5);
  for (const auto schedule : {one_f_one_b, interleaved, zero_bubble_h1}) {
    Worst straggler, scattered;
    for (int i = 0; i < 400; ++i) {
      const int p = 2 + static_cast<int>(random.below(15));
      const int v = schedule == interleaved ? 2 + static_cast<int>(random.below(3)) : 1;
      const int m = p * (1 + static_cast<int>(random.below(4)));
      PipelineWork work = even({schedule, p, v, m}, shares[1]);
      PipelineWork other = work;
      const std::size_t slow = random.below(static_cast<std::uint64_t>(p));
      for (std::size_t c = slow; c < work.parts.size(); c += static_cast<std::size_t>(p)) {
        test::slow_down(work.parts[c], 1.3, 1);
      }
      straggler.add(work);
      for (PartCost& part : other.parts) test::slow_down(part, 0.9 + 0.2 * random.unit(), 1);
      scattered.add(other);
    }
    straggler.print(name(schedule) + ", one stage 1.3 times slower");
    scattered.print(name(schedule) + ", parts differ by 10 %");
    EXPECT_LT(straggler.error(), 0.05) << straggler.where();
    EXPECT_LT(scattered.error(), 0.05) << scattered.where();
  }
}

// A network so slow that messages take longer than the compute between them must not look fast.
TEST(ClosedForm, StaysWithinAFifthWhenMessagesAreSlowerThanCompute) {
  for (const auto schedule : schedules) {
    Worst worst;
    for_each({.chunks = {1, 2, 4}, .most_slots = 512}, schedule, [&](PipelineWork work) {
      for (const double share : {1.0, 2.0, 4.0}) {
        work.send = share * ms;
        work.overlap_send = true;
        worst.add(work);
        work.overlap_send = false;
        worst.add(work);
      }
    });
    worst.print(name(schedule) + ", slow network");
    EXPECT_LT(worst.error(), 0.2) << name(schedule) << " at " << worst.where();
  }
}

}  // namespace
}  // namespace railyard::predict
