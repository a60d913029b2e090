#pragma once
// The frame around every JSON answer: which schema, which program, and which bytes it was computed
// from. A script checks `schema` once and then relies on the keys: they are never renamed within a
// major version.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace railyard::report {

/// A file that a result was computed from.
struct Input {
  std::string path = {};
  std::string sha256 = {};
};
Input input_of(std::string path, std::string_view bytes);

struct Envelope {
  std::string command = {};       ///< "catalog list"; the schema joins the words by '-'
  std::string generated_by = {};  ///< "railyard 0.1.0"
  std::vector<Input> inputs = {};
};

/// {"schema": "railyard.catalog-list/1", "generated_by", "inputs": [...], "result": ...} and a line
/// end. `result` writes exactly one value.
std::string to_json(const Envelope& envelope, const std::function<void(json::Writer&)>& result);

}  // namespace railyard::report
