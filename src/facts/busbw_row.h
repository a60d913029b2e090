#pragma once
// Bus bandwidths of collectives, published or measured, with what is known of the machine and the
// settings.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "facts/collective_timing.h"

namespace railyard::facts {

/// How the calls were made: one by one, or replayed from a CUDA graph.
enum class LaunchMode : std::uint8_t { unknown, eager, graph };

/// One line of a table. An empty text and an empty optional mean "not given".
struct BusbwRow {
  Place at = {};
  // the machine; published rows only
  std::string source = {}, gpu = {}, intra = {}, nic = {}, nccl_version = {};
  std::optional<int> gpus_per_node = {}, nodes = {}, nics_per_node = {}, ranks = {};
  std::string health = {};  ///< `healthy`, `degraded`, `pathological`, `low by design`, ...
  std::string note = {};
  // the settings; sweeps only
  std::string label = {};
  std::string algorithm = {}, protocol = {};  ///< `ring`, `LL128`; empty: NCCL's own choice
  std::optional<int> channels = {};           ///< empty: NCCL's own choice
  std::string transport = {};                 ///< `shm`, `socket` where others were switched off
  LaunchMode mode = LaunchMode::unknown;
  // the measurement
  std::string collective = {};  ///< `all_reduce`
  std::uint64_t bytes = 0;      ///< as nccl-tests counts; 0 only where `average`
  bool average = false;         ///< a mean over the sizes of a sweep
  Buffers buffers = Buffers::unknown;
  std::optional<double> time_us = {}, time_us_min = {}, time_us_max = {};
  std::optional<double> algbw_gbs = {}, busbw_gbs = {};
};

}  // namespace railyard::facts
