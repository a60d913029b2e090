// How fast files come in. Each benchmark checks what it read.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "base/csv.h"
#include "base/json_reader.h"
#include "base/sha256.h"
#include "base/yaml.h"

namespace railyard {
namespace {

/// A cluster file as a generator would write it: every server by itself.
std::string large_yaml(int servers) {
  std::string out = "servers:\n";
  for (int i = 0; i < servers; ++i)
    out += "  - {id: node" + std::to_string(i) + ", gpus: 8, nics: [a, b, c, d], rate: 400 Gb/s}\n";
  return out;
}

void read_yaml(benchmark::State& state) {
  const std::string bytes = large_yaml(4096);
  for (auto _ : state) {
    const auto doc = yaml::Document::parse("pod.yaml", bytes);
    if (!doc || doc->root().find("servers")->items.size() != 4096)
      state.SkipWithError("not all servers were read");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
}
BENCHMARK(read_yaml)->Unit(benchmark::kMillisecond);

void read_json(benchmark::State& state) {
  std::string bytes = "[";
  for (int i = 0; i < 20'000; ++i)
    bytes += std::string(i == 0 ? "" : ",\n") +
             R"({"ph":"X","name":"gemm","pid":1,"tid":7,"ts":12.5,"dur":3.25})";
  bytes += "]";
  for (auto _ : state) {
    const auto doc = json::parse("trace.json", bytes);
    if (!doc || doc->root().items.size() != 20'000) state.SkipWithError("not all events were read");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
}
BENCHMARK(read_json)->Unit(benchmark::kMillisecond);

void read_csv(benchmark::State& state) {
  std::string bytes = "model,gpus,mfu\n";
  for (int i = 0; i < 20'000; ++i) bytes += "\"gpt, 175B\",1024,0.5\n";
  for (auto _ : state) {
    const auto table = csv::Table::parse({.file = "runs.csv", .bytes = bytes});
    Problems problems;
    double sum = 0;
    for (std::size_t r = 0; table && r < table->rows(); ++r)
      sum += table->number(r, "mfu", problems).value_or(0);
    if (sum != 10'000) state.SkipWithError("the sum is wrong");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
}
BENCHMARK(read_csv)->Unit(benchmark::kMillisecond);

void hash(benchmark::State& state) {
  const std::string bytes(1'000'000, 'a');  // FIPS 180-4's long example
  for (auto _ : state)
    if (!sha256(bytes).starts_with("cdc76e5c9914fb92")) state.SkipWithError("wrong digest");
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
}
BENCHMARK(hash)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace railyard
