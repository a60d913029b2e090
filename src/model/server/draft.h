#pragma once
// A server while it is being described.
//
// A description comes in layers: a template of the catalogue, perhaps the template that this one
// builds upon, and what the user's own file says differently. Each layer writes into the same
// draft, later over earlier, so an override needs no machinery of its own and every mistake is
// reported in the file that made it. The draft is loose where people are (a link without a width,
// "four of these switches"); finish() turns it into a Server, where all of that is settled, and
// says what does not fit together.

#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "base/yaml.h"
#include "model/catalog.h"
#include "model/cluster.h"

namespace railyard::model::server {

/// Where a value was written, for a problem that shows only later. Empty: not from a file.
struct Where {
  const yaml::Document* document = nullptr;
  const yaml::Node* node = nullptr;

  Problem problem(std::string expected, std::string found, std::string hint = {}) const;
};

/// A link as described: zero means "what the part brings".
inline constexpr PcieLink kAsThePart{.generation = 0, .lanes = 0};

/// One item of the `pcie:` tree: a switch with more below it, or `count` equal devices.
struct PcieItem {
  PcieKind kind = PcieKind::bridge;
  int count = 1;
  int socket = 0;
  bool behind_pch = false;
  PcieLink link = kAsThePart;
  Seconds retimers = {};  ///< summed latency of the retimers on the link
  PcieSwitch bridge = {};
  Nic nic = {};
  Nvme nvme = {};
  CxlMemory cxl = {};
  std::vector<PcieItem> below = {};
  Where at = {};
};

/// `nics: {part, count, attach, link}`: replaces the NICs of the tree.
struct NicOrder {
  std::optional<Nic> part = {};
  int count = -1;  ///< as many as the tree had
  enum class Attach { as_before, to_switches, to_sockets } attach = Attach::as_before;
  PcieLink link = kAsThePart;
  Where at = {};
};

struct IslandDraft {
  int accelerators = 0;
  std::optional<ScaleUp> scale_up = {};  ///< unset: the part's
};

struct ServerDraft {
  std::string id = {};
  int layer = 0;  ///< of what is being read now; templates come first

  std::optional<Accelerator> accelerator = {};
  int accelerators = 0;  ///< 0: as many as the tree has
  int accelerators_layer = 0;
  Where accelerators_at = {};
  std::optional<ScaleUp> scale_up = {};
  bool bridges = false;  ///< the cards' NVLink bridges are fitted
  std::vector<IslandDraft> islands = {};
  int islands_layer = 0;
  Where islands_at = {};
  int domain_servers = 0;  ///< 0: from the part

  PcieLink slot = kAsThePart;  ///< of every link that says nothing itself
  std::vector<PcieItem> tree = {};
  int tree_layer = 0;
  std::optional<NicOrder> nics = {};
  std::vector<PcieItem> nvme = {},
                        cxl = {};  ///< given as part and count, each in a slot of its own

  Server plain = {};  ///< what needs no settling: memory, cores, price, flags
};

/// Reads one layer: the name of a template, or a map with `template:` and what differs.
void read_server(const yaml::Document& document, const yaml::Node& node, const Catalog& catalog,
                 ServerDraft& draft, Problems& problems);

/// Reads the `pcie:` list.
std::vector<PcieItem> read_tree(yaml::Fields& server, const Catalog& catalog);

/// Reads a link such as `gen5 x16` from `key`; leaves `out` alone when there is none.
void read_link(yaml::Fields& fields, std::string_view key, PcieLink& out);

/// The draft as a Server, or what is wrong with it in `problems`.
Server finish(ServerDraft draft, Problems& problems);

}  // namespace railyard::model::server
