#pragma once
// What the three validations share: a row's head, the prediction of a published run, and the
// accuracy by source.

#include <expected>
#include <string>
#include <vector>

#include "judge/validate.h"

namespace railyard::judge::detail {

/// Place, source, model and metric; nothing predicted yet.
ValidatedRow row_of(const facts::TrainingRun& run, const ValidationInputs& in);

struct Predicted {
  RunSetup setup;
  predict::Prediction prediction;
};
/// Or a sentence that says why there is no prediction.
std::expected<Predicted, std::string> predict_run(const facts::TrainingRun& run,
                                                  const ValidationInputs& in);

/// Measured and predicted step time, and the error.
void fill_in_times(const Predicted& p, ValidatedRow& row);

/// In the order in which sources first appear.
std::vector<SourceAccuracy> by_source(const std::vector<ValidatedRow>& rows);

}  // namespace railyard::judge::detail
