// The closed form is inside searches: it must not allocate. The allocator of the test program is
// replaced by one that stops the program where allocation is forbidden.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>

#include "predict/pipeline.h"

namespace {
thread_local bool allocation_forbidden = false;
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (allocation_forbidden) std::abort();
  return std::malloc(size);
}
void* operator new(std::size_t size) {
  if (void* p = operator new(size, std::nothrow)) return p;
  throw std::bad_alloc{};
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace railyard::predict {
namespace {

TEST(ClosedForm, AllocatesNothingOnCostsThatLieOnTheStack) {
  using enum model::Schedule;
  std::array<PartCost, 32> parts;
  parts.fill({.forward = 1.0 * ms, .backward_input = 1.0 * ms, .backward_weight = 1.0 * ms});
  Seconds sum = {};
  int held = 0;
  allocation_forbidden = true;
  for (const auto schedule : {gpipe, one_f_one_b, interleaved, zero_bubble_h1, zero_bubble_h2}) {
    for (const int chunks : {1, 4}) {
      const PipelineView work{.stages = 8,
                              .chunks = chunks,
                              .micro_batches = 20,
                              .schedule = schedule,
                              .parts = std::span(parts).first(static_cast<std::size_t>(8 * chunks)),
                              .send = 0.1 * ms};
      sum += pipeline_closed_form(work).total;
      held += in_flight(work, 0) + weights_pending(work, 7);
    }
  }
  allocation_forbidden = false;
  EXPECT_GT(sum.in(ms), 5 * 60 + 5 * 240);  // 20 micro-batches of 3 ms on one and on four parts
  EXPECT_GT(held, 0);
}

}  // namespace
}  // namespace railyard::predict
