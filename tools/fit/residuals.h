#pragma once
// What the calibration leaves: errors by source, by group, row by row; memory and ranking.

#include <string>
#include <vector>

#include "rows.h"

namespace railyard::fit {

/// One line a source, and one for the rows whose configuration is printed in full.
void print_sources(const std::vector<Row>& rows, const predict::Calibration& c);
/// Groups by source, accelerator, model and precision that are more than 8 % off.
void print_groups(const std::vector<Row>& rows, const predict::Calibration& c);
/// Rows whose source or table holds `filter`: layout, times, and where the step goes in percent.
void print_rows(const std::vector<Row>& rows, const predict::Calibration& c,
                const std::string& filter);

void print_ranking(const intake::TrainingRuns& file, const World& world);
/// Errors by source; with `rows`, those of each run that is no part of a sweep.
void print_memory(const intake::TrainingRuns& file, const World& world, bool rows);
/// Printed and predicted memory of each run, with the parts of the prediction.
void print_memory_parts(const intake::TrainingRuns& file, const World& world);

}  // namespace railyard::fit
