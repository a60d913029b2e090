#pragma once
// How a command gives its answer: once, in the form that was asked for. A command fills in what it
// has; which of it is printed, and the frame around the JSON, is decided here.

#include <functional>
#include <string>
#include <vector>

#include "app/command.h"
#include "base/json.h"
#include "base/problem.h"
#include "model/catalog.h"
#include "report/envelope.h"
#include "report/table.h"

namespace railyard::app {

struct Answer {
  std::vector<report::Input> inputs = {};
  std::function<void(json::Writer&)> json = {};     ///< exactly one value
  std::function<std::string(int width)> text = {};  ///< the screen
  std::function<std::string()> csv = {};            ///< one header line, rows
};

/// Prints it to `io.out`.
void give(const Answer& answer, const Given& given, Io& io);
/// An answer that is one table, the same in all three forms.
void give(const report::Table& table, std::vector<report::Input> inputs, const Given& given,
          Io& io);

/// Prints the problems to `io.err`; a command returns what this returns.
Exit refuse(const Problems& problems, Io& io);
Exit refuse(const Problem& problem, Io& io);

/// The folder of the catalogue that --catalog or the surroundings name; empty when there is none.
std::string catalog_folder(const Given& given, const Io& io);
/// Reads it; a problem when there is none.
Checked<model::Catalog> open_catalog(const Given& given, const Io& io);
/// The files of the catalogue as inputs of a result, named from the folder: "catalog/nics.yaml".
std::vector<report::Input> inputs_of(const model::Catalog& catalog);

}  // namespace railyard::app
