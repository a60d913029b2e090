#pragma once
// JSON in: simdjson validates and splits, the result is the same tree that YAML gives, so that
// every reader above works on one kind of node. Places are worked out from the byte offsets.

#include <string>

#include "base/problem.h"
#include "base/yaml.h"

namespace railyard::json {

/// Parses one JSON value of at most 4 GiB. Numbers keep their spelling.
Checked<yaml::Document> parse(std::string file, std::string bytes);

}  // namespace railyard::json
