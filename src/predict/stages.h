#pragma once
// Which layers stand on which stage and chunk.

#include <array>
#include <cstddef>
#include <vector>

#include "model/job.h"
#include "predict/layer.h"

namespace railyard::predict {

/// Layers by kind; indexed by LayerKind.
struct LayerCounts {
  std::array<int, 6> of = {};
  int& operator[](LayerKind k) { return of[static_cast<std::size_t>(k)]; }
  int operator[](LayerKind k) const { return of[static_cast<std::size_t>(k)]; }
  int total() const;
};

/// Layers of every model part (chunk * stages + stage). Layers that do not divide evenly go one
/// each to the middle parts first, so that embedding and loss meet the shorter ones.
std::vector<LayerCounts> split_layers(const model::Architecture& a, int stages, int chunks);

/// All layers of the model by kind.
LayerCounts count_layers(const model::Architecture& a);

}  // namespace railyard::predict
