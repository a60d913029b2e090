#include "judge/busbw_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "judge/gpu_class.h"
#include "predict/words.h"

namespace railyard::judge {

namespace {

using predict::nccl::Inside;
using predict::nccl::Network;
using predict::nccl::Platform;

Inside inside_of(const std::string& intra, const std::string& gpu, int gpus_per_node) {
  const auto has = [&](const char* word) { return intra.contains(word); };
  if (has("nvlink disabled")) return Inside::nvswitch;  // the node's own switch stays
  if (gpus_per_node == 1) return Inside::none;
  if (has("nvl72") || has("mnnvl")) return Inside::rack;
  if (intra.starts_with("pcie")) return Inside::pcie;
  if (has("bridge")) return Inside::bridge;
  if (has("cube") || gpu.starts_with("v100-sxm2")) return Inside::cube;
  if (has("all-to-all") || has("mesh")) return Inside::mesh;
  return Inside::nvswitch;
}

Network network_of(const std::string& nic) {
  const auto has = [&](const char* word) { return nic.contains(word); };
  if (has("roce")) return Network::roce;
  if (has("efa")) return Network::efa;
  if (has("tcpxo")) return Network::tcpxo;
  if (has("tcpx")) return Network::tcpx;
  if (has("slingshot")) return Network::slingshot;  // sockets on it are a fault of the set-up
  if (has("ethernet") || has("socket") || has("tcp")) return Network::sockets;
  return Network::infiniband;
}

/// "CX6 HDR 200G" -> 25 GB/s; a fabric without a number by its usual rate.
double port_rate(const std::string& nic, int sm) {
  for (std::size_t i = 0; i + 1 < nic.size(); ++i) {
    if (!std::isdigit(static_cast<unsigned char>(nic[i]))) continue;
    std::size_t end = i;
    double value = 0;
    while (end < nic.size() && std::isdigit(static_cast<unsigned char>(nic[end])))
      value = value * 10 + (nic[end++] - '0');
    if (end < nic.size() && nic[end] == 'g') return value / 8;
    i = end - 1;
  }
  if (nic.contains("slingshot")) return 25;
  return sm >= 90 ? 50 : 25;
}

int gpus_of(const facts::BusbwRow& row) {
  return row.gpus_per_node.value_or(1) * row.nodes.value_or(1);
}

constexpr int kRackGpus = 72;  // of one NVLink domain (NVL72)

Platform platform_of(const facts::BusbwRow& row, const std::string& gpu, const std::string& intra) {
  const std::string nic = lower_case(row.nic);
  const int per_node = row.gpus_per_node.value_or(1);
  const GpuClass* known = gpu_class(gpu);
  Platform out{.sm = known ? known->sm : intra.contains("nvswitch") ? 90 : 80};
  out.inside = inside_of(intra, gpu, per_node);
  out.gpus = per_node;
  if (out.inside == Inside::rack) out.gpus = std::min(kRackGpus, gpus_of(row));
  out.domains = std::max(1, gpus_of(row) / out.gpus);
  const bool pcie = out.inside == Inside::pcie;
  const double nvlink = known ? known->nvlink : 450;
  // Three bridges of a PCIe card carry 300 GB/s one way. [NVIDIA H100 PCIe datasheet: 600 both]
  out.nvlink = (pcie ? 0 : out.inside == Inside::bridge ? 300 : nvlink) * GBps;
  if (!known && pcie) out.sm = 86;
  // An unnamed GPU beside 400G NICs sits in a server with Gen5 slots.
  const bool gen5_server = !known && port_rate(nic, out.sm) > 25;
  const bool gen4 =
      intra.contains("pcie4") || (!gen5_server && (out.sm == 80 || out.sm == 86 || out.sm == 89));
  out.pcie = (out.sm < 80 ? 15.75 : gen4 ? 31.5 : 63.0) * GBps;
  out.sockets =
      intra.contains("dual") || intra.contains("switches") || intra.contains("switch x") ? 2 : 1;
  out.peer_to_peer = !gpu.starts_with("rtx 5090");  // its driver has none
  const std::string note = lower_case(row.note);
  const bool rings =
      note.contains("nvls_enable=0") || note.contains("ring forced") || note.starts_with("ring");
  out.nvls = (out.inside == Inside::nvswitch || out.inside == Inside::rack) && out.sm >= 90 &&
             out.sm < 120 && !rings;
  if (out.domains > 1) {
    out.network = network_of(nic);
    out.ports = port_rate(nic, out.sm) * row.nics_per_node.value_or(0) * out.gpus / per_node * GBps;
    out.sharp = nic.contains("sharp");
  }
  return out;
}

}  // namespace

std::string system_of(const facts::BusbwRow& row) {
  return fmt::format("{}|{}|{}|{}|{}|{}", row.gpu, row.gpus_per_node.value_or(0),
                     row.nodes.value_or(0), row.intra, row.nic, row.nics_per_node.value_or(0));
}

std::expected<BusbwSetup, std::string> setup_of(const facts::BusbwRow& row) {
  const std::string gpu = lower_case(row.gpu), intra = lower_case(row.intra);
  if (!row.gpus_per_node || !row.nodes) return std::unexpected("no number of GPUs and nodes");
  if (is_amd_gpu(gpu)) return std::unexpected("AMD GPUs run RCCL, which is not modelled");
  const auto what = predict::collective_named(row.collective);
  if (!what) return std::unexpected("no law for the collective '" + row.collective + "'");
  BusbwSetup out{.platform = platform_of(row, gpu, intra),
                 .question = {.what = *what,
                              .bytes = static_cast<double>(row.bytes),
                              .in_place = row.buffers == facts::Buffers::in_place}};
  if (out.platform.ranks() < 2) return std::unexpected("one GPU: nothing to do");
  if (out.platform.domains > 1 && out.platform.ports <= Bandwidth{})
    return std::unexpected("several nodes and no number of NICs");
  const double factor = predict::nccl::bus_factor(*what, out.platform.ranks());
  if (row.time_us && *row.time_us > 0)
    out.measured_us = *row.time_us;
  else if (row.busbw_gbs && *row.busbw_gbs > 0)
    out.measured_us = static_cast<double>(row.bytes) * factor / (*row.busbw_gbs * 1e3);
  else if (row.algbw_gbs && *row.algbw_gbs > 0)
    out.measured_us = static_cast<double>(row.bytes) / (*row.algbw_gbs * 1e3);
  if (row.bytes > 0 && out.measured_us <= 0) return std::unexpected("a time of zero");
  return out;
}

}  // namespace railyard::judge
