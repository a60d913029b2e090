#pragma once
// The error table of collective times: by source and size, and what is flagged as unhealthy.

#include <string>

#include "base/json.h"
#include "judge/validate_nccl.h"
#include "report/table.h"

namespace railyard::report {

Table table_of(const judge::NcclValidation& v);
Table sizes_of(const judge::NcclValidation& v);
Table rows_of(const judge::NcclValidation& v);
/// How rows of each label come out.
Table labels_of(const judge::NcclValidation& v);
std::string to_text(const judge::NcclValidation& v, int width);
/// The tables of the page docs/accuracy.md.
std::string to_markdown(const judge::NcclValidation& v);
/// {"overall", "sources", "rows", ...} of the contract.
void to_json(const judge::NcclValidation& v, json::Writer& out);

}  // namespace railyard::report
