#pragma once
// The 80 % bands of the calibration: quantiles of measured over predicted, by kind of run.

#include <vector>

#include "rows.h"

namespace railyard::fit {

/// As lines for catalog/calibration.yaml, and the share of rows inside them when each source is
/// judged by the others. Sweeps do not count.
void print_bands(const std::vector<Row>& rows, const predict::Calibration& c);

}  // namespace railyard::fit
