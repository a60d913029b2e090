// Reads the folder. Every top-level list of a file is a kind of part; the list of kinds below is
// the list of what a file may hold.

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/suggest.h"
#include "model/catalog/readers.h"

namespace railyard::model {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFiles[] = {"accelerators", "nics",   "switches",
                                       "interconnect", "models", "servers"};

class Loader {
 public:
  void file(const std::string& path) {
    auto loaded = yaml::Document::load(path);
    if (!loaded) {
      append(problems_, std::move(loaded).error());
      return;
    }
    catalog_.documents.push_back(std::make_shared<const yaml::Document>(*std::move(loaded)));
    document_ = catalog_.documents.back().get();
    yaml::Fields top(*document_, document_->root(), problems_, "a catalogue file");
    sources(top);
    list(top, "accelerators", catalog_.accelerators, read_accelerator);
    list(top, "nics", catalog_.nics, read_nic);
    list(top, "switches", catalog_.switches, catalog::read_switch);
    list(top, "pcie_switches", catalog_.pcie_switches, catalog::read_pcie_switch);
    list(top, "retimers", catalog_.retimers, catalog::read_retimer);
    list(top, "cxl", catalog_.cxl, catalog::read_cxl);
    list(top, "host_memory", catalog_.host_memory, catalog::read_host_memory);
    list(top, "nvme", catalog_.nvme, catalog::read_nvme);
    list(top, "socket_links", catalog_.socket_links, catalog::read_socket_link);
    list(top, "scale_up_generations", catalog_.scale_up_generations,
         catalog::read_scale_up_generation);
    list(top, "pcie_generations", catalog_.pcie_generations, catalog::read_pcie_generation);
    list(top, "models", catalog_.architectures, read_architecture);
    templates(top);
    top.done();
  }

  Checked<Catalog> result() && {
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    return std::move(catalog_);
  }

 private:
  static void append(Problems& to, Problems from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }

  /// `sources:` explains the short names that `source:` uses; it is there for people.
  void sources(yaml::Fields& top) {
    const yaml::Node* node = top.get("sources");
    if (!node) return;
    if (node->kind != yaml::Kind::map) top.report(*node, "a map from short names to sources");
    for (const yaml::Node& text : node->items)
      if (text.kind != yaml::Kind::scalar) top.report(text, "where the numbers come from, as text");
  }

  /// The id of an item, or nothing after telling what is wrong.
  std::string id_of(yaml::Fields& top, const yaml::Node& item, const std::string& kind) {
    if (item.kind != yaml::Kind::map) {
      top.report(item, "a map for one of the " + kind);
      return {};
    }
    const yaml::Node* id = item.find("id");
    if (!id || id->kind != yaml::Kind::scalar || id->scalar.empty()) {
      top.report(id ? *id : item, "an id for one of the " + kind);
      return {};
    }
    taken(kind, *id);
    return id->scalar;
  }

  /// Every name stands once among its kind, however it is spelt.
  void taken(const std::string& kind, const yaml::Node& name) {
    for (const auto& other : names_[kind]) {
      if (!same_name(other.name, name.scalar)) continue;
      problems_.push_back(document_->problem(
          name, "a name that no other of the " + kind + " has",
          "'" + other.name + "' stands at " + other.file + ':' + std::to_string(other.line)));
      return;
    }
    names_[kind].push_back({name.scalar, document_->file(), name.line});
  }

  template <class Part>
  void list(yaml::Fields& top, const std::string& kind, std::vector<Part>& into,
            void (*read)(yaml::Fields&, Part&)) {
    top.list(kind, [&](const yaml::Node& item) {
      const std::string id = id_of(top, item, kind);
      if (id.empty()) return;
      const yaml::Node plain =
          catalog::plain_values(*document_, item, id, catalog_.values, problems_);
      yaml::Fields fields(*document_, plain, problems_, id);
      Part part;
      read(fields, part);
      fields.done();
      if (const yaml::Node* aliases = plain.find("aliases"))
        for (const yaml::Node& alias : aliases->items) taken(kind, alias);
      into.push_back(std::move(part));
    });
  }

  void templates(yaml::Fields& top) {
    top.list("servers", [&](const yaml::Node& item) {
      const std::string id = id_of(top, item, "servers");
      if (id.empty()) return;
      Catalog::Template t{id, document_->file(), document_, &item, {}};
      Problems elsewhere;  // the reader of servers reports what is wrong inside
      yaml::Fields fields(*document_, item, elsewhere, id);
      catalog::read_provenance(fields, t.from);
      catalog_.servers.push_back(std::move(t));
    });
  }

  struct Name {
    std::string name, file;
    int line = 0;
  };

  Catalog catalog_;
  Problems problems_;
  const yaml::Document* document_ = nullptr;
  std::map<std::string, std::vector<Name>> names_;
};

bool is_catalogue_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return path.extension() == ".yaml" && std::ranges::any_of(kFiles, [&](std::string_view prefix) {
           return name.starts_with(prefix);
         });
}

}  // namespace

Checked<Catalog> load_catalog(const std::string& folder) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (is_catalogue_file(entry.path())) files.push_back(entry.path());
  if (failed)
    return as_problems({.at = {folder},
                        .expected = "the folder of the catalogue",
                        .found = failed.message(),
                        .hint = "it ships as 'catalog' beside the program"});
  if (files.empty())
    return as_problems({.at = {folder},
                        .expected = "a folder with accelerators.yaml and its siblings",
                        .found = "none of them"});
  std::ranges::sort(files);
  Loader loader;
  for (const fs::path& file : files) loader.file(file.string());
  return std::move(loader).result();
}

}  // namespace railyard::model
