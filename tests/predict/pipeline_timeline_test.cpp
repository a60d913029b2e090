// The event timeline against hand calculation, its own rules, lower bounds and random pipelines.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "base/sim_time.h"
#include "predict/pipeline.h"
#include "predict/pipeline_cases.h"

namespace railyard::predict {
namespace {

using enum model::Schedule;
using test::even;

constexpr PartCost one_two{.forward = 1.0 * ms, .backward_input = 2.0 * ms};
constexpr PartCost thirds{
    .forward = 1.0 * ms, .backward_input = 1.0 * ms, .backward_weight = 1.0 * ms};

std::int64_t us_of(Seconds t) { return SimTime::from(t).ps / 1'000'000; }

/// "F0 0-1000" in microseconds, one stage, in the order of the events.
std::string bars(const Timeline& timeline, int stage) {
  std::string text;
  for (const Event& e : timeline.events) {
    if (e.stage != stage) continue;
    if (!text.empty()) text += ", ";
    text += "FBWS"[static_cast<int>(e.kind)] + std::to_string(e.micro_batch) + ' ' +
            std::to_string(us_of(e.start)) + '-' + std::to_string(us_of(e.end));
  }
  return text;
}

// p = 2, m = 2, tF = 1, tB = 2: (m + p - 1)(tF + tB) = 9.
TEST(Timeline, TwoStagesTwoMicroBatchesAsDrawnByHand) {
  const Timeline t = run_timeline(even({one_f_one_b, 2, 1, 2}, one_two));
  EXPECT_EQ(bars(t, 0),
            "F0 0-1000, S0 1000-1000, F1 1000-2000, S1 2000-2000, B0 4000-6000, B1 7000-9000");
  EXPECT_EQ(bars(t, 1),
            "F0 1000-2000, B0 2000-4000, S0 4000-4000, F1 4000-5000, B1 5000-7000, S1 7000-7000");
  EXPECT_EQ(us_of(t.total), 9000);
  EXPECT_EQ(us_of(t.makespan), 9000);
  EXPECT_EQ(us_of(t.busy[0]), 6000);
}

TEST(Timeline, FourStagesEightMicroBatchesTakeElevenPairs) {
  EXPECT_EQ(us_of(run_timeline(even({one_f_one_b, 4, 1, 8}, one_two)).total), 11 * 3000);
  EXPECT_EQ(us_of(run_timeline(even({gpipe, 4, 1, 8}, one_two)).total), 11 * 3000);
}

// Two chunks halve the bubble: m v pairs of busy time and p - 1 pairs of bubble.
TEST(Timeline, InterleavingDividesTheBubbleByTheChunks) {
  EXPECT_EQ(us_of(run_timeline(even({interleaved, 4, 2, 8}, one_two)).total), (8 * 2 + 3) * 3000);
  EXPECT_EQ(us_of(run_timeline(even({interleaved, 4, 3, 8}, one_two)).total), (8 * 3 + 3) * 3000);
}

// H1: m (tF + tB + tW) + (p - 1)(tF + tB - tW); H2: (p - 1)(tF + tB - 2 tW), here zero; its last
// stage starts and ends (p - 1) tF after the first.
TEST(Timeline, ZeroBubbleIdlesAsItsPaperSays) {
  EXPECT_EQ(us_of(run_timeline(even({zero_bubble_h1, 4, 1, 12}, thirds)).total), 36000 + 3000);
  const Timeline h2 = run_timeline(even({zero_bubble_h2, 4, 1, 12}, thirds));
  EXPECT_EQ(us_of(h2.total), 36000);
  EXPECT_EQ(us_of(h2.makespan), 36000 + 3000);
  const PartCost uneven{
      .forward = 1.0 * ms, .backward_input = 1.2 * ms, .backward_weight = 0.8 * ms};
  EXPECT_EQ(us_of(run_timeline(even({zero_bubble_h1, 4, 1, 12}, uneven)).total), 36000 + 3 * 1400);
  EXPECT_EQ(us_of(run_timeline(even({zero_bubble_h2, 4, 1, 12}, uneven)).total), 36000 + 3 * 600);
}

TEST(Timeline, AScheduleWithoutSplitDoesBothHalvesOfTheBackwardAtOnce) {
  const Timeline t = run_timeline(even({one_f_one_b, 2, 1, 2}, thirds));
  EXPECT_EQ(us_of(t.total), 9000);
  for (const Event& e : t.events) EXPECT_NE(e.kind, EventKind::weight);
}

TEST(Timeline, AnOverlappedMessageRunsBesideCompute) {
  PipelineWork work = even({one_f_one_b, 2, 1, 2}, one_two);
  work.send = 0.5 * ms;
  work.overlap_send = true;
  const Timeline t = run_timeline(work);
  EXPECT_EQ(bars(t, 0),
            "F0 0-1000, S0 1000-1500, F1 1000-2000, S1 2000-2500, B0 5000-7000, B1 8000-10000");
  EXPECT_EQ(bars(t, 1),
            "F0 1500-2500, B0 2500-4500, S0 4500-5000, F1 4500-5500, B1 5500-7500, S1 7500-8000");
}

// Stage 0 is held after each forward and before each backward, stage 1 before each forward and
// after each backward; B0 goes up while F1 comes down.
TEST(Timeline, ABlockingMessageHoldsBothStages) {
  PipelineWork work = even({one_f_one_b, 2, 1, 2}, one_two);
  work.send = 0.5 * ms;
  const Timeline t = run_timeline(work);
  EXPECT_EQ(bars(t, 0),
            "F0 0-1000, S0 1000-1500, F1 1500-2500, S1 2500-3000, B0 5000-7000, B1 8500-10500");
  EXPECT_EQ(bars(t, 1),
            "F0 1500-2500, B0 2500-4500, S0 4500-5000, F1 5000-6000, B1 6000-8000, S1 8000-8500");
}

TEST(Timeline, MessagesOfAStageQueueOnTheirWire) {
  PipelineWork work = even({gpipe, 2, 1, 3}, one_two);
  work.send = 3.0 * ms;
  work.overlap_send = true;
  const Timeline t = run_timeline(work);
  EXPECT_EQ(bars(t, 0),
            "F0 0-1000, S0 1000-4000, F1 1000-2000, F2 2000-3000, S1 4000-7000, S2 7000-10000, "
            "B0 16000-18000, B1 19000-21000, B2 22000-24000");
}

TEST(Timeline, OneStageHasNeitherBubbleNorMessages) {
  for (const int chunks : {1, 3}) {
    PipelineWork work = even({interleaved, 1, chunks, 5}, one_two);
    work.send = 1.0 * ms;
    const Timeline t = run_timeline(work);
    EXPECT_EQ(us_of(t.total), 5 * chunks * 3000);
    EXPECT_EQ(t.events.size(), static_cast<std::size_t>(5 * chunks * 2));
  }
}

TEST(Timeline, TimesAreWholePicosecondsWhateverTheCosts) {
  const PartCost odd{.forward = Seconds::si(1e-3 / 3), .backward_input = Seconds::si(2e-3 / 3)};
  const std::int64_t forward = SimTime::from(odd.forward).ps,
                     backward = SimTime::from(odd.backward_input).ps;
  const Timeline t = run_timeline(even({one_f_one_b, 8, 1, 100}, odd), false);
  EXPECT_EQ(SimTime::from(t.total).ps, 107 * (forward + backward));
  EXPECT_TRUE(t.events.empty());
}

TEST(Timeline, RecordingChangesNothingAndARunRepeatsExactly) {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const PipelineWork work = test::random_work(random);
    const Timeline a = run_timeline(work), b = run_timeline(work), bare = run_timeline(work, false);
    EXPECT_EQ(a.total, bare.total);
    EXPECT_EQ(a.busy, bare.busy);
    ASSERT_EQ(a.events.size(), b.events.size());
    for (std::size_t e = 0; e < a.events.size(); ++e) {
      EXPECT_EQ(a.events[e].start, b.events[e].start);
      EXPECT_EQ(a.events[e].end, b.events[e].end);
      EXPECT_EQ(a.events[e].micro_batch, b.events[e].micro_batch);
    }
  }
}

/// What must hold for any pipeline, told from the events alone.
void check(const PipelineWork& work) {
  const Timeline t = run_timeline(work);
  const int p = work.stages, parts = p * work.chunks, m = work.micro_batches;
  const bool split = work.schedule == zero_bubble_h1 || work.schedule == zero_bubble_h2;
  const auto eps = Seconds::si(0.5e-12);

  std::map<std::tuple<EventKind, int, int>, Event> at;  // by kind, part, micro-batch
  const Event* before = nullptr;
  const Event* compute = nullptr;
  std::size_t sends = 0;
  for (const Event& e : t.events) {
    if (before) {
      ASSERT_LE(before->stage, e.stage);
      ASSERT_TRUE(before->stage < e.stage || before->start <= e.start);
    }
    before = &e;
    if (e.kind == EventKind::send) {
      ++sends;
      continue;
    }
    if (compute) {
      ASSERT_TRUE(compute->stage < e.stage || compute->end <= e.start + eps);
    }
    compute = &e;
    at[{e.kind, e.chunk * p + e.stage, e.micro_batch}] = e;
  }
  ASSERT_EQ(at.size(), static_cast<std::size_t>(parts * m * (split ? 3 : 2)));
  ASSERT_EQ(sends, p > 1 ? static_cast<std::size_t>(2 * m * (parts - 1)) : 0u);

  const Seconds hop = p > 1 ? work.send : Seconds{};
  Seconds last_end = {};
  for (const auto& [key, e] : at) {
    const auto [kind, part, i] = key;
    const auto after = [&](EventKind k, int other, Seconds gap) {
      ASSERT_LE((at[{k, other, i}].end + gap), e.start + 2 * eps);
    };
    if (kind == EventKind::forward && part > 0) after(EventKind::forward, part - 1, hop);
    if (kind == EventKind::backward && part + 1 < parts) after(EventKind::backward, part + 1, hop);
    if (kind == EventKind::backward) after(EventKind::forward, part, {});
    if (kind == EventKind::weight) after(EventKind::backward, part, {});
    last_end = max(last_end, e.end);
  }
  ASSERT_EQ(t.makespan, last_end);

  Seconds slowest = {}, chain = {};
  for (int s = 0; s < p; ++s) {
    Seconds busy = {};
    for (int c = 0; c < work.chunks; ++c) {
      const PartCost& cost = work.parts[static_cast<std::size_t>(c * p + s)];
      busy += m * (cost.forward + cost.backward_input + cost.backward_weight);
      chain += cost.forward + cost.backward_input + (split ? Seconds{} : cost.backward_weight);
    }
    EXPECT_NEAR(t.busy[static_cast<std::size_t>(s)].si(), busy.si(), 1e-9);
    slowest = max(slowest, busy);
  }
  chain += 2 * (parts - 1) * hop;
  const double rounding = 1e-12 * parts * m * 3;
  EXPECT_GE(t.total.si(), slowest.si() - rounding);
  EXPECT_GE(t.total.si(), chain.si() - rounding);
  EXPECT_GE(t.makespan, t.total);
  EXPECT_TRUE(split || t.makespan == t.total);
}

TEST(Timeline, RandomPipelinesEndAndKeepTheRules) {
  Random random(1);
  for (int i = 0; i < 600; ++i) {
    const PipelineWork work = test::random_work(random);
    SCOPED_TRACE(testing::Message()
                 << "pipeline " << i << " schedule " << static_cast<int>(work.schedule) << " p "
                 << work.stages << " v " << work.chunks << " m " << work.micro_batches);
    check(work);
    if (HasFatalFailure()) return;
  }
}

TEST(Timeline, NoShapeOfAnyScheduleDeadlocks) {
  for (const auto schedule : {gpipe, one_f_one_b, interleaved, zero_bubble_h1, zero_bubble_h2}) {
    for (int p = 1; p <= 9; ++p) {
      for (int v = 1; v <= 5; ++v) {
        for (int m = 1; m <= 2 * p + 3; ++m) {
          const Timeline t =
              run_timeline(even({schedule, p, v, m}, thirds), false);  // aborts if so
          EXPECT_GE(us_of(t.total), 3000 * m * v);
        }
      }
    }
  }
}

TEST(Timeline, NothingGetsFasterWhenACostGrows) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    PipelineWork work = test::random_work(random);
    const Seconds before = run_timeline(work, false).makespan;
    PartCost& part = work.parts[random.below(work.parts.size())];
    const Seconds more = random.unit() * ms;
    switch (random.below(4)) {
      case 0: part.forward += more; break;
      case 1: part.backward_input += more; break;
      case 2: part.backward_weight += more; break;
      default: work.send += more; break;
    }
    EXPECT_GE(run_timeline(work, false).makespan, before);
  }
}

}  // namespace
}  // namespace railyard::predict
