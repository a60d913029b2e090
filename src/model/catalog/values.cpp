// Values with a source of their own, and the fields that every part has.

#include "model/catalog/readers.h"

namespace railyard::model::catalog {

namespace {

const std::vector<std::pair<std::string, Confidence>>& confidences() {
  static const std::vector<std::pair<std::string, Confidence>> words{
      {"agreed", Confidence::agreed},
      {"single", Confidence::single},
      {"recalled", Confidence::recalled},
      {"conflict", Confidence::conflict},
      {"supplied", Confidence::supplied}};
  return words;
}

/// Rewrites `node` in place; `path` is its key chain, for the list of sources.
class Plain {
 public:
  Plain(const yaml::Document& doc, const std::string& id,
        std::vector<Catalog::ValueSource>& sources, Problems& problems)
      : doc_(doc), id_(id), sources_(sources), problems_(problems) {}

  void walk(yaml::Node& node, const std::string& path) {
    if (node.kind != yaml::Kind::map) return;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      yaml::Node& item = node.items[i];
      const std::string here = path.empty() ? node.keys[i].name : path + '.' + node.keys[i].name;
      if (item.find("value")) {
        item = value_of(item, here);
      } else {
        walk(item, here);
      }
    }
  }

 private:
  yaml::Node value_of(const yaml::Node& item, const std::string& path) {
    yaml::Fields fields(doc_, item, problems_, "the value '" + path + "' of " + id_);
    Catalog::ValueSource source{id_, path, {}};
    const yaml::Node* value = fields.get("value");
    read_provenance(fields, source.from);
    fields.done();
    sources_.push_back(std::move(source));
    return *value;
  }

  const yaml::Document& doc_;
  const std::string& id_;
  std::vector<Catalog::ValueSource>& sources_;
  Problems& problems_;
};

}  // namespace

yaml::Node plain_values(const yaml::Document& doc, const yaml::Node& part, const std::string& id,
                        std::vector<Catalog::ValueSource>& sources, Problems& problems) {
  yaml::Node copy = part;
  Plain(doc, id, sources, problems).walk(copy, {});
  return copy;
}

void read_provenance(yaml::Fields& fields, Provenance& out) {
  fields.text("source", out.source);
  fields.choice("confidence", confidences(), out.confidence);
  fields.text("note", out.note);
}

void read_aliases(yaml::Fields& fields, std::vector<std::string>& out) {
  fields.list("aliases", [&](const yaml::Node& item) {
    if (item.kind == yaml::Kind::scalar) {
      out.push_back(item.scalar);
    } else {
      fields.report(item, "another name of the part");
    }
  });
}

void read_map(yaml::Fields& fields, std::string_view key,
              const std::function<void(yaml::Fields&)>& read) {
  const yaml::Node* node = fields.get(key);
  if (!node) return;
  yaml::Fields inner(fields.document(), *node, fields.problems(), "'" + std::string(key) + "'");
  if (!inner.is_map()) return;
  read(inner);
  inner.done();
}

void read_pcie(yaml::Fields& fields, int& generation, int& lanes) {
  read_map(fields, "pcie", [&](yaml::Fields& f) {
    f.integer("generation", generation, 1, 6);
    if (f.integer("lanes", lanes, 1, 48)) {
      for (const int width : {1, 2, 4, 8, 12, 16, 32, 48})
        if (lanes == width) return;
      f.report(*f.get("lanes"), "a link width: 1, 2, 4, 8, 12, 16, 32 or 48 lanes");
    }
  });
}

}  // namespace railyard::model::catalog
