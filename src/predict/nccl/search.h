#pragma once
// NCCL's search for channels: the fastest per-channel speed at which some number of channels fits
// through the links of a system, tried from a fixed list of speeds downward, then doubled and
// raised again. The search is cut short after a number of steps, and what it then has is what NCCL
// uses, so the order of the trials is part of the answer.
// [NCCL 2.28: src/graph/search.cc]

#include "predict/nccl/graph.h"
#include "predict/nccl/paths.h"
#include "predict/nccl/terms.h"

namespace railyard::predict::nccl {

struct SearchOrder {
  GraphId id = GraphId::ring;
  Pattern pattern = Pattern::ring;
  int min_channels = 1, max_channels = 32;
  bool collnet = false;
};

/// How the search went, for whoever wants to know why.
struct SearchReport {
  int attempts = 0;
  long steps = 0;
};

/// Channels is 0 where nothing fits and NCCL then does without (NVLS, CollNet); a ring or tree that
/// does not fit is a single channel of 0.1 GB/s in the order of the devices.
Graph search_channels(const Paths& paths, const SearchOrder& order, const Settings& settings,
                      const Version& version, SearchReport* report = nullptr);

}  // namespace railyard::predict::nccl
