#pragma once
// Two set-ups side by side, with the share of every change.

#include <string>

#include "base/json.h"
#include "plan/compare.h"
#include "report/table.h"

namespace railyard::report {

/// The two clusters that a comparison is about, for headings.
struct Sides {
  const model::Cluster& a;
  const model::Cluster& b;
};

std::string to_text(const plan::Comparison& comparison, const Sides& sides, int width);
/// {"a": as `predict` has it, "b", "throughput_ratio", "per_gpu_ratio", "changes": [...],
/// "interaction_s"}
void to_json(const plan::Comparison& comparison, json::Writer& out);
/// One row a figure or change: group, name, a, b, unit, alone_s, in_order_s, share.
Table table_of(const plan::Comparison& comparison);

}  // namespace railyard::report
