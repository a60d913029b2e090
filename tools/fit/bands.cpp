#include "bands.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace railyard::fit {

namespace {

/// Measured over predicted, by source.
using Sources = std::map<std::string, std::vector<double>>;

struct Band {
  double low = 0, high = 0;
};

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto i = static_cast<std::size_t>(at);
  const double rest = at - static_cast<double>(i);
  return i + 1 < sorted.size() ? sorted[i] * (1 - rest) + sorted[i + 1] * rest : sorted[i];
}

Band band_of(std::vector<double> ratios) {
  std::ranges::sort(ratios);
  return {quantile(ratios, 0.1), quantile(ratios, 0.9)};
}

std::vector<double> all_but(const Sources& sources, const std::string& left_out) {
  std::vector<double> out;
  for (const auto& [source, ratios] : sources)
    if (source != left_out) out.insert(out.end(), ratios.begin(), ratios.end());
  return out;
}

/// How many rows of a source lie inside the band that the other sources give; where those are fewer
/// than ten rows, its own.
int inside(const Sources& sources, const std::string& source) {
  const std::vector<double>& ratios = sources.at(source);
  const std::vector<double> others = all_but(sources, source);
  const Band band = band_of(others.size() < 10 ? ratios : others);
  return static_cast<int>(
      std::ranges::count_if(ratios, [&](double r) { return r >= band.low && r <= band.high; }));
}

}  // namespace

void print_bands(const std::vector<Row>& rows, const predict::Calibration& c) {
  std::map<std::string, Sources> by_kind;
  for (const Row& row : rows)
    if (!of_a_sweep(row))
      by_kind[std::string(predict::band_kind(row.setup.job, row.machine.servers))][row.group]
          .push_back(1 / (1 + error_of(row, c)));
  int covered = 0;
  std::size_t n = 0;
  for (const auto& [kind, sources] : by_kind) {
    const std::vector<double> every = all_but(sources, "");
    const Band band = band_of(every);
    fmt::print("- {{kind: {}, low: {:.3f}, high: {:.3f}, rows: {}, sources: {}}}\n", kind, band.low,
               band.high, every.size(), sources.size());
    for (const auto& [source, ratios] : sources) covered += inside(sources, source);
    n += every.size();
  }
  fmt::print("coverage, leaving one source out: {:.3f} of {}\n",
             static_cast<double>(covered) / static_cast<double>(n), n);
}

}  // namespace railyard::fit
