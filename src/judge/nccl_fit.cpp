#include "judge/nccl_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace railyard::judge {

namespace {

using predict::nccl::kParameters;
using predict::nccl::Priors;

constexpr auto kCount = static_cast<std::size_t>(kParameters);
using Vector = std::array<double, kCount>;

constexpr int kMostIterations = 40;
constexpr double kStep = 0.01;      // of a parameter, for differences
constexpr double kLongest = 0.5;    // of a step in a parameter's logarithm
constexpr double kCut = 4;          // squared scatters at which a residual counts half
constexpr double kCurveWeight = 3;  // of a curve of one row; n rows together weigh sqrt(n) of it
constexpr double kConverged = 1e-5;

/// Scatter between healthy systems of a class, by size: long transfers repeat, short ones hang on
/// the host. [nccl_busbw]
double scatter(double bytes) {
  if (bytes >= 32 << 20) return 0.06;
  return bytes >= 1 << 20 ? 0.15 : 0.25;
}

/// Solves A x = b for a symmetric positive matrix, by elimination with pivots.
Vector solve(std::array<Vector, kCount> a, Vector b) {
  for (std::size_t i = 0; i < kCount; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i + 1; r < kCount; ++r)
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    std::swap(a[i], a[pivot]);
    std::swap(b[i], b[pivot]);
    for (std::size_t r = i + 1; r < kCount; ++r) {
      const double q = a[r][i] / a[i][i];
      if (q == 0) continue;
      for (std::size_t c = i; c < kCount; ++c) a[r][c] -= q * a[i][c];
      b[r] -= q * b[i];
    }
  }
  for (std::size_t i = kCount; i-- > 0;) {
    for (std::size_t c = i + 1; c < kCount; ++c) b[i] -= a[i][c] * b[c];
    b[i] /= a[i][i];
  }
  return b;
}

class Fit {
 public:
  Fit(const std::vector<FitRow>& rows, const Priors& start) : rows_(rows), now_(start) {
    std::map<std::string, int> of_curve;
    for (const FitRow& row : rows) ++of_curve[row.curve];
    for (const FitRow& row : rows) {
      weights_.push_back(kCurveWeight / std::sqrt(of_curve[row.curve]));
      scatters_.push_back(scatter(row.question.bytes));
      measured_.push_back(std::log(row.measured_us));
    }
    predicted_.resize(rows.size());
  }

  Priors run(FitReport* report) {
    double cost = cost_of(now_);
    double damping = 1e-3;
    int iteration = 0;
    for (; iteration < kMostIterations; ++iteration) {
      linearise();
      bool better = false;
      double gain = 0;
      for (int attempt = 0; attempt < 5 && !better; ++attempt) {
        const Priors trial = stepped(damping);
        const double then = cost_of(trial);
        if (then < cost) {
          gain = cost - then;
          cost = then;
          now_ = trial;
          better = true;
          damping = std::max(damping / 5, 1e-6);
        } else {
          damping = std::max(damping, 1e-3) * 8;
        }
      }
      if (!better || gain < kConverged * std::max(1.0, cost)) break;
    }
    if (report) *report = {.iterations = iteration, .cost = cost};
    return now_;
  }

 private:
  double log_time(std::size_t row, const Priors& priors) const {
    return std::log(predict::nccl::time_of(rows_[row].platform, rows_[row].question, priors).total);
  }

  double cost_of(const Priors& priors) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double r = (measured_[i] - log_time(i, priors)) / scatters_[i];
      sum += weights_[i] * kCut / 2 * std::log1p(r * r / kCut);
    }
    for (const auto& p : priors.parameters) {
      const double off = std::log(p.value / p.start) / p.spread;
      sum += 0.5 * off * off;
    }
    return sum;
  }

  /// Normal equations around `now_`, rows weighed down by how far off they are.
  void linearise() {
    hessian_ = {};
    gradient_ = {};
    Vector slope;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double base = log_time(i, now_);
      const double off = measured_[i] - base, r = off / scatters_[i];
      const double weight = weights_[i] / (scatters_[i] * scatters_[i]) / (1 + r * r / kCut);
      std::vector<std::size_t> moved;
      for (std::size_t k = 0; k < kCount; ++k) {
        if (!touches(rows_[i], static_cast<predict::nccl::Parameter>(k))) continue;
        double& value = now_.parameters[k].value;
        const double kept = value;
        value *= 1 + kStep;
        slope[k] = (log_time(i, now_) - base) / std::log1p(kStep);
        value = kept;
        if (slope[k] != 0) moved.push_back(k);
      }
      for (const std::size_t a : moved) {
        gradient_[a] += weight * slope[a] * off;
        for (const std::size_t b : moved) hessian_[a][b] += weight * slope[a] * slope[b];
      }
    }
    for (std::size_t k = 0; k < kCount; ++k) {
      const auto& p = now_.parameters[k];
      hessian_[k][k] += 1 / (p.spread * p.spread);
      gradient_[k] -= std::log(p.value / p.start) / (p.spread * p.spread);
    }
  }

  Priors stepped(double damping) const {
    auto damped = hessian_;
    for (std::size_t k = 0; k < kCount; ++k) damped[k][k] *= 1 + damping;
    const Vector step = solve(damped, gradient_);
    Priors out = now_;
    for (std::size_t k = 0; k < kCount; ++k)
      out.parameters[k].value *= std::exp(std::clamp(step[k], -kLongest, kLongest));
    return out;
  }

  /// Whether the parameter can matter to the row; sparing the others is most of the speed.
  static bool touches(const FitRow& row, predict::nccl::Parameter parameter) {
    using P = predict::nccl::Parameter;
    const auto& s = row.platform;
    const bool network = s.domains > 1;
    switch (parameter) {
      case P::infiniband:
      case P::roce:
      case P::efa:
      case P::tcpxo:
      case P::tcpx:
      case P::slingshot:
      case P::sockets:
      case P::ll_many:
      case P::host_many:
      case P::hop_network:
      case P::hop_libfabric:
      case P::hop_tcp:
      case P::fill_network:
      case P::post: return network;
      case P::nvls_sm90:
      case P::nvls_sm100:
      case P::nvls_rack:
      case P::fill_nvls: return s.nvls;
      case P::pcie:
      case P::pcie_sockets:
      case P::pcie_host:
      case P::fill_pcie:
      case P::host_pcie: return s.inside == predict::nccl::Inside::pcie;
      case P::ring_sm70:
      case P::ring_sm80:
      case P::ring_sm90:
      case P::ring_sm100:
      case P::fill_nvlink: return s.inside != predict::nccl::Inside::pcie;
      default: return true;
    }
  }

  const std::vector<FitRow>& rows_;
  Priors now_;
  std::vector<double> weights_, scatters_, measured_, predicted_;
  std::array<Vector, kCount> hessian_ = {};
  Vector gradient_ = {};
};

}  // namespace

Priors fit_time_law(const std::vector<FitRow>& rows, const Priors& start, FitReport* report) {
  if (rows.empty()) return start;
  return Fit(rows, start).run(report);
}

}  // namespace railyard::judge
