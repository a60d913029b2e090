// The order of work on a stage, and the laws about what a stage holds, counted from the order.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "predict/pipeline.h"
#include "predict/pipeline_cases.h"

namespace railyard::predict {
namespace {

using enum model::Schedule;
using test::Shape;

PipelineView view(Shape shape) {
  return {.stages = shape.stages,
          .chunks = shape.chunks,
          .micro_batches = shape.micro_batches,
          .schedule = shape.schedule};
}

/// "F0 F1 B0": kind and micro-batch, and the chunk where there are several.
std::string spelled(Shape shape, int stage) {
  std::string text;
  for (const Slot& slot : stage_order(view(shape), stage)) {
    if (!text.empty()) text += ' ';
    text += slot.kind == EventKind::forward ? 'F' : slot.kind == EventKind::backward ? 'B' : 'W';
    text += std::to_string(slot.micro_batch);
    if (shape.chunks > 1) text += "." + std::to_string(slot.chunk);
  }
  return text;
}

struct Peaks {
  int in_flight = 0, weights_pending = 0;
};
Peaks counted(Shape shape, int stage) {
  Peaks peak;
  int flight = 0, pending = 0;
  for (const Slot& slot : stage_order(view(shape), stage)) {
    if (slot.kind == EventKind::forward) ++flight;
    if (slot.kind == EventKind::backward) --flight, ++pending;
    if (slot.kind == EventKind::weight) --pending;
    peak.in_flight = std::max(peak.in_flight, flight);
    peak.weights_pending = std::max(peak.weights_pending, pending);
  }
  return peak;
}

TEST(StageOrder, OneForwardOneBackwardWarmsUpByTheStagesBehind) {
  const Shape shape{.schedule = one_f_one_b, .stages = 3, .micro_batches = 4};
  EXPECT_EQ(spelled(shape, 0), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(spelled(shape, 1), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(spelled(shape, 2), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(StageOrder, GPipeDoesAllForwardsFirst) {
  EXPECT_EQ(spelled({.schedule = gpipe, .stages = 2, .micro_batches = 3}, 1), "F0 F1 F2 B0 B1 B2");
}

TEST(StageOrder, InterleavedSendsGroupsOfStagesThroughTheChunks) {
  // p = 2, v = 2: warm-up 2 (p - s - 1) + (v - 1) p = 4 on stage 0 and 2 on stage 1.
  const Shape shape{.schedule = interleaved, .stages = 2, .chunks = 2, .micro_batches = 4};
  EXPECT_EQ(spelled(shape, 0),
            "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0");
  EXPECT_EQ(spelled(shape, 1),
            "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
}

TEST(StageOrder, AnIncompleteGroupKeepsTheOrderOfAFullOne) {
  const Shape shape{.schedule = interleaved, .stages = 2, .chunks = 2, .micro_batches = 3};
  EXPECT_EQ(spelled(shape, 1), "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 B1.0 F2.1 B2.1 B2.0");
}

TEST(StageOrder, ZeroBubbleH1PutsWeightsOffByTheNumberOfTheStage) {
  const Shape shape{.schedule = zero_bubble_h1, .stages = 3, .micro_batches = 4};
  EXPECT_EQ(spelled(shape, 0), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(spelled(shape, 2), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
}

TEST(StageOrder, ZeroBubbleH2DoublesWarmupAndDelay) {
  const Shape shape{.schedule = zero_bubble_h2, .stages = 2, .micro_batches = 4};
  EXPECT_EQ(spelled(shape, 0), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(spelled(shape, 1), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
}

TEST(StageOrder, AScheduleOfOneChunkDoesNotCareWhetherItIsCalledInterleaved) {
  const Shape plain{.schedule = one_f_one_b, .stages = 4, .micro_batches = 6};
  const Shape called{.schedule = interleaved, .stages = 4, .micro_batches = 6};
  for (int s = 0; s < 4; ++s) EXPECT_EQ(spelled(plain, s), spelled(called, s));
}

TEST(StageOrder, EverySlotComesOnceAndForwardBeforeBackwardBeforeWeight) {
  for (const auto schedule : {gpipe, one_f_one_b, interleaved, zero_bubble_h1, zero_bubble_h2}) {
    for (int p = 1; p <= 6; ++p) {
      for (int v = 1; v <= 4; ++v) {
        for (int m = 1; m <= 13; ++m) {
          for (int s = 0; s < p; ++s) {
            std::map<std::pair<int, int>, std::string> life;  // by chunk and micro-batch
            for (const Slot& slot : stage_order(view({schedule, p, v, m}), s)) {
              life[{slot.chunk, slot.micro_batch}] += "FBW"[static_cast<int>(slot.kind)];
            }
            const bool split = schedule == zero_bubble_h1 || schedule == zero_bubble_h2;
            ASSERT_EQ(life.size(), static_cast<std::size_t>(v * m));
            for (const auto& [which, text] : life) ASSERT_EQ(text, split ? "FBW" : "FB");
          }
        }
      }
    }
  }
}

TEST(InFlight, FollowsTheLawOfEachSchedule) {
  const int p = 8, m = 20;
  for (int s = 0; s < p; ++s) {
    EXPECT_EQ(in_flight(view({gpipe, p, 1, m}), s), m);
    EXPECT_EQ(in_flight(view({gpipe, p, 3, m}), s), 3 * m);
    EXPECT_EQ(in_flight(view({one_f_one_b, p, 1, m}), s), p - s);
    EXPECT_EQ(in_flight(view({one_f_one_b, p, 1, 3}), s), std::min(3, p - s));
    EXPECT_EQ(in_flight(view({zero_bubble_h1, p, 1, m}), s), p - s);
    EXPECT_EQ(in_flight(view({zero_bubble_h2, p, 1, m}), s), 2 * (p - s) - 1);
    // Korthikanti et al.: the first stage holds L (1 + (p - 1) / (p v)) layers, that is
    // p v + p - 1 parts.
    EXPECT_EQ(in_flight(view({interleaved, p, 4, 16}), s), 3 * p + 2 * (p - s - 1) + 1);
  }
}

TEST(WeightsPending, FillUpWhatInFlightLeavesSoThatAllStagesHoldTheSame) {
  const int p = 8, m = 40;
  for (int s = 0; s < p; ++s) {
    const Shape h1{zero_bubble_h1, p, 1, m}, h2{zero_bubble_h2, p, 1, m};
    EXPECT_EQ(in_flight(view(h1), s) + weights_pending(view(h1), s) - 1, p);
    EXPECT_EQ(in_flight(view(h2), s) + weights_pending(view(h2), s) - 1, 2 * p - 1);
    EXPECT_EQ(weights_pending(view({one_f_one_b, p, 1, m}), s), 0);
  }
}

TEST(InFlight, EqualsTheCountFromTheOrder) {
  for (const auto schedule : {gpipe, one_f_one_b, interleaved, zero_bubble_h1, zero_bubble_h2}) {
    for (int p = 1; p <= 7; ++p) {
      for (int v = 1; v <= 4; ++v) {
        for (int m = 1; m <= 23; ++m) {
          for (int s = 0; s < p; ++s) {
            const Shape shape{schedule, p, v, m};
            const Peaks peak = counted(shape, s);
            const auto where = testing::Message() << "schedule " << static_cast<int>(schedule)
                                                  << " p " << p << " v " << v << " m " << m;
            ASSERT_EQ(in_flight(view(shape), s), peak.in_flight) << where;
            const bool split = schedule == zero_bubble_h1 || schedule == zero_bubble_h2;
            if (split) {
              ASSERT_EQ(weights_pending(view(shape), s), peak.weights_pending) << where;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace railyard::predict
