#pragma once
// The tree of terms behind a prediction: every number with the sum that made it and where its
// inputs are from, down to the shapes of the matrix multiplications, the groups of the collectives
// and the lines of the datasheets.

#include "model/cluster.h"
#include "predict/calibration.h"
#include "predict/explain.h"
#include "predict/outlook.h"

namespace railyard::predict {

/// `outlook` must have been made of the same cluster and calibration. The children of the term
/// "step" sum to it, and so do those of "memory".
Term explain(const Outlook& outlook, const model::Cluster& cluster, const Calibration& calibration);

}  // namespace railyard::predict
