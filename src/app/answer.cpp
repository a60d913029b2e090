#include "app/answer.h"

#include <utility>

#include "app/version.h"
#include "report/problems.h"

namespace railyard::app {

void give(const Answer& answer, const Given& given, Io& io) {
  switch (given.format()) {
    case Format::table: io.out(answer.text(io.width)); break;
    case Format::csv: io.out(answer.csv()); break;
    case Format::json:
      io.out(report::to_json({.command = given.command(),
                              .generated_by = std::string(signature()),
                              .inputs = answer.inputs},
                             answer.json));
      break;
  }
}

void give(const report::Table& table, std::vector<report::Input> inputs, const Given& given,
          Io& io) {
  give({.inputs = std::move(inputs),
        .json = [&](json::Writer& out) { report::to_json(table, out); },
        .text = [&](int width) { return report::to_text(table, width); },
        .csv = [&] { return report::to_csv(table); }},
       given, io);
}

Exit refuse(const Problems& problems, Io& io) {
  io.err(
      report::to_text(problems, {.colour = io.colour ? report::Colour::yes : report::Colour::no}));
  return Exit::bad_input;
}

Exit refuse(const Problem& problem, Io& io) { return refuse(Problems{problem}, io); }

std::string catalog_folder(const Given& given, const Io& io) {
  return given.has("--catalog") ? given.text("--catalog") : io.catalog;
}

Checked<model::Catalog> open_catalog(const Given& given, const Io& io) {
  const std::string folder = catalog_folder(given, io);
  if (folder.empty())
    return as_problems({.expected = "the folder of the catalogue",
                        .found = "none beside the program",
                        .hint = "name it with --catalog DIR or in RAILYARD_CATALOG"});
  return model::load_catalog(folder);
}

std::vector<report::Input> inputs_of(const model::Catalog& catalog) {
  std::vector<report::Input> out;
  for (const auto& document : catalog.documents) {
    const std::string& file = document->file();
    out.push_back(
        report::input_of("catalog/" + file.substr(file.rfind('/') + 1), document->bytes()));
  }
  return out;
}

}  // namespace railyard::app
