#include "judge/accuracy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace railyard::judge {

namespace {

double nearest_rank(const std::vector<double>& sorted, double q) {
  const auto n = sorted.size();
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(n)));
  return sorted[std::clamp<std::size_t>(rank, 1, n) - 1];
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t j = i;
    while (j < order.size() && values[order[j]] == values[order[i]]) ++j;
    const double mean = (static_cast<double>(i) + static_cast<double>(j) - 1) / 2;
    for (; i < j; ++i) out[order[i]] = mean;
  }
  return out;
}

}  // namespace

Accuracy accuracy(std::span<const double> errors, int n) {
  Accuracy out{.n = n, .predicted = static_cast<int>(errors.size())};
  if (errors.empty()) return out;
  std::vector<double> size(errors.size());
  std::ranges::transform(errors, size.begin(), [](double e) { return std::abs(e); });
  std::ranges::sort(size);
  const auto count = static_cast<double>(errors.size());
  out.mape = std::accumulate(size.begin(), size.end(), 0.0) / count;
  out.bias = std::accumulate(errors.begin(), errors.end(), 0.0) / count;
  out.median = nearest_rank(size, 0.5);
  out.p90 = nearest_rank(size, 0.9);
  out.max = size.back();
  return out;
}

double spearman(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 2) return 0;
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace railyard::judge
