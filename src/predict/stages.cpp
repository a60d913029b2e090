#include "predict/stages.h"

#include <algorithm>
#include <numeric>

namespace railyard::predict {

int LayerCounts::total() const { return std::accumulate(of.begin(), of.end(), 0); }

namespace {

/// Kind of layer `i`. A hybrid's layers are dealt evenly by kind: their exact order does not matter
/// to a sum over a stage.
LayerKind kind_of(const model::Architecture& a, int i) {
  if (a.state_space) {
    const model::StateSpace& s = *a.state_space;
    const auto dealt = [&](int count) { return (i + 1) * count / a.layers > i * count / a.layers; };
    if (dealt(s.attention_layers)) return LayerKind::attention_only;
    // of the rest, alternate mixer and FFN by their ratio
    const int rest = s.layers + s.ffn_layers;
    const int before = i - i * s.attention_layers / a.layers;
    const bool mixer = rest > 0 && (before + 1) * s.layers / rest > before * s.layers / rest;
    if (mixer) return LayerKind::state_space;
    return a.experts ? LayerKind::experts_only : LayerKind::ffn_only;
  }
  return model::is_moe_layer(a, i) ? LayerKind::experts : LayerKind::dense;
}

}  // namespace

LayerCounts count_layers(const model::Architecture& a) {
  LayerCounts out;
  for (int i = 0; i < a.layers; ++i) ++out[kind_of(a, i)];
  return out;
}

std::vector<LayerCounts> split_layers(const model::Architecture& a, int stages, int chunks) {
  const int parts = stages * chunks;
  std::vector<int> size(static_cast<std::size_t>(parts), a.layers / parts);
  const int extra = a.layers % parts;
  const int from = (parts - extra + 1) / 2;
  for (int i = 0; i < extra; ++i) ++size[static_cast<std::size_t>(from + i)];
  std::vector<LayerCounts> out(static_cast<std::size_t>(parts));
  int layer = 0;
  for (int part = 0; part < parts; ++part)
    for (int i = 0; i < size[static_cast<std::size_t>(part)]; ++i)
      ++out[static_cast<std::size_t>(part)][kind_of(a, layer++)];
  return out;
}

}  // namespace railyard::predict
