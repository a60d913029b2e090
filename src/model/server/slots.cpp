#include "model/server/slots.h"

#include <algorithm>

namespace railyard::model::server {

namespace {

bool holds(const PcieItem& item, PcieKind kind) {
  return std::ranges::any_of(item.below, [&](const PcieItem& i) { return i.kind == kind; });
}

// Switches with accelerators directly below: where a NIC is near them.
void collect_switches(std::vector<PcieItem>& items, std::vector<PcieItem*>& out) {
  for (PcieItem& item : items) {
    if (holds(item, PcieKind::accelerator)) out.push_back(&item);
    collect_switches(item.below, out);
  }
}

void erase(std::vector<PcieItem>& items, PcieKind kind) {
  std::erase_if(items, [&](const PcieItem& i) { return i.kind == kind; });
  for (PcieItem& item : items) erase(item.below, kind);
}

const PcieItem* first(const std::vector<PcieItem>& items, PcieKind kind) {
  for (const PcieItem& item : items) {
    if (item.kind == kind) return &item;
    if (const PcieItem* found = first(item.below, kind)) return found;
  }
  return nullptr;
}

bool nic_below_switch(const std::vector<PcieItem>& items) {
  return std::ranges::any_of(
      items, [](const PcieItem& i) { return first(i.below, PcieKind::nic) != nullptr; });
}

// Removes accelerators once `left` are spent; notes the switches that held some and hold none now.
void trim(std::vector<PcieItem>& items, int& left, std::vector<PcieItem*>& emptied) {
  std::erase_if(items,
                [&](const PcieItem& i) { return i.kind == PcieKind::accelerator && left-- <= 0; });
  for (PcieItem& item : items) {
    const bool before = first(item.below, PcieKind::accelerator) != nullptr;
    trim(item.below, left, emptied);
    if (before && !first(item.below, PcieKind::accelerator)) emptied.push_back(&item);
  }
}

}  // namespace

std::vector<PcieItem> expand(const std::vector<PcieItem>& items) {
  std::vector<PcieItem> out;
  for (const PcieItem& item : items)
    for (int i = 0; i < item.count; ++i) {
      PcieItem one = item;
      one.count = 1;
      one.below = expand(item.below);
      out.push_back(std::move(one));
    }
  return out;
}

int count(const std::vector<PcieItem>& items, PcieKind kind) {
  int n = 0;
  for (const PcieItem& item : items) n += (item.kind == kind ? 1 : 0) + count(item.below, kind);
  return n;
}

void keep_accelerators(std::vector<PcieItem>& items, int accelerators) {
  std::vector<PcieItem*> emptied;
  int left = accelerators;
  trim(items, left, emptied);
  int lost = 0;
  for (const PcieItem* item : emptied) lost += count(item->below, PcieKind::nic);
  if (lost < count(items, PcieKind::nic))
    for (PcieItem* item : emptied) erase(item->below, PcieKind::nic);
}

void place_nics(std::vector<PcieItem>& items, const NicOrder& order, int sockets,
                Problems& problems) {
  PcieItem nic{.kind = PcieKind::nic, .link = order.link, .at = order.at};
  const PcieItem* old = first(items, PcieKind::nic);
  const int number = order.count >= 0 ? order.count : std::max(count(items, PcieKind::nic), 1);
  if (number > 0 && !order.part && !old) {
    problems.push_back(order.at.problem("'part' in nics", "none", "the server had no NICs before"));
    return;
  }
  if (order.part || old) nic.nic = order.part ? *order.part : old->nic;

  std::vector<PcieItem*> switches;
  using Attach = NicOrder::Attach;
  const bool below = order.attach == Attach::to_switches ||
                     (order.attach == Attach::as_before && nic_below_switch(items));
  erase(items, PcieKind::nic);
  if (below) collect_switches(items, switches);
  if (order.attach == Attach::to_switches && switches.empty()) {
    problems.push_back(order.at.problem("a server whose accelerators hang below PCIe switches",
                                        "none of them does", "write attach: socket"));
    return;
  }
  for (int i = 0; i < number; ++i) {
    if (!switches.empty()) {
      PcieItem& at = *switches[static_cast<std::size_t>(i) * switches.size() /
                               static_cast<std::size_t>(number)];
      nic.socket = at.socket;
      at.below.push_back(nic);
    } else {
      nic.socket = i * sockets / number;
      items.push_back(nic);
    }
  }
}

void place_in_slots(std::vector<PcieItem>& items, const std::vector<PcieItem>& order, int sockets) {
  for (const PcieItem& device : expand(order)) {
    PcieItem one = device;
    one.socket = count(items, device.kind) % sockets;
    items.push_back(std::move(one));
  }
}

}  // namespace railyard::model::server
