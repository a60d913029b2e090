#pragma once
// The published-error tables: predictions against measurements, by source and overall, as a table,
// as JSON that scripts rely on, and as the page docs/accuracy.md.

#include <string>
#include <vector>

#include "base/json.h"
#include "judge/validate.h"
#include "report/table.h"

namespace railyard::report {

Table table_of(const judge::TrainingValidation& v);
Table table_of(const judge::MemoryValidation& v);
Table table_of(const judge::RankingValidation& v);

// {"overall", "sources", "rows", ...} of the contract; errors are fractions.
void to_json(const judge::TrainingValidation& v, json::Writer& out);
void to_json(const judge::MemoryValidation& v, json::Writer& out);
void to_json(const judge::RankingValidation& v, json::Writer& out);

/// One row a line: where, measured, predicted, error or reason.
Table rows_of(const std::vector<judge::ValidatedRow>& rows);

/// What was not predicted, by reason.
Table reasons_of(const std::vector<judge::ValidatedRow>& rows);

/// A table as Markdown.
std::string to_markdown(const Table& table);

}  // namespace railyard::report
