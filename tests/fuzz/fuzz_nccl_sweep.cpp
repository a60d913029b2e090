// Any bytes as a sweep, calibrated to a profile that must read back to itself; and as a profile.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "intake/busbw_csv.h"
#include "judge/nccl_calibrate.h"
#include "report/nccl_profile.h"

namespace {

using railyard::predict::nccl::Profile;

void check(const Profile& profile) {
  const auto again =
      railyard::predict::nccl::read_profile("fuzz", railyard::report::to_yaml(profile));
  if (!again || !(*again == profile)) std::abort();
  for (const auto& c : profile.curves) {
    double before = 0;
    for (double bytes = 1; bytes < 1e15; bytes *= 7) {
      const double t = c.curve.time_us(bytes, 8);
      if (!(t >= before) || c.curve.time_us(bytes, 7) < t * (1 - 1e-9)) std::abort();
      before = t * (1 - 1e-9);
    }
  }
}

}  // namespace

// libfyaml 0.7.12 loses its buffer of a long quoted text that breaks off; not ours to free.
extern "C" const char* __lsan_default_suppressions() { return "leak:libfyaml"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace railyard;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (const auto profile = predict::nccl::read_profile("fuzz", bytes)) check(*profile);
  constexpr std::size_t kFew = 40;  // rows: a fit for each takes its time
  if (const auto table = intake::read_busbw_csv({.file = "fuzz", .bytes = bytes});
      table && table->rows.size() <= kFew)
    if (const auto made = judge::calibrate_nccl(table->rows, {})) check(made->profile);
  return 0;
}
