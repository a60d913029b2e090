#pragma once
// The time law against published nccl-tests results, leaving one system out at a time: each row is
// predicted with parameters that were fitted without any row of its system.

#include <optional>
#include <string>
#include <vector>

#include "facts/busbw_row.h"
#include "judge/validate.h"
#include "predict/nccl/time_law.h"

namespace railyard::judge {

struct NcclRow {
  Place at = {};
  std::string source = {}, system = {}, collective = {}, health = {};
  std::int64_t bytes = 0;
  double measured_us = 0, predicted_us = 0, low_us = 0, high_us = 0;
  std::optional<double> error = {};    ///< predicted / measured - 1
  std::optional<double> nccl_us = {};  ///< NCCL's own estimate, where its topology is known
  std::string reason = {};             ///< why there is no error
  bool inside_band = false;
  bool flagged = false;  ///< too slow for a healthy system
};

/// Healthy rows of one class of size.
struct NcclSizeClass {
  std::string name = {};
  int n = 0;
  double median = 0, within_10pct = 0, inside_band = 0;
  /// Rows with an estimate of NCCL's own, its errors there and ours.
  int nccl_n = 0;
  double nccl_median = 0, nccl_within_10pct = 0, same_rows_median = 0;
};

struct NcclValidation {
  std::vector<NcclRow> rows = {};
  std::vector<SourceAccuracy> sources = {};  ///< healthy rows
  Accuracy overall = {};                     ///< healthy rows
  std::vector<NcclSizeClass> sizes = {};     ///< below 64 KiB, to 32 MiB, from there
  double within_10pct = 0;                   ///< healthy rows of 32 MiB and above
  double inside_band = 0;                    ///< healthy rows of 64 KiB to 32 MiB
  double widest_band = 0;                    ///< high over low in that class
  double flagged_pathological = 0;           ///< mean over sources of their pathological rows
  double flagged_healthy = 0;
};

/// `published`: the rows that the parameters may be fitted on, the file's own system left out.
NcclValidation validate_nccl(const std::vector<facts::BusbwRow>& rows,
                             const std::vector<facts::BusbwRow>& published,
                             const predict::nccl::Priors& priors, const model::Catalog& catalog);

}  // namespace railyard::judge
