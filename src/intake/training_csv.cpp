#include "intake/training_csv.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/csv.h"

namespace railyard::intake {

namespace {

using facts::RunMetric;
using facts::TrainingRun;

constexpr std::array<std::pair<std::string_view, RunMetric>, 9> kMetrics{{
    {"tokens_per_s_per_gpu", RunMetric::tokens_per_s_per_gpu},
    {"step_time", RunMetric::step_time},
    {"model_tflops_per_gpu", RunMetric::model_tflops_per_gpu},
    {"hw_tflops_per_gpu", RunMetric::hw_tflops_per_gpu},
    {"tflops_per_gpu", RunMetric::tflops_per_gpu},
    {"mfu", RunMetric::mfu},
    {"hfu", RunMetric::hfu},
    {"pct_peak", RunMetric::pct_peak},
    {"peak_alloc_mem", RunMetric::peak_alloc_mem},
}};

constexpr std::string_view kRecalledBatch = "global batch recalled as ";

/// `name=12.5` among tokens separated by "; ".
std::optional<double> token(std::string_view other, std::string_view name) {
  std::size_t at = 0;
  while ((at = other.find(name, at)) != std::string_view::npos) {
    const bool starts = at == 0 || other[at - 1] == ' ' || other[at - 1] == ';';
    std::string_view rest = other.substr(at + name.size());
    at += name.size();
    if (!starts || !rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    double v = 0;
    const auto [end, ec] = std::from_chars(rest.data(), rest.data() + rest.size(), v);
    if (ec == std::errc{}) return v;
  }
  return std::nullopt;
}

/// The columns that all layouts name alike.
TrainingRun common(const csv::Table& t, std::size_t r, std::string_view file, Problems& problems) {
  TrainingRun run;
  run.at = {std::string(file), t.line(r), 1};
  const auto text = [&](std::string_view c) { return std::string(t.at(r, c)); };
  const auto integer = [&](std::string_view c) { return t.integer(r, c, problems); };
  run.source = text("source");
  run.table = text("table_or_url");
  run.model = text("model");
  run.gpu = text("gpu");
  run.intra_node = text("intra_node");
  run.inter_node = text("inter_node");
  run.params_b = t.number(r, "params_b", problems);
  run.layers = integer("layers");
  run.hidden = integer("hidden");
  run.heads = integer("heads");
  run.kv_heads = integer("kv_heads");
  run.ffn = integer("ffn");
  run.vocab = integer("vocab");
  run.sequence = integer("seq_len");
  run.gpus = integer("num_gpus");
  run.nodes = integer("nodes");
  run.tensor = integer("tp");
  run.pipeline = integer("pp");
  if (const auto v = t.at(r, "vpp"); v.starts_with("interleaved"))
    run.interleaved = true;
  else
    run.virtual_stages = integer("vpp");
  run.data = integer("dp");
  run.context = integer("cp");
  run.expert = integer("ep");
  run.micro_batch = integer("micro_batch");
  run.global_batch = integer("global_batch");
  run.accumulation = integer("grad_accum");
  run.zero = integer("zero_stage");
  run.precision = text("precision");
  run.recompute = text("recompute");
  run.sharding = text("zero_or_fsdp");
  run.other = text("other");
  return run;
}

void read_compilation(const csv::Table& t, std::string_view file, Problems& problems,
                      std::vector<TrainingRun>& out) {
  for (std::size_t r = 0; r < t.rows(); ++r) {
    TrainingRun run = common(t, r, file, problems);
    const std::string_view metric = t.at(r, "metric");
    bool known = false;
    for (const auto& [name, m] : kMetrics)
      if (name == metric) {
        run.metric = m;
        known = true;
      }
    if (!known) {
      problems.push_back(t.problem(r, "metric", "a known metric"));
      continue;
    }
    const auto value = t.number(r, "value", problems);
    if (!value || *value <= 0) {
      problems.push_back(t.problem(r, "value", "a positive number"));
      continue;
    }
    run.value = *value;
    if (const auto n = token(run.other, "grad_accum")) run.accumulation = static_cast<int>(*n);
    if (const auto n = token(run.other, "micro_batches")) run.accumulation = static_cast<int>(*n);
    if (!run.global_batch)  // not printed in the table, known from elsewhere
      if (const std::size_t at = run.other.find(kRecalledBatch); at != std::string::npos) {
        int n = 0;
        const char* digits = run.other.data() + at + kRecalledBatch.size();
        if (std::from_chars(digits, run.other.data() + run.other.size(), n).ec == std::errc{})
          run.global_batch = n;
      }
    for (const std::string_view name : {"peak_mem_GB", "peak_mem_GiB", "gpu_mem_GB"})
      if (const auto gb = token(run.other, name)) run.memory_gb = gb;
    out.push_back(std::move(run));
  }
}

void read_nanotron(const csv::Table& t, std::string_view file, Problems& problems,
                   std::vector<TrainingRun>& out) {
  for (std::size_t r = 0; r < t.rows(); ++r) {
    TrainingRun run = common(t, r, file, problems);
    run.source = "HF nanotron ultrascale-playbook (sweep)";
    run.table = "scripts/scaling_benchmarks.py";
    run.precision = "BF16";
    run.recompute = "none";
    run.intra_node = "NVLink4 450GB/s/dir NVSwitch";
    run.inter_node = "8 GPUs per node, EFA (recalled)";
    run.sharding = run.zero.value_or(0) == 1 ? "ZeRO-1" : "ZeRO-0";
    run.metric = RunMetric::failed;
    if (t.at(r, "status") == "ok") {
      run.metric = RunMetric::tokens_per_s_per_gpu;
      const auto v = t.number(r, "tokens_per_s_per_gpu", problems);
      if (!v || *v <= 0) {
        problems.push_back(t.problem(r, "tokens_per_s_per_gpu", "a positive number"));
        continue;
      }
      run.value = *v;
      run.memory_gb = t.number(r, "gpu_mem_gb", problems);
    }
    out.push_back(std::move(run));
  }
}

void read_vtrain(const csv::Table& t, std::string_view file, Problems& problems,
                 std::vector<TrainingRun>& out) {
  for (std::size_t r = 0; r < t.rows(); ++r) {
    TrainingRun run = common(t, r, file, problems);
    run.source = "VIA-Research/vTrain (node grid)";
    run.table = "data/ground_truth_single.csv";
    run.model = "GPT";
    run.intra_node = "NVLink3 300GB/s/dir NVSwitch";
    run.inter_node = "single node";
    run.metric = RunMetric::step_time;
    const auto v = t.number(r, "step_time_s", problems);
    if (!v || *v <= 0) {
      problems.push_back(t.problem(r, "step_time_s", "a positive number"));
      continue;
    }
    run.value = *v;
    out.push_back(std::move(run));
  }
}

void read_h200(const csv::Table& t, std::string_view file, Problems& problems,
               std::vector<TrainingRun>& out) {
  for (std::size_t r = 0; r < t.rows(); ++r) {
    TrainingRun run = common(t, r, file, problems);
    run.source = "railyard H200 runs";
    run.table = std::string(t.at(r, "mode"));
    run.model = std::string(t.at(r, "name"));
    run.gpu = "H200";
    run.gpus = t.integer(r, "world", problems);
    run.data = run.gpus;
    run.tensor = run.pipeline = 1;
    run.sequence = t.integer(r, "seq", problems);
    run.accumulation = t.integer(r, "accum", problems);
    run.precision = "BF16";
    run.recompute = "none";
    run.inter_node = "single node";
    run.sharding = run.table == "fsdp" ? "FSDP FULL_SHARD" : "none";
    if (t.at(r, "compiled") == "1") run.other = "compiled";
    // the table states all parameters; with an untied head the vocabulary follows
    const auto params = t.number(r, "params", problems);
    if (params && run.layers && run.hidden) {
      run.params_b = *params / 1e9;
      const double h = *run.hidden, layer = 12 * h * h + 13 * h;  // matrices, biases, two norms
      const double tables = *params - *run.layers * layer - run.sequence.value_or(0) * h - 2 * h;
      run.vocab = static_cast<int>(std::lround(tables / (2 * h)));
    }
    run.metric = RunMetric::step_time;
    const auto v = t.number(r, "step_ms", problems);
    if (!v || *v <= 0) {
      problems.push_back(t.problem(r, "step_ms", "a positive number"));
      continue;
    }
    run.value = *v / 1000;
    run.memory_gb = t.number(r, "peak_gib", problems);
    out.push_back(std::move(run));
  }
}

}  // namespace

Checked<TrainingRuns> read_training_csv(Text text) {
  const csv::Table table = RY_TRY(csv::Table::parse(text));
  Problems problems;
  TrainingRuns out;
  if (table.has("metric") && table.has("source")) {
    out.layout = TrainingTable::compilation;
    read_compilation(table, text.file, problems, out.runs);
  } else if (table.has("zero_stage") && table.has("status")) {
    out.layout = TrainingTable::nanotron_sweep;
    read_nanotron(table, text.file, problems, out.runs);
  } else if (table.has("step_time_s")) {
    out.layout = TrainingTable::vtrain_grid;
    read_vtrain(table, text.file, problems, out.runs);
  } else if (table.has("step_ms") && table.has("world")) {
    out.layout = TrainingTable::h200_runs;
    read_h200(table, text.file, problems, out.runs);
  } else {
    problems.push_back(
        {.at = {std::string(text.file), 1, 1},
         .expected = "the header of a table of training runs",
         .found = "'" + (table.columns().empty() ? "" : table.columns().front()) + ",...'",
         .hint = "known: columns metric and source (compilation), zero_stage and status "
                 "(nanotron sweep), step_time_s (vTrain), step_ms and world (H200)"});
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

}  // namespace railyard::intake
