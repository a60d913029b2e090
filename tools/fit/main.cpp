// railyard-fit: repeats the fit of catalog/calibration.yaml and prints residuals.
//
// Only rows that the fit may see are used: the vTrain node grid, llm-foundry runs on up to 8 GPUs
// and SimuMax runs with tensor parallel 1 and 2. Everything else is reported and never looked at by
// the search. Coordinate descent over the named numbers; the target is the mean of |log(predicted /
// measured)|, each source with equal weight, so that no source drowns the others by its size.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "fabric/machine.h"
#include "intake/training_csv.h"
#include "judge/validate.h"

namespace {

using namespace railyard;

struct Prepared {
  facts::TrainingRun run;
  judge::RunSetup setup;
  fabric::Machine machine;
  std::string group;
  bool fit = false;
};

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(3);
}
template <class T>
T need(Checked<T> value) {
  if (!value) stop(text(value.error()));
  return *std::move(value);
}

bool may_fit(const facts::TrainingRun& r) {
  if (r.gpus.value_or(99) > 8) return false;
  if (r.source.starts_with("VIA-Research/vTrain (node grid)")) return true;
  if (r.source.starts_with("mosaicml/llm-foundry")) return true;
  return r.source.starts_with("MooreThreads/SimuMax") && r.tensor.value_or(1) <= 2;
}

double error_of(const Prepared& p, const predict::Calibration& c) {
  const predict::StepModel model(p.machine, c);
  return model.predict(p.setup.job).time.total / p.setup.measured - 1;
}

void report(const std::vector<Prepared>& all, const predict::Calibration& c) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> by;
  std::vector<double> full;
  for (const Prepared& p : all) {
    if (!by.contains(p.group)) order.push_back(p.group);
    const double e = error_of(p, c);
    by[p.group].push_back(e);
    if (p.setup.full && p.group.find("sweep") == std::string::npos &&
        p.group.find("grid") == std::string::npos)
      full.push_back(e);
  }
  const auto line = [](const std::string& name, const std::vector<double>& e) {
    const judge::Accuracy a = judge::accuracy(e, static_cast<int>(e.size()));
    fmt::print(
        "{:58.58} n {:5}  mape {:6.1f}  median {:6.1f}  p90 {:6.1f}  max {:7.1f}  bias {:+6.1f}\n",
        name, a.n, 100 * a.mape, 100 * a.median, 100 * a.p90, 100 * a.max, 100 * a.bias);
  };
  for (const std::string& g : order) line(g, by[g]);
  line("FULL (without sweeps)", full);
}

double quantile(std::vector<double> v, double q) {
  std::ranges::sort(v);
  const double at = q * static_cast<double>(v.size() - 1);
  const auto i = static_cast<std::size_t>(at);
  const double rest = at - static_cast<double>(i);
  return i + 1 < v.size() ? v[i] * (1 - rest) + v[i + 1] * rest : v[i];
}

/// 80 % intervals by kind of run, and their coverage when each source is judged by the others.
void print_bands(const std::vector<Prepared>& all, const predict::Calibration& c) {
  std::map<std::string, std::map<std::string, std::vector<double>>> by;
  for (const Prepared& p : all) {
    if (p.group.find("sweep") != std::string::npos || p.group.find("grid") != std::string::npos)
      continue;
    by[std::string(predict::band_kind(p.setup.job, p.machine.servers))][p.group].push_back(
        1 / (1 + error_of(p, c)));
  }
  int inside = 0, n = 0;
  for (const auto& [kind, sources] : by) {
    std::vector<double> every;
    for (const auto& [source, ratios] : sources) {
      every.insert(every.end(), ratios.begin(), ratios.end());
      std::vector<double> others;
      for (const auto& [other, r] : sources)
        if (other != source) others.insert(others.end(), r.begin(), r.end());
      if (others.size() < 10) others = ratios;
      const double low = quantile(others, 0.1), high = quantile(others, 0.9);
      for (const double r : ratios) inside += r >= low && r <= high ? 1 : 0;
      n += static_cast<int>(ratios.size());
    }
    fmt::print("- {{kind: {}, low: {:.3f}, high: {:.3f}, rows: {}, sources: {}}}\n", kind,
               quantile(every, 0.1), quantile(every, 0.9), every.size(), sources.size());
  }
  fmt::print("coverage, leaving one source out: {:.3f} of {}\n", static_cast<double>(inside) / n,
             n);
}

double* knob(predict::Calibration& c, const std::string& name) {
  const std::size_t dot = name.find('.');
  const std::string owner = name.substr(0, dot), field = name.substr(dot + 1);
  if (owner == "constants") {
    for (const auto& f : predict::constant_fields())
      if (f.name == field) return &(c.constants.*f.member);
  } else {
    for (auto& g : c.gpus)
      if (g.id == owner)
        for (const auto& f : predict::gpu_fields())
          if (f.name == field) return &(g.*f.member);
  }
  stop("no such number: " + name);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string root = argc > 1 ? argv[1] : ".";
  const model::Catalog catalog = need(model::load_catalog(root + "/catalog"));
  const model::Stacks stacks = need(model::load_stacks(root + "/catalog/stacks.yaml"));
  const judge::Conventions conventions =
      need(judge::load_conventions(root + "/validation/sources.yaml"));
  predict::Calibration calibration =
      need(predict::load_calibration(root + "/catalog/calibration.yaml"));

  std::vector<std::string> files, knobs;
  std::string show, show_filter;
  for (int i = 2; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--fit") {
      while (i + 1 < argc && argv[i + 1][0] != '-') knobs.emplace_back(argv[++i]);
    } else if (a == "--rows") {
      show = argv[++i];
    } else if (a == "--set") {
      const std::string s = argv[++i];
      const std::size_t eq = s.find('=');
      *knob(calibration, s.substr(0, eq)) = std::stod(s.substr(eq + 1));
    } else {
      files.push_back(a);
    }
  }
  std::vector<Prepared> all;
  std::map<std::string, int> reasons;
  for (const std::string& f : files) {
    auto bytes = read_file(f);
    if (!bytes) stop(bytes.error().text());
    const auto runs = need(intake::read_training_csv({f, *bytes}));
    for (const auto& r : runs.runs) {
      if (r.metric == facts::RunMetric::peak_alloc_mem || r.metric == facts::RunMetric::failed)
        continue;
      auto s = judge::set_up(r, catalog, stacks, conventions);
      if (!s) {
        ++reasons[judge::source_group(r.source).substr(0, 30) + ": " + s.error()];
        continue;
      }
      Prepared p{r, *std::move(s), {}, judge::source_group(r.source), may_fit(r)};
      p.machine = fabric::summarise(p.setup.cluster);
      (void)judge::best_open_choice(p.setup, predict::StepModel(p.machine, calibration));
      all.push_back(std::move(p));
    }
  }
  for (const auto& [r, n] : reasons) fmt::print("not predicted {:4}  {}\n", n, r);

  if (!knobs.empty()) {
    const auto target = [&](const predict::Calibration& c) {
      std::map<std::string, std::pair<double, int>> sums;
      for (const Prepared& p : all) {
        if (!p.fit) continue;
        const std::string key = p.group + p.machine.gpu.id;
        auto& [s, n] = sums[key];
        s += std::min(std::abs(std::log(1 + error_of(p, c))), 0.5);
        ++n;
      }
      double t = 0;
      for (const auto& [g, s] : sums) t += s.first / s.second;
      return t / static_cast<double>(std::max<std::size_t>(sums.size(), 1));
    };
    double best = target(calibration);
    fmt::print("target {:.4f}\n", best);
    std::vector<double> step(knobs.size(), 0.2);
    for (int round = 0; round < 10; ++round) {
      for (std::size_t k = 0; k < knobs.size(); ++k) {
        double* x = knob(calibration, knobs[k]);
        const double start = *x;
        bool better = false;
        for (const double factor : {1 + step[k], 1 / (1 + step[k])}) {
          *x = start * factor;
          const double t = target(calibration);
          if (t < best - 1e-6) {
            best = t;
            better = true;
            break;
          }
          *x = start;
        }
        if (!better) step[k] *= 0.5;
      }
      fmt::print("round {} target {:.4f}", round, best);
      for (const std::string& k : knobs) fmt::print("  {}={:.4g}", k, *knob(calibration, k));
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
  if (show == "groups") {  // groups by source, part, model and precision
    std::map<std::string, std::vector<double>> by;
    for (const Prepared& p : all)
      by[fmt::format("{:.22} | {} | {} | {} {}", p.group, p.machine.gpu.id, p.run.model,
                     p.run.precision, p.run.recompute)]
          .push_back(error_of(p, calibration));
    for (const auto& [k, e] : by) {
      const judge::Accuracy a = judge::accuracy(e, static_cast<int>(e.size()));
      if (a.mape > 0.08)
        fmt::print("{:90.90} n {:3} mape {:5.1f} bias {:+5.1f}\n", k, a.n, 100 * a.mape,
                   100 * a.bias);
    }
  } else if (!show.empty()) {
    for (const Prepared& p : all) {
      if (p.run.source.find(show) == std::string::npos &&
          p.run.table.find(show) == std::string::npos)
        continue;
      const predict::StepModel model(p.machine, calibration);
      const auto r = model.predict(p.setup.job);
      const auto& t = r.time;
      const auto& l = p.setup.job.layout;
      fmt::print(
          "{:5} {:18.18} {:10.10} g{:<5} t{} p{} v{} d{} c{} e{} b{} B{} s{} m{} {:>8.4g} s err "
          "{:+6.1f}% | mm {:4.1f} at {:4.1f} me {:4.1f} rc {:4.1f} tp {:4.1f} cp {:4.1f} ep "
          "{:4.1f} pp {:4.1f} bub {:4.1f} dp {:4.1f} opt {:4.1f} oh {:4.1f} | {}\n",
          p.run.at.line, p.run.model, p.machine.gpu.id, *p.run.gpus, l.tensor, l.pipeline,
          l.virtual_stages, l.data, l.context, l.expert, l.micro_batch, p.setup.job.global_batch,
          p.setup.job.sequence, p.setup.job.micro_batches(), p.setup.measured.si(),
          100 * (t.total / p.setup.measured - 1), 100 * (t.matmul / t.total),
          100 * (t.attention / t.total), 100 * (t.memory_bound / t.total),
          100 * (t.recompute / t.total), 100 * (t.tensor / t.total), 100 * (t.context / t.total),
          100 * (t.expert / t.total), 100 * (t.pipeline / t.total), 100 * (t.bubble / t.total),
          100 * (t.data / t.total), 100 * (t.optimizer / t.total), 100 * (t.overhead / t.total),
          p.run.recompute + " " + p.run.sharding + " " + p.run.precision);
    }
  }
  report(all, calibration);
  print_bands(all, calibration);
  const judge::ValidationInputs inputs{catalog, stacks, conventions, calibration};
  for (const std::string& f : files) {
    auto bytes = read_file(f);
    const auto runs = need(intake::read_training_csv({f, *bytes}));
    if (runs.layout == intake::TrainingTable::nanotron_sweep) {
      const auto r = judge::validate_ranking(runs.runs, inputs);
      for (const auto& g : r.groups)
        fmt::print("{:14} {:4} n {:3} spearman {:.2f} regret {:.2f}\n", g.model, g.gpus,
                   g.configurations, g.spearman, g.regret);
      fmt::print("ranking: spearman {:.3f} regret {:.3f}\n", r.spearman, r.regret);
    }
    const auto m = judge::validate_memory(runs.runs, inputs);
    for (const auto& x : m.sources)
      fmt::print("memory {:40.40} n {:4} mape {:.3f} max {:.3f} bias {:+.3f}\n", x.source,
                 x.all.predicted, x.all.mape, x.all.max, x.all.bias);
    fmt::print("memory false_oom {:.3f} passed {:.3f}\n", m.false_oom, m.passed_failures);
    if (show == "parts")
      for (const auto& run : runs.runs) {
        if (!run.memory_gb && run.metric != facts::RunMetric::peak_alloc_mem) continue;
        auto st = judge::set_up(run, catalog, stacks, conventions);
        if (!st) continue;
        const fabric::Machine machine = fabric::summarise(st->cluster);
        const auto p = predict::StepModel(machine, calibration).predict(st->job).memory;
        const auto g = [](Bytes b) { return b.si() / 1e9; };
        const auto& l = st->job.layout;
        const double measured =
            run.metric == facts::RunMetric::peak_alloc_mem ? run.value * 1.0737 : *run.memory_gb;
        fmt::print(
            "{:5} {:14.14} g{} t{} p{} d{} b{} m{} z{} got {:6.1f} pred {:6.1f} | w {:.1f} g "
            "{:.1f} o {:.1f} act {:.1f} loss {:.1f} gath {:.1f} tmp {:.1f} stage {}\n",
            run.at.line, run.model, *run.gpus, l.tensor, l.pipeline, l.data, l.micro_batch,
            st->job.micro_batches(), static_cast<int>(l.shard), measured, g(p.allocated()),
            g(p.weights), g(p.gradients), g(p.optimizer), g(p.activations), g(p.loss),
            g(p.gathered), g(p.temporaries), p.stage);
      }
    if (show == "memory")
      for (const auto& r : m.rows)
        if (r.error && r.source.find("sweep") == std::string::npos)
          fmt::print("{} {:.30} {:.2f} GiB {:+.1f} %\n", r.at.line, r.model,
                     r.measured / 1073741824, 100 * *r.error);
  }
}
