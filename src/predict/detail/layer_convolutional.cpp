// ResNet and its like.

#include "predict/layer.h"

namespace railyard::predict {

Block convolutional_block(const BlockContext& c) {
  const model::Convolutional& n = *c.job.model.convolutional;
  const double samples = c.job.layout.micro_batch;
  Block b;
  b.parameters = n.parameters;
  b.flops = samples * n.forward_per_sample;
  // Small convolutions with batch norm and ReLU between them reach about half of a GEMM's rate and
  // wait for memory the rest of the time: activations are written once and read four times each
  // way.
  b.forward.matmul = Seconds::si(b.flops.si() / (0.5 * c.device.matmul.si()));
  b.forward.memory = elementwise(3 * samples * n.activations_per_sample, c.device);
  b.backward.matmul = 2 * b.forward.matmul;
  b.backward.memory = elementwise(6 * samples * n.activations_per_sample, c.device);
  b.weight_gradients = b.forward.matmul;
  b.forward.kernels = n.kernels;
  b.backward.kernels = 2 * n.kernels;
  return b;
}

}  // namespace railyard::predict
