// railyard-fit: repeats the fit of catalog/calibration.yaml and prints what it leaves.
//
//   railyard-fit ROOT TABLE.csv... [--fit NUMBER...] [--set NUMBER=VALUE] [--rows WHAT]
//
// Only rows that the fit may see are used: the vTrain node grid, llm-foundry runs on up to 8 GPUs
// and SimuMax runs with tensor parallel 1 and 2. Everything else is reported and never looked at by
// the search.

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bands.h"
#include "residuals.h"
#include "rows.h"
#include "search.h"

namespace railyard::fit {
namespace {

struct Asked {
  std::string root = ".";
  std::vector<std::string> tables = {};
  std::vector<std::string> knobs = {};                        ///< --fit
  std::vector<std::pair<std::string, double>> settings = {};  ///< --set
  std::string rows = {};  ///< --rows: "groups", "memory", "parts", or part of a source's name
};

Asked read_arguments(const std::vector<std::string>& words) {
  Asked asked;
  if (!words.empty()) asked.root = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--fit") {
      while (i + 1 < words.size() && !words[i + 1].starts_with('-'))
        asked.knobs.push_back(words[++i]);
      continue;
    }
    if (word != "--rows" && word != "--set") {
      asked.tables.push_back(word);
      continue;
    }
    if (++i == words.size()) stop(word + " needs a value");
    const std::string& value = words[i];
    if (word == "--rows") {
      asked.rows = value;
    } else {
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos) stop("expected NUMBER=VALUE, found '" + value + "'");
      asked.settings.emplace_back(value.substr(0, equals),
                                  std::strtod(value.c_str() + equals + 1, nullptr));
    }
  }
  return asked;
}

void run(const Asked& asked) {
  World world = load_world(asked.root);
  for (const auto& [name, value] : asked.settings) knob(world.calibration, name) = value;
  std::vector<intake::TrainingRuns> files;
  for (const std::string& table : asked.tables) files.push_back(read_runs(table));
  const std::vector<Row> rows = set_up_rows(files, world);

  if (!asked.knobs.empty()) search(asked.knobs, rows, world.calibration);

  if (asked.rows == "groups")
    print_groups(rows, world.calibration);
  else if (!asked.rows.empty())
    print_rows(rows, world.calibration, asked.rows);
  print_sources(rows, world.calibration);
  print_bands(rows, world.calibration);
  for (const intake::TrainingRuns& file : files) {
    print_ranking(file, world);
    print_memory(file, world, asked.rows == "memory");
    if (asked.rows == "parts") print_memory_parts(file, world);
  }
}

}  // namespace
}  // namespace railyard::fit

int main(int argc, char** argv) {
  railyard::fit::run(railyard::fit::read_arguments({argv + 1, argv + argc}));
}
