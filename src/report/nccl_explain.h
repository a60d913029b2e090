#pragma once
// NCCL's decision for people and for scripts.

#include <string>
#include <vector>

#include "base/json.h"
#include "predict/nccl/explain.h"
#include "report/table.h"

namespace railyard::report {

/// One communicator, told.
struct NcclStory {
  std::string subject = {};  ///< the file, as the user named it
  predict::nccl::Communicator comm = {};
  std::vector<predict::nccl::FunctionStory> functions = {};
  std::vector<predict::nccl::NetUse> networks = {};
  std::vector<std::string> remarks = {};
};

/// Graphs, channels, choices with the best loser and its margin, crossovers, NICs, remarks.
std::string to_text(const NcclStory& story, int width);
void to_json(const NcclStory& story, json::Writer& out);
/// One row a function and size.
Table choices_of(const NcclStory& story);

/// Two communicators side by side: only what differs.
struct NcclComparison {
  NcclStory a = {}, b = {};
  std::string change = {};  ///< "NCCL_ALGO=Ring", "nccl=2.30.7"
};
std::string to_text(const NcclComparison& comparison, int width);
void to_json(const NcclComparison& comparison, json::Writer& out);
Table differences_of(const NcclComparison& comparison);

/// "4 MiB", "64 KiB", "1000 B": whole powers of two as such.
std::string show_size(std::int64_t bytes);
/// "Ring LL128".
std::string show(const predict::nccl::Candidate& candidate);

}  // namespace railyard::report
