#include "predict/limits.h"

#include <algorithm>

#include "base/measure.h"
#include "predict/step_parts.h"

namespace railyard::predict {

namespace {

using model::Job;

/// What a part of the time waits for, in words.
struct Cause {
  std::string what = {}, number = {}, reason = {};
};

std::string text(int n) { return std::to_string(n); }

std::string of_peak(FlopRate sustained, FlopRate peak) {
  return show(sustained) + " sustained of " + show(peak) + " dense (" +
         show_percent(sustained / peak) + ")";
}

std::string reason_of(const fabric::Limit* limit) {
  return limit ? limit->name + ": " + limit->why : std::string();
}

class Causes {
 public:
  Causes(const Job& job, const StepModel& model, const Prediction& prediction,
         const StepModel::Pieces& pieces)
      : job_(job),
        l_(job.layout),
        machine_(model.machine()),
        prediction_(prediction),
        pieces_(pieces),
        overhead_(overhead(model, prediction, pieces)) {}

  Cause of(std::string_view part) const {
    if (part == "matmul")
      return {"matrix multiplication rate",
              of_peak(pieces_.device.matmul,
                      max(machine_.gpu.peak_of(job_.precision), pieces_.device.matmul)),
              "the work itself: only faster accelerators, more of them or a narrower number format "
              "shorten it"};
    if (part == "attention")
      return {
          "attention rate", of_peak(pieces_.device.attention, pieces_.device.peak_16),
          text(job_.sequence) + " tokens attend to each other, at the rate of the stack's kernel"};
    if (part == "memory_bound")
      return {"memory bandwidth of the accelerator",
              show(pieces_.device.memory) + " sustained of " + show(machine_.gpu.memory),
              "norms, activation functions, residuals and the loss only stream through memory"};
    if (part == "recompute") return recompute();
    if (part == "tensor_communication")
      return communication("tensor-parallel communication", pieces_.tensor);
    if (part == "context_communication")
      return communication("context-parallel communication", pieces_.context);
    if (part == "expert_communication")
      return communication("expert-parallel communication", pieces_.expert);
    if (part == "pipeline_communication") return sends();
    if (part == "data_communication") return data();
    if (part == "bubble") return bubble();
    if (part == "optimizer")
      return {"optimizer step", show(pieces_.device.memory) + " of memory bandwidth",
              l_.shard == model::Shard::none && l_.data > 1
                  ? "not sharded: each of " + text(l_.data) +
                        " data-parallel ranks updates the same parameters"
                  : "reads and writes master weights and moments once"};
    if (part == "offload") return offload();
    return overhead_cause();
  }

 private:
  Cause recompute() const {
    const bool full = l_.recompute == model::Recompute::full;
    return {"recomputation of activations",
            show(prediction_.time.recompute) +
                (full ? ", every forward twice" : ", parts of the forward"),
            "saves memory: " + show(prediction_.memory.total()) + " of " +
                show(prediction_.memory.capacity) + " are taken"};
  }

  /// Over which links a group talks, and how fast these are.
  Cause communication(const std::string& what, const Group& group) const {
    if (group.servers > 1 && group.domains > 1)
      return over_network(what + " over the network",
                          text(group.ranks) + " ranks over " + text(group.servers) + " servers");
    if (group.domains > 1)
      return {what + " over PCIe",
              show(machine_.peer_shared) + " between accelerators, all at once",
              reason_of(limit_of(machine_, Binding::pcie))};
    return {what + " over scale-up links",
            show(machine_.scale_up) + " an accelerator and direction",
            reason_of(limit_of(machine_, Binding::scale_up))};
  }

  Cause over_network(std::string what, const std::string& message) const {
    return {std::move(what), message + ", " + show_bits(machine_.network_per_server) + " a server",
            reason_of(limit_of(machine_, Binding::network))};
  }

  Cause sends() const {
    const bool network = pieces_.stages.servers > 1 && pieces_.stages.domains > 1;
    const std::string each = show(pieces_.send) + " a send";
    if (network) return over_network("pipeline sends over the network", each);
    return {"pipeline sends", each, "between neighbouring stages inside a server"};
  }

  Cause data() const {
    const std::string message = show(pieces_.gradient_bytes) + " of gradients a rank";
    const std::string what = "data-parallel communication";
    if (pieces_.data.servers > 1 && pieces_.data.domains > 1) {
      Cause out = over_network(what + " over the network", message);
      const bool behind = job_.software.overlap_gradients;
      if (!behind) out.reason += "; the stack does not hide it behind backward";
      return out;
    }
    Cause out = communication(what, pieces_.data);
    out.number = message + ", " + out.number;
    return out;
  }

  Cause bubble() const {
    const int p = l_.pipeline;
    const int m = std::max(job_.micro_batches(), 1);
    const bool interleaved = l_.schedule == model::Schedule::interleaved;
    const int v = interleaved ? std::max(l_.virtual_stages, 1) : 1;
    const double ratio = (p - 1.0) / (static_cast<double>(v) * m);
    const std::string sum = interleaved ? text(p - 1) + "/(" + text(v) + " x " + text(m) + ")"
                                        : text(p - 1) + "/" + text(m);
    return {"pipeline bubble",
            (interleaved ? "(p-1)/(v m) = " : "(p-1)/m = ") + sum + " = " + show_percent(ratio) +
                " of the work",
            text(p) + " stages fill and drain with " + text(m) +
                " micro-batches; uneven stages add to it"};
  }

  Cause offload() const {
    const bool cxl = l_.offload_optimizer == model::Offload::cxl && machine_.cxl > Bandwidth{};
    return {std::string("optimizer offload to ") + (cxl ? "CXL memory" : "host memory"),
            show(cxl ? machine_.cxl : machine_.host_memory) + " a server for " +
                text(machine_.gpus_per_server) + " accelerators",
            "the host streams master weights and moments, " + show(machine_.host_link_shared) +
                " to each accelerator"};
  }

  Cause overhead_cause() const {
    const Overhead& o = overhead_;
    if (o.launches >= max(o.fixed, o.stragglers))
      return {"host launches", show(o.launches) + " of waiting for the host",
              "kernels are shorter than the time to launch them: CUDA graphs, torch.compile or a "
              "larger micro-batch help"};
    if (o.stragglers >= o.fixed)
      return {"stragglers", show_percent(pieces_.lateness - 1) + " of the step",
              "a step waits for the slowest of " + text(job_.accelerators()) + " accelerators"};
    return {"fixed work of a step", show(o.fixed),
            "data loader, logging and scalar reductions, whatever the size of the step"};
  }

  const Job& job_;
  const model::Layout& l_;
  const fabric::Machine& machine_;
  const Prediction& prediction_;
  const StepModel::Pieces& pieces_;
  Overhead overhead_;
};

bool is_work(std::string_view part) {
  return part == "matmul" || part == "attention" || part == "memory_bound";
}

}  // namespace

std::vector<Bottleneck> bottlenecks(const Job& job, const StepModel& model,
                                    const Prediction& prediction, const StepModel::Pieces& pieces) {
  const Causes causes(job, model, prediction, pieces);
  std::vector<Bottleneck> out;
  for (const TimePart& part : time_parts()) {
    const Seconds time = time_of(prediction.time, part);
    if (time == Seconds{}) continue;
    Cause cause = causes.of(part.key);
    out.push_back({.part = part.key,
                   .what = std::move(cause.what),
                   .number = std::move(cause.number),
                   .reason = std::move(cause.reason),
                   .time = time,
                   .share = time / prediction.time.total,
                   .work = is_work(part.key)});
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &Bottleneck::share);
  const auto loss = std::ranges::find(out, false, &Bottleneck::work);
  const auto work = std::ranges::find(out, true, &Bottleneck::work);
  const auto first = loss != out.end() && loss->share >= kHoldsBack ? loss : work;
  if (first != out.end()) std::rotate(out.begin(), first, first + 1);
  return out;
}

Overhead overhead(const StepModel& model, const Prediction& prediction,
                  const StepModel::Pieces& pieces) {
  Overhead out;
  out.fixed = Seconds::si(model.calibration().constants.step_fixed);
  out.stragglers = prediction.time.total * (1 - 1 / pieces.lateness);
  out.launches = max(prediction.time.overhead - out.fixed - out.stragglers, Seconds{});
  return out;
}

const fabric::Limit* limit_of(const fabric::Machine& machine, Binding binding) {
  const auto smallest = [](const std::vector<fabric::Limit>& limits) -> const fabric::Limit* {
    const auto it = std::ranges::min_element(limits, {}, &fabric::Limit::rate);
    return it == limits.end() ? nullptr : &*it;
  };
  switch (binding) {
    case Binding::scale_up: return smallest(machine.scale_up_limits);
    case Binding::pcie: return smallest(machine.peer_limits);
    case Binding::network: return smallest(machine.network_limits);
    case Binding::none:
    case Binding::latency: break;
  }
  return nullptr;
}

}  // namespace railyard::predict
