// Any bytes through the readers of measured collectives: text, JSON, Inspector lines, tables.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "intake/busbw_csv.h"
#include "intake/nccl_inspector.h"
#include "intake/nccl_tests_json.h"
#include "intake/nccl_tests_text.h"

namespace {
void check(const railyard::facts::CollectiveRuns& all) {
  for (const auto& run : all.runs)
    for (const auto& point : run.points)
      if (!(point.time_us >= 0)) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace railyard::intake;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  looks_like_nccl_tests_text(bytes);
  looks_like_busbw_csv(bytes);
  check(read_nccl_tests_text({.file = "fuzz", .bytes = bytes}));
  if (looks_like_nccl_tests_json(bytes))
    if (const auto all = read_nccl_tests_json("fuzz", bytes)) check(*all);
  if (looks_like_nccl_inspector(bytes))
    check(read_nccl_inspector({.file = "fuzz", .bytes = bytes}));
  if (const auto table = read_busbw_csv({.file = "fuzz", .bytes = bytes}))
    for (const auto& row : table->rows)
      if (row.time_us && !(*row.time_us >= 0)) std::abort();
  return 0;
}
