// `railyard demo`: the case that the project began with. What a training step does before and after
// the upgrade, what the network can carry, and which of the published claims can hold together.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "app/workbench.h"
#include "judge/claims.h"
#include "judge/uplinks.h"
#include "plan/compare.h"
#include "report/case.h"
#include "report/envelope.h"

namespace railyard::app {

namespace {

// The first is the case; the others come with --all.
constexpr const char* kShipped[] = {"case-512", "ddp-2x4", "pp-dp-100b"};

/// A case with its runs predicted.
struct Opened {
  judge::CaseFile file = {};
  std::vector<judge::CaseSet> sets = {};
};

/// Examples lie beside the catalogue, in a source tree as in an installation.
Checked<std::vector<std::string>> case_files(const Given& given, const Io& io) {
  if (given.has("CASE")) return given.list("CASE");
  const std::string catalog = catalog_folder(given, io);
  const auto examples =
      std::filesystem::path(catalog).lexically_normal().parent_path() / "examples";
  std::error_code ec;
  if (catalog.empty() || !std::filesystem::is_directory(examples, ec))
    return as_problems({.at = {.file = examples.string()},
                        .expected = "the folder of the examples beside the catalogue",
                        .found = "none",
                        .hint = "name a case.yaml"});
  std::vector<std::string> out;
  for (const char* name : kShipped) {
    out.push_back((examples / name / "case.yaml").string());
    if (!given.flag("--all")) break;
  }
  return out;
}

void append(Problems& to, const Problems& more) { to.insert(to.end(), more.begin(), more.end()); }

Checked<judge::CaseRun> open_run(const judge::RunFiles& files, Workbench& bench) {
  auto cluster = bench.cluster(files.cluster);
  auto job = bench.job(files.job);
  if (!cluster || !job) {
    Problems problems;
    if (!cluster) append(problems, cluster.error());
    if (!job) append(problems, job.error());
    return std::unexpected(std::move(problems));
  }
  const model::Job fitted = RY_TRY(model::fit_to(*std::move(job), cluster->accelerators()));
  predict::Outlook outlook = predict::outlook(*cluster, fitted, bench.calibration());
  return judge::CaseRun{files.id, files.title, files.role, *std::move(cluster), std::move(outlook)};
}

Checked<Opened> open_case(const std::string& path, Workbench& bench) {
  Opened out{.file = RY_TRY(judge::load_case(path))};
  Problems problems;
  for (const judge::RunSet& files : out.file.sets) {
    judge::CaseSet set{files.id, files.title, {}};
    for (const judge::RunFiles& run : files.runs) {
      auto opened = open_run(run, bench);
      if (opened)
        set.runs.push_back(*std::move(opened));
      else
        append(problems, opened.error());
    }
    out.sets.push_back(std::move(set));
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

/// As the files had it: data parallelism fills the cluster. So more accelerators are one change
/// with the layout that uses them.
plan::Workload open_again(const judge::CaseRun& run) {
  plan::Workload out{run.cluster, run.outlook.job};
  out.job.layout.data = 0;
  return out;
}

report::CaseView view_of(const Opened& opened, const Workbench& bench) {
  const judge::ClaimInputs in{opened.file, opened.sets, bench.catalog(), bench.calibration()};
  report::CaseView view{.file = opened.file, .sets = opened.sets};
  view.claims = judge::judge_claims(in);
  view.curve = judge::size_curve(in);
  const judge::CaseSet& first = opened.sets.front();
  const judge::CaseRun* before = first.find(judge::Role::before);
  if (const judge::CaseRun* after = first.find(judge::Role::after)) {
    view.uplinks = judge::vary_uplinks(*after, bench.calibration());
    view.all_ports = judge::with_all_ports(*after, bench.calibration());
  }
  if (!before) return view;
  for (const judge::CaseRun& run : first.runs) {  // the last reading has all of the changes
    if (run.role != judge::Role::after && run.role != judge::Role::reading) continue;
    auto changes = plan::compare(open_again(*before), open_again(run), bench.calibration());
    if (changes) view.changes = *std::move(changes);
  }
  return view;
}

Exit demo(const Given& given, Io& io) {
  const auto files = case_files(given, io);
  if (!files) return refuse(files.error(), io);
  auto bench = Workbench::open(given, io);
  if (!bench) return refuse(bench.error(), io);

  std::vector<Opened> opened;  // complete before anything points into it
  std::vector<report::Input> inputs;
  for (const std::string& path : *files) {
    auto one = open_case(path, *bench);
    if (!one) return refuse(one.error(), io);
    one->file.file = bench->shown(path);
    inputs.push_back(report::input_of(one->file.file, one->file.bytes));
    opened.push_back(*std::move(one));
  }
  std::vector<report::CaseView> views;
  for (const Opened& one : opened) views.push_back(view_of(one, *bench));

  for (report::Input& input : bench->inputs()) inputs.push_back(std::move(input));
  const auto detail = given.flag("--all") ? report::Detail::all : report::Detail::main;
  give({.inputs = std::move(inputs),
        .json =
            [&](json::Writer& out) {
              out.begin_object().key("cases").begin_array();
              for (const report::CaseView& view : views) report::to_json(view, out);
              out.end_array().end_object();
            },
        .text =
            [&](int width) {
              std::string out;
              for (const report::CaseView& view : views)
                out += (out.empty() ? "" : "\n\n") + report::to_text(view, detail, width);
              return out;
            },
        .csv = [&] { return report::to_csv(report::csv_table(views)); }},
       given, io);
  return Exit::ok;
}

}  // namespace

std::vector<Command> demo_commands() {
  return {
      {.words = "demo",
       .summary = "a customer's case before and after its upgrade, and which claims can hold",
       .arguments = {{.name = "CASE",
                      .summary = "a case.yaml of your own (docs/case.md); else the one that ships",
                      .optional = true,
                      .repeats = true}},
       .options = {{.name = "--all",
                    .summary = "both models, the curve of all-reduce times, leaf uplinks, and the "
                               "other examples"}},
       .examples = {{"railyard demo", "the case that ships, on two screens"},
                    {"railyard demo --all --format json", "everything, for a program"}},
       .exits = {{Exit::bad_input, "a file is missing or wrong"}},
       .run = demo}};
}

}  // namespace railyard::app
