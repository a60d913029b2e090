#include "judge/conventions.h"

#include "base/yaml.h"

namespace railyard::judge {

const Convention* Conventions::of(const facts::TrainingRun& run) const {
  for (const Convention& c : sources)
    if (run.source.starts_with(c.source) && run.table.find(c.table) != std::string::npos) return &c;
  return nullptr;
}

namespace {

Convention read_convention(yaml::Fields& f) {
  Convention c;
  f.need("source");
  f.text("source", c.source);
  f.text("table", c.table);
  f.need("stack");
  f.text("stack", c.stack);
  f.flag("sequence_parallel", c.sequence_parallel);
  f.choice<AttentionFlops>("attention_flops",
                           {{"half", AttentionFlops::half}, {"whole", AttentionFlops::whole}},
                           c.attention_flops);
  f.flag("untouched_test", c.reserved_test);
  f.flag("fit", c.fit);
  f.integer("vocab", c.vocab);
  f.choice<model::Recompute>("recompute",
                             {{"none", model::Recompute::none},
                              {"selective", model::Recompute::selective},
                              {"full", model::Recompute::full}},
                             c.recompute);
  f.integer("recompute_modules", c.recompute_modules, 0, 63);
  f.flag("device_memory", c.device_memory);
  f.flag("fsdp", c.fsdp);
  f.flag("local_batch", c.local_batch);
  f.flag("interleaves", c.interleaves);
  f.integer("virtual_stages", c.virtual_stages, 1, 64);
  f.text("note", c.note);
  return c;
}

NetworkPhrase read_network(yaml::Fields& f) {
  NetworkPhrase n;
  f.need("text");
  f.text("text", n.text);
  f.integer("nics", n.nics, 1, 64);
  f.bandwidth("port_rate", n.port_rate);
  f.choice<model::Transport>("transport",
                             {{"infiniband", model::Transport::infiniband},
                              {"roce", model::Transport::roce},
                              {"tcp", model::Transport::tcp},
                              {"efa", model::Transport::efa}},
                             n.transport);
  return n;
}

MachinePhrase read_machine(yaml::Fields& f) {
  MachinePhrase m;
  f.need("accelerator");
  f.text("accelerator", m.accelerator);
  f.need("server");
  f.text("server", m.server);
  return m;
}

}  // namespace

Checked<Conventions> load_conventions(const std::string& path) {
  const yaml::Document doc = RY_TRY(yaml::Document::load(path));
  Problems problems;
  yaml::Fields top(doc, doc.root(), problems, "the conventions");
  struct List {
    const char *key, *item;
  };
  const auto read_list = [&](List list, auto read, auto& out) {
    top.list(list.key, [&](const yaml::Node& node) {
      yaml::Fields fields(doc, node, problems, list.item);
      out.push_back(read(fields));
      fields.done();
    });
  };
  Conventions out;
  read_list({"sources", "a source"}, read_convention, out.sources);
  read_list({"networks", "a network"}, read_network, out.networks);
  read_list({"machines", "a machine"}, read_machine, out.machines);
  top.done();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

}  // namespace railyard::judge
