#pragma once
// Pipelines for the tests: even ones, ones with a heavy first or last stage, and random ones.

#include "base/random.h"
#include "predict/pipeline.h"

namespace railyard::predict::test {

struct Shape {
  model::Schedule schedule = model::Schedule::one_f_one_b;
  int stages = 1, chunks = 1, micro_batches = 1;
};

inline PipelineWork even(Shape shape, PartCost cost) {
  PipelineWork work{.stages = shape.stages,
                    .chunks = shape.chunks,
                    .micro_batches = shape.micro_batches,
                    .schedule = shape.schedule};
  work.parts.assign(static_cast<std::size_t>(shape.stages * shape.chunks), cost);
  return work;
}

/// Makes a stage `factor` times slower by one of its `chunks` parts.
inline void slow_down(PartCost& part, double factor, int chunks) {
  const double by = 1 + (factor - 1) * chunks;
  part = {part.forward * by, part.backward_input * by, part.backward_weight * by};
}

inline PipelineWork random_work(Random& random) {
  const auto pick = [&](std::uint64_t most) { return 1 + static_cast<int>(random.below(most)); };
  const auto time = [&] { return random.unit() * ms; };
  PipelineWork work{.stages = pick(9), .chunks = pick(4), .micro_batches = pick(20)};
  work.schedule = static_cast<model::Schedule>(random.below(5));
  work.parts.resize(static_cast<std::size_t>(work.stages * work.chunks));
  for (PartCost& part : work.parts) part = {time(), time(), time()};
  if (random.below(3) > 0) work.send = random.unit() * time();
  work.overlap_send = random.below(2) == 0;
  return work;
}

}  // namespace railyard::predict::test
