// `railyard nccl judge FILE...`: are these collectives as fast as they should be, and if not, why?
// Results of nccl-tests or of NCCL's Inspector, and logs of the same run, in any mix.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "app/nccl_subject.h"
#include "base/text.h"
#include "base/utf8.h"
#include "intake/line_index.h"
#include "intake/nccl_inspector.h"
#include "intake/nccl_log.h"
#include "intake/nccl_tests_json.h"
#include "intake/nccl_tests_text.h"
#include "judge/nccl_judgement.h"
#include "predict/nccl/priors.h"
#include "report/nccl_judgement.h"

namespace railyard::app {

namespace {

using Files = std::map<std::string, std::string>;

/// What a file holds is told by its content; one file may hold results and a log.
Checked<void> take(const std::string& path, const std::string& bytes,
                   judge::NcclMaterial& material) {
  const auto add = [&](facts::CollectiveRuns&& runs) {
    for (facts::CollectiveRun& run : runs.runs)
      if (!run.points.empty() || run.failed) material.runs.push_back(std::move(run));
  };
  bool known = false;
  if (intake::looks_like_nccl_tests_json(bytes)) {
    add(RY_TRY(intake::read_nccl_tests_json(path, bytes)));
    return {};
  }
  if (intake::looks_like_nccl_inspector(bytes)) {
    add(intake::read_nccl_inspector({path, bytes}));
    return {};
  }
  if (intake::looks_like_nccl_tests_text(bytes)) {
    add(intake::read_nccl_tests_text({path, bytes}));
    known = true;
  }
  if (intake::looks_like_nccl_log(bytes)) {
    material.logs.push_back(intake::read_nccl_log({path, bytes}));
    known = true;
  }
  if (known) return {};
  return std::unexpected(Problems{
      Problem{.at = {.file = path},
              .expected = "output of nccl-tests, records of NCCL's Inspector, or a log of NCCL",
              .found = bytes.empty() ? "an empty file" : "something else",
              .hint = "all_reduce_perf -b 8 -e 8G -f 2 -g 1 with NCCL_DEBUG=INFO prints both"}});
}

/// The file that describes the machine: --system, or a log among the files with system lines.
Checked<std::optional<NcclSubject>> machine(const judge::NcclMaterial& material, const Given& given,
                                            const Io& io, std::vector<report::Input>& inputs) {
  if (given.has("--system")) {
    const NcclVariant variant{.file = given.text("--system")};
    return RY_TRY(open_subject(variant, given, io, inputs));
  }
  for (const facts::NcclRun& log : material.logs) {
    if (log.systems.empty()) continue;
    std::vector<report::Input> again;  // the file is an input already
    auto subject = open_subject({.file = log.systems.front().at.file}, given, io, again);
    // A cut-off system is no reason to refuse the rest.
    if (subject) return std::optional<NcclSubject>(*std::move(subject));
  }
  return std::optional<NcclSubject>{};
}

/// The text of each line that a finding names.
void quote(const Files& files, std::vector<judge::NcclFinding>& findings) {
  for (judge::NcclFinding& f : findings)
    for (facts::Where& e : f.evidence) {
      const auto file = files.find(e.at.file);
      if (file == files.end() || e.at.line <= 0 || !e.line.empty()) continue;
      constexpr std::size_t kKept = 400;
      std::string_view line = line_of(file->second, e.at.line);
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
      e.line = printable(std::string(line.substr(0, kKept)));
    }
}

bool fails(const judge::NcclJudgement& judgement, const std::string& on) {
  using enum judge::NcclSeverity;
  if (on == "never") return false;
  const auto least = on == "error" ? error : on == "note" ? note : warning;
  return std::ranges::any_of(judgement.findings,
                             [&](const judge::NcclFinding& f) { return f.severity >= least; });
}

Exit judge_command(const Given& given, Io& io) {
  const auto priors = predict::nccl::load_priors(catalog_folder(given, io) + "/nccl_priors.yaml");
  if (!priors) return refuse(priors.error(), io);
  judge::NcclMaterial material;
  std::vector<report::Input> inputs;
  Files files;
  Problems problems;
  for (const std::string& path : given.list("FILE")) {
    auto bytes = read_file(path);
    if (!bytes) {
      problems.push_back(std::move(bytes).error());
      continue;
    }
    inputs.push_back(report::input_of(path, *bytes));
    if (const auto taken = take(path, *bytes, material); !taken)
      problems.insert(problems.end(), taken.error().begin(), taken.error().end());
    files.emplace(path, *std::move(bytes));
  }
  if (!problems.empty()) return refuse(problems, io);
  const auto subject = machine(material, given, io, inputs);
  if (!subject) return refuse(subject.error(), io);
  if (*subject) {
    const NcclSubject& s = **subject;
    material.machine = {.system = &s.system, .from = s.shown, .version = s.options.version};
    // A cluster file knows its network; what a log fell back to is no measure.
    if (s.cluster) material.machine.network = platform_of(s, given).network;
    if (s.cluster && s.options.nodes < 2) material.machine.network.reset();
  }
  if (given.has("--network"))
    material.machine.network = predict::nccl::network_named(given.text("--network"));

  judge::NcclJudgement judgement = judge::judge_nccl(material, *priors);
  quote(files, judgement.findings);
  give({.inputs = std::move(inputs),
        .json = [&](json::Writer& out) { report::to_json(judgement, out); },
        .text = [&](int width) { return report::to_text(judgement, width); },
        .csv = [&] { return report::to_csv(report::table_of(judgement)); }},
       given, io);
  return fails(judgement, given.text("--fail-on")) ? Exit::findings : Exit::ok;
}

}  // namespace

std::vector<Command> nccl_judge_commands() {
  return {{.words = "nccl judge",
           .summary = "are measured collectives as fast as they should be, and if not, why",
           .arguments = {{.name = "FILE",
                          .summary = "results of nccl-tests (text or -J), records of NCCL's "
                                     "Inspector, logs of the same run",
                          .repeats = true}},
           .options = {{.name = "--system",
                        .value = Value::file,
                        .placeholder = "FILE",
                        .summary = "the machine: topology XML, cluster.yaml, or a log with "
                                   "system lines"},
                       network_option(),
                       {.name = "--fail-on",
                        .value = Value::choice,
                        .placeholder = "SEVERITY",
                        .summary = "exit code 1 from this severity on",
                        .choices = {"error", "warning", "note", "never"},
                        .fallback = "warning"}},
           .examples = {{"railyard nccl judge run.txt", "results and log in one file"},
                        {"railyard nccl judge run.txt nccl.log --system topo.xml",
                         "with the machine's own topology"},
                        {"railyard nccl judge pair-*.txt --format json", "many pairs of nodes"}},
           .exits = {{Exit::findings, "there are findings of --fail-on or worse"},
                     {Exit::bad_input, "a file is none of these, or unreadable"}},
           .run = judge_command}};
}

}  // namespace railyard::app
