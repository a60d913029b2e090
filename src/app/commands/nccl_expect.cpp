// `railyard nccl expect`: how long collectives should take on a healthy system, as a band.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "app/nccl_subject.h"
#include "predict/nccl/expect.h"
#include "predict/nccl/priors.h"
#include "predict/nccl/profile.h"
#include "predict/words.h"
#include "report/nccl_expect.h"

namespace railyard::app {

namespace {

using predict::Collective;
using predict::nccl::Mode;
using predict::nccl::Platform;
using predict::nccl::Profile;

Checked<std::vector<Collective>> collectives_of(const Given& given) {
  std::vector<Collective> out;
  for (const std::string& text : given.list("--collective")) {
    const auto what = predict::collective_named(text);
    if (!what)
      return std::unexpected(Problems{
          Problem{.expected = "all_reduce, all_gather, reduce_scatter, alltoall, broadcast or "
                              "sendrecv",
                  .found = "'" + text + "'"}});
    out.push_back(*what);
  }
  if (out.empty()) out = {Collective::all_reduce};
  return out;
}

/// The profile of --profile, with its bytes among the inputs; empty without the option.
Checked<std::optional<Profile>> profile_of(const Given& given, std::vector<report::Input>& inputs) {
  if (!given.has("--profile")) return std::nullopt;
  auto bytes = read_file(given.text("--profile"));
  if (!bytes) return as_problems(std::move(bytes).error());
  inputs.push_back(report::input_of(given.text("--profile"), *bytes));
  return RY_TRY(predict::nccl::read_profile(given.text("--profile"), *std::move(bytes)));
}

Mode mode_of(const Given& given, const std::optional<Profile>& profile) {
  if (profile && !given.has("--mode")) return profile->mode;
  const std::string mode = given.text("--mode");
  return mode == "graph" ? Mode::graph : mode == "kernel" ? Mode::kernel : Mode::eager;
}

/// A profile holds for the ranks and the way of launching that were measured, and for no others.
Problems misfits(const Profile& profile, const Platform& platform, int nodes, Mode mode,
                 const std::string& file) {
  Problems out;
  if (profile.ranks != platform.ranks() || profile.nodes != nodes)
    out.push_back({.at = {.file = file},
                   .expected = fmt::format("a profile of {} ranks on {} node{}", platform.ranks(),
                                           nodes, nodes == 1 ? "" : "s"),
                   .found = fmt::format("one of {} ranks on {}", profile.ranks, profile.nodes),
                   .hint = "measured times do not carry over to other numbers of ranks; without "
                           "--profile the priors of the class answer"});
  if (profile.mode != mode)
    out.push_back({.at = {.file = file},
                   .expected = "a profile measured as --mode says",
                   .found = profile.mode == Mode::graph ? "one replayed from a CUDA graph"
                                                        : "one launched one by one"});
  return out;
}

Exit expect(const Given& given, Io& io) {
  const auto variant = variant_of(given);
  if (!variant) return refuse(variant.error(), io);
  const auto collectives = collectives_of(given);
  if (!collectives) return refuse(collectives.error(), io);
  const auto sizes = sizes_of(given);
  if (!sizes) return refuse(sizes.error(), io);
  const auto priors = predict::nccl::load_priors(catalog_folder(given, io) + "/nccl_priors.yaml");
  if (!priors) return refuse(priors.error(), io);
  std::vector<report::Input> inputs;
  const auto subject = open_subject(*variant, given, io, inputs);
  if (!subject) return refuse(subject.error(), io);
  const auto profile = profile_of(given, inputs);
  if (!profile) return refuse(profile.error(), io);

  const auto comm = predict::nccl::set_up(subject->system, subject->options);
  const Platform platform = platform_of(*subject, given);
  const Mode mode = mode_of(given, *profile);
  if (*profile)
    if (const Problems wrong =
            misfits(**profile, platform, comm.nodes(), mode, given.text("--profile"));
        !wrong.empty())
      return refuse(wrong, io);

  report::ExpectedStory story{
      .subject = subject->shown, .nccl = subject->options.version.text(), .notes = subject->notes};
  if (*profile) story.profile = given.text("--profile");
  for (const Collective what : *collectives) {
    const predict::nccl::ExpectQuestion question{
        .what = what, .mode = mode, .in_place = given.flag("--in-place")};
    auto answer = predict::nccl::expect(platform, comm, question, *sizes, *priors);
    if (*profile) predict::nccl::calibrate(answer, comm, question, **profile);
    story.collectives.push_back(std::move(answer));
  }
  give({.inputs = std::move(inputs),
        .json = [&](json::Writer& out) { report::to_json(story, out); },
        .text = [&](int width) { return report::to_text(story, width); },
        .csv = [&] { return report::to_csv(report::table_of(story)); }},
       given, io);
  return Exit::ok;
}

}  // namespace

std::vector<Command> nccl_expect_commands() {
  std::vector<Option> options = subject_options();
  for (Option& option : size_options()) options.push_back(std::move(option));
  options.push_back({.name = "--collective",
                     .value = Value::text,
                     .placeholder = "NAME",
                     .summary = "all_reduce, all_gather, reduce_scatter, alltoall, broadcast, "
                                "sendrecv",
                     .repeats = true});
  options.push_back(network_option());
  options.push_back(
      {.name = "--mode",
       .value = Value::choice,
       .placeholder = "MODE",
       .summary = "launched one by one (eager, unless the profile is of another), replayed from a "
                  "CUDA graph, or inside the kernel",
       .choices = {"eager", "graph", "kernel"}});
  options.push_back({.name = "--profile",
                     .value = Value::file,
                     .placeholder = "FILE",
                     .summary = "what this machine was measured to do ('nccl calibrate')"});
  options.push_back({.name = "--in-place", .summary = "in place, as the right half of nccl-tests"});
  return {{.words = "nccl expect",
           .summary = "time and bus bandwidth of a healthy system at each size, as a band",
           .arguments = {{.name = "FILE",
                          .summary = "NCCL topology XML, cluster.yaml, or a log of NCCL"}},
           .options = std::move(options),
           .examples = {{"railyard nccl expect cluster.yaml", "before the machine exists"},
                        {"railyard nccl expect topo.xml --nodes 4 --network roce",
                         "four such servers on RoCE"},
                        {"railyard nccl expect topo.xml --profile profile.yaml",
                         "calibrated: from a sweep of this machine where it has NCCL's choice"}},
           .exits = {{Exit::bad_input, "a file is unreadable, or NCCL would refuse it"}},
           .run = expect}};
}

}  // namespace railyard::app
