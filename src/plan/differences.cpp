#include "plan/differences.h"

#include "plan/detail/respect.h"

namespace railyard::plan {

namespace {

/// In the order in which they are applied: the way out of the server first, what is inside it next,
/// then how much there is of it, then the job.
constexpr const detail::Respect* kOrder[] = {
    &detail::kNic,      &detail::kSlot,       &detail::kTransport,
    &detail::kFabric,   &detail::kScaleUp,    &detail::kAccelerator,
    &detail::kHost,     &detail::kCxl,        &detail::kAcceleratorsOfServer,
    &detail::kServers,  &detail::kLimits,     &detail::kModel,
    &detail::kBatch,    &detail::kPrecision,  &detail::kLayout,
    &detail::kSoftware, &detail::kReliability};

}  // namespace

std::vector<Difference> differences(const Workload& a, const Workload& b) {
  std::vector<Difference> out;
  for (const detail::Respect* r : kOrder)
    if (!r->same(a, b)) out.push_back({r->what, r->words(a), r->words(b), r->same, r->apply});
  return out;
}

}  // namespace railyard::plan
