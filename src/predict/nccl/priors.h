#pragma once
// The parameters of the time law: one set for all systems, by class of GPU and network, with the
// band that healthy systems scatter in. Values in catalog/nccl_priors.yaml.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"

namespace railyard::predict::nccl {

/// The parameters, in the order of catalog/nccl_priors.yaml.
enum class Parameter : std::uint8_t {
  ring_sm70,  ///< share of the NVLink payload that a long ring gets
  ring_sm80,
  ring_sm90,
  ring_sm100,
  nvls_sm90,  ///< share that NVLS gets
  nvls_sm100,
  nvls_rack,     ///< of that, over a rack of NVSwitches
  tree_inside,   ///< rate of a tree inside a node, over the ring's
  all_to_all,    ///< rate of an all-to-all, over the ring's
  pcie,          ///< share of the slot's encoded rate
  pcie_sockets,  ///< of that, where rings cross sockets
  pcie_host,     ///< of that, where peers must go through host memory
  infiniband,    ///< share of the ports' line rate
  roce,
  efa,
  tcpxo,
  tcpx,
  slingshot,
  sockets,
  ll_one,     ///< rate of LL over that of Simple, one domain
  ll_many,    ///< the same between domains
  host_sm80,  ///< us of the host per collective, launched eagerly
  host_sm90,
  host_sm100,
  host_pcie,
  host_many,  ///< factor on it with a network
  hop,        ///< factor on NCCL's latencies inside
  hop_network,
  hop_libfabric,  ///< further factors
  hop_tcp,
  fill_nvlink,  ///< us at 450 GB/s
  fill_network,
  fill_pcie,
  fill_span,  ///< us of transfer over which the fill grows
  fill_nvls,
  fill_gather,  ///< share of it in what only gathers or scatters
  copy,         ///< GB/s a channel of the local copy of an out-of-place all-gather
  host_power,   ///< m
  post,         ///< us that a step inside a node costs once there is a network
  fill_power
};
inline constexpr int kParameters = 40;

/// A value, and how far (relative, one sigma) the fit may move it.
struct Prior {
  double start = 1, spread = 0.1;  ///< before any measurement
  double value = 1;                ///< fitted
};

/// By size: what share of healthy measurements of this class lies how far off (natural logarithms).
struct BandClass {
  std::int64_t up_to = 0;  ///< bytes, exclusive; 0: no end
  double low = -0.3, high = 0.3;
  double suspect = 0.6;  ///< slower than this is not a healthy system's scatter
};

struct Priors {
  std::array<Prior, kParameters> parameters = {};
  std::vector<BandClass> bands = {};
  double rack_widening = 0.15;  ///< of the bands, for racks: few measurements
  std::vector<std::string> fitted_on = {};

  double operator[](Parameter p) const { return parameters[static_cast<std::size_t>(p)].value; }
  const BandClass& band(std::int64_t bytes) const;
};

/// "ring_sm90".
const char* name(Parameter parameter);

/// catalog/nccl_priors.yaml.
Checked<Priors> load_priors(const std::string& path);

}  // namespace railyard::predict::nccl
