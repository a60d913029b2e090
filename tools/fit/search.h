#pragma once
// Coordinate descent over named numbers of the calibration. The target is the mean of
// |log(predicted / measured)|, cut at 0.5 for a row, each pair of source and accelerator with equal
// weight, so that no source drowns the others by its size.

#include <string>
#include <vector>

#include "rows.h"

namespace railyard::fit {

/// The number called "constants.NAME" or "ACCELERATOR.NAME".
double& knob(predict::Calibration& c, const std::string& name);

/// Ten rounds: each number in turn goes up or down by its step, which halves when neither helps.
/// The calibration ends at the best that was found.
void search(const std::vector<std::string>& knobs, const std::vector<Row>& rows,
            predict::Calibration& calibration);

}  // namespace railyard::fit
