#include "model/job_reader.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "model/catalog/readers.h"
#include "model/job/layout_reader.h"
#include "model/job_from_facts.h"

namespace railyard::model {

namespace {

/// The file without its folder and ending: the name of a job that gives none.
std::string stem(std::string_view path) {
  path = path.substr(path.find_last_of('/') + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

bool is_path(std::string_view model) { return model.contains('/') || model.ends_with(".json"); }

class Reader {
 public:
  Reader(const yaml::Document& document, const Catalog& catalog, const Stacks& stacks,
         const ModelResolver& resolve)
      : document_(document),
        catalog_(catalog),
        stacks_(stacks),
        resolve_(resolve),
        top_(document, document.root(), problems_, "a job") {}

  Checked<Job> run() {
    if (!top_.is_map()) return std::unexpected(std::move(problems_));
    origin_.file = document_.file();
    job_.name = stem(document_.file());
    job_.layout.data = 0;
    top_.text("job", job_.name);
    top_.need("model");
    model();
    batch();
    precision();
    software();
    catalog::read_map(top_, "layout", [&](yaml::Fields& f) { read_layout(f, job_); });
    catalog::read_map(top_, "reliability", [&](yaml::Fields& f) { reliability(f); });
    top_.flag("adapters_only", job_.adapters_only);
    top_.number("tokens", job_.trained_tokens);
    top_.done();
    places(document_.root(), {});
    job_.origin = std::make_shared<const JobOrigin>(std::move(origin_));
    if (problems_.empty()) problems_ = problems_of(job_, check(job_));
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    return std::move(job_);
  }

 private:
  void model() {
    const yaml::Node* node = top_.get("model");
    if (!node) return;
    if (node->kind == yaml::Kind::map) {
      in_place(*node);
    } else if (node->kind != yaml::Kind::scalar) {
      top_.report(*node, "a model: an id of the catalogue, the path of a config.json, or a map");
    } else if (is_path(node->scalar)) {
      from_config(*node);
    } else if (const Architecture* known = look_up(*node)) {
      job_.model = *known;
    }
  }

  const Architecture* look_up(const yaml::Node& name) {
    const Architecture* known = catalog_.architecture(name.scalar);
    if (known) return known;
    std::vector<std::string> names = ids(catalog_.architectures);
    std::string hint = did_you_mean(name.scalar, names);
    if (hint.empty())
      hint = "'railyard catalog list models' shows all; a config.json is given by its path";
    top_.report(name, "a model of the catalogue", std::move(hint));
    return nullptr;
  }

  /// A model described in the job, from scratch or over one of the catalogue.
  void in_place(const yaml::Node& node) {
    yaml::Fields fields(document_, node, problems_, "a model");
    const yaml::Node* like = fields.get("like");
    if (like) {
      const Architecture* known = like->kind == yaml::Kind::scalar ? look_up(*like) : nullptr;
      if (like->kind != yaml::Kind::scalar) fields.report(*like, "a model of the catalogue");
      if (!known) return;
      job_.model = *known;
      job_.model.stated_parameters = 0;  // of the original, not of what the map makes of it
      job_.model.aliases.clear();
    }
    read_architecture(fields, job_.model);
    if (job_.model.id.empty()) job_.model.id = "the job's own model";
    fields.done();
  }

  void from_config(const yaml::Node& node) {
    std::string path = node.scalar;
    const std::string& file = document_.file();
    const std::size_t folder = file.find_last_of('/');
    if (!path.starts_with('/') && folder != std::string::npos)
      path = file.substr(0, folder + 1) + path;
    if (!resolve_) {
      top_.report(node, "a model of the catalogue", "config.json files are not read here");
      return;
    }
    auto config = resolve_(path);
    if (!config) {
      append(config.error(), node);
      return;
    }
    auto read = architecture_from(*config);
    if (!read) {
      append(read.error(), node);
      return;
    }
    job_.model = std::move(read->model);
    for (std::string& note : read->notes) origin_.notes.push_back(path + ": " + std::move(note));
    for (const facts::Skipped& s : config->skipped)
      origin_.notes.push_back(path + ": " + std::to_string(s.count) + ' ' + s.what +
                              " (first in line " + std::to_string(s.first.front().line) + "); " +
                              s.hint);
  }

  /// Problems of another file. Those without a place in it (it does not exist) are placed here.
  void append(Problems& more, const yaml::Node& node) {
    for (Problem& p : more) {
      if (p.at.line == 0)
        p = document_.problem(node.line, node.column, p.expected, p.found + " at " + p.at.file,
                              p.hint);
      problems_.push_back(std::move(p));
    }
  }

  void batch() {
    const bool convolutional = job_.model.convolutional.has_value();
    if (convolutional) {
      job_.sequence = 1;
      if (const yaml::Node* n = top_.get("sequence"))
        top_.report(*n, "no sequence for a convolutional network", "its batch counts samples");
    } else {
      top_.need("sequence");
      top_.integer("sequence", job_.sequence, 1, 1 << 27);
    }
    const yaml::Node* tokens = top_.get("global_batch_tokens");
    if (!tokens) {
      top_.need("global_batch");
      top_.integer("global_batch", job_.global_batch, 1, 1 << 27);
      return;
    }
    if (top_.has("global_batch"))
      top_.report(*tokens, "either global_batch or global_batch_tokens, not both");
    top_.get("global_batch");
    double count = 0;
    if (!top_.number("global_batch_tokens", count, 1, 1e15)) return;
    const double sequences = count / job_.sequence;
    if (sequences != std::floor(sequences) || sequences < 1 || sequences > (1 << 27)) {
      const double near = std::max(1.0, std::round(sequences)) * job_.sequence;
      top_.report(*tokens, "a multiple of the sequence length " + std::to_string(job_.sequence),
                  "for example " + show_number(near));
      return;
    }
    job_.global_batch = static_cast<int>(sequences);
  }

  void precision() {
    std::vector<std::pair<std::string, Precision>> words;
    for (std::size_t i = 0; i < kPrecisions; ++i)
      words.emplace_back(name(static_cast<Precision>(i)), static_cast<Precision>(i));
    top_.choice("precision", words, job_.precision);
    static const std::vector<std::pair<std::string, OptimizerKind>> optimizers{
        {"adam", OptimizerKind::adam},
        {"adamw", OptimizerKind::adam},
        {"sgd_momentum", OptimizerKind::sgd_momentum}};
    top_.choice("optimizer", optimizers, job_.optimizer);
  }

  void software() {
    std::string stack(kDefaultStack);
    top_.text("stack", stack);
    if (const Stack* known = stacks_.find(stack)) {
      job_.software = known->software;
    } else if (const yaml::Node* node = top_.get("stack")) {
      std::string hint = did_you_mean(stack, ids(stacks_.list));
      if (hint.empty()) hint = "catalog/stacks.yaml lists them";
      top_.report(*node, "the name of a software stack", std::move(hint));
    }
    // fp32 training has no second copy of the weights, and sends what it has.
    if (job_.precision == Precision::fp32 || job_.precision == Precision::tf32) {
      job_.software.master_bytes = 0;
      job_.software.gradient_bytes = job_.software.gradient_wire_bytes = 4;
      job_.software.parameter_wire_bytes = 4;
    }
    catalog::read_map(top_, "software", [&](yaml::Fields& f) { read_software(f, job_.software); });
  }

  void reliability(yaml::Fields& f) {
    Reliability& r = job_.reliability;
    f.seconds("checkpoint_save", r.checkpoint_save);
    f.seconds("checkpoint_interval", r.checkpoint_interval);
    f.seconds("restart", r.restart);
    f.seconds("accelerator_mtbf", r.accelerator_mtbf);
  }

  /// Remembers where every field stands, under its dotted name.
  void places(const yaml::Node& map, const std::string& prefix) {
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
      const yaml::Node& value = map.items[i];
      const yaml::Node::Key& key = map.keys[i];
      const bool scalar = value.kind == yaml::Kind::scalar;
      const int line = scalar ? value.line : key.line;
      origin_.fields.push_back({.name = prefix + key.name,
                                .at = {document_.file(), line, scalar ? value.column : key.column},
                                .source_line = std::string(line_of(document_.bytes(), line))});
      if (value.kind == yaml::Kind::map) places(value, prefix + key.name + '.');
    }
  }

  const yaml::Document& document_;
  const Catalog& catalog_;
  const Stacks& stacks_;
  const ModelResolver& resolve_;
  Problems problems_;
  yaml::Fields top_;
  JobOrigin origin_;
  Job job_;
};

}  // namespace

Checked<Job> parse_job(const yaml::Document& document, const Catalog& catalog, const Stacks& stacks,
                       const ModelResolver& resolve) {
  return Reader(document, catalog, stacks, resolve).run();
}

Checked<Job> load_job(const std::string& path, const Catalog& catalog, const Stacks& stacks,
                      const ModelResolver& resolve) {
  const yaml::Document document = RY_TRY(yaml::Document::load(path));
  return parse_job(document, catalog, stacks, resolve);
}

}  // namespace railyard::model
