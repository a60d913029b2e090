#pragma once
// Fits the parameters of the time law to measurements: least squares in logarithms with the tails
// of outliers cut, and the starting values as one more measurement of each parameter.

#include <string>
#include <vector>

#include "predict/nccl/time_law.h"

namespace railyard::judge {

struct FitRow {
  predict::nccl::Platform platform = {};
  predict::nccl::TimeQuestion question = {};
  double measured_us = 0;
  std::string curve = {};  ///< rows of one curve share its weight
};

struct FitReport {
  int iterations = 0;
  double cost = 0;
};

/// Values that fit `rows` best, from the values in `start`.
predict::nccl::Priors fit_time_law(const std::vector<FitRow>& rows,
                                   const predict::nccl::Priors& start, FitReport* report = nullptr);

}  // namespace railyard::judge
