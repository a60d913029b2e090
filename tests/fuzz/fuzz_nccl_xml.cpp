// NCCL's two XML files. Whatever the bytes are: no crash, and what was read and written is read
// again as the same.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "intake/nccl_graph_xml.h"
#include "intake/nccl_topology_xml.h"
#include "judge/topology_lint.h"
#include "model/catalog.h"
#include "report/nccl_graph_xml.h"
#include "report/nccl_topology.h"
#include "report/nccl_topology_xml.h"

namespace {

using railyard::Text;

void must(bool holds) {
  if (!holds) std::abort();
}

void topology(std::string_view bytes) {
  using railyard::intake::read_nccl_topology;
  (void)railyard::intake::looks_like_nccl_topology(bytes);
  const auto first = read_nccl_topology(Text{"fuzz.xml", bytes});
  if (!first) return;
  const std::string written = railyard::report::to_xml(*first);
  const auto second = read_nccl_topology(Text{"fuzz.xml", written});
  must(second.has_value());
  must(railyard::report::to_xml(*second) == written);
  (void)railyard::judge::lint_topology(*first, railyard::model::Catalog{});
  (void)railyard::report::to_text(*first, 100);
}

void graph(std::string_view bytes) {
  using railyard::intake::read_nccl_graph;
  (void)railyard::intake::looks_like_nccl_graph(bytes);
  const auto first = read_nccl_graph(Text{"fuzz.xml", bytes});
  if (!first) return;
  const std::string written = railyard::report::to_xml(*first);
  const auto second = read_nccl_graph(Text{"fuzz.xml", written});
  must(second.has_value());
  must(railyard::report::to_xml(*second) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  topology(bytes);
  graph(bytes);
  return 0;
}
