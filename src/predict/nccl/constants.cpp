#include "predict/nccl/constants.h"

namespace railyard::predict::nccl {

namespace {

constexpr std::size_t at(Algorithm a) { return static_cast<std::size_t>(a); }
constexpr std::size_t at(Wire w) { return static_cast<std::size_t>(w); }
constexpr std::size_t at(Protocol p) { return static_cast<std::size_t>(p); }

// The tables of 2.28.9. Order of rows: Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree,
// PAT; of columns: LL, LL128, Simple. [tuner constants of NCCL 2.28]
Constants of_2_28() {
  Constants c;
  c.base_latency = {{{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {}, {}, {}, {}, {8.0, 8.0, 8.0}}};
  c.hop_latency[at(Wire::nvlink)] = {{{0.6, 1.25, 4.0},
                                      {0.6, 1.9, 3.4},
                                      {0, 0, 3.7},
                                      {0, 0, 2.8},
                                      {0, 0, 25},
                                      {0, 0, 25},
                                      {0, 0, 4.0}}};
  c.hop_latency[at(Wire::pci)] = {
      {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 2.8}, {}, {}, {0, 0, 4.0}}};
  c.hop_latency[at(Wire::network)] = {{{5.0, 8.5, 14},
                                       {2.7, 4.0, 14},
                                       {0, 0, 31},
                                       {0, 0, 30},
                                       {0, 0, 18},
                                       {0, 0, 20.9},
                                       {0, 0, 14}}};
  // The row of one node is the GPU's; of several nodes the second row stands for AMD hosts and the
  // first for all other ones, whatever the GPU.
  c.ll_cap = {{{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
  c.ring_ll128_channel = {{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {73.4, 34.6, 73.4}}};
  c.tree_ll128_channel = {{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
  c.tree_channel = {
      {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
  c.nvls_tree_channel = {
      {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0.0, 57.7, 45.5}, {0.0, 96.0, 43.8}}};
  c.nvls_efficiency = {0.85, 0.85, 0.85, 0.74};
  // By powers of two from 64 B; beyond the last: 1.
  c.tree_correction = {
      {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
       {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
       {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
        .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};
  return c;
}

/// A release and what was different *before* it.
struct Change {
  Version since;
  void (*undo)(Constants&);
};

// Newest first: constants_of() starts from 2.28.9 and undoes what a release brought.
constexpr Change kChanges[] = {
    // 2.28: tables open to tuner plugins; NVLS by efficiency and heads instead of a fixed share;
    // Blackwell's own caps, which were twice Hopper's before.
    {{2, 28, 0},
     [](Constants& c) {
       c.nvls_by_heads = false;
       c.hop_latency[at(Wire::network)][at(Algorithm::nvls_tree)][at(Protocol::simple)] = 14;
       const auto twice = [](ByNodes n) { return ByNodes{2 * n[0], 2 * n[1], 2 * n[2]}; };
       c.ring_ll128_channel[3] = twice(c.ring_ll128_channel[2]);
       c.tree_ll128_channel[3] = twice(c.tree_ll128_channel[2]);
       c.tree_channel[3] = twice(c.tree_channel[2]);
     }},
    // 2.25: Blackwell and 64 channels.
    {{2, 25, 0},
     [](Constants& c) {
       c.most_channels = 32;
       c.ll_cap[3] = c.ll_cap[2];
       c.ring_ll128_channel[3] = c.ring_ll128_channel[2];
       c.tree_ll128_channel[3] = c.tree_ll128_channel[2];
       c.tree_channel[3] = c.tree_channel[2];
     }},
    {{2, 24, 0}, [](Constants& c) { c.pat_share = 0.85; }},
    // 2.23: PAT; tree/Simple no longer penalised by 28 us a hop; one ring step less between nodes.
    {{2, 23, 0},
     [](Constants& c) {
       c.pat = false;
       c.network_steps_less_one = false;
       c.single_gpu_uses_tree_hop = false;
       for (const Wire w : {Wire::nvlink, Wire::pci, Wire::network})
         c.hop_latency[at(w)][at(Algorithm::tree)][at(Protocol::simple)] = 28;
       c.base_latency[at(Algorithm::tree)][at(Protocol::simple)] = 0;
     }},
    // 2.21: ring/LL at half the bus bandwidth, a quarter or a third before; Hopper's own LL cap.
    {{2, 21, 0},
     [](Constants& c) {
       c.ring_ll_share = 0.25;
       c.ll_cap[2] = c.ll_cap[1];
     }},
};

}  // namespace

Constants constants_of(const Version& version) {
  Constants c = of_2_28();
  if (version >= Version{2, 29, 0}) {
    // 2.29.7 and 2.30: Blackwell between nodes.
    c.ring_ll128_channel[3] = {40, 40, 40};
    c.nvls_tree_channel[3][2] = 80;
    c.correct_nvls_tree = true;
    c.ll128_on_mixed_hopper = true;
  }
  for (const Change& change : kChanges)
    if (version < change.since) change.undo(c);
  return c;
}

}  // namespace railyard::predict::nccl
