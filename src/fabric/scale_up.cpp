#include "fabric/scale_up.h"

#include <algorithm>

#include "base/measure.h"

namespace railyard::fabric {

using model::ScaleUpKind;

const model::Island& island_of(const model::Server& s, int gpu) {
  const auto it = std::ranges::find_if(
      s.islands, [&](const model::Island& i) { return gpu >= i.first && gpu < i.first + i.count; });
  return it == s.islands.end() ? s.islands.front() : *it;
}

bool joined(const model::Cluster& c, GpuAddress a, GpuAddress b) {
  const model::Island& from = island_of(c.server, a.gpu);
  const model::Island& to = island_of(c.server, b.gpu);
  if (from.first != to.first || from.scale_up.kind == ScaleUpKind::none) return false;
  if (a.server != b.server)
    return from.scale_up.kind == ScaleUpKind::fabric &&
           a.server / c.server.domain_servers == b.server / c.server.domain_servers;
  if (from.scale_up.kind == ScaleUpKind::bridge)  // neighbours: 0-1, 2-3, ...
    return (a.gpu - from.first) / 2 == (b.gpu - from.first) / 2;
  return true;
}

Limit pair_limit(const model::ScaleUp& s) {
  const std::string links =
      s.links > 0 ? std::to_string(s.links) + " links x " + show(s.per_link) : show(s.total);
  const std::string what = s.generation > 0 ? s.name + " " + std::to_string(s.generation) : s.name;
  if (s.kind == ScaleUpKind::mesh)
    return {"one " + what + " link of a mesh", s.per_link,
            links + ", one of them to each neighbour"};
  return {what, s.total, links + ", one direction"};
}

int reach(const model::Cluster& c, const model::Island& island) {
  switch (island.scale_up.kind) {
    case ScaleUpKind::none: return 1;
    case ScaleUpKind::bridge: return std::min(2, island.count);
    case ScaleUpKind::mesh: return island.count;
    case ScaleUpKind::fabric: return island.count * std::min(c.server.domain_servers, c.servers);
  }
  return 1;
}

}  // namespace railyard::fabric
