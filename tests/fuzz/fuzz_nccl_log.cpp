// Any bytes are an NCCL log: the reader counts what it cannot use and never fails.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "intake/nccl_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  railyard::intake::looks_like_nccl_log(bytes);
  const auto run = railyard::intake::read_nccl_log({.file = "fuzz", .bytes = bytes});
  const auto known = [](int index, std::size_t size_of_list) {
    return index >= -1 && index < static_cast<int>(size_of_list);
  };
  for (const auto& c : run.communicators)
    if (!known(c.process, run.processes.size()) || !known(c.system, run.systems.size()))
      std::abort();
  for (const auto& c : run.connections)
    if (!known(c.communicator, run.communicators.size())) std::abort();
  for (const auto& c : run.calls)
    if (!known(c.communicator, run.communicators.size())) std::abort();
  return 0;
}
