#include "judge/validate_nccl.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "judge/busbw_setup.h"
#include "judge/nccl_fit.h"
#include "judge/nccl_own_estimate.h"

namespace railyard::judge {

namespace {

using predict::nccl::Priors;

constexpr std::int64_t kShort = 64 << 10, kLong = 32 << 20;
constexpr double kNear = 0.10;

struct Prepared {
  const facts::BusbwRow* row = nullptr;
  std::expected<BusbwSetup, std::string> setup = {};
  std::string system = {};
};

std::vector<Prepared> prepare(const std::vector<facts::BusbwRow>& rows) {
  std::vector<Prepared> out;
  for (const facts::BusbwRow& row : rows)
    out.push_back({.row = &row, .setup = setup_of(row), .system = system_of(row)});
  return out;
}

/// Healthy rows with a size, of all systems but one.
std::vector<FitRow> fit_rows(const std::vector<Prepared>& published, const std::string& without) {
  std::vector<FitRow> out;
  for (const Prepared& p : published)
    if (p.setup && p.row->health == "healthy" && !p.row->average && p.system != without)
      out.push_back({.platform = p.setup->platform,
                     .question = p.setup->question,
                     .measured_us = p.setup->measured_us,
                     .curve = p.system + '|' + p.row->source + '|' + p.row->collective});
  return out;
}

/// Parameters by the system that they have not seen.
class LeftOut {
 public:
  LeftOut(const std::vector<Prepared>& published, const Priors& priors) : published_(published) {
    all_ = fit_time_law(fit_rows(published, ""), priors);
    for (const Prepared& p : published)
      if (p.setup && p.row->health == "healthy" && !p.row->average) seen_.insert(p.system);
  }

  const Priors& for_system(const std::string& system) {
    if (!seen_.contains(system)) return all_;
    auto [at, fresh] = fits_.try_emplace(system);
    if (fresh) at->second = fit_time_law(fit_rows(published_, system), all_);
    return at->second;
  }

 private:
  const std::vector<Prepared>& published_;
  Priors all_;
  std::set<std::string> seen_;
  std::map<std::string, Priors> fits_;
};

/// An average over an unlisted sweep: every size of the usual list weighs the same, so it lies far
/// below the plateau on a healthy system too. Only what is below the average of the large sizes by
/// more than their suspicion is flagged.
double average_busbw(const BusbwSetup& setup, const Priors& priors) {
  double sum = 0;
  int n = 0;
  for (std::int64_t bytes = 4 << 20; bytes <= 1 << 30; bytes *= 2, ++n) {
    auto question = setup.question;
    question.bytes = static_cast<double>(bytes);
    sum += predict::nccl::bus_factor(question.what, setup.platform.ranks()) * question.bytes / 1e3 /
           predict::nccl::time_of(setup.platform, question, priors).total;
  }
  return sum / n;
}

NcclRow judged(const Prepared& p, const Priors& priors) {
  NcclRow out{
      .at = p.row->at,
      .source = p.row->source,
      .system = p.system,
      .collective = p.row->collective,
      .health = p.row->health.empty() ? "healthy" : p.row->health,  // own files claim nothing
      .bytes = static_cast<std::int64_t>(p.row->bytes)};
  if (!p.setup) {
    out.reason = p.setup.error();
    return out;
  }
  const auto& band = priors.band(static_cast<std::int64_t>(p.row->bytes));
  const double wider =
      p.setup->platform.inside == predict::nccl::Inside::rack ? priors.rack_widening : 0;
  if (p.row->average) {
    out.reason = "an average over a list of sizes that is not given";
    const double expected = average_busbw(*p.setup, priors);
    constexpr double kAverageSuspect = 1.8;
    out.flagged = p.row->busbw_gbs && *p.row->busbw_gbs * kAverageSuspect < expected;
    return out;
  }
  out.measured_us = p.setup->measured_us;
  out.predicted_us = predict::nccl::time_of(p.setup->platform, p.setup->question, priors).total;
  out.low_us = out.predicted_us * std::exp(band.low - wider);
  out.high_us = out.predicted_us * std::exp(band.high + wider);
  out.error = out.predicted_us / out.measured_us - 1;
  out.inside_band = out.measured_us >= out.low_us && out.measured_us <= out.high_us;
  out.flagged = out.measured_us > out.predicted_us * std::exp(band.suspect + wider);
  return out;
}

struct Share {
  int of = 0, n = 0;
  void add(bool yes) {
    of += yes;
    ++n;
  }
  double value() const { return n ? static_cast<double>(of) / n : 0; }
};

NcclSizeClass size_class(const std::vector<NcclRow>& rows, std::string name, std::int64_t from,
                         std::int64_t to) {
  NcclSizeClass out{.name = std::move(name)};
  std::vector<double> errors, of_nccl, ours;
  Share near, inside, nccl_near;
  for (const NcclRow& r : rows) {
    if (r.health != "healthy" || !r.error || r.bytes < from || (to > 0 && r.bytes >= to)) continue;
    errors.push_back(*r.error);
    near.add(std::abs(*r.error) <= kNear);
    inside.add(r.inside_band);
    if (!r.nccl_us) continue;
    of_nccl.push_back(*r.nccl_us / r.measured_us - 1);
    ours.push_back(*r.error);
    nccl_near.add(std::abs(of_nccl.back()) <= kNear);
  }
  out.n = static_cast<int>(errors.size());
  out.median = accuracy(errors, out.n).median;
  out.within_10pct = near.value();
  out.inside_band = inside.value();
  out.nccl_n = static_cast<int>(of_nccl.size());
  out.nccl_median = accuracy(of_nccl, out.nccl_n).median;
  out.nccl_within_10pct = nccl_near.value();
  out.same_rows_median = accuracy(ours, out.nccl_n).median;
  return out;
}

}  // namespace

NcclValidation validate_nccl(const std::vector<facts::BusbwRow>& rows,
                             const std::vector<facts::BusbwRow>& published, const Priors& priors,
                             const model::Catalog& catalog) {
  const std::vector<Prepared> known = prepare(published), asked = prepare(rows);
  LeftOut left_out(known, priors);
  NcclValidation out;
  NcclOwnEstimate own(catalog);
  for (const Prepared& p : asked) {
    out.rows.push_back(judged(p, left_out.for_system(p.system)));
    if (p.setup) out.rows.back().nccl_us = own.us(*p.row, *p.setup);
  }

  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> by_source;
  std::map<std::string, int> count;
  std::vector<double> all;
  std::map<std::string, Share> pathological;
  Share healthy;
  int n = 0;
  for (const NcclRow& r : out.rows) {
    if (r.health == "pathological") pathological[r.source].add(r.flagged);
    if (r.health != "healthy") continue;
    healthy.add(r.flagged);
    ++n;
    if (count[r.source]++ == 0) order.push_back(r.source);
    if (!r.error) continue;
    by_source[r.source].push_back(*r.error);
    all.push_back(*r.error);
  }
  for (const std::string& source : order)
    out.sources.push_back({.source = source, .all = accuracy(by_source[source], count[source])});
  out.overall = accuracy(all, n);
  out.sizes = {size_class(out.rows, "below 64 KiB", 0, kShort),
               size_class(out.rows, "64 KiB to 32 MiB", kShort, kLong),
               size_class(out.rows, "32 MiB and above", kLong, 0)};
  out.within_10pct = out.sizes[2].within_10pct;
  out.inside_band = out.sizes[1].inside_band;
  for (const NcclRow& r : out.rows)
    if (r.error && r.bytes >= kShort && r.bytes < kLong)
      out.widest_band = std::max(out.widest_band, r.high_us / r.low_us);
  double sum = 0;
  for (const auto& [source, share] : pathological) sum += share.value();
  out.flagged_pathological =
      pathological.empty() ? 0 : sum / static_cast<double>(pathological.size());
  out.flagged_healthy = healthy.value();
  return out;
}

}  // namespace railyard::judge
