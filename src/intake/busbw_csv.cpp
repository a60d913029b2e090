#include "intake/busbw_csv.h"

#include <charconv>

#include "base/csv.h"

namespace railyard::intake {

namespace {

constexpr const char* kColumns[] = {"source", "gpu",        "gpus_per_node", "nodes", "intra",
                                    "nic",    "collective", "size_bytes",    "busbw", "health"};

std::int64_t size_of(std::string_view text, bool& good) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  good = error == std::errc() && end == text.data() + text.size() && out >= 0;
  return good ? out : 0;
}

}  // namespace

bool looks_like_busbw_csv(std::string_view bytes) {
  const std::string_view header = bytes.substr(0, bytes.find('\n'));
  for (const char* column : {"gpus_per_node", "nodes", "collective", "size_bytes", "busbw"})
    if (!header.contains(column)) return false;
  return true;
}

Checked<std::vector<facts::BusbwRow>> read_busbw_csv(Text text) {
  const csv::Table table = RY_TRY(csv::Table::parse(text));
  Problems problems;
  for (const char* column : kColumns)
    if (!table.has(column))
      problems.push_back(
          {.at = {.file = std::string(text.file), .line = 1, .column = 1},
           .expected = std::string("a column '") + column + "'",
           .found = "none",
           .hint = "the columns are those of validation/nccl_busbw.csv, in any order"});
  if (!problems.empty()) return std::unexpected(std::move(problems));

  std::vector<facts::BusbwRow> out;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const auto word = [&](const char* column) { return std::string(table.at(r, column)); };
    facts::BusbwRow row{.at = {.file = std::string(text.file), .line = table.line(r), .column = 1},
                        .source = word("source"),
                        .gpu = word("gpu"),
                        .intra = word("intra"),
                        .nic = word("nic"),
                        .nccl_version = word("nccl_version"),
                        .collective = word("collective"),
                        .placement = word("oop_or_ip"),
                        .health = word("health"),
                        .note = word("note")};
    row.gpus_per_node = table.integer(r, "gpus_per_node", problems).value_or(0);
    row.nodes = table.integer(r, "nodes", problems).value_or(0);
    row.nics_per_node = table.integer(r, "nics_per_node", problems).value_or(0);
    bool sized = false;
    row.bytes = size_of(table.at(r, "size_bytes"), sized);
    if (!sized)
      problems.push_back(table.problem(r, "size_bytes", "a size in bytes, 0 for an average"));
    row.time_us = table.number(r, "time_us", problems);
    row.algbw = table.number(r, "algbw", problems);
    row.busbw = table.number(r, "busbw", problems);
    if (row.gpus_per_node < 1 || row.gpus_per_node > 4096)
      problems.push_back(table.problem(r, "gpus_per_node", "1 to 4096 GPUs"));
    if (row.nodes < 1 || row.nodes > 100'000)
      problems.push_back(table.problem(r, "nodes", "1 to 100000 nodes"));
    if (!row.time_us && !row.algbw && !row.busbw)
      problems.push_back(table.problem(r, "busbw", "one of time_us, algbw and busbw"));
    out.push_back(std::move(row));
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

}  // namespace railyard::intake
