#pragma once
// Measured collectives: what nccl-tests prints and what NCCL's Inspector records in a job.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "facts/seen.h"

namespace railyard::facts {

enum class Buffers : std::uint8_t { unknown, out_of_place, in_place };

/// One size, in one of the two ways. Numbers stand as printed; the time is the exact one for small
/// messages, where bandwidths are rounded to 0.01 GB/s.
struct CollectiveTiming {
  int line = 0;
  std::uint64_t bytes = 0, elements = 0;
  std::string type = {}, redop = {};
  std::optional<int> root = {};
  Buffers buffers = Buffers::unknown;
  double time_us = 0, algbw_gbs = 0, busbw_gbs = 0;
  std::optional<double> time_us_min = {}, time_us_max = {};  ///< over the iterations (2.19.2)
  std::optional<double> wrong = {};  ///< wrong elements; the largest error up to 2.12; empty: N/A
  std::optional<int> rank = {};      ///< Inspector: which rank measured it
};

/// `#  Rank  0 Group  0 Pid 204199 on node01 device  0 [0009:01:00] NVIDIA GH200 120GB`
struct CollectiveDevice {
  int line = 0;
  int rank = 0, group = 0, pid = 0, device = 0;
  std::string host = {}, bus_id = {}, name = {};
};

/// One run of one program over its sizes; of the Inspector, one communicator.
struct CollectiveRun {
  Place at = {};
  std::string program = {};        ///< `all_reduce_perf`; empty when the text does not name it
  std::string collective = {};     ///< `all_reduce`
  std::string tests_version = {};  ///< 2.17.4 and later
  std::string nccl_version = {};   ///< `22903` or `2.29.3+cuda13.1`, as printed
  std::string communicator = {};   ///< Inspector: its id
  bool rccl = false;
  std::optional<int> ranks = {}, nodes = {};
  std::vector<CollectiveDevice> devices = {};
  std::optional<std::uint64_t> min_bytes = {}, max_bytes = {}, step_bytes = {};
  std::optional<int> step_factor = {}, threads = {}, gpus_per_thread = {};
  std::optional<int> warmup = {}, iterations = {}, aggregated = {}, validation = {}, graph = {};
  std::vector<CollectiveTiming> points = {};
  std::optional<double> average_busbw_gbs = {};  ///< over all sizes, small ones too
  std::optional<int> out_of_bounds = {};
  bool failed = false;  ///< the program says FAILED or reports a test failure
};

struct CollectiveRuns {
  std::vector<CollectiveRun> runs = {};
  std::vector<Skipped> skipped = {};
};

}  // namespace railyard::facts
