#pragma once
// A published measurement of a collective, as the compilation of them prints it.

#include <cstdint>
#include <optional>
#include <string>

#include "base/problem.h"

namespace railyard::facts {

struct BusbwRow {
  Place at = {};
  std::string source = {}, gpu = {}, intra = {}, nic = {};
  int gpus_per_node = 0, nodes = 0, nics_per_node = 0;
  std::string nccl_version = {};
  std::string collective = {};                                 ///< all_reduce, all_gather, ...
  std::int64_t bytes = 0;                                      ///< 0: an average over a sweep
  std::optional<double> time_us = {}, algbw = {}, busbw = {};  ///< us, GB/s
  std::string placement = {};                                  ///< oop, ip, or empty
  std::string health = {};  ///< healthy, pathological, degraded, ...
  std::string note = {};
};

}  // namespace railyard::facts
