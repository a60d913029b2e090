#include "intake/busbw_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/csv.h"
#include "intake/detail/scan.h"

namespace railyard::intake {

namespace {

using facts::Buffers;
using facts::BusbwRow;
using facts::LaunchMode;

constexpr std::array<std::string_view, 5> kCompilation{"source", "gpu", "collective", "size_bytes",
                                                       "busbw"};
constexpr std::array<std::string_view, 4> kLabelled{"label", "collective", "size_bytes",
                                                    "time_us_median"};
constexpr std::array<std::string_view, 6> kSweep{"collective", "algorithm",  "protocol",
                                                 "channels",   "size_bytes", "time_us_median"};

template <std::size_t N>
bool has_all(const csv::Table& t, const std::array<std::string_view, N>& columns) {
  return std::ranges::all_of(columns, [&](std::string_view c) { return t.has(c); });
}

class Rows {
 public:
  Rows(const csv::Table& table, std::string_view file) : t_(table), file_(file) {}

  void read(BusbwTable layout) {
    for (std::size_t r = 0; r < t_.rows(); ++r) {
      BusbwRow row = measured(r);
      if (layout == BusbwTable::compilation) published(r, row);
      if (layout == BusbwTable::labelled_sweep) labelled(r, row);
      if (layout == BusbwTable::sweep) settings(r, row);
      rows.push_back(std::move(row));
    }
  }

  std::vector<BusbwRow> rows;
  Problems problems;

 private:
  std::string text(std::size_t r, std::string_view column) const {
    return std::string(t_.at(r, column));
  }
  std::optional<int> integer(std::size_t r, std::string_view column) {
    return t_.has(column) ? t_.integer(r, column, problems) : std::nullopt;
  }
  std::optional<double> positive(std::size_t r, std::string_view column) {
    if (!t_.has(column)) return std::nullopt;
    const auto v = t_.number(r, column, problems);
    if (v && !(*v >= 0 && *v < 1e18))
      problems.push_back(t_.problem(r, column, "a number from 0 on"));
    return v;
  }

  BusbwRow measured(std::size_t r) {
    BusbwRow row{.at = {.file = std::string(file_), .line = t_.line(r), .column = 1}};
    row.collective = text(r, "collective");
    const auto bytes = whole_integer<std::uint64_t>(t_.at(r, "size_bytes"));
    if (!bytes) problems.push_back(t_.problem(r, "size_bytes", "a number of bytes"));
    row.bytes = bytes.value_or(0);
    row.ranks = integer(r, "ranks");
    row.nodes = integer(r, "nodes");
    return row;
  }

  void published(std::size_t r, BusbwRow& row) {
    row.average = row.bytes == 0;
    row.source = text(r, "source");
    row.gpu = text(r, "gpu");
    row.intra = text(r, "intra");
    row.nic = text(r, "nic");
    row.nccl_version = text(r, "nccl_version");
    row.health = text(r, "health");
    row.note = text(r, "note");
    row.gpus_per_node = integer(r, "gpus_per_node");
    row.nics_per_node = integer(r, "nics_per_node");
    if (row.gpus_per_node && row.nodes && *row.nodes < (1 << 20) && *row.gpus_per_node < 1024)
      row.ranks = *row.nodes * *row.gpus_per_node;
    row.time_us = positive(r, "time_us");
    row.algbw_gbs = positive(r, "algbw");
    row.busbw_gbs = positive(r, "busbw");
    const std::string_view way = t_.at(r, "oop_or_ip");
    if (way == "oop") row.buffers = Buffers::out_of_place;
    if (way == "ip") row.buffers = Buffers::in_place;
  }

  void times(std::size_t r, BusbwRow& row) {
    row.time_us = positive(r, "time_us_median");
    row.time_us_min = positive(r, "time_us_min");
    row.time_us_max = positive(r, "time_us_max");
    row.algbw_gbs = positive(r, "algbw_gbs");
    row.busbw_gbs = positive(r, "busbw_gbs");
    if (!row.time_us) problems.push_back(t_.problem(r, "time_us_median", "a time in us"));
  }

  // `default`, `ring_LL128`, `ring_Simple_ch16`, `shm`, `socket`
  void labelled(std::size_t r, BusbwRow& row) {
    times(r, row);
    row.label = text(r, "label");
    Scan in(row.label);
    for (bool first = true; !in.at_end(); first = false) {
      const std::string_view word = in.until("_");
      in.take("_");
      if (first && (word == "ring" || word == "tree"))
        row.algorithm = word;
      else if (first && (word == "shm" || word == "socket"))
        row.transport = word;
      else if (word == "LL" || word == "LL128" || word == "Simple")
        row.protocol = word;
      else if (word.starts_with("ch"))
        row.channels = whole_integer(word.substr(2));
      else if (!(first && word == "default"))
        problems.push_back(
            t_.problem(r, "label", "default, shm, socket, or ALGORITHM_PROTOCOL_chN"));
    }
  }

  void settings(std::size_t r, BusbwRow& row) {
    times(r, row);
    // NCCL's own choice is an empty field or a word for it
    const auto chosen = [](std::string_view w) { return w != "default" && w != "auto"; };
    if (const auto w = t_.at(r, "algorithm"); chosen(w)) row.algorithm = w;
    if (const auto w = t_.at(r, "protocol"); chosen(w)) row.protocol = w;
    if (chosen(t_.at(r, "channels"))) row.channels = integer(r, "channels");
    const std::string_view mode = t_.at(r, "mode"), in_place = t_.at(r, "in_place");
    if (mode == "eager")
      row.mode = LaunchMode::eager;
    else if (mode == "graph")
      row.mode = LaunchMode::graph;
    else if (!mode.empty())
      problems.push_back(t_.problem(r, "mode", "eager or graph"));
    if (in_place == "1" || in_place == "true" || in_place == "True")
      row.buffers = Buffers::in_place;
    else if (in_place == "0" || in_place == "false" || in_place == "False")
      row.buffers = Buffers::out_of_place;
    else if (!in_place.empty())
      problems.push_back(t_.problem(r, "in_place", "0 or 1"));
  }

  const csv::Table& t_;
  std::string_view file_;
};

std::optional<BusbwTable> layout_of(const csv::Table& table) {
  if (has_all(table, kLabelled)) return BusbwTable::labelled_sweep;
  if (has_all(table, kSweep)) return BusbwTable::sweep;
  if (has_all(table, kCompilation)) return BusbwTable::compilation;
  return std::nullopt;
}

}  // namespace

bool looks_like_busbw_csv(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, bytes.find('\n'));
  const auto table = csv::Table::parse({.file = "", .bytes = head});
  return table && layout_of(*table);
}

Checked<BusbwRows> read_busbw_csv(Text text) {
  const csv::Table table = RY_TRY(csv::Table::parse(text));
  const auto layout = layout_of(table);
  if (!layout)
    return as_problems(
        {.at = {.file = std::string(text.file), .line = 1, .column = 1},
         .expected = "the header of a table of measured collectives",
         .found = "'" + (table.columns().empty() ? "" : table.columns().front()) + ",...'",
         .hint = "known: source,gpu,collective,size_bytes,busbw (published runs); "
                 "label,collective,size_bytes,time_us_median; "
                 "collective,algorithm,protocol,channels,size_bytes,time_us_median"});
  Rows rows(table, text.file);
  rows.read(*layout);
  if (!rows.problems.empty()) return std::unexpected(std::move(rows.problems));
  return BusbwRows{.layout = *layout, .rows = std::move(rows.rows)};
}

}  // namespace railyard::intake
