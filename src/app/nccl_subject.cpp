#include "app/nccl_subject.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

#include "base/measure.h"
#include "base/text.h"
#include "intake/nccl_topology_xml.h"
#include "model/nccl/system_builder.h"
#include "predict/nccl/explain.h"

namespace railyard::app {

namespace {

using predict::nccl::Version;

Problems wrong(std::string expected, const std::string& found, std::string hint = {}) {
  return {Problem{
      .expected = std::move(expected), .found = "'" + found + "'", .hint = std::move(hint)}};
}

std::optional<int> whole(std::string_view text, int low, int high) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < low || out > high)
    return std::nullopt;
  return out;
}

constexpr int kMostNodes = 100'000;

Checked<Version> version_of(const std::string& text) {
  const auto version = predict::nccl::version_named(text);
  if (!version) return std::unexpected(wrong("a version of NCCL, such as 2.28.9", text));
  if (*version < predict::nccl::kOldest || *version > Version{2, 99, 99})
    return std::unexpected(
        wrong("NCCL 2.18 or newer", text, "the rules of older releases are not in the engine"));
  return *version;
}

predict::nccl::Variable variable_of(std::string_view text, std::size_t equals) {
  return {.name = std::string(text.substr(0, equals)),
          .value = std::string(text.substr(equals + 1))};
}

Checked<NcclVariant> with(NcclVariant out, const std::string& change) {
  const std::size_t equals = change.find('=');
  if (equals == std::string::npos || equals == 0)
    return std::unexpected(wrong(
        "NAME=value", change, "NCCL_ALGO=Ring, nccl=2.30.7, nodes=4, topology=FILE, graph=FILE"));
  const std::string key = change.substr(0, equals), value = change.substr(equals + 1);
  if (key.starts_with("NCCL_")) {
    out.environment.push_back(variable_of(change, equals));
  } else if (key == "nccl") {
    out.version = RY_TRY(version_of(value));
  } else if (key == "nodes") {
    out.nodes = whole(value, 1, kMostNodes);
    if (!out.nodes) return std::unexpected(wrong("a number of nodes", value));
  } else if (key == "topology") {
    out.file = value;
  } else if (key == "graph") {
    out.graph_file = value;
  } else {
    return std::unexpected(wrong("NCCL_..., nccl, nodes, topology or graph before '='", key));
  }
  return out;
}

}  // namespace

Checked<NcclVariant> variant_of(const Given& given) {
  NcclVariant out{.file = given.text("FILE"), .graph_file = given.text("--graph")};
  Problems problems;
  if (given.has("--nodes")) {
    out.nodes = static_cast<int>(given.integer("--nodes"));
    if (*out.nodes < 1 || *out.nodes > kMostNodes)
      problems = wrong(fmt::format("--nodes from 1 to {}", kMostNodes), given.text("--nodes"));
  }
  if (given.has("--nccl")) {
    auto version = version_of(given.text("--nccl"));
    if (version)
      out.version = *version;
    else
      problems.insert(problems.end(), version.error().begin(), version.error().end());
  }
  for (const std::string& text : given.list("--env")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      const Problems more = wrong("--env NAME=value", text);
      problems.insert(problems.end(), more.begin(), more.end());
      continue;
    }
    out.environment.push_back(variable_of(text, equals));
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

Checked<NcclVariant> changed(NcclVariant base, const std::vector<std::string>& changes) {
  for (const std::string& change : changes) base = RY_TRY(with(std::move(base), change));
  return base;
}

Checked<NcclSubject> open_subject(const NcclVariant& variant, const Given&, const Io&,
                                  std::vector<report::Input>& inputs) {
  auto bytes = read_file(variant.file);
  if (!bytes) return as_problems(std::move(bytes).error());
  inputs.push_back(report::input_of(variant.file, *bytes));
  NcclSubject out{.shown = variant.file};
  out.options.nodes = variant.nodes.value_or(1);
  out.options.version = variant.version.value_or(Version{});
  auto read = RY_TRY(predict::nccl::read_settings(variant.environment));
  out.options.settings = std::move(read.settings);
  for (const std::string& name : read.without_effect)
    out.notes.push_back(name + " has no part in the decision (or is not known here)");
  const auto topology = RY_TRY(intake::read_nccl_topology({variant.file, *bytes}));
  auto system = model::nccl::build_system(topology);
  if (!system) return as_problems(std::move(system).error());
  out.system = *std::move(system);
  return out;
}

std::vector<Option> subject_options() {
  return {{.name = "--nodes",
           .value = Value::integer,
           .placeholder = "N",
           .summary = "equal servers; default: as the file has them, or 1"},
          {.name = "--nccl",
           .value = Value::text,
           .placeholder = "VERSION",
           .summary = "release of NCCL, 2.18 to 2.30; default 2.28.9"},
          {.name = "--env",
           .value = Value::text,
           .placeholder = "NAME=VALUE",
           .summary = "an environment variable of NCCL",
           .repeats = true},
          {.name = "--graph",
           .value = Value::file,
           .placeholder = "FILE",
           .summary = "graph file instead of the search (NCCL_GRAPH_FILE)"}};
}

std::vector<Option> size_options() {
  return {{.name = "--minbytes",
           .letter = 'b',
           .value = Value::text,
           .placeholder = "SIZE",
           .summary = "smallest size",
           .fallback = "1K"},
          {.name = "--maxbytes",
           .letter = 'e',
           .value = Value::text,
           .placeholder = "SIZE",
           .summary = "largest size",
           .fallback = "8G"},
          {.name = "--stepfactor",
           .letter = 'f',
           .value = Value::integer,
           .placeholder = "N",
           .summary = "from one size to the next",
           .fallback = "4"}};
}

std::optional<std::int64_t> size_named(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  constexpr std::string_view kLetters = "KMGT";
  int shift = 0;
  if (!unit.empty()) {
    const std::size_t at =
        kLetters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front()))));
    if (at != std::string_view::npos) {
      shift = 10 * (static_cast<int>(at) + 1);
      unit.remove_prefix(1);
      if (unit.starts_with('i')) unit.remove_prefix(1);
    }
  }
  if (!unit.empty() && unit != "B" && unit != "b") return std::nullopt;
  if (number > (std::int64_t{1} << 62 >> shift)) return std::nullopt;
  return number << shift;
}

Checked<std::vector<std::int64_t>> sizes_of(const Given& given) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 44;
  std::int64_t ends[2] = {};
  const char* const names[2] = {"--minbytes", "--maxbytes"};
  for (int i = 0; i < 2; ++i) {
    const auto size = size_named(given.text(names[i]));
    if (!size || *size < 1 || *size > kLargest)
      return std::unexpected(
          wrong(fmt::format("{} as 8, 64K, 1M, 8G (up to 16T)", names[i]), given.text(names[i])));
    ends[i] = *size;
  }
  const std::int64_t factor = given.integer("--stepfactor");
  if (factor < 2 || ends[0] > ends[1])
    return std::unexpected(wrong("--stepfactor of at least 2 and --minbytes not above --maxbytes",
                                 given.text("--stepfactor")));
  return predict::nccl::size_grid(ends[0], ends[1], factor);
}

}  // namespace railyard::app
