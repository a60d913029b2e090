#include "intake/nccl_tests_json.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/json_reader.h"
#include "intake/detail/log_lines.h"
#include "intake/detail/scan.h"
#include "intake/nccl_tests_text.h"

namespace railyard::intake {

namespace {

using facts::Buffers;
using facts::CollectiveRun;
using yaml::Node;

std::string text_at(const Node& node, std::string_view key) {
  const Node* v = node.find(key);
  return v != nullptr && v->kind == yaml::Kind::scalar ? v->scalar : std::string();
}
std::optional<double> number_at(const Node& node, std::string_view key) {
  return whole_number(text_at(node, key));
}
template <std::integral T = int>
std::optional<T> integer_at(const Node& node, std::string_view key) {
  const std::string text = text_at(node, key);
  return whole_integer<T>(Scan(text).blanks().rest());  // `root` is text with blanks in front
}

void add_way(const Node& row, std::string_view key, Buffers buffers, CollectiveRun& run) {
  const Node* way = row.find(key);
  if (way == nullptr || way->kind != yaml::Kind::map) return;
  facts::CollectiveTiming out{.line = row.line, .buffers = buffers};
  out.bytes = integer_at<std::uint64_t>(row, "size").value_or(0);
  out.elements = integer_at<std::uint64_t>(row, "count").value_or(0);
  out.type = text_at(row, "type");
  out.redop = text_at(row, "redop");
  out.root = integer_at(row, "root");
  auto time = number_at(*way, "time");
  if (!time) time = number_at(*way, "cpu_time");
  if (!time || !(*time >= 0)) return;
  out.time_us = *time;
  out.algbw_gbs = number_at(*way, "alg_bw").value_or(0);
  out.busbw_gbs = number_at(*way, "bus_bw").value_or(0);
  out.wrong = number_at(*way, "nwrong");
  if (const Node* iterations = row.find(std::string(key) + "_per_iter")) {
    out.time_us_min = number_at(*iterations, "min_us");
    out.time_us_max = number_at(*iterations, "max_us");
  }
  run.points.push_back(std::move(out));
}

void read_config(const Node& config, CollectiveRun& run) {
  run.threads = integer_at(config, "nthreads");
  run.gpus_per_thread = integer_at(config, "ngpus");
  run.min_bytes = integer_at<std::uint64_t>(config, "minimum_bytes");
  run.max_bytes = integer_at<std::uint64_t>(config, "maximum_bytes");
  run.step_factor = integer_at(config, "step_factor");
  run.step_bytes = integer_at<std::uint64_t>(config, "step_bytes");
  run.warmup = integer_at(config, "warmup_iters");
  run.iterations = integer_at(config, "iterations");
  run.aggregated = integer_at(config, "aggregated_iterations");
  run.validation = integer_at(config, "validation");
  run.graph = integer_at(config, "graph");
  const Node* devices = config.find("devices");
  if (devices == nullptr) return;
  std::vector<std::string> hosts;
  for (const Node& d : devices->items) {
    run.devices.push_back({.line = d.line,
                           .rank = integer_at(d, "rank").value_or(0),
                           .group = integer_at(d, "group").value_or(0),
                           .pid = integer_at(d, "pid").value_or(0),
                           .device = integer_at(d, "device").value_or(0),
                           .host = text_at(d, "hostname"),
                           .bus_id = text_at(d, "device_hex"),
                           .name = text_at(d, "device_info")});
    hosts.push_back(text_at(d, "hostname"));
  }
  std::ranges::sort(hosts);
  const auto same = std::ranges::unique(hosts);
  hosts.erase(same.begin(), same.end());
  // without MPI only the first rank of each process is listed
  if (run.threads == 1 && run.gpus_per_thread == 1)
    run.ranks = static_cast<int>(run.devices.size());
  if (!hosts.empty()) run.nodes = static_cast<int>(hosts.size());
}

}  // namespace

bool looks_like_nccl_tests_json(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 1 << 18);
  return Scan(head).blanks().peek() == '{' && head.find("\"nccl_version\"") != head.npos &&
         head.find("\"args\"") != head.npos;
}

Checked<facts::CollectiveRuns> read_nccl_tests_json(std::string file, std::string bytes) {
  const yaml::Document doc = RY_TRY(json::parse(std::move(file), std::move(bytes)));
  const Node& root = doc.root();
  const Node* results = root.kind == yaml::Kind::map ? root.find("results") : nullptr;
  if (results == nullptr || results->kind != yaml::Kind::list)
    return as_problems(doc.problem(root, "the report of nccl-tests, with a list 'results'",
                                   "it is written by all_reduce_perf -J FILE"));
  facts::CollectiveRuns out;
  CollectiveRun run{.at = {.file = doc.file(), .line = root.line, .column = root.column}};
  run.nccl_version = text_at(root, "nccl_version");
  if (const Node* args = root.find("args"); args != nullptr && !args->items.empty()) {
    const std::string& path = args->items.front().scalar;
    run.program = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  }
  if (const Node* config = root.find("config")) read_config(*config, run);
  for (const Node& row : results->items) {
    add_way(row, "out_of_place", Buffers::out_of_place, run);
    add_way(row, "in_place", Buffers::in_place, run);
  }
  run.collective = collective_of_program(run.program);
  if (const Node* bounds = root.find("out_of_bounds")) {
    run.out_of_bounds = integer_at(*bounds, "count");
    run.failed = run.out_of_bounds.value_or(0) != 0;
  }
  if (const Node* average = root.find("average_bus_bandwidth"))
    run.average_busbw_gbs = number_at(*average, "bandwidth");
  out.runs.push_back(std::move(run));
  return out;
}

bool looks_like_nccl_inspector(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 1 << 16);
  return Scan(head).blanks().peek() == '{' &&
         (head.find("\"coll_perf\"") != head.npos ||
          head.find("\"inspector_output_format_version\"") != head.npos);
}

facts::CollectiveRuns read_nccl_inspector(std::string file, std::string bytes) {
  facts::CollectiveRuns out;
  std::map<std::string, std::size_t> run_of;
  const std::string name = file;
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
  if (const auto whole = json::parse(name, bytes)) {  // one object, or a list of them
    const Node& root = whole->root();
    if (root.kind != yaml::Kind::list) take(root, root.line);
    for (const Node& record : root.items)
      if (root.kind == yaml::Kind::list) take(record, record.line);
    return out;
  }
  for (LogLines lines(bytes); lines.next();) {
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
