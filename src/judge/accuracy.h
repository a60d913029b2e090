#pragma once
// Error statistics of predictions against measurements, as the published-error tables print them.
//
// error = predicted time / measured time - 1.  MAPE is the mean of |error|, bias the mean of error,
// median and p90 are of |error| by nearest rank.

#include <span>
#include <string>
#include <vector>

namespace railyard::judge {

struct Accuracy {
  int n = 0, predicted = 0;
  double mape = 0, median = 0, p90 = 0, max = 0, bias = 0;
};

/// `errors` of the predicted rows; `n` counts all rows.
Accuracy accuracy(std::span<const double> errors, int n);

/// Spearman's rank correlation; ties share their mean rank. Zero for fewer than two points or when
/// one side is constant.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace railyard::judge
