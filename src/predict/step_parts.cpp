#include "predict/step_parts.h"

#include <cmath>

namespace railyard::predict {

const std::vector<TimePart>& time_parts() {
  using T = StepTime;
  static const std::vector<TimePart> parts = {
      {"matmul", "matmul", &T::matmul},
      {"attention", "attention", &T::attention},
      {"memory_bound", "memory-bound", &T::memory_bound},
      {"recompute", "recompute", &T::recompute},
      {"tensor_communication", "tensor communication", &T::tensor},
      {"context_communication", "context communication", &T::context},
      {"expert_communication", "expert communication", &T::expert},
      {"pipeline_communication", "pipeline communication", &T::pipeline},
      {"data_communication", "data communication", &T::data},
      {"bubble", "bubble", &T::bubble},
      {"optimizer", "optimizer", &T::optimizer},
      {"offload", "offload", &T::offload},
      {"overhead", "overhead", &T::overhead}};
  return parts;
}

Seconds time_of(const StepTime& time, const TimePart& part) {
  const Seconds t = time.*part.member;
  return std::abs(t.si()) > 1e-9 * time.total.si() ? t : Seconds{};
}

const std::vector<MemoryPart>& memory_parts() {
  using M = MemoryTerms;
  static const std::vector<MemoryPart> parts = {
      {"weights", "weights", &M::weights},
      {"gradients", "gradients", &M::gradients},
      {"optimizer", "optimizer", &M::optimizer},
      {"activations", "activations", &M::activations},
      {"loss", "loss", &M::loss},
      {"gathered", "gathered weights", &M::gathered},
      {"buckets", "buckets", &M::buckets},
      {"temporaries", "temporaries", &M::temporaries},
      {"communication", "NCCL buffers", &M::communication},
      {"context", "CUDA context", &M::context},
      {"reserve", "allocator reserve", &M::reserve}};
  return parts;
}

}  // namespace railyard::predict
