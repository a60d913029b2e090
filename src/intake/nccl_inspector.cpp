#include "intake/nccl_inspector.h"

#include <map>
#include <string>
#include <utility>

#include "base/json_reader.h"
#include "intake/detail/json_fields.h"
#include "intake/detail/log_lines.h"

namespace railyard::intake {

using yaml::Node;

bool looks_like_nccl_inspector(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 1 << 16);
  return Scan(head).blanks().peek() == '{' &&
         (head.find("\"coll_perf\"") != head.npos ||
          head.find("\"inspector_output_format_version\"") != head.npos);
}

facts::CollectiveRuns read_nccl_inspector(Text text) {
  facts::CollectiveRuns out;
  std::map<std::string, std::size_t> run_of;
  const std::string name(text.file);
  const auto take = [&](const Node& record, int line) {
    const Place at{.file = name, .line = line, .column = 1};
    const Node* perf = record.kind == yaml::Kind::map ? record.find("coll_perf") : nullptr;
    if (perf == nullptr || perf->kind != yaml::Kind::map)
      return facts::count(out.skipped, "record without a collective", at, "");
    const Node* header = record.find("header");
    const Node& who = header != nullptr ? *header : record;  // early versions have no header
    const auto bytes_moved = integer_at<std::uint64_t>(*perf, "coll_msg_size_bytes");
    const auto time = number_at(*perf, "coll_exec_time_us");
    if (!bytes_moved || !time || !(*time >= 0))
      return facts::count(out.skipped, "record without size or time", at, "");
    const std::string id = text_at(who, "id"), collective = text_at(*perf, "coll");
    const auto [it, fresh] = run_of.emplace(id + ' ' + collective, out.runs.size());
    if (fresh)
      out.runs.push_back({.at = at,
                          .program = "NCCL Inspector",
                          .collective = collective,
                          .communicator = id,
                          .ranks = integer_at(who, "n_ranks"),
                          .nodes = integer_at(who, "nnodes")});
    out.runs[it->second].points.push_back(
        {.line = line,
         .bytes = *bytes_moved,
         .time_us = *time,
         .algbw_gbs = number_at(*perf, "coll_algobw_gbs").value_or(0),
         .busbw_gbs = number_at(*perf, "coll_busbw_gbs").value_or(0),
         .rank = integer_at(who, "rank")});
  };
  if (const auto whole =
          json::parse(name, std::string(text.bytes))) {  // one object, or a list of them
    const Node& root = whole->root();
    if (root.kind != yaml::Kind::list) take(root, root.line);
    for (const Node& record : root.items)
      if (root.kind == yaml::Kind::list) take(record, record.line);
    return out;
  }
  for (LogLines lines(text.bytes); lines.next();) {
    if (Scan(lines.line()).blanks().at_end()) continue;
    const auto doc = json::parse(name, std::string(lines.line()));
    if (doc)
      take(doc->root(), lines.number());
    else
      facts::count(out.skipped, "line that is no JSON",
                   {.file = name, .line = lines.number(), .column = 1}, "");
  }
  return out;
}

}  // namespace railyard::intake
