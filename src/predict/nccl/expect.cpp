#include "predict/nccl/expect.h"

#include <cmath>
#include <limits>

namespace railyard::predict::nccl {

namespace {

void set_band(ExpectedSize& size, const Platform& platform, const Priors& priors) {
  const BandClass& band = priors.band(size.bytes);
  const double wider = platform.inside == Inside::rack ? priors.rack_widening : 0;
  size.low_us = size.parts.total * std::exp(band.low - wider);
  size.high_us = size.parts.total * std::exp(band.high + wider);
}

}  // namespace

std::optional<Function> function_of(Collective what) {
  switch (what) {
    case Collective::all_reduce: return Function::all_reduce;
    case Collective::all_gather: return Function::all_gather;
    case Collective::reduce_scatter: return Function::reduce_scatter;
    case Collective::broadcast: return Function::broadcast;
    default: return std::nullopt;
  }
}

ExpectedSize expect_size(const Platform& platform, const TimeQuestion& question,
                         const Priors& priors) {
  ExpectedSize out{.bytes = static_cast<std::int64_t>(question.bytes),
                   .parts = time_of(platform, question, priors)};
  set_band(out, platform, priors);
  return out;
}

Expectation expect(const Platform& platform, const Communicator& comm,
                   const ExpectQuestion& question, const std::vector<std::int64_t>& sizes,
                   const Priors& priors) {
  Expectation out{.platform = platform,
                  .what = question.what,
                  .mode = question.mode,
                  .bus_factor = bus_factor(question.what, platform.ranks()),
                  .light = speed_of_light(platform, question.what)};
  const auto function = function_of(question.what);
  for (const std::int64_t bytes : sizes) {
    TimeQuestion ask{.what = question.what,
                     .bytes = static_cast<double>(bytes),
                     .in_place = question.in_place,
                     .mode = question.mode};
    if (comm.options.settings.max_channels) ask.channels = comm.channels;
    ExpectedSize size{.bytes = bytes};
    if (function) {
      size.parts.total = std::numeric_limits<double>::infinity();
      for (int a = 0; a < kAlgorithms; ++a)
        for (int p = 0; p < kProtocols; ++p) {
          if (comm.table[static_cast<std::size_t>(*function)][static_cast<std::size_t>(a)]
                        [static_cast<std::size_t>(p)]
                            .gb_per_s <= 0)
            continue;
          ask.algorithm = static_cast<Algorithm>(a);
          ask.protocol = static_cast<Protocol>(p);
          const TimeParts parts = time_of(platform, ask, priors);
          if (parts.total < size.parts.total) size.parts = parts;
        }
      if (const auto choice = choose(comm, *function, bytes)) {
        size.pick = choice->pick;
        ask.algorithm = choice->pick.algorithm;
        ask.protocol = choice->pick.protocol;
        const double us = time_of(platform, ask, priors).total;
        if (std::isfinite(us)) size.pick_us = us;
      }
    } else {
      size.parts = time_of(platform, ask, priors);
    }
    set_band(size, platform, priors);
    out.sizes.push_back(size);
  }
  return out;
}

}  // namespace railyard::predict::nccl
