#include "report/envelope.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"

namespace railyard::report {

Input input_of(std::string path, std::string_view bytes) {
  return {.path = std::move(path), .sha256 = railyard::sha256(bytes)};
}

std::string to_json(const Envelope& envelope, const std::function<void(json::Writer&)>& result) {
  std::string schema = "railyard." + envelope.command + "/1";
  std::ranges::replace(schema, ' ', '-');
  json::Writer out;
  out.begin_object().field("schema", schema).field("generated_by", envelope.generated_by);
  out.key("inputs").begin_array();
  for (const Input& input : envelope.inputs)
    out.begin_object().field("path", input.path).field("sha256", input.sha256).end_object();
  out.end_array();
  out.key("result");
  result(out);
  out.end_object();
  return out.take() + '\n';
}

}  // namespace railyard::report
