#include "app/workbench.h"

#include <filesystem>
#include <utility>

#include "app/answer.h"
#include "app/file_kinds.h"
#include "base/text.h"
#include "base/yaml.h"
#include "intake/hf_config.h"
#include "intake/megatron_args.h"
#include "model/job_from_facts.h"
#include "model/job_reader.h"

namespace railyard::app {

namespace {

// A reader that is surer than this takes the file; YAML cannot be told by its first bytes.
constexpr int kSure = 50;
// How much of a file a reader may look at to decide.
constexpr std::size_t kHead = 64 << 10;

}  // namespace

Checked<Workbench> Workbench::open(const Given& given, const Io& io) {
  Workbench bench;
  bench.catalog_ = RY_TRY(open_catalog(given, io));
  bench.shipped_ = inputs_of(bench.catalog_);
  const std::string folder = catalog_folder(given, io);
  bench.folder_ = folder;
  bench.stacks_ = RY_TRY(model::load_stacks(folder + "/stacks.yaml"));
  bench.calibration_ = RY_TRY(predict::load_calibration(folder + "/calibration.yaml"));
  for (const char* name : {"stacks.yaml", "calibration.yaml"})
    if (const auto bytes = read_file(folder + '/' + name))
      bench.shipped_.push_back(report::input_of(std::string("catalog/") + name, *bytes));
  return bench;
}

Result<std::string> Workbench::read(const std::string& path) {
  std::string bytes = RY_TRY(read_file(path));
  own_.push_back(report::input_of(shown(path), bytes));
  return bytes;
}

Checked<facts::ModelConfig> Workbench::config(const std::string& path) {
  auto bytes = read(path);
  if (!bytes) return as_problems(std::move(bytes).error());
  return intake::read_hf_config(path, *std::move(bytes));
}

Checked<model::Cluster> Workbench::cluster(const std::string& path) {
  auto bytes = read(path);
  if (!bytes) return as_problems(std::move(bytes).error());
  const yaml::Document document = RY_TRY(yaml::Document::parse(path, *std::move(bytes)));
  if (auto wrong = not_a_cluster(document)) return as_problems(*std::move(wrong));
  return model::parse_cluster(document, catalog_);
}

Checked<model::Job> Workbench::job(const std::string& path) {
  auto bytes = read(path);
  if (!bytes) return as_problems(std::move(bytes).error());
  if (intake::sniff_megatron_arguments(std::string_view(*bytes).substr(0, kHead)) > kSure)
    return model::job_from(RY_TRY(intake::read_megatron_arguments({.file = path, .bytes = *bytes})),
                           stacks_);
  const yaml::Document document = RY_TRY(yaml::Document::parse(path, *std::move(bytes)));
  if (auto wrong = not_a_job(document)) return as_problems(*std::move(wrong));
  return model::parse_job(document, catalog_, stacks_,
                          [this](const std::string& file) { return config(file); });
}

std::string Workbench::shown(const std::string& path) const {
  const auto normal = [](const std::string& p) {
    return std::filesystem::path(p).lexically_normal();
  };
  std::string root = normal(folder_ + "/..").string();  // "/usr/share/railyard/", or "." for here
  if (root == ".") root.clear();
  const std::string file = normal(path).string();
  for (const char* folder : {"catalog/", "examples/", "validation/"})
    if (!folder_.empty() && file.starts_with(root + folder)) return file.substr(root.size());
  return path;
}

std::vector<report::Input> Workbench::inputs() const {
  std::vector<report::Input> all = own_;
  all.insert(all.end(), shipped_.begin(), shipped_.end());
  return all;
}

}  // namespace railyard::app
