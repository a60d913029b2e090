// How many closed-form predictions a search gets per second on one core: GPT-3 175B on 512 H100,
// all layouts of tensor x pipeline x data that divide, with micro-batches, virtual stages,
// recomputation and optimizer sharding. Every prediction's parts must sum to its total, and the
// best layout must be the same in every pass.

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "predict/step.h"

namespace railyard::predict {
namespace {

fabric::Machine machine() {
  fabric::Machine m;
  m.gpu.id = "h100";
  m.gpu.multiprocessors = 132;
  m.gpu.peak[static_cast<std::size_t>(model::Precision::bf16)] = 989.5 * TFLOPS;
  m.gpu.memory = 3350.0 * GBps;
  m.gpu.memory_usable = 80.0 * GB;
  m.servers = 64;
  m.gpus_per_server = m.domain = 8;
  m.scale_up_kind = model::ScaleUpKind::fabric;
  m.scale_up = 450.0 * GBps;
  m.peer = m.peer_shared = 50.0 * GBps;
  m.nic = 48.0 * GBps;
  m.nics_per_server = 8;
  m.network_per_server = 384.0 * GBps;
  m.network_latency = 3.0 * us;
  return m;
}

model::Job job() {
  model::Job j;
  j.model = {.id = "gpt3-175b",
             .family = "gpt",
             .layers = 96,
             .hidden = 12288,
             .heads = 96,
             .kv_heads = 96,
             .ffn = 49152,
             .vocab = 51200,
             .max_positions = 2048};
  j.model.tied_embeddings = true;
  j.model.norm = model::Norm::layer_norm;
  j.model.positions = model::Positions::learned;
  j.global_batch = 1536;
  j.sequence = 2048;
  return j;
}

std::vector<model::Job> layouts() {
  std::vector<model::Job> out;
  for (const int t : {1, 2, 4, 8})
    for (const int p : {1, 2, 4, 8, 16, 32})
      for (const int b : {1, 2, 4})
        for (const int v : {1, 2, 3})
          for (const auto recompute :
               {model::Recompute::none, model::Recompute::selective, model::Recompute::full})
            for (const auto shard : {model::Shard::none, model::Shard::optimizer}) {
              model::Job j = job();
              j.layout.tensor = t;
              j.layout.pipeline = p;
              j.layout.data = 512 / (t * p);
              j.layout.micro_batch = b;
              j.layout.virtual_stages = v;
              if (v > 1) j.layout.schedule = model::Schedule::interleaved;
              j.layout.sequence_parallel = t > 1;
              j.layout.recompute = recompute;
              j.layout.shard = shard;
              const bool possible = j.global_batch % (j.layout.data * b) == 0 &&
                                    96 % (p * v) == 0 && (v == 1 || p > 1);
              if (possible) out.push_back(j);
            }
  return out;
}

bool sums(const Prediction& p) {
  const StepTime& t = p.time;
  const Seconds all = t.compute() + t.tensor + t.context + t.expert + t.pipeline + t.bubble +
                      t.data + t.optimizer + t.offload + t.overhead;
  return std::abs(all / t.total - 1) < 1e-9 && t.total > Seconds{};
}

void closed_form_predictions(benchmark::State& state) {
  const fabric::Machine m = machine();
  const Calibration calibration;
  const StepModel model(m, calibration);
  const std::vector<model::Job> jobs = layouts();
  StepModel::Pieces pieces;  // kept between calls: a search does not allocate
  std::size_t best = jobs.size();
  for (auto _ : state) {
    std::size_t found = 0;
    Seconds least = 1e9 * second;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Prediction p = model.predict(jobs[i], pieces);
      if (!sums(p)) {
        state.SkipWithError("the parts do not sum to the step");
        return;
      }
      if (p.memory.fits() && p.time.total < least) {
        least = p.time.total;
        found = i;
      }
    }
    if (best != jobs.size() && found != best) {
      state.SkipWithError("another best layout in another pass");
      return;
    }
    best = found;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(jobs.size()));
}
BENCHMARK(closed_form_predictions)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace railyard::predict
