// Host memory, what must go there, and what more of it changes.
//
// ZeRO-3 shares the model state over the accelerators. What does not fit there is offloaded; how
// much that is depends on accelerator memory alone.

#include <fmt/format.h>

#include "judge/claims/rules.h"
#include "judge/claims/wording.h"

namespace railyard::judge {

namespace {

/// The set with the largest model: the one for which memory is said to be short.
const CaseSet& largest(const Bench& b) {
  const CaseSet* out = &b.first;
  double most = 0;
  for (const CaseSet& set : b.in.sets) {
    const CaseRun* run = set.find(Role::before);
    if (!run) continue;
    const double n = model::count_parameters(run->outlook.job.model).total;
    if (n > most) {
      most = n;
      out = &set;
    }
  }
  return *out;
}

/// What an accelerator would hold if nothing were offloaded.
Bytes need(const CaseRun& run, const predict::Calibration& calibration) {
  model::Job job = run.outlook.job;
  job.layout.offload_optimizer = model::Offload::none;
  job.layout.offload_activations = model::Offload::none;
  const predict::StepModel model(run.outlook.machine, calibration);
  return model.predict(job).memory.total();
}

Bytes memory_of(const fabric::Machine& m) { return m.host_capacity + m.cxl_capacity; }

struct Growth {
  const CaseRun& before;
  const CaseRun& after;
};
/// The run before, on its own accelerators, with the host memory of the run after.
void add_more_memory(const Bench& b, const Growth& g, ClaimRow& row) {
  CaseRun richer = g.before;
  fabric::Machine& m = richer.outlook.machine;
  m.host_capacity = g.after.outlook.machine.host_capacity;
  m.cxl_capacity = g.after.outlook.machine.cxl_capacity;
  m.cxl = g.after.outlook.machine.cxl;
  const Bytes has = richer.prediction().memory.capacity;
  const Bytes excess = max(need(richer, b.in.calibration) - has, Bytes{});
  row.sums.push_back({"more host memory",
                      fmt::format("the same with {} of host memory a server instead of {}: {} must "
                                  "leave each",
                                  decimal(memory_of(m)),
                                  decimal(memory_of(g.before.outlook.machine)), decimal(excess)),
                      excess.si(), "B"});
}

const CaseRun* with_cxl(const Bench& b) {
  for (const CaseRun* run : b.readings)
    if (run->outlook.machine.cxl_capacity > Bytes{}) return run;
  return nullptr;
}

}  // namespace

Row judge_host_memory(const Bench& b) {
  if (!b.claims.host_memory) return {};
  const PrintedChange<Bytes>& claimed = *b.claims.host_memory;
  ClaimRow row{.id = "host_memory", .claim = "memory of a server", .claimed = arrow(claimed)};
  if (b.before)
    row.predicted.push_back(exact(b.before->title, memory_of(b.before->outlook.machine)));
  const CaseRun* cxl = with_cxl(b);
  if (!cxl) {
    row.verdict = Verdict::cannot_judge;
    row.because = "no run describes the added memory";
    return row;
  }
  const fabric::Machine& m = cxl->outlook.machine;
  row.predicted.push_back(exact(cxl->title, memory_of(m)));
  row.predicted_text = decimal(m.host_capacity) + " to " + decimal(memory_of(m));
  row.sums.push_back({"capacity",
                      fmt::format("{} + {} of CXL = {}", decimal(m.host_capacity),
                                  decimal(m.cxl_capacity), decimal(memory_of(m))),
                      memory_of(m).si(), "B"});
  row.sums.push_back(
      {"bandwidth",
       fmt::format("the added part has {:.3g} GB/s, the old one {:.3g}: {} as slow", m.cxl.in(GBps),
                   m.host_memory.in(GBps), times(m.host_memory / m.cxl)),
       m.host_memory / m.cxl,
       {}});
  if (memory_of(m) < claimed.after.least()) {
    row.verdict = Verdict::contradicts;
    row.because = "the described cards have less";
  } else {
    row.because = "as a capacity";
  }
  return row;
}

Row judge_overflow(const Bench& b) {
  if (!b.claims.overflow) return {};
  const OverflowClaim& c = *b.claims.overflow;
  ClaimRow row{
      .id = "overflow", .claim = "memory overflow", .claimed = count(c.parameters) + " parameters"};
  const CaseSet& set = largest(b);
  if (const CaseRun* run = set.find(Role::before)) {
    row.predicted.push_back(exact(set.id + ", offloaded a server", run->outlook.fit.host_need));
    row.predicted_text = row.predicted.back().text + " a server";
  }
  const Bytes state = Bytes::si(c.parameters * c.bytes_per_parameter / c.servers);
  std::string of;
  if (b.claims.host_memory) {
    const Bytes has = b.claims.host_memory->before.value;
    of = fmt::format(", {} of {}", percent(state / has), b.claims.host_memory->before.text);
    if (state < has) {
      row.verdict = Verdict::contradicts;
      row.because = "the sum: all of the state, offloaded, leaves room";
    }
  }
  row.sums.push_back(
      {"state",
       fmt::format("weights, gradients and optimizer: {:g} B x {} / {} servers = "
                   "{} a server{}",
                   c.bytes_per_parameter, count(c.parameters), c.servers, decimal(state), of),
       state.si(), "B"});
  return row;
}

Row judge_offload(const Bench& b) {
  if (b.claims.offload_text.empty()) return {};
  ClaimRow row{
      .id = "offload_eliminated", .claim = "GPU memory offload", .claimed = b.claims.offload_text};
  const CaseSet& set = largest(b);
  const CaseRun* before = set.find(Role::before);
  if (!before) {
    row.verdict = Verdict::cannot_judge;
    row.because = "no run before";
    return row;
  }
  const Bytes has = before->prediction().memory.capacity;
  const auto excess_of = [&](const CaseRun& run) {
    return max(need(run, b.in.calibration) - has, Bytes{});
  };
  const Bytes excess = excess_of(*before);
  row.predicted.push_back(exact("before, must leave an accelerator", excess));
  row.predicted_text = decimal(excess) + " a GPU";
  row.sums.push_back(
      {"before",
       fmt::format("{} accelerators: {} wanted - {} there = {} must leave each",
                   before->outlook.accelerators, decimal(need(*before, b.in.calibration)),
                   decimal(has), decimal(excess)),
       excess.si(), "B"});
  row.verdict = Verdict::contradicts;
  row.because = "the sum: host memory is not in it";
  const CaseRun* more = set.find(Role::reading);
  if (more) add_more_memory(b, {*before, *more}, row);
  if (const Bytes then = more ? excess_of(*more) : excess; then < excess) {
    row.predicted.push_back(exact(more->title + ", must leave an accelerator", then));
    row.predicted_text += fmt::format(", {} with {}", then > Bytes{} ? decimal(then) : "none",
                                      more->outlook.accelerators);
    row.sums.push_back(
        {"after",
         fmt::format("{} accelerators: {} wanted, {}", more->outlook.accelerators,
                     decimal(need(*more, b.in.calibration)),
                     then > Bytes{} ? decimal(then) + " must leave each" : "which fits"),
         then.si(), "B"});
    row.verdict = Verdict::holds_as;
    row.because = "an effect of more accelerators, which share the state";
  }
  // What the optimizer costs where the added memory is.
  if (const CaseRun* cxl = set.find(Role::reading); cxl && cxl->outlook.machine.cxl > Bandwidth{}) {
    const fabric::Machine& m = cxl->outlook.machine;
    const double n = model::count_parameters(cxl->outlook.job.model).total;
    const Bytes moved = Bytes::si(kHostAdamBytes * n / m.servers);
    row.sums.push_back(
        {"optimizer on CXL",
         fmt::format("Adam on the host moves {:g} B a parameter: {} a server and step, "
                     "{} from CXL at {:.3g} GB/s, {} from DDR at {:.3g} GB/s",
                     kHostAdamBytes, decimal(moved), show(moved / m.cxl), m.cxl.in(GBps),
                     show(moved / m.host_memory), m.host_memory.in(GBps)),
         (moved / m.cxl).si(), "s"});
  }
  return row;
}

}  // namespace railyard::judge
