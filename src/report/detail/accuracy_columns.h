#pragma once
// The columns and keys that all published-error tables share.

#include <string>
#include <vector>

#include "base/json.h"
#include "judge/validate.h"
#include "report/table.h"

namespace railyard::report::detail {

/// "12.3 %" and "+12.3 %".
Cell percent(double fraction);
Cell signed_percent(double fraction);

/// source, n, predicted, mape, median, p90, max, bias.
Table accuracy_columns();
void add(Table& table, const std::string& name, const judge::Accuracy& a);

/// The fields of one accuracy, into an open object; null where nothing was predicted.
void write(const judge::Accuracy& a, json::Writer& out);
/// "sources": [...].
void write_sources(const std::vector<judge::SourceAccuracy>& sources, json::Writer& out);

}  // namespace railyard::report::detail
