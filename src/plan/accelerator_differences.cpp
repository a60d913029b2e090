// What can differ between the accelerators of two clusters, and the links that join them.

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/measure.h"
#include "plan/detail/respect.h"
#include "predict/words.h"

namespace railyard::plan::detail {

namespace {

using model::Server;

std::string text(int n) { return std::to_string(n); }

auto values(const model::Accelerator& a) {
  return std::tuple(a.id, a.peak, a.memory, a.memory_usable, a.multiprocessors, a.power,
                    a.coherent_host_link);
}
auto values(const model::Island& i) {
  const model::ScaleUp& s = i.scale_up;
  return std::tuple(i.first, i.count, s.kind, s.links, s.per_link, s.total);
}
bool same_islands(const Server& a, const Server& b) {
  return std::ranges::equal(
      a.islands, b.islands, {}, [](const auto& i) { return values(i); },
      [](const auto& i) { return values(i); });
}
std::string scale_up_in_words(const Server& s) {
  std::string out;
  for (const model::Island& i : s.islands) {
    const std::string one =
        text(i.count) + " x " +
        (i.scale_up.total > Bandwidth{} ? i.scale_up.name + ' ' + show(i.scale_up.total)
                                        : std::string("PCIe only"));
    out += (out.empty() ? "" : " and ") + one;
  }
  if (s.domain_servers > 1) out += ", domains of " + text(s.domain_servers) + " servers";
  return out;
}

/// All of the server but its memory, which are changes of their own.
void take_accelerators(Workload& to, const Workload& from) {
  Server& s = to.cluster.server;
  const Server before = s;
  s = from.cluster.server;
  s.host_memory = before.host_memory;
  s.host_memory_per_socket = before.host_memory_per_socket;
  s.host_cores = before.host_cores;
  for (std::size_t i = 0; i < s.cxl.size(); ++i) {
    s.cxl[i].capacity = i < before.cxl.size() ? before.cxl[i].capacity : Bytes{};
    s.cxl[i].bandwidth = i < before.cxl.size() ? before.cxl[i].bandwidth : Bandwidth{};
  }
}

}  // namespace

const Respect kScaleUp = {"scale-up",
                          [](const Workload& a, const Workload& b) {
                            const Server &x = a.cluster.server, &y = b.cluster.server;
                            // Another number of accelerators brings its own links.
                            return x.accelerators != y.accelerators ||
                                   (same_islands(x, y) && x.domain_servers == y.domain_servers);
                          },
                          [](const Workload& s) { return scale_up_in_words(s.cluster.server); },
                          [](Workload& to, const Workload& from) {
                            to.cluster.server.islands = from.cluster.server.islands;
                            to.cluster.server.domain_servers = from.cluster.server.domain_servers;
                          }};

const Respect kAccelerator = {"accelerator",
                              [](const Workload& a, const Workload& b) {
                                return values(a.cluster.server.accelerator) ==
                                       values(b.cluster.server.accelerator);
                              },
                              [](const Workload& s) { return s.cluster.server.accelerator.id; },
                              [](Workload& to, const Workload& from) {
                                to.cluster.server.accelerator = from.cluster.server.accelerator;
                              }};

const Respect kAcceleratorsOfServer = {
    "accelerators a server",
    [](const Workload& a, const Workload& b) {
      return a.cluster.server.accelerators == b.cluster.server.accelerators;
    },
    [](const Workload& s) { return scale_up_in_words(s.cluster.server); }, take_accelerators};

}  // namespace railyard::plan::detail
