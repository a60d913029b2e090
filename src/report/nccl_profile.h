#pragma once
// A profile of collectives as YAML, and how far it can be trusted as a table.

#include <string>

#include "base/json.h"
#include "judge/nccl_calibrate.h"
#include "predict/nccl/profile.h"
#include "report/table.h"

namespace railyard::report {

/// What predict::nccl::read_profile() reads back to an equal profile.
std::string to_yaml(const predict::nccl::Profile& profile);
/// The same, with how it was made and how far it holds as comments at its head.
std::string to_yaml(const judge::NcclCalibration& calibration);

/// One row a curve, then all: points that were left out and predicted within 10 %.
Table table_of(const judge::NcclCalibration& calibration);
std::string to_text(const judge::NcclCalibration& calibration, int width);
/// {"profile", "left_out", "points", "remarks"}.
void to_json(const judge::NcclCalibration& calibration, json::Writer& out);

/// "all_reduce Ring LL128", "all_gather, NCCL's choice".
std::string show(const predict::nccl::Way& way);

}  // namespace railyard::report
