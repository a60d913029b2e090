#pragma once
// Claims against arithmetic, against each other, and against the predictor.
//
// Every claim of a case gets one row: what was claimed, what we predict, whether it can stand
// beside the other claims, and the sums that show it. A verdict has one of four forms:
//
//   holds                  nothing speaks against it
//   holds only as ...      true in one reading of the words, which is named
//   contradicts ...        it and those claims cannot all be true; the sum shows it
//   cannot be judged       something is missing, which is named
//
// A prediction never refutes a claim whose model and batch are not given: only arithmetic does.

#include <string>
#include <vector>

#include "base/problem.h"
#include "judge/case_file.h"
#include "judge/claim_sums.h"
#include "judge/estimates.h"
#include "model/catalog.h"
#include "model/cluster.h"
#include "predict/calibration.h"
#include "predict/outlook.h"

namespace railyard::judge {

/// A run of the case, predicted.
struct CaseRun {
  std::string id = {}, title = {};
  Role role = Role::other;
  model::Cluster cluster = {};
  predict::Outlook outlook = {};

  const predict::Prediction& prediction() const { return outlook.prediction; }
  Seconds step() const { return outlook.prediction.time.total; }
};
struct CaseSet {
  std::string id = {}, title = {};
  std::vector<CaseRun> runs = {};

  /// The first one with that role, or nullptr.
  const CaseRun* find(Role role) const;
  const CaseRun* find(const std::string& run) const;
};

enum class Verdict : std::uint8_t { holds, holds_as, contradicts, cannot_judge };
std::string_view name(Verdict v);

/// One line that a reader can redo by hand.
struct Sum {
  std::string name = {};  ///< "size", "shares": unique in a row
  std::string line = {};
  double value = 0;  ///< what the line comes to, in `unit`; a ratio or count has none
  std::string unit = {};
};

struct ClaimRow {
  std::string id = {};       ///< the key in case.yaml: "all_reduce"
  std::string claim = {};    ///< "AllReduce latency over 32 servers"
  std::string claimed = {};  ///< as printed: "8.5 ms to 3.2 ms"
  std::vector<Estimate> predicted = {};
  std::string predicted_text = {};  ///< the most telling of them, short
  Verdict verdict = Verdict::holds;
  std::string because = {};  ///< the reading; what is missing; what the contradiction is
  std::vector<std::string> against = {};  ///< ids of the claims that it contradicts
  std::vector<Sum> sums = {};
};

struct ClaimInputs {
  const CaseFile& file;
  const std::vector<CaseSet>&
      sets;  ///< at least one; the first is the one that the text is read with
  const model::Catalog& catalog;
  const predict::Calibration& calibration;
};

/// The rows, in the order of the claims in judge/claims/rules.h.
std::vector<ClaimRow> judge_claims(const ClaimInputs& in);

/// Exposed communication that waits for the network: all but what stays inside a server.
Seconds network_wait(const CaseRun& run);
/// All accelerators as one group, each server's beside one another: what "an all-reduce over 32
/// servers" is taken to mean.
struct ReduceModel {
  explicit ReduceModel(const CaseRun& run, const predict::Calibration& calibration);
  predict::nccl::StepCollectives model;
  predict::Group group = {};
};

/// Time of an all-reduce against its size, before and after; empty where the case has no such pair.
std::vector<SizePoint> size_curve(const ClaimInputs& in);

}  // namespace railyard::judge
