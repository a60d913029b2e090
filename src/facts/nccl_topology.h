#pragma once
// A server as NCCL's topology file has it: CPUs with their PCI trees, GPUs with NVLinks, NICs.
//
// Values stay as the file spells them where NCCL itself compares text (class, link_speed, bus ids);
// numbers that it reads as numbers are numbers. What is not in the file is not there. Attributes
// that we do not know are kept, so that a file can be written back with equal meaning.
// [NCCL 2.30: src/graph/xml.cc, topo.cc]

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "facts/seen.h"

namespace railyard::facts {

using NcclAttributes = std::vector<std::pair<std::string, std::string>>;

/// `<net>`: a network device that NCCL can open. Without `dev` NCCL leaves it out.
struct NcclNet {
  Place at = {};
  std::string name = {};
  std::optional<int> dev = {};
  std::optional<int> speed_mbps = {};  ///< missing or not above 0: NCCL assumes 10000
  std::optional<double> latency = {};  ///< us
  std::optional<int> port = {};
  std::optional<std::string> guid = {};  ///< NICs with equal guid and port share one port
  std::optional<int> maxconn = {};
  std::optional<int> gdr = {}, coll = {}, keep = {};
  NcclAttributes other = {};
};

/// `<nic>` on a PCI device or directly on a CPU.
struct NcclNic {
  Place at = {};
  int position = 0;  ///< among the PCI devices and NICs of its parent, from 0
  std::vector<NcclNet> nets = {};
  NcclAttributes other = {};
};

/// `<nvlink>`, and `<xgmi>` of RCCL: to a GPU's bus id, to a switch (all-f id) or to a CPU.
struct NcclNvlink {
  Place at = {};
  std::string target = {};
  int count = 0;
  std::string target_class = {};  ///< `tclass`
  NcclAttributes other = {};
};

/// `<c2c>`: GPU to the CPU of its own superchip.
struct NcclC2c {
  Place at = {};
  int bandwidth_mbps = 0;  ///< `bw`: MB/s of one link
  int count = 0;
  NcclAttributes other = {};
};

struct NcclGpu {
  Place at = {};
  std::optional<int> dev = {};
  std::optional<int> sm = {};    ///< compute capability x 10: 90
  std::optional<int> rank = {};  ///< without it NCCL leaves the GPU out
  std::optional<int> gdr = {};
  std::optional<std::string> gcn = {};  ///< RCCL: gfx942
  std::vector<NcclNvlink> nvlinks = {};
  std::vector<NcclC2c> c2c = {};
  NcclAttributes other = {};
};

/// `<pci>`: a GPU, a NIC, or a switch with more below it.
struct NcclPci {
  Place at = {};
  int position = 0;
  std::string busid = {};
  std::string device_class = {};  ///< `class`
  std::optional<std::string> vendor = {}, device = {}, subsystem_vendor = {}, subsystem_device = {};
  std::string link_speed = {};         ///< "32.0 GT/s PCIe"; unknown text: NCCL assumes Gen3
  std::optional<int> link_width = {};  ///< 0 (usual in a VM): NCCL assumes 16
  std::optional<NcclGpu> gpu = {};
  std::vector<NcclNic> nics = {};
  std::vector<NcclPci> below = {};
  std::vector<std::pair<Place, std::string>> pcilinks = {};  ///< targets, between Broadcom switches
  NcclAttributes other = {};
};

struct NcclCpu {
  Place at = {};
  std::optional<std::string> host_hash = {};
  std::optional<int> numaid = {};
  std::optional<std::string> affinity = {};
  std::string arch = {};                   ///< x86_64, arm64, ppc64
  std::optional<std::string> vendor = {};  ///< GenuineIntel, AuthenticAMD, ...
  std::optional<int> family = {}, model = {};
  std::vector<NcclPci> pci = {};
  std::vector<NcclNic> nics = {};
  NcclAttributes other = {};
};

/// An attribute that NCCL reads as another number than it looks like ("18x", "010"), or needs and
/// does not find.
struct NcclMisread {
  Place at = {};
  std::string element = {}, attribute = {};
  std::optional<std::string> text = {};  ///< nothing: the attribute is missing
  std::int64_t read_as = 0;
};

/// XML that is correct, but more than NCCL's own small parser knows: it stops there.
struct NcclStumble {
  Place at = {};
  std::string what = {};  ///< "a tab between elements"
};

struct NcclTopology {
  Place at = {};
  int version = 1;
  bool rccl = false;  ///< version 2, gcn or xgmi: AMD's library wrote it
  std::vector<NcclCpu> cpus = {};
  NcclAttributes other = {};
  std::vector<Skipped> skipped = {};  ///< elements that NCCL does not know
  std::vector<NcclMisread> misread = {};
  std::vector<NcclStumble> stumbles = {};
};

}  // namespace railyard::facts
