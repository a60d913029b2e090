// `railyard validate training|memory|ranking|nccl|page FILE...`: how wrong the predictions are,
// against measurements that others published.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "app/workbench.h"
#include "base/text.h"
#include "intake/busbw_csv.h"
#include "intake/training_csv.h"
#include "judge/conventions.h"
#include "judge/validate.h"
#include "judge/validate_nccl.h"
#include "report/nccl_validation.h"
#include "report/validation.h"

namespace railyard::app {

namespace {

/// The folder of the shipped measurements: it stands beside the catalogue.
std::string validation_folder(const Given& given, const Io& io) {
  const std::string catalog = given.has("--catalog") ? given.text("--catalog") : io.catalog;
  return catalog + "/../validation";
}

struct Loaded {
  Workbench bench;
  judge::Conventions conventions;
  std::vector<facts::TrainingRun> runs = {};
  std::vector<report::Input> inputs = {};

  judge::ValidationInputs in() const {
    return {bench.catalog(), bench.stacks(), conventions, bench.calibration()};
  }
};

Checked<Loaded> load(const Given& given, const Io& io) {
  const std::string folder = validation_folder(given, io);
  Loaded out{.bench = RY_TRY(Workbench::open(given, io)),
             .conventions = RY_TRY(judge::load_conventions(folder + "/sources.yaml"))};
  std::vector<std::string> files = given.list("FILE");
  if (files.empty()) files = {folder + "/training_throughput.csv"};
  Problems problems;
  for (const std::string& file : files) {
    auto bytes = read_file(file);
    if (!bytes) {
      problems.push_back(std::move(bytes).error());
      continue;
    }
    out.inputs.push_back(report::input_of(out.bench.shown(file), *bytes));
    auto read = intake::read_training_csv({out.bench.shown(file), *bytes});
    if (!read) {
      problems.insert(problems.end(), read.error().begin(), read.error().end());
      continue;
    }
    out.runs.insert(out.runs.end(), std::make_move_iterator(read->runs.begin()),
                    std::make_move_iterator(read->runs.end()));
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  for (report::Input& i : out.bench.inputs()) out.inputs.push_back(std::move(i));
  return out;
}

/// Exit::findings when the mean error is above --bar.
Exit verdict(const Given& given, double mape) {
  return given.has("--bar") && mape > given.number("--bar") / 100 ? Exit::findings : Exit::ok;
}

template <class Validation>
void show(const Validation& v, const std::string& after, const Loaded& loaded, const Given& given,
          Io& io) {
  give({.inputs = loaded.inputs,
        .json = [&](json::Writer& out) { report::to_json(v, out); },
        .text =
            [&](int width) {
              if (given.flag("--rows")) return report::to_text(report::rows_of(v.rows), width);
              const report::Table reasons = report::reasons_of(v.rows);
              return report::to_text(report::table_of(v), width) + after +
                     (reasons.rows.empty() ? "" : '\n' + report::to_text(reasons, width));
            },
        .csv =
            [&] {
              return report::to_csv(given.flag("--rows") ? report::rows_of(v.rows)
                                                         : report::table_of(v));
            }},
       given, io);
}

Exit training(const Given& given, Io& io) {
  const auto loaded = load(given, io);
  if (!loaded) return refuse(loaded.error(), io);
  const auto v = judge::validate_training(loaded->runs, loaded->in());
  show(v,
       fmt::format("\n{:.1f} % of the predicted lines lie inside their 80 % band\n",
                   100 * v.band_coverage),
       *loaded, given, io);
  return verdict(given, v.overall.mape);
}

std::string memory_note(const judge::MemoryValidation& v) {
  if (v.worked + v.failed == 0) return {};
  return fmt::format(
      "\nof {} runs that worked {:.1f} % are called too big; of {} that failed {:.1f} % are called "
      "fitting\n",
      v.worked, 100 * v.false_oom, v.failed, 100 * v.passed_failures);
}

Exit memory(const Given& given, Io& io) {
  const auto loaded = load(given, io);
  if (!loaded) return refuse(loaded.error(), io);
  const auto v = judge::validate_memory(loaded->runs, loaded->in());
  show(v, memory_note(v), *loaded, given, io);
  return verdict(given, v.overall.mape);
}

Exit ranking(const Given& given, Io& io) {
  const auto loaded = load(given, io);
  if (!loaded) return refuse(loaded.error(), io);
  show(judge::validate_ranking(loaded->runs, loaded->in()), "", *loaded, given, io);
  return Exit::ok;
}

Checked<std::vector<facts::BusbwRow>> busbw_rows(const std::string& path, const std::string& shown,
                                                 std::vector<report::Input>& inputs) {
  auto bytes = read_file(path);
  if (!bytes) return as_problems(std::move(bytes).error());
  inputs.push_back(report::input_of(shown, *bytes));
  return RY_TRY(intake::read_busbw_csv({shown, *bytes})).rows;
}

Exit page(const Given& given, Io& io) {
  const auto loaded = load(given, io);
  if (!loaded) return refuse(loaded.error(), io);
  const auto time = judge::validate_training(loaded->runs, loaded->in());
  const auto space = judge::validate_memory(loaded->runs, loaded->in());
  const auto order = judge::validate_ranking(loaded->runs, loaded->in());
  std::string out =
      "# How wrong the predictions are\n\n"
      "Made by `railyard validate page`; do not edit. error = predicted time / measured time - 1\n"
      "(throughputs are turned into times), bias is its mean, MAPE the mean of its absolute value, "
      "median\n"
      "and p90 are of the absolute value. One parameter set per accelerator type, none per "
      "source.\n"
      "Fitted rows: vTrain node grid, llm-foundry on up to 8 GPUs, SimuMax with tensor parallel 1 "
      "and 2;\n"
      "everything else is reported only.\n\n## Step time\n\n";
  out += report::to_markdown(report::table_of(time));
  out += fmt::format("\n{:.1f} % of the predicted lines lie inside their 80 % band.\n",
                     100 * time.band_coverage);
  out += "\nLines without a prediction:\n\n" + report::to_markdown(report::reasons_of(time.rows));
  out += "\n## Peak memory\n\n" + report::to_markdown(report::table_of(space)) + memory_note(space);
  out += "\n## Ranking of layouts\n\n" + report::to_markdown(report::table_of(order));
  std::vector<report::Input> busbw_inputs;
  const std::string busbw = validation_folder(given, io) + "/nccl_busbw.csv";
  const auto rows = busbw_rows(busbw, loaded->bench.shown(busbw), busbw_inputs);
  if (!rows) return refuse(rows.error(), io);
  const auto collectives = judge::validate_nccl(
      *rows, *rows, loaded->bench.calibration().collectives, loaded->bench.catalog());
  out += "\n## Collectives\n\n" + report::to_markdown(collectives);
  give({.inputs = loaded->inputs,
        .json =
            [&](json::Writer& w) {
              w.begin_object();
              report::to_json(time, w.key("training"));
              report::to_json(space, w.key("memory"));
              report::to_json(order, w.key("ranking"));
              w.end_object();
            },
        .text = [&](int) { return out; },
        .csv = [&] { return report::to_csv(report::table_of(time)); }},
       given, io);
  return Exit::ok;
}

Exit nccl(const Given& given, Io& io) {
  const auto bench = Workbench::open(given, io);
  if (!bench) return refuse(bench.error(), io);
  const auto priors = predict::nccl::load_priors(catalog_folder(given, io) + "/nccl_priors.yaml");
  if (!priors) return refuse(priors.error(), io);
  const std::string shipped = validation_folder(given, io) + "/nccl_busbw.csv";
  std::vector<report::Input> inputs;
  const auto published = busbw_rows(shipped, bench->shown(shipped), inputs);
  if (!published) return refuse(published.error(), io);
  std::vector<facts::BusbwRow> rows;
  Problems problems;
  for (const std::string& file : given.list("FILE")) {
    const auto read = busbw_rows(file, bench->shown(file), inputs);
    if (read)
      rows.insert(rows.end(), read->begin(), read->end());
    else
      problems.insert(problems.end(), read.error().begin(), read.error().end());
  }
  if (!problems.empty()) return refuse(problems, io);
  const auto v = judge::validate_nccl(given.list("FILE").empty() ? *published : rows, *published,
                                      *priors, bench->catalog());
  const bool each = given.flag("--rows");
  give({.inputs = std::move(inputs),
        .json = [&](json::Writer& out) { report::to_json(v, out); },
        .text =
            [&](int width) {
              return each ? report::to_text(report::rows_of(v), width) : report::to_text(v, width);
            },
        .csv = [&] { return report::to_csv(each ? report::rows_of(v) : report::table_of(v)); }},
       given, io);
  return verdict(given, v.overall.mape);
}

std::vector<Argument> file_argument() {
  return {{.name = "FILE",
           .summary = "tables of measured runs; default: the published runs that ship",
           .optional = true,
           .repeats = true}};
}

std::vector<Option> row_options() {
  return {{.name = "--rows", .summary = "every line instead of the sums"},
          {.name = "--bar",
           .value = Value::number,
           .placeholder = "PERCENT",
           .summary = "exit 1 when the mean error is above"}};
}

}  // namespace

std::vector<Command> validate_commands() {
  const std::vector<ExitNote> exits = {{Exit::findings, "the mean error is above --bar"},
                                       {Exit::bad_input, "a table is unreadable"}};
  return {{.words = "validate training",
           .summary = "predicted step times against published runs",
           .arguments = file_argument(),
           .options = row_options(),
           .examples = {{"railyard validate training", "the published runs that ship"},
                        {"railyard validate training mine.csv --rows", "your own, line by line"}},
           .exits = exits,
           .run = training},
          {.words = "validate memory",
           .summary = "predicted peak memory against published runs",
           .arguments = file_argument(),
           .options = row_options(),
           .examples = {{"railyard validate memory", "the published runs that ship"}},
           .exits = exits,
           .run = memory},
          {.words = "validate ranking",
           .summary = "whether the best layouts come out as the best",
           .arguments = file_argument(),
           .options = row_options(),
           .examples = {{"railyard validate ranking sweep.csv", "many layouts of the same job"}},
           .exits = exits,
           .run = ranking},
          {.words = "validate nccl",
           .summary = "expected times of collectives against published nccl-tests results",
           .arguments = file_argument(),
           .options = row_options(),
           .examples = {{"railyard validate nccl", "each system left out of the fit in turn"},
                        {"railyard validate nccl mine.csv --rows", "your own, line by line"}},
           .exits = exits,
           .run = nccl},
          {.words = "validate page",
           .summary = "all error tables as one Markdown page",
           .arguments = file_argument(),
           .examples = {{"railyard validate page > accuracy.md", "the page of the documentation"}},
           .exits = exits,
           .run = page}};
}

}  // namespace railyard::app
