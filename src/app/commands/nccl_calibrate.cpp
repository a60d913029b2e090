// `railyard nccl calibrate SWEEP.csv...`: from a measured sweep of collectives to a profile of the
// machine. The answer is the profile; how far it can be trusted goes to the error stream.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "base/text.h"
#include "intake/busbw_csv.h"
#include "judge/nccl_calibrate.h"
#include "report/nccl_profile.h"

namespace railyard::app {

namespace {

struct Sweeps {
  std::vector<facts::BusbwRow> rows = {};
  std::vector<report::Input> inputs = {};
  std::map<std::string, std::string> texts = {};  ///< by file, for the lines of late problems
};

/// The rows of all files, or the mistakes of all files.
Checked<Sweeps> read_sweeps(const std::vector<std::string>& files) {
  Sweeps out;
  Problems problems;
  const auto add = [&](const Problems& more) {
    problems.insert(problems.end(), more.begin(), more.end());
  };
  for (const std::string& file : files) {
    auto bytes = read_file(file);
    if (!bytes) {
      add({std::move(bytes).error()});
      continue;
    }
    out.inputs.push_back(report::input_of(file, *bytes));
    // Of another format the header says enough: no complaint about every line.
    const std::string_view all = *bytes;
    const auto read = intake::read_busbw_csv(
        {.file = file,
         .bytes = intake::looks_like_busbw_csv(all) ? all : all.substr(0, all.find('\n'))});
    if (!read)
      add(read.error());
    else if (read->layout == intake::BusbwTable::compilation)
      add({{.at = {.file = file, .line = 1, .column = 1},
            .expected = "a sweep of one machine",
            .found = "a table of published runs",
            .hint = "a sweep has the columns collective, algorithm, protocol, channels, ranks, "
                    "size_bytes, time_us_median"}});
    else
      out.rows.insert(out.rows.end(), read->rows.begin(), read->rows.end());
    out.texts.insert_or_assign(file, *std::move(bytes));
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

/// Problems of rows with the line that they stand in.
Problems with_lines(Problems problems, const Sweeps& sweeps) {
  for (Problem& p : problems)
    if (const auto text = sweeps.texts.find(p.at.file); text != sweeps.texts.end())
      p.source_line = line_of(text->second, p.at.line);
  return problems;
}

Checked<judge::CalibrateOptions> options_of(const Given& given) {
  judge::CalibrateOptions out{.fingerprint = given.text("--fingerprint")};
  Problems problems;
  const auto count = [&](const char* option, int least, int most, std::optional<int>& value) {
    if (!given.has(option)) return;
    const std::int64_t n = given.integer(option);
    value = static_cast<int>(std::clamp<std::int64_t>(n, least, most));
    if (*value != n)
      problems.push_back({.expected = fmt::format("{} from {} to {}", option, least, most),
                          .found = given.text(option)});
  };
  count("--ranks", 2, 1 << 20, out.ranks);
  count("--nodes", 1, 100'000, out.nodes);
  count("--channels", 1, predict::nccl::kMostCurveChannels, out.own_channels);
  if (given.has("--mode"))
    out.mode =
        given.text("--mode") == "graph" ? predict::nccl::Mode::graph : predict::nccl::Mode::eager;
  // It stands in a file that any reader of YAML must take.
  if (!std::ranges::all_of(out.fingerprint, [](char c) { return c >= ' ' && c <= '~'; }))
    problems.push_back(
        {.expected = "--fingerprint in printable ASCII", .found = "'" + out.fingerprint + "'"});
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

Exit calibrate(const Given& given, Io& io) {
  const auto options = options_of(given);
  if (!options) return refuse(options.error(), io);
  auto sweeps = read_sweeps(given.list("SWEEP"));
  if (!sweeps) return refuse(sweeps.error(), io);
  const auto made = judge::calibrate_nccl(sweeps->rows, *options);
  if (!made) return refuse(with_lines(made.error(), *sweeps), io);
  give({.inputs = std::move(sweeps->inputs),
        .json = [&](json::Writer& out) { report::to_json(*made, out); },
        .text = [&](int) { return report::to_yaml(*made); },
        .csv = [&] { return report::to_csv(report::table_of(*made)); }},
       given, io);
  if (given.format() == Format::table) io.err(report::to_text(*made, io.width));
  return Exit::ok;
}

}  // namespace

std::vector<Command> nccl_calibrate_commands() {
  return {{.words = "nccl calibrate",
           .summary = "a profile of the machine from a measured sweep, and how far to trust it",
           .arguments = {{.name = "SWEEP", .summary = "tables of measured times", .repeats = true}},
           .options = {{.name = "--mode",
                        .value = Value::choice,
                        .placeholder = "MODE",
                        .summary = "rows launched one by one, or replayed from a CUDA graph",
                        .choices = {"eager", "graph"}},
                       {.name = "--ranks",
                        .value = Value::integer,
                        .placeholder = "N",
                        .summary = "rows of N ranks, where there are several"},
                       {.name = "--nodes",
                        .value = Value::integer,
                        .placeholder = "N",
                        .summary = "rows of N nodes, where there are several"},
                       {.name = "--channels",
                        .value = Value::integer,
                        .placeholder = "N",
                        .summary = "channels of rows that leave them to NCCL, as its log says"},
                       {.name = "--fingerprint",
                        .value = Value::text,
                        .placeholder = "TEXT",
                        .summary = "what was measured: NCCL, GPU, driver"}},
           .examples = {{"railyard nccl calibrate sweep.csv -o profile.yaml",
                         "the profile into a file, its errors on the screen"},
                        {"railyard nccl calibrate sweep.csv --mode graph --format csv",
                         "the errors by curve"}},
           .exits = {{Exit::bad_input, "a file is no sweep, or its rows are of several machines"}},
           .run = calibrate}};
}

}  // namespace railyard::app
