#pragma once
// The PCIe tree between description and server: items with counts become single devices,
// accelerators too many are taken out, NICs are placed where the order says.

#include <vector>

#include "model/server/draft.h"

namespace railyard::model::server {

/// Every item with count 1; the order of the description is kept.
std::vector<PcieItem> expand(const std::vector<PcieItem>& items);

/// How many devices of `kind` hang in the (expanded) tree.
int count(const std::vector<PcieItem>& items, PcieKind kind);

/// Leaves the first `accelerators` in place. A switch that loses all of its accelerators loses its
/// NICs too, for those serve the accelerators beside them, unless no NIC would remain.
void keep_accelerators(std::vector<PcieItem>& items, int accelerators);

/// Replaces the NICs of the tree as ordered, evenly over the switches or sockets.
void place_nics(std::vector<PcieItem>& items, const NicOrder& order, int sockets,
                Problems& problems);

/// Gives each device of `order` a slot of its own, in turn over the sockets.
void place_in_slots(std::vector<PcieItem>& items, const std::vector<PcieItem>& order, int sockets);

}  // namespace railyard::model::server
