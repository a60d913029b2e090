// `railyard catalog list|show|check`: what the program knows about parts and models, and from
// where.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "base/csv.h"
#include "base/measure.h"
#include "base/suggest.h"
#include "fabric/machine.h"
#include "model/catalog_check.h"
#include "model/cluster.h"
#include "report/parts.h"
#include "report/width.h"

namespace railyard::app {

namespace {

using report::PartView;
using report::Table;

Exit list(const Given& given, Io& io) {
  const auto catalog = open_catalog(given, io);
  if (!catalog) return refuse(catalog.error(), io);
  std::vector<PartView> parts = report::parts_of(*catalog);
  const std::string kind = given.text("KIND");
  if (!kind.empty()) std::erase_if(parts, [&](const PartView& p) { return p.kind != kind; });
  give(kind.empty() ? report::overview_table(parts) : report::kind_table(parts),
       inputs_of(*catalog), given, io);
  return Exit::ok;
}

/// A part and the values in it that have a source of their own.
struct Page {
  PartView part;
  std::vector<model::Catalog::ValueSource> values;
};

std::string show_text(const Page& page, int width) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const report::Attribute& a : page.part.attributes)
    if (!a.value.shown().empty()) lines.emplace_back(a.title, a.value.shown());
  std::string aliases;
  for (const std::string& alias : page.part.aliases)
    aliases += (aliases.empty() ? "" : ", ") + alias;
  if (!aliases.empty()) lines.emplace_back("also called", aliases);
  lines.emplace_back("source", page.part.from.source);
  lines.emplace_back("confidence", model::name(page.part.from.confidence));
  if (!page.part.from.note.empty()) lines.emplace_back("note", page.part.from.note);
  for (const auto& v : page.values)
    lines.emplace_back(v.field, std::string(model::name(v.from.confidence)) + ": " + v.from.source +
                                    (v.from.note.empty() ? "" : " (" + v.from.note + ')'));

  int names = 0;
  for (const auto& [name, value] : lines) names = std::max(names, report::display_width(name));
  std::string out = page.part.id + " (" + page.part.kind + ")\n";
  for (const auto& [name, value] : lines) {
    std::string left = "  " + report::pad_right(name, names) + "  ";
    for (const std::string& line : report::wrap(value, std::max(30, width - names - 4))) {
      out += left + line + '\n';
      left.assign(static_cast<std::size_t>(names) + 4, ' ');
    }
  }
  return out;
}

void write_provenance(json::Writer& out, const model::Provenance& from) {
  out.field("source", from.source).field("confidence", model::name(from.confidence));
  if (!from.note.empty()) out.field("note", from.note);
}

void show_json(const Page& page, json::Writer& out) {
  out.begin_object().field("id", page.part.id).field("kind", page.part.kind);
  for (const report::Attribute& a : page.part.attributes) a.value.write(out.key(a.key));
  out.key("aliases").begin_array();
  for (const std::string& alias : page.part.aliases) out.value(alias);
  out.end_array();
  write_provenance(out, page.part.from);
  out.key("values").begin_array();
  for (const auto& v : page.values) {
    out.begin_object().field("field", v.field);
    write_provenance(out, v.from);
    out.end_object();
  }
  out.end_array().end_object();
}

/// The part that `name` means, or what is wrong with the name.
Result<PartView> find_part(const std::vector<PartView>& parts, const std::string& name) {
  std::vector<std::string> known;
  for (const PartView& part : parts) {
    if (model::same_name(part.id, name)) return part;
    known.push_back(part.id);
  }
  for (const PartView& part : parts)
    for (const std::string& alias : part.aliases) {
      if (model::same_name(alias, name)) return part;
      known.push_back(alias);
    }
  std::string hint = did_you_mean(name, known);
  return std::unexpected(Problem{.expected = "a part or model of the catalogue",
                                 .found = '\'' + name + '\'',
                                 .hint = hint.empty() ? "see railyard catalog list" : hint});
}

/// What a template comes to when it is built, beside another one so that it has a network: the
/// catalogue itself keeps only its text.
void add_server(PartView& part, const model::Catalog& catalog) {
  const auto built = model::build_cluster(catalog, {.server = part.id, .servers = 2});
  if (!built) return;  // `catalog check` reports templates that cannot be built
  const fabric::Machine m = fabric::summarise(*built);
  const auto add = [&](std::string key, std::string title, double si, std::string shown) {
    if (si > 0)
      part.attributes.push_back(
          {std::move(key), std::move(title), report::Cell(si, std::move(shown))});
  };
  const auto number = [](int n) { return std::to_string(n); };
  add("accelerators", "accelerators", m.gpus_per_server,
      number(m.gpus_per_server) + " x " + m.gpu.id);
  add("scale_up_domain", "scale-up domain", m.domain, number(m.domain) + " accelerators");
  add("nics", "NICs", m.nics_per_server, number(m.nics_per_server));
  add("network_bytes_per_s", "network, data one way", m.network_per_server.si(),
      show_bits(m.network_per_server));
  add("host_link_bytes_per_s", "host link, all at once", m.host_link_shared.si(),
      show(m.host_link_shared));
  add("host_capacity_bytes", "host memory", m.host_capacity.si(), show(m.host_capacity));
  add("host_memory_bytes_per_s", "host memory rate", m.host_memory.si(), show(m.host_memory));
  add("cxl_capacity_bytes", "CXL memory", m.cxl_capacity.si(), show(m.cxl_capacity));
}

Exit show(const Given& given, Io& io) {
  const auto catalog = open_catalog(given, io);
  if (!catalog) return refuse(catalog.error(), io);
  auto part = find_part(report::parts_of(*catalog), given.text("PART"));
  if (!part) return refuse(part.error(), io);
  if (part->kind == "servers") add_server(*part, *catalog);
  Page page{*part, {}};
  for (const auto& v : catalog->values)
    if (v.part == part->id) page.values.push_back(v);
  give({.inputs = inputs_of(*catalog),
        .json = [&](json::Writer& out) { show_json(page, out); },
        .text = [&](int width) { return show_text(page, width); },
        .csv = [&] { return report::to_csv(report::kind_table({page.part})); }},
       given, io);
  return Exit::ok;
}

/// "1 error", "3 errors".
std::string counted(std::ptrdiff_t n, const std::string& what) {
  return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

/// What was compared: the catalogue with itself, or another tool's file with our part of that name.
struct Comparison {
  std::string subject = {};
  std::vector<model::Disagreement> found = {};
  int rules = 0;
};

Checked<Comparison> compare_with_file(const model::Catalog& catalog, const yaml::Document& file) {
  const model::PeerCheck peer = RY_TRY(model::check_peer(catalog, file));
  return Comparison{file.file() + " (" + peer.format + ", " + peer.name + ") against " + peer.part,
                    peer.found, peer.rules};
}

Table findings_table(const std::vector<Comparison>& comparisons) {
  Table table{.columns = {{"severity", "severity"},
                          {"part", "part"},
                          {"what", "what"},
                          {"sum", "sum", report::Align::left, 1},
                          {"subject", "subject", report::Align::left, 2}}};
  if (comparisons.size() == 1) table.columns.pop_back();
  for (const Comparison& c : comparisons)
    for (const model::Disagreement& d : c.found)
      table.add({model::name(d.severity), d.part, d.what, d.sum, c.subject});
  return table;
}

/// A finding is one line, and the sum that shows it below: a sum cut short proves nothing.
std::string findings_text(const std::vector<Comparison>& comparisons, int width) {
  int parts = 0;
  for (const Comparison& c : comparisons)
    for (const model::Disagreement& d : c.found)
      parts = std::max(parts, report::display_width(d.part));
  std::string out;
  for (const Comparison& c : comparisons) {
    if (comparisons.size() > 1) out += c.subject + '\n';
    for (const model::Disagreement& d : c.found) {
      const std::string left = report::pad_right(model::name(d.severity), 5) + "  ";
      out += left + report::pad_right(d.part, parts) + "  " + d.what + '\n';
      const int indent = static_cast<int>(left.size()) + parts + 2;
      for (const std::string& line : report::wrap(d.sum, std::max(30, width - indent)))
        out += std::string(static_cast<std::size_t>(indent), ' ') + line + '\n';
    }
  }
  return out;
}

Exit give_comparisons(const std::vector<Comparison>& comparisons, std::vector<report::Input> inputs,
                      const Given& given, Io& io) {
  std::ptrdiff_t rules = 0, errors = 0, notes = 0;
  for (const Comparison& c : comparisons) {
    rules += c.rules;
    for (const model::Disagreement& d : c.found)
      ++(d.severity == model::Severity::error ? errors : notes);
  }
  const Table table = findings_table(comparisons);
  give({.inputs = std::move(inputs),
        .json =
            [&](json::Writer& out) {
              out.begin_object().field("comparisons", rules);
              out.field("errors", errors).field("notes", notes);
              report::to_json(table, out.key("found"));
              out.end_object();
            },
        .text =
            [&](int width) {
              return findings_text(comparisons, width) + counted(rules, "comparison") + ", " +
                     counted(errors, "error") + ", " + counted(notes, "note") + '\n';
            },
        .csv = [&] { return report::to_csv(table); }},
       given, io);
  return errors > 0 ? Exit::findings : Exit::ok;
}

Exit check(const Given& given, Io& io) {
  const auto catalog = open_catalog(given, io);
  if (!catalog) return refuse(catalog.error(), io);
  std::vector<report::Input> inputs = inputs_of(*catalog);
  if (!given.has("FILE")) {
    const model::CatalogCheck own = model::check_catalog(*catalog);
    return give_comparisons({{"the catalogue", own.found, own.rules}}, std::move(inputs), given,
                            io);
  }
  std::vector<Comparison> comparisons;
  Problems problems;
  for (const std::string& path : given.list("FILE")) {
    const auto file = yaml::Document::load(path);  // JSON is a subset of YAML
    auto comparison = file ? compare_with_file(*catalog, *file) : std::unexpected(file.error());
    if (!comparison) {
      problems.insert(problems.end(), comparison.error().begin(), comparison.error().end());
      continue;
    }
    inputs.push_back(report::input_of(path, file->bytes()));
    comparisons.push_back(*std::move(comparison));
  }
  return problems.empty() ? give_comparisons(comparisons, std::move(inputs), given, io)
                          : refuse(problems, io);
}

}  // namespace

std::vector<Command> catalog_commands() {
  return {
      {.words = "catalog list",
       .summary = "the parts and models of the catalogue",
       .arguments = {{.name = "KIND",
                      .value = Value::choice,
                      .summary = "one kind, with all its values as columns",
                      .optional = true,
                      .choices = report::part_kinds()}},
       .examples = {{"railyard catalog list accelerators", "GPUs with their rates and sources"},
                    {"railyard catalog list --format csv", "everything, for a spreadsheet"}},
       .exits = {{Exit::bad_input, "the catalogue is broken"}},
       .run = list},
      {.words = "catalog show",
       .summary = "one part or model: every value and where it comes from",
       .arguments = {{.name = "PART", .value = Value::part, .summary = "an id or another name"}},
       .examples = {{"railyard catalog show h100-sxm", "a GPU"},
                    {"railyard catalog show llama3-70b --format json", "a model"}},
       .exits = {{Exit::bad_input, "no such part, or the catalogue is broken"}},
       .run = show},
      {.words = "catalog check",
       .summary = "recompute totals and report values that contradict each other",
       .arguments = {{.name = "FILE",
                      .summary = "hardware files of Calculon or llm-analysis to compare with",
                      .optional = true,
                      .repeats = true}},
       .examples = {{"railyard catalog check", "the catalogue that ships"},
                    {"railyard catalog check --catalog mine", "your own"}},
       .exits = {{Exit::findings, "values contradict each other"},
                 {Exit::bad_input, "the catalogue is broken"}},
       .run = check}};
}

}  // namespace railyard::app
