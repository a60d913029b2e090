#pragma once
// What one job does on one cluster: a screen, JSON, CSV.

#include <string>
#include <vector>

#include "base/json.h"
#include "model/cluster.h"
#include "predict/explain.h"
#include "predict/outlook.h"
#include "report/table.h"

namespace railyard::report {

/// The screen: who and where, step time with its band, time and memory side by side, what limits
/// the step, then goodput, power and length of the run where they are asked for.
std::string to_text(const predict::Outlook& outlook, const model::Cluster& cluster, int width);

/// One object. Seconds, bytes and fractions, full precision; `explanation` only where there is one.
void to_json(const predict::Outlook& outlook, const predict::Term* explanation, json::Writer& out);

/// One row a number: group, name, value, unit, share.
Table table_of(const predict::Outlook& outlook);

/// One row a term of an explanation: its path, value, unit, formula, source.
Table table_of(const predict::Term& explanation);

/// "12.3 s (10.5-14.2 s)"
std::string with_band(const predict::Prediction& prediction);

}  // namespace railyard::report
