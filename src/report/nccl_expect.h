#pragma once
// The expected times of a collective, for people and for scripts.

#include <string>
#include <vector>

#include "base/json.h"
#include "predict/nccl/expect.h"
#include "report/table.h"

namespace railyard::report {

struct ExpectedStory {
  std::string subject = {};
  std::string nccl = {};     ///< version
  std::string profile = {};  ///< the machine's own sweep, where one was given
  std::vector<predict::nccl::Expectation> collectives = {};
  std::vector<std::string> notes = {};
};

Table table_of(const predict::nccl::Expectation& expectation);
Table table_of(const ExpectedStory& story);
std::string to_text(const ExpectedStory& story, int width);
void to_json(const ExpectedStory& story, json::Writer& out);

/// "8 GPUs, NVSwitch, 450 GB/s each" and what joins the domains.
std::string describe(const predict::nccl::Platform& platform);
/// What the largest part of the time is.
std::string bound_by(const predict::nccl::TimeParts& parts);
/// "all_reduce", as nccl-tests spells it.
const char* tests_name(predict::Collective what);

}  // namespace railyard::report
