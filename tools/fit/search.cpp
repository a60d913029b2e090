#include "search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace railyard::fit {

namespace {

constexpr int kRounds = 10;
constexpr double kFirstStep = 0.2;
constexpr double kLeastGain = 1e-6;

double target(const std::vector<Row>& rows, const predict::Calibration& c) {
  struct Sum {
    double total = 0;
    int rows = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Row& row : rows) {
    if (!row.fit) continue;
    Sum& s = sums[row.group + row.machine.gpu.id];
    s.total += std::min(std::abs(std::log(1 + error_of(row, c))), 0.5);
    ++s.rows;
  }
  double all = 0;
  for (const auto& [group, s] : sums) all += s.total / s.rows;
  return all / static_cast<double>(std::max<std::size_t>(sums.size(), 1));
}

void print_round(int round, double best, const std::vector<std::string>& knobs,
                 predict::Calibration& calibration) {
  fmt::print("round {} target {:.4f}", round, best);
  for (const std::string& k : knobs) fmt::print("  {}={:.4g}", k, knob(calibration, k));
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace

double& knob(predict::Calibration& c, const std::string& name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) stop("no such number: " + name);
  const std::string owner = name.substr(0, dot), field = name.substr(dot + 1);
  if (owner == "constants")
    for (const auto& f : predict::constant_fields())
      if (f.name == field) return c.constants.*f.member;
  for (auto& gpu : c.gpus)
    if (gpu.id == owner)
      for (const auto& f : predict::gpu_fields())
        if (f.name == field) return gpu.*f.member;
  stop("no such number: " + name);
}

void search(const std::vector<std::string>& knobs, const std::vector<Row>& rows,
            predict::Calibration& calibration) {
  double best = target(rows, calibration);
  fmt::print("target {:.4f}\n", best);
  const auto improves = [&](double& x, double factor) {
    const double start = x;
    x = start * factor;
    const double t = target(rows, calibration);
    if (t < best - kLeastGain) {
      best = t;
      return true;
    }
    x = start;
    return false;
  };
  std::vector<double> steps(knobs.size(), kFirstStep);
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      double& x = knob(calibration, knobs[k]);
      if (!improves(x, 1 + steps[k]) && !improves(x, 1 / (1 + steps[k]))) steps[k] *= 0.5;
    }
    print_round(round, best, knobs, calibration);
  }
}

}  // namespace railyard::fit
