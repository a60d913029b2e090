#include "judge/detail/validated.h"

namespace railyard::judge {

using facts::RunMetric;
using facts::TrainingRun;

TrainingValidation validate_training(const std::vector<TrainingRun>& runs,
                                     const ValidationInputs& in) {
  TrainingValidation out;
  std::vector<double> all, full;
  int inside = 0;
  for (const TrainingRun& run : runs) {
    if (run.metric == RunMetric::peak_alloc_mem || run.metric == RunMetric::failed) continue;
    ValidatedRow& row = out.rows.emplace_back(detail::row_of(run, in));
    auto p = detail::predict_run(run, in);
    if (!p) {
      row.reason = std::move(p).error();
      continue;
    }
    detail::fill_in_times(*p, row);
    row.full = p->setup.full;
    row.inside_band = row.measured >= row.predicted * p->prediction.low &&
                      row.measured <= row.predicted * p->prediction.high;
    inside += row.inside_band ? 1 : 0;
    all.push_back(*row.error);
    if (row.full) full.push_back(*row.error);
  }
  out.sources = detail::by_source(out.rows);
  out.overall = accuracy(all, static_cast<int>(out.rows.size()));
  out.full_rows = accuracy(full, static_cast<int>(full.size()));
  out.band_coverage =
      all.empty() ? 0 : static_cast<double>(inside) / static_cast<double>(all.size());
  return out;
}

}  // namespace railyard::judge
