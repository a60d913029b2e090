#pragma once
// What the parts of an explanation share. Private to explain/.

#include <string>
#include <vector>

#include "model/cluster.h"
#include "predict/calibration.h"
#include "predict/explain.h"
#include "predict/layer.h"
#include "predict/outlook.h"
#include "predict/step_parts.h"

namespace railyard::predict::explained {

/// A collective that a block calls, once or more often, with one size.
struct Call {
  Collective what = Collective::all_reduce;
  Bytes size = {};
  Group group = {};
  CollectiveTime each = {};
};

/// A kind of block on the stage that sets the pace, with what its kernels and collectives were.
struct BlockView {
  std::string name = {};  ///< "dense layer", "logits and loss"
  double count = 0;       ///< on the stage
  Block block = {};
  KernelLog kernels = {};
  std::vector<Call> calls = {};
  bool repeats = true;  ///< recomputation repeats it
};

/// Everything the terms are made of, worked out once.
struct Facts {
  const Outlook& outlook;
  const model::Cluster& cluster;
  const Calibration& calibration;
  double micro_batches = 1;
  std::vector<BlockView> blocks = {};
};
Facts gather(const Outlook& outlook, const model::Cluster& cluster, const Calibration& calibration);

/// Parameters of one stage on one rank.
struct StageParameters {
  double plain = 0, expert = 0;
  double all() const { return plain + expert; }
};
StageParameters stage_parameters(const Outlook& outlook, int stage);

Term step_term(const Facts& facts);
/// Children of the term of one part of the step; they sum to it.
std::vector<Term> compute_terms(const Facts& facts, const TimePart& part);
std::vector<Term> communication_terms(const Facts& facts, const TimePart& part);
Term memory_term(const Facts& facts);
Term machine_term(const Facts& facts);

/// Appends what brings the sum of `terms` to `total`, when something is missing.
struct Rest {
  std::string name = {}, formula = {}, source = {};
};
void settle(std::vector<Term>& terms, Seconds total, const Rest& rest);

/// "12 x 5.30 ms"
std::string times(double n, Seconds each);
/// "128 micro-batches"
std::string micro_batches(const Facts& facts);
/// A count without decimals, or three digits of what is none.
std::string count(double n);
/// "1.75e9", or the plain number when it is small.
std::string big(double n);

}  // namespace railyard::predict::explained
