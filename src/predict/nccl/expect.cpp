#include "predict/nccl/expect.h"

#include <algorithm>
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

/// Whether NCCL is left to choose algorithm, protocol and channels.
bool unforced(const CommunicatorOptions& options) {
  const Settings& now = options.settings;
  const Settings usual;
  return now.algorithms == usual.algorithms && now.protocols == usual.protocols &&
         now.min_channels == usual.min_channels && now.max_channels == usual.max_channels &&
         std::ranges::none_of(options.given, [](const auto& graph) { return graph.has_value(); });
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

void calibrate(Expectation& expectation, const Communicator& comm, const ExpectQuestion& question,
               const Profile& profile) {
  const Way own{.what = question.what, .in_place = question.in_place};
  const bool free = unforced(comm.options);
  for (ExpectedSize& size : expectation.sizes) {
    if (free) size.measured = time_of(profile, {.way = own, .bytes = size.bytes});
    if (!size.measured && size.pick) {
      Way way = own;
      way.algorithm = size.pick->algorithm;
      way.protocol = size.pick->protocol;
      const bool nvls = way.algorithm == Algorithm::nvls || way.algorithm == Algorithm::nvls_tree;
      size.measured = time_of(
          profile,
          {.way = way, .channels = nvls ? comm.nvls_channels : comm.channels, .bytes = size.bytes});
    }
    if (!size.measured) continue;
    size.low_us = size.measured->low_us;
    size.high_us = size.measured->high_us;
  }
}

}  // namespace railyard::predict::nccl
