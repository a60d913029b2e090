// `railyard nccl explain`: what NCCL will do on a system, and what a change would make of it.

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "app/nccl_subject.h"
#include "predict/nccl/explain.h"
#include "report/nccl_explain.h"
#include "report/nccl_log.h"

namespace railyard::app {

namespace {

using predict::nccl::Function;

Checked<std::vector<Function>> functions_of(const Given& given) {
  std::vector<Function> out;
  for (const std::string& text : given.list("--collective")) {
    const auto function = predict::nccl::function_named(text);
    if (!function)
      return std::unexpected(Problems{Problem{
          .expected = "a collective: all_reduce, all_gather, reduce_scatter, broadcast or reduce",
          .found = "'" + text + "'",
          .hint = "send, receive and all-to-all do not go through NCCL's table"}});
    out.push_back(*function);
  }
  if (out.empty()) out = {Function::all_reduce, Function::all_gather};
  return out;
}

report::NcclStory told(const NcclSubject& subject, const std::vector<Function>& functions,
                       const std::vector<std::int64_t>& sizes) {
  report::NcclStory out{.subject = subject.shown,
                        .comm = predict::nccl::set_up(subject.system, subject.options)};
  for (const Function f : functions)
    out.functions.push_back(predict::nccl::story(out.comm, f, sizes));
  out.networks = predict::nccl::network_use(subject.system, subject.options.settings);
  out.remarks = predict::nccl::remarks(subject.system, out.comm);
  out.remarks.insert(out.remarks.begin(), subject.notes.begin(), subject.notes.end());
  return out;
}

Exit answer(const report::NcclStory& story, std::vector<report::Input> inputs, const Given& given,
            Io& io) {
  give({.inputs = std::move(inputs),
        .json = [&](json::Writer& out) { report::to_json(story, out); },
        .text = [&](int width) { return report::to_text(story, width); },
        .csv = [&] { return report::to_csv(report::choices_of(story)); }},
       given, io);
  return Exit::ok;
}

Exit answer(const report::NcclComparison& comparison, std::vector<report::Input> inputs,
            const Given& given, Io& io) {
  give({.inputs = std::move(inputs),
        .json = [&](json::Writer& out) { report::to_json(comparison, out); },
        .text = [&](int width) { return report::to_text(comparison, width); },
        .csv = [&] { return report::to_csv(report::differences_of(comparison)); }},
       given, io);
  return Exit::ok;
}

Exit answer(const report::NcclLogStory& story, std::vector<report::Input> inputs,
            const Given& given, Io& io) {
  give({.inputs = std::move(inputs),
        .json = [&](json::Writer& out) { report::to_json(story, out); },
        .text = [&](int width) { return report::to_text(story, width); },
        .csv = [&] { return report::to_csv(report::table_of(story)); }},
       given, io);
  return Exit::ok;
}

Exit explain(const Given& given, Io& io) {
  const auto base = variant_of(given);
  if (!base) return refuse(base.error(), io);
  const auto functions = functions_of(given);
  if (!functions) return refuse(functions.error(), io);
  const auto sizes = sizes_of(given);
  if (!sizes) return refuse(sizes.error(), io);

  std::vector<report::Input> inputs;
  const std::vector<std::string>& changes = given.list("--vs");
  auto subject = open_subject(*base, given, io, inputs, changes.empty() ? Need::log : Need::system);
  if (!subject) return refuse(subject.error(), io);
  if (!subject->system_known)
    return answer({.subject = subject->shown, .run = *std::move(subject->log)}, std::move(inputs),
                  given, io);
  report::NcclStory story = told(*subject, *functions, *sizes);
  if (changes.empty()) return answer(story, std::move(inputs), given, io);

  const auto variant = changed(*base, changes);
  if (!variant) return refuse(variant.error(), io);
  const auto other = open_subject(*variant, given, io, inputs);
  if (!other) return refuse(other.error(), io);
  return answer({.a = std::move(story),
                 .b = told(*other, *functions, *sizes),
                 .change = fmt::format("{}", fmt::join(changes, " "))},
                std::move(inputs), given, io);
}

}  // namespace

std::vector<Command> nccl_explain_commands() {
  std::vector<Option> options = subject_options();
  for (Option& option : size_options()) options.push_back(std::move(option));
  options.push_back({.name = "--collective",
                     .value = Value::text,
                     .placeholder = "NAME",
                     .summary = "all_reduce, all_gather, reduce_scatter, broadcast or reduce",
                     .repeats = true});
  options.push_back({.name = "--vs",
                     .value = Value::text,
                     .placeholder = "CHANGE",
                     .summary = "show only what NAME=value, nccl=V, nodes=N, topology=FILE or "
                                "graph=FILE would change",
                     .repeats = true});
  return {{.words = "nccl explain",
           .summary = "graphs, channels, and the algorithm that NCCL takes at each size",
           .arguments = {{.name = "FILE",
                          .summary = "NCCL topology XML, cluster.yaml, or a log of NCCL"}},
           .options = std::move(options),
           .examples = {{"railyard nccl explain topo.xml --nodes 4", "four such servers"},
                        {"railyard nccl explain topo.xml --vs NCCL_ALGO=Ring",
                         "what a left-over variable costs"},
                        {"railyard nccl explain topo.xml --nccl 2.22.3 --vs nccl=2.28.9",
                         "what an upgrade of NCCL changes"}},
           .exits = {{Exit::bad_input, "a file is unreadable, or NCCL would refuse it"}},
           .run = explain}};
}

}  // namespace railyard::app
