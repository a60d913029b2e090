#pragma once
// Ways through the PCIe forest of a server, and what happens to links that several of them share.

#include <string>
#include <vector>

#include "fabric/machine.h"
#include "model/cluster.h"

namespace railyard::fabric {

/// One direction of the link between a node and its parent.
struct Hop {
  model::PcieId below = {};
  bool up = false;
};

/// A way between two devices, or between a device and host memory.
struct Route {
  PathClass kind = PathClass::pcie_switch;
  std::vector<Hop> links = {};
  int from_socket = 0, to_socket = 0;
  double share = 1;  ///< of a link's payload that this traffic can use (Server::root_complex_share)
  int memory_passes =
      0;                 ///< times that each byte is written to or read from host memory; 0: direct
  Seconds latency = {};  ///< switches and retimers on the way
};

/// Where a way begins and where it ends.
struct Ends {
  model::PcieId from = {}, to = {};
};

/// From device to device. With ACS redirection even neighbours under one switch go through the
/// root.
Route route(const model::Server& server, Ends ends);
/// From a device into host memory, and from there to a device, on the device's own socket.
Route route_to_host(const model::Server& server, model::PcieId from);
Route route_from_host(const model::Server& server, model::PcieId to);
/// Through host memory: there and back. For devices that cannot reach each other.
Route route_staged(const model::Server& server, Ends ends);
/// Between accelerators: direct, or staged where the driver has no peer-to-peer. Through a root
/// complex it keeps only its share; a NIC's own traffic does not suffer so.
Route peer_route(const model::Server& server, int from_gpu, int to_gpu);

/// Data that one link of the server carries in one direction: PCIe payload, or the coherent link of
/// an accelerator that has a faster one.
Bandwidth link_payload(const model::Server& server, model::PcieId below);
/// "slot of accelerator 3, PCIe 5.0 x16"
std::string link_name(const model::Server& server, model::PcieId below);

/// "504 Gb/s after line code; ... leave 451 Gb/s"
std::string slot_sum(const model::Server& server, model::PcieLink link);

/// The parts that bound one flow that is alone, in the order of the way.
std::vector<Limit> limits_alone(const model::Server& server, const Route& way);

/// Flows that run at once, and how much of every shared part they take.
class Load {
 public:
  explicit Load(const model::Server& server);

  void add(const Route& way, Bandwidth amount);

  /// The part that fills first, when all flows grow alike, and the factor at which it is full.
  struct Tightest {
    double factor = 1e300;
    std::string name = {}, why = {};
  };
  Tightest tightest() const;

 private:
  const model::Server& server_;
  std::vector<Bandwidth> up_, down_;  // by node
  std::vector<Bandwidth> crossing_;   // from socket x to socket
  std::vector<Bandwidth> memory_;     // by socket
};

}  // namespace railyard::fabric
