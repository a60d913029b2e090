// railyard-fit: repeats the fit of catalog/calibration.yaml and prints residuals.
//
// Only rows that the fit may see are used: the vTrain node grid, llm-foundry runs on up to 8 GPUs and
// SimuMax runs with tensor parallel 1 and 2. Everything else is reported and never looked at by the
// search. Coordinate descent over the named numbers; the target is the mean of |log(predicted /
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
    if (p.setup.full && p.group.find("sweep") == std::string::npos && p.group.find("grid") == std::string::npos) full.push_back(e);
  }
  const auto line = [](const std::string& name, const std::vector<double>& e) {
    const judge::Accuracy a = judge::accuracy(e, static_cast<int>(e.size()));
    fmt::print("{:58.58} n {:5}  mape {:6.1f}  median {:6.1f}  p90 {:6.1f}  max {:7.1f}  bias {:+6.1f}\n", name, a.n,
               100 * a.mape, 100 * a.median, 100 * a.p90, 100 * a.max, 100 * a.bias);
  };
  for (const std::string& g : order) line(g, by[g]);
  line("FULL (without sweeps)", full);
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
  const model::Stacks stacks = need(model::load_stacks(std::getenv("RY_STACKS") ? std::getenv("RY_STACKS") : root + "/catalog/stacks.yaml"));
  const judge::Conventions conventions = need(judge::load_conventions(root + "/validation/sources.yaml"));
  predict::Calibration calibration = need(predict::load_calibration(root + "/catalog/calibration.yaml"));

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
      if (r.metric == facts::RunMetric::peak_alloc_mem || r.metric == facts::RunMetric::failed) continue;
      auto s = judge::set_up(r, catalog, stacks, conventions);
      if (!s) {
        ++reasons[judge::source_group(r.source).substr(0, 30) + ": " + s.error()];
        continue;
      }
      Prepared p{r, *std::move(s), {}, judge::source_group(r.source), may_fit(r)};
      p.machine = fabric::summarise(p.setup.cluster);
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
  if (!show.empty()) {
    for (const Prepared& p : all) {
      if (p.run.source.find(show) == std::string::npos && p.run.table.find(show) == std::string::npos) continue;
      const predict::StepModel model(p.machine, calibration);
      const auto r = model.predict(p.setup.job);
      const auto& t = r.time;
      const auto& l = p.setup.job.layout;
      fmt::print("{:5} {:18.18} {:10.10} g{:<5} t{} p{} v{} d{} c{} e{} b{} B{} s{} m{} {:>8.4g} s err {:+6.1f}% | mm {:4.1f} at {:4.1f} me {:4.1f} rc {:4.1f} tp {:4.1f} cp {:4.1f} ep {:4.1f} pp {:4.1f} bub {:4.1f} dp {:4.1f} opt {:4.1f} oh {:4.1f} | mfu {:4.1f} | {}\n",
                 p.run.at.line, p.run.model, p.machine.gpu.id, *p.run.gpus, l.tensor, l.pipeline, l.virtual_stages, l.data, l.context, l.expert, l.micro_batch, p.setup.job.global_batch, p.setup.job.sequence, p.setup.job.micro_batches(), p.setup.measured.si(), 100 * (t.total / p.setup.measured - 1),
                 100 * (t.matmul / t.total), 100 * (t.attention / t.total), 100 * (t.memory_bound / t.total), 100 * (t.recompute / t.total), 100 * (t.tensor / t.total), 100 * (t.context / t.total), 100 * (t.expert / t.total), 100 * (t.pipeline / t.total), 100 * (t.bubble / t.total), 100 * (t.data / t.total), 100 * (t.optimizer / t.total), 100 * (t.overhead / t.total), 100 * r.utilisation.mfu, p.run.recompute + " " + p.run.sharding + " " + p.run.precision);
    }
  }
  report(all, calibration);
}
