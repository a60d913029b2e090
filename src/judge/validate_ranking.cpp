#include <algorithm>
#include <map>
#include <tuple>

#include "judge/detail/validated.h"

namespace railyard::judge {

namespace {

using facts::RunMetric;
using facts::TrainingRun;

/// Fewer say nothing about order.
constexpr std::size_t kLeastConfigurations = 5;

/// Layouts of one job on one cluster: same source, model, accelerators, sequence and batch.
using Key = std::tuple<std::string, std::string, int, int, int>;

Key key_of(const TrainingRun& run) {
  return {run.source, run.model, run.gpus.value_or(0), run.sequence.value_or(0),
          run.global_batch.value_or(0)};
}

/// Throughputs of the group's layouts, in the order of the table.
struct Group {
  std::vector<double> measured, predicted;
};

RankedGroup ranked(const Key& key, const Group& g) {
  const auto ours = std::ranges::max_element(g.predicted) - g.predicted.begin();
  const double best = *std::ranges::max_element(g.measured);
  return {.model = std::get<1>(key),
          .gpus = std::get<2>(key),
          .configurations = static_cast<int>(g.measured.size()),
          .spearman = spearman(g.measured, g.predicted),
          .regret = 1 - g.measured[static_cast<std::size_t>(ours)] / best};
}

}  // namespace

RankingValidation validate_ranking(const std::vector<TrainingRun>& runs,
                                   const ValidationInputs& in) {
  std::map<Key, Group> groups;
  RankingValidation out;
  for (const TrainingRun& run : runs) {
    if (run.metric != RunMetric::tokens_per_s_per_gpu) continue;
    ValidatedRow& row = out.rows.emplace_back(detail::row_of(run, in));
    auto p = detail::predict_run(run, in);
    if (!p) {
      row.reason = std::move(p).error();
      continue;
    }
    detail::fill_in_times(*p, row);
    Group& g = groups[key_of(run)];
    g.measured.push_back(run.value);
    g.predicted.push_back(p->prediction.tokens_per_second_per_gpu);
  }
  for (const auto& [key, g] : groups) {
    if (g.measured.size() < kLeastConfigurations) continue;
    const RankedGroup& r = out.groups.emplace_back(ranked(key, g));
    out.spearman += r.spearman;
    out.regret += r.regret;
  }
  if (!out.groups.empty()) {
    out.spearman /= static_cast<double>(out.groups.size());
    out.regret /= static_cast<double>(out.groups.size());
  }
  return out;
}

}  // namespace railyard::judge
