// `railyard nccl expect`: how long collectives should take on a healthy system, as a band.

#include <string>
#include <utility>
#include <vector>

#include "app/answer.h"
#include "app/command.h"
#include "app/nccl_subject.h"
#include "predict/nccl/expect.h"
#include "predict/nccl/priors.h"
#include "report/nccl_expect.h"

namespace railyard::app {

namespace {

using predict::Collective;

Checked<std::vector<Collective>> collectives_of(const Given& given) {
  std::vector<Collective> out;
  for (const std::string& text : given.list("--collective")) {
    bool known = false;
    for (const Collective c :
         {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
          Collective::all_to_all, Collective::broadcast, Collective::send})
      if (text == report::tests_name(c)) {
        out.push_back(c);
        known = true;
      }
    if (!known)
      return std::unexpected(Problems{
          Problem{.expected = "all_reduce, all_gather, reduce_scatter, alltoall, broadcast or "
                              "sendrecv",
                  .found = "'" + text + "'"}});
  }
  if (out.empty()) out = {Collective::all_reduce};
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

  const auto comm = predict::nccl::set_up(subject->system, subject->options);
  const auto platform = platform_of(*subject, given);
  report::ExpectedStory story{
      .subject = subject->shown, .nccl = subject->options.version.text(), .notes = subject->notes};
  for (const Collective what : *collectives)
    story.collectives.push_back(
        predict::nccl::expect(platform, comm,
                              {.what = what,
                               .mode = given.text("--mode") == "graph" ? predict::nccl::Mode::graph
                                                                       : predict::nccl::Mode::eager,
                               .in_place = given.flag("--in-place")},
                              *sizes, *priors));
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
  options.push_back({.name = "--mode",
                     .value = Value::choice,
                     .placeholder = "MODE",
                     .summary = "launched one by one, or replayed from a CUDA graph",
                     .choices = {"eager", "graph"},
                     .fallback = "eager"});
  options.push_back({.name = "--in-place", .summary = "in place, as the right half of nccl-tests"});
  return {{.words = "nccl expect",
           .summary = "time and bus bandwidth of a healthy system at each size, as a band",
           .arguments = {{.name = "FILE",
                          .summary = "NCCL topology XML, cluster.yaml, or a log of NCCL"}},
           .options = std::move(options),
           .examples = {{"railyard nccl expect cluster.yaml", "before the machine exists"},
                        {"railyard nccl expect topo.xml --nodes 4 --network roce",
                         "four such servers on RoCE"}},
           .exits = {{Exit::bad_input, "a file is unreadable, or NCCL would refuse it"}},
           .run = expect}};
}

}  // namespace railyard::app
