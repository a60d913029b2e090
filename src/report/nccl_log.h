#pragma once
// What a log of NCCL says of a job, where it does not say enough to decide again what NCCL decided.

#include <string>
#include <vector>

#include "base/json.h"
#include "facts/nccl_run.h"
#include "report/table.h"

namespace railyard::report {

struct NcclLogStory {
  std::string subject = {};  ///< the file, as the user named it
  facts::NcclRun run = {};
};

/// One line a thing: version, communicators, network, GPUDirect, channels, rings, transports,
/// variables, warnings, what was skipped.
std::string to_text(const NcclLogStory& story, int width);
void to_json(const NcclLogStory& story, json::Writer& out);
/// The same as rows of two columns.
Table table_of(const NcclLogStory& story);

/// "97 lines, 12 not of NCCL; passed over: 3 x progress of the set-up (line 15)".
std::string skipped_text(const facts::NcclRun& run);

}  // namespace railyard::report
