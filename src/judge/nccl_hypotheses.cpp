#include "judge/nccl_hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace railyard::judge {

namespace {

using predict::nccl::Inside;
using predict::nccl::Network;
using predict::nccl::Platform;
using predict::nccl::Priors;
using predict::nccl::TimeQuestion;

/// One member of a hypothesis: most have a strength, which is chosen by the fit.
struct Member {
  Platform platform = {};
  int channels = 0;
  std::string what = {};
};

struct Family {
  std::string_view id = {}, topic = {}, fix = {}, settle = {};
  std::vector<Member> members = {};
};

TimeQuestion question(const MeasuredCurve& curve, const MeasuredTime& point, int channels) {
  return {.what = curve.what,
          .bytes = point.bytes,
          .in_place = point.in_place,
          .mode = curve.mode,
          .channels = channels};
}

/// The reciprocal of how far healthy systems scatter there. [nccl_priors.yaml, bands]
double weight(double bytes) {
  constexpr double kLong = 32 << 20, kMiddle = 1 << 20;
  if (bytes >= kLong) return 1;
  return bytes >= kMiddle ? 0.4 : 0.15;
}

Member with_ports(const Platform& healthy, double share, std::string what) {
  Member out{.platform = healthy, .what = std::move(what)};
  out.platform.ports *= share;
  return out;
}

/// The network of a node, or of many: everything that makes its NICs deliver less.
void add_network(const Platform& healthy, int nics, std::vector<Family>& out) {
  Family sockets{.id = "sockets",
                 .topic = "rdma-not-used",
                 .fix =
                     "give the job the RDMA devices (/dev/infiniband, the EFA provider or the "
                     "network plugin), unset NCCL_IB_DISABLE and NCCL_NET",
                 .settle = "NCCL_DEBUG=INFO: 'Using network' and 'via NET/'"};
  for (const double gb : {healthy.ports / GBps, 12.5, 1.25}) {
    if (gb > healthy.ports / GBps) continue;
    Member m{.platform = healthy, .what = fmt::format("TCP sockets over {:.0f} Gb/s", gb * 8)};
    m.platform.network = Network::sockets;
    m.platform.ports = gb * GBps;
    sockets.members.push_back(std::move(m));
  }
  out.push_back(std::move(sockets));

  Family gdr{.id = "gpudirect-off",
             .topic = "gpudirect-off",
             .fix =
                 "load nvidia-peermem or use DMA-BUF, and allow the distance with "
                 "NCCL_NET_GDR_LEVEL",
             .settle = "NCCL_DEBUG=INFO: 'GPU Direct RDMA' lines and '/GDRDMA' behind 'via NET/'"};
  // Through host memory a bus bandwidth of 33 where 93 and 94 are healthy [nccl#1412 and others:
  // 0.3 to 0.5]; between two nodes, whose bus counts a byte 1.75 times, down to 0.2 of the ports.
  for (const double share : {0.20, 0.25, 0.30, 0.36, 0.43, 0.50})
    gdr.members.push_back(
        with_ports(healthy, share, fmt::format("GPUDirect RDMA off, {:.2f} of the rate", share)));
  out.push_back(std::move(gdr));

  Family detour{.id = "acs",
                .topic = "pcie-peer-path",
                .fix =
                    "switch ACS redirection off at the PCIe switches (setpci ECAP_ACS+6.w=0), "
                    "iommu=pt",
                .settle = "lspci -vvv as root: ACSCtl with ReqRedir+ or CmpltRedir+"};
  // 40 of 97, 44 of 100 GB/s. [nccl#949, nccl-tests#112, #252: 0.4 to 0.6]
  for (const double share : {0.41, 0.50, 0.60})
    detour.members.push_back(with_ports(
        healthy, share, fmt::format("PCIe detour through the CPU, {:.2f} of the rate", share)));
  out.push_back(std::move(detour));

  Family relaxed{
      .id = "relaxed-ordering-off",
      .topic = "pcie-peer-path",
      .fix = "NCCL_IB_PCI_RELAXED_ORDERING=1, and relaxed ordering in the NIC's firmware",
      .settle = "NCCL_DEBUG=INFO: '[RO]' in the line 'NET/IB : Using'"};
  for (const double share : {0.40, 0.47})
    relaxed.members.push_back(
        with_ports(healthy, share, fmt::format("relaxed ordering off, {:.2f} of the rate", share)));
  out.push_back(std::move(relaxed));

  const int count = nics > 0 ? nics : std::max(healthy.gpus, 1);
  if (count > 2)
    out.push_back(
        {.id = "one-nic",
         .topic = "wrong-nic",
         .fix = "unset NCCL_IB_HCA, or name all NICs in it",
         .settle = "NCCL_DEBUG=INFO: the device list and 'via NET/IB/n'",
         .members = {with_ports(healthy, 1.0 / count, fmt::format("1 of {} NICs", count))}});
  if (count > 1)
    out.push_back({.id = "half-nics",
                   .topic = "wrong-nic",
                   .fix = "compare the NICs in use with those of the server",
                   .settle = "NCCL_DEBUG=INFO with the channel lines; ibstat on each host",
                   .members = {with_ports(healthy, 0.5, "half of the NICs, or half their rate")}});

  Family slot{.id = "slot-trained-down",
              .topic = "pcie-link",
              .fix = "reseat or replace the card: its slot trained a generation or a width down",
              .settle = "lspci -vvv as root: LnkSta against LnkCap of the NICs"};
  // A 400G port needs 50 of the 63 GB/s of a Gen5 slot, 200G 25 of 31.5: half a slot is 0.63 of it.
  for (const auto& [share, what] : {std::pair{0.63, "half"}, {0.315, "a quarter"}})
    slot.members.push_back(
        with_ports(healthy, share, fmt::format("a NIC's slot at {} of its rate", what)));
  out.push_back(std::move(slot));

  // RoCE spreads flows by hash, so that two may meet on one uplink even between two nodes.
  constexpr int kManyDomains = 4;
  if (healthy.domains >= kManyDomains || healthy.network == Network::roce) {
    Family fabric{.id = "fabric",
                  .topic = "fabric-path",
                  .fix =
                      "compare pairs of nodes in a leaf and across leaves; adaptive routing "
                      "(NCCL_IB_ADAPTIVE_ROUTING=1 on RoCE), more queue pairs",
                  .settle = "the same test on fewer nodes, and per pair; switch counters"};
    for (const double share : {0.9, 0.8, 0.7, 0.6, 0.5, 0.4})
      fabric.members.push_back(
          with_ports(healthy, share, fmt::format("the fabric carries {:.1f} of the ports", share)));
    out.push_back(std::move(fabric));
  }
}

void add_inside(const Platform& healthy, std::vector<Family>& out) {
  const bool nvlink = healthy.gpus > 1 && healthy.inside != Inside::pcie;
  if (healthy.gpus > 1) {
    Family off{.id = "p2p-off",
               .topic = "nvlink",
               .fix =
                   "unset NCCL_P2P_DISABLE and NCCL_P2P_LEVEL; nvidia-smi nvlink -s; fabric "
                   "manager",
               .settle = "NCCL_DEBUG=INFO: 'via P2P' or 'via SHM'; nvidia-smi topo -m"};
    Member m{.platform = healthy, .what = "GPUs exchange through host memory"};
    m.platform.inside = Inside::pcie;
    m.platform.peer_to_peer = false;
    m.platform.nvls = false;
    if (nvlink || healthy.peer_to_peer) off.members.push_back(std::move(m));
    if (!off.members.empty()) out.push_back(std::move(off));
  }
  if (healthy.nvls && healthy.gpus > 2) {
    Member m{.platform = healthy, .what = "without NVLink SHARP (NVLS)"};
    m.platform.nvls = false;
    out.push_back({.id = "nvls-off",
                   .topic = "nvlink",
                   .fix = "unset NCCL_NVLS_ENABLE and NCCL_ALGO; restart the fabric manager",
                   .settle = "NCCL_DEBUG=INFO: 'nvls channels' and the environment lines",
                   .members = {std::move(m)}});
  }
  if (nvlink) {
    Family few{.id = "few-channels",
               .topic = "nccl-version-or-setting",
               .fix = "unset NCCL_MAX_NCHANNELS and NCCL_MAX_CTAS; check the topology NCCL sees",
               .settle = "NCCL_DEBUG=INFO: 'coll channels'"};
    for (const int channels : {1, 2, 4, 8}) {
      Member m{.platform = healthy,
               .channels = channels,
               .what = fmt::format("{} channel{} of NCCL", channels, channels == 1 ? "" : "s")};
      m.platform.nvls = false;  // few channels of the ring; NVLS would not be capped by them
      few.members.push_back(std::move(m));
    }
    out.push_back(std::move(few));
  } else if (healthy.gpus > 1) {
    Family slot{.id = "slot-trained-down",
                .topic = "pcie-link",
                .fix = "reseat or replace: a GPU's slot trained a generation or a width down",
                .settle = "nvidia-smi -q or lspci -vvv as root, under load"};
    for (const auto& [share, what] : {std::pair{0.5, "half"}, {0.25, "a quarter"}}) {
      Member m{.platform = healthy, .what = fmt::format("a GPU's slot at {} of its rate", what)};
      m.platform.pcie *= share;
      slot.members.push_back(std::move(m));
    }
    out.push_back(std::move(slot));
  }
}

/// Beyond a factor of 20 a point is odd, not telling.
constexpr double kMostOff = 3;

/// Each further member of a family could fit by chance.
constexpr double kPerMember = 0.006;

}  // namespace

double misfit(const MeasuredCurve& curve, const Platform& platform, int channels,
              const Priors& priors) {
  double sum = 0, weights = 0;
  for (const MeasuredTime& p : curve.points) {
    const double us = predict::nccl::time_of(platform, question(curve, p, channels), priors).total;
    if (!std::isfinite(us) || us <= 0 || p.us <= 0) continue;
    const double w = weight(p.bytes);
    sum += w * std::min(kMostOff, std::abs(std::log(p.us / us)));
    weights += w;
  }
  return weights > 0 ? sum / weights : 0;
}

std::vector<NcclHypothesis> hypotheses_of(const MeasuredCurve& curve, const Platform& healthy,
                                          int nics, const NcclWitness& witness,
                                          const Priors& priors) {
  if (curve.points.empty()) return {};
  std::vector<Family> families;
  if (healthy.domains > 1) add_network(healthy, nics, families);
  add_inside(healthy, families);
  const MeasuredTime& largest = *std::ranges::max_element(curve.points, {}, &MeasuredTime::bytes);
  const double at_best = predict::nccl::time_of(healthy, question(curve, largest, 0), priors).total;
  std::vector<NcclHypothesis> out;
  for (const Family& family : families) {
    NcclHypothesis best{.id = family.id,
                        .topic = family.topic,
                        .fix = family.fix,
                        .settle = family.settle,
                        .misfit = 2 * kMostOff};
    for (const Member& m : family.members) {
      const double off = misfit(curve, m.platform, m.channels, priors);
      if (off >= best.misfit) continue;
      const double us =
          predict::nccl::time_of(m.platform, question(curve, largest, m.channels), priors).total;
      best.misfit = off;
      best.what = m.what;
      best.loss = us / at_best;
      best.plateau =
          largest.bytes * predict::nccl::bus_factor(curve.what, healthy.ranks()) / us / 1e3;
    }
    best.misfit += kPerMember * static_cast<double>(family.members.size() - 1);
    if (witness.shown.contains(family.id)) {
      best.standing = Standing::shown;
      best.why = "the log shows it";
    } else if (const auto no = witness.ruled_out.find(family.id); no != witness.ruled_out.end()) {
      best.standing = Standing::ruled_out;
      best.why = no->second;
    }
    out.push_back(std::move(best));
  }
  // What the log shows may fit a little worse and still comes first.
  constexpr double kShown = 0.25;
  const auto rank = [](const NcclHypothesis& h) {
    return std::pair(h.standing == Standing::ruled_out,
                     h.misfit - (h.standing == Standing::shown ? kShown : 0));
  };
  std::ranges::stable_sort(
      out, [&](const NcclHypothesis& a, const NcclHypothesis& b) { return rank(a) < rank(b); });
  return out;
}

}  // namespace railyard::judge
