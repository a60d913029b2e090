#pragma once
// The `fabric:` part of a cluster file.

#include "base/problem.h"
#include "base/yaml.h"
#include "model/catalog.h"
#include "model/cluster.h"

namespace railyard::model {

/// Reads the map at `node`; what it leaves out is settled by settle_fabric.
Fabric read_fabric(const yaml::Document& document, const yaml::Node& node, const Catalog& catalog,
                   Problems& problems);

/// What was expected of a fabric and what it is instead; the caller knows the place.
struct Misfit {
  std::string field, expected, found, hint;
};

/// Fills in what follows from the rest (servers on a leaf, tiers, the latency of a hop, MTU), and
/// returns what cannot be.
std::vector<Misfit> settle_fabric(Cluster& cluster);

}  // namespace railyard::model
