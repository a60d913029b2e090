// Laws of the channel search: what comes out fits through the links, is the same every time, and
// answers to the topology as one expects.

#include <gtest/gtest.h>

#include <map>

#include "model/nccl/system_builder.h"
#include "predict/nccl/communicator.h"

namespace railyard::predict::nccl {
namespace {

using facts::NcclCpu;
using facts::NcclPci;
using facts::NcclTopology;

struct Shape {
  int gpus = 8, sm = 90;
  int nvlinks = 18;        ///< to the NVSwitch; 0: PCIe only
  int nic_mbps = 400'000;  ///< 0: no NICs
  bool gdr = true;
  const char* vendor = "GenuineIntel";
};

std::string bus(int bridge, int device) {
  char text[32];
  std::snprintf(text, sizeof text, "0000:%02x:%02x.0", bridge, device);
  return text;
}

/// Two sockets; each GPU with a NIC under a switch of its own.
NcclTopology topology_of(const Shape& shape) {
  NcclTopology out;
  for (int socket = 0; socket < 2; ++socket) {
    NcclCpu cpu{
        .numaid = socket, .arch = "x86_64", .vendor = shape.vendor, .family = 6, .model = 143};
    const int half = (shape.gpus + 1) / 2;
    for (int g = socket * half; g < std::min(shape.gpus, (socket + 1) * half); ++g) {
      NcclPci gpu{.position = 0,
                  .busid = bus(0x10 + 0x10 * g, 1),
                  .device_class = "0x030200",
                  .link_speed = "32.0 GT/s PCIe",
                  .link_width = 16};
      gpu.gpu = facts::NcclGpu{.dev = g, .sm = shape.sm, .rank = g, .gdr = 1};
      if (shape.nvlinks > 0)
        gpu.gpu->nvlinks.push_back(
            {.target = "fffffff:ffff:ff", .count = shape.nvlinks, .target_class = "0x068000"});
      NcclPci bridge{.position = g,
                     .busid = bus(0x10 + 0x10 * g, 0),
                     .device_class = "0x060400",
                     .link_speed = "32.0 GT/s PCIe",
                     .link_width = 16};
      bridge.below.push_back(gpu);
      if (shape.nic_mbps > 0) {
        NcclPci nic{.position = 1,
                    .busid = bus(0x10 + 0x10 * g, 2),
                    .device_class = "0x020000",
                    .link_speed = "32.0 GT/s PCIe",
                    .link_width = 16};
        nic.nics.push_back({.nets = {{.name = "mlx5_" + std::to_string(g),
                                      .dev = g,
                                      .speed_mbps = shape.nic_mbps,
                                      .port = 1,
                                      .guid = "0x" + std::to_string(100 + g),
                                      .gdr = shape.gdr ? 1 : 0}}});
        bridge.below.push_back(nic);
      }
      cpu.pci.push_back(bridge);
    }
    out.cpus.push_back(cpu);
  }
  return out;
}

model::nccl::System system_of(const Shape& shape) {
  return model::nccl::build_system(topology_of(shape)).value();
}

const Graph& graph(const Communicator& comm, GraphId id) {
  return comm.graphs[static_cast<std::size_t>(id)];
}

/// Adds what every channel of a ring inside a node takes of each link, and checks the sums.
void expect_ring_fits(const model::nccl::System& system, const Graph& g) {
  const Paths paths(system, {});
  std::map<int, double> load;
  for (int c = 0; c < g.channels; ++c)
    for (int step = 0; step < g.gpus; ++step)
      for (const LinkIndex l :
           paths.gpu_to_gpu(g.gpu(c, step), g.gpu(c, (step + 1) % g.gpus)).links)
        load[l] += double{g.intra};
  for (const auto& [link, sum] : load)
    EXPECT_LE(sum, double{system.links[static_cast<std::size_t>(link)].gb_per_s} + 1e-3);
}

TEST(NcclSearch, RingsFitThroughTheLinksAndVisitEveryGpuOnce) {
  for (const int gpus : {2, 3, 4, 5, 6, 7, 8})
    for (const int nvlinks : {18, 12, 0}) {
      const auto system = system_of({.gpus = gpus, .nvlinks = nvlinks, .nic_mbps = 0});
      const Communicator comm = set_up(system, {});
      const Graph& ring = graph(comm, GraphId::ring);
      ASSERT_GT(ring.channels, 0) << gpus << ' ' << nvlinks;
      expect_ring_fits(model::nccl::without_network(system), ring);
      for (int c = 0; c < ring.channels; ++c) {
        std::vector<int> seen(static_cast<std::size_t>(gpus), 0);
        for (int step = 0; step < gpus; ++step) ++seen[static_cast<std::size_t>(ring.gpu(c, step))];
        EXPECT_EQ(seen, std::vector<int>(static_cast<std::size_t>(gpus), 1));
      }
    }
}

TEST(NcclSearch, TheSameSystemGivesTheSameAnswer) {
  const auto system = system_of({});
  const Communicator a = set_up(system, {.nodes = 4}), b = set_up(system, {.nodes = 4});
  for (int id = 0; id < kGraphs; ++id) {
    EXPECT_EQ(a.graphs[static_cast<std::size_t>(id)].order,
              b.graphs[static_cast<std::size_t>(id)].order);
    EXPECT_EQ(a.graphs[static_cast<std::size_t>(id)].nets,
              b.graphs[static_cast<std::size_t>(id)].nets);
  }
}

TEST(NcclSearch, MoreNvlinksNeverGiveLessBandwidth) {
  double last = 0;
  for (int links = 1; links <= 18; ++links) {
    const Communicator comm = set_up(system_of({.nvlinks = links, .nic_mbps = 0}), {});
    const Graph& ring = graph(comm, GraphId::ring);
    EXPECT_GE(ring.channels * double{ring.intra}, last) << links;
    last = ring.channels * double{ring.intra};
  }
}

TEST(NcclSearch, ANetworkBandwidthIsNeverAboveThePorts) {
  for (const int mbps : {25'000, 100'000, 200'000, 400'000}) {
    const Communicator comm = set_up(system_of({.nic_mbps = mbps}), {.nodes = 2});
    const Graph& ring = graph(comm, GraphId::ring);
    EXPECT_LE(ring.channels * double{ring.inter}, 8 * mbps / 8000.0 + 1e-6) << mbps;
    EXPECT_EQ(ring.type_inter, mbps == 400'000 ? PathType::pix : ring.type_inter);
  }
}

TEST(NcclSearch, WithoutGpuDirectTheRingGoesThroughTheHost) {
  const Communicator with = set_up(system_of({}), {.nodes = 2});
  const Communicator without = set_up(system_of({.gdr = false}), {.nodes = 2});
  EXPECT_LE(graph(with, GraphId::ring).type_inter, PathType::pxn);
  EXPECT_GE(graph(without, GraphId::ring).type_inter, PathType::phb);
}

TEST(NcclSearch, OnlyOneNodeNeedsNoNetwork) {
  const Communicator one = set_up(system_of({}), {});
  const Communicator bare = set_up(system_of({.nic_mbps = 0}), {});
  EXPECT_EQ(graph(one, GraphId::ring).order, graph(bare, GraphId::ring).order);
  EXPECT_EQ(one.channels, bare.channels);
}

TEST(NcclSearch, SettingsTakeEffect) {
  const auto system = system_of({});
  const auto with = [&](const char* name, const char* value) {
    CommunicatorOptions options;
    options.settings = read_settings({{.name = name, .value = value}})->settings;
    return set_up(system, options);
  };
  EXPECT_EQ(with("NCCL_MAX_NCHANNELS", "4").channels, 4);
  EXPECT_EQ(with("NCCL_MIN_NCHANNELS", "32").channels, 32);
  EXPECT_EQ(with("NCCL_NVLS_ENABLE", "0").nvls_channels, 0);
  EXPECT_GE(graph(with("NCCL_P2P_DISABLE", "1"), GraphId::ring).type_intra, PathType::phb);
}

TEST(NcclSystem, WhatNcclRefusesIsRefused) {
  NcclTopology topology = topology_of({});
  topology.version = 2;
  EXPECT_FALSE(model::nccl::build_system(topology));
  topology.version = 1;
  topology.rccl = true;
  EXPECT_FALSE(model::nccl::build_system(topology));
  EXPECT_FALSE(model::nccl::build_system({}));
}

TEST(NcclSystem, LinkRatesAreThoseOfNcclsTable) {
  EXPECT_FLOAT_EQ(model::nccl::pcie_gb_per_s("32.0 GT/s PCIe", 16), 48);
  EXPECT_FLOAT_EQ(model::nccl::pcie_gb_per_s("32 GT/s PCIe/s", 16), 48);
  EXPECT_FLOAT_EQ(model::nccl::pcie_gb_per_s("16.0 GT/s PCIe", 8), 12);
  EXPECT_FLOAT_EQ(model::nccl::pcie_gb_per_s("", 0), 12);  // unknown: Gen3 x16
  EXPECT_FLOAT_EQ(18 * model::nccl::nvlink_gb_per_s(90), 370.8F);
}

}  // namespace
}  // namespace railyard::predict::nccl
