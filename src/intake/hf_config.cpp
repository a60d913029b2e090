#include "intake/hf_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "base/text.h"
#include "intake/hf_spellings.h"

namespace railyard::intake {

namespace {

using facts::Seen;
using facts::Where;
using yaml::Document;
using yaml::Kind;
using yaml::Node;

// A config.json is a few kilobytes; this is far above the largest, and far below trouble.
constexpr std::size_t kLargest = 16 << 20;
// Lines longer than this (minified files) are not kept with every value.
constexpr std::size_t kKeptLine = 400;

Where where_of(const Document& doc, int line, int column) {
  const std::string_view text = line_of(doc.bytes(), line);
  return {.at = {doc.file(), line, column},
          .line = text.size() <= kKeptLine ? std::string(text) : std::string()};
}

/// Follows a dotted path through nested maps.
const Node* find(const Node& map, std::string_view path) {
  const Node* at = &map;
  while (at && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at = at->find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

bool parse(const Node& node, double& out) {
  const char* end = node.scalar.data() + node.scalar.size();
  const auto [rest, ec] = std::from_chars(node.scalar.data(), end, out);
  return ec == std::errc{} && rest == end && std::isfinite(out);
}

class Reader {
 public:
  Reader(const Document& doc, const Node& map, Problems& problems)
      : doc_(doc), map_(map), problems_(problems) {}

  void read(ModelConfig& out) {
    for (const IntegerSpelling& s : kIntegerSpellings) integer(s.key, out.*s.field);
    for (const FlagSpelling& s : kFlagSpellings) flag(s.key, out.*s.field);
    for (const WordSpelling& s : kWordSpellings) word(s.key, out.*s.field);
    for (const NumberSpelling& s : kNumberSpellings) number(s.key, out.*s.field);
    lists(out);
    out.has_rms_epsilon = map_.find("rms_norm_eps") != nullptr;
    out.has_rotary_base = map_.find("rope_theta") || map_.find("rotary_emb_base") ||
                          map_.find("rope_scaling") || map_.find("rope_parameters");
    unknown_sizes();
  }

 private:
  const Node* present(std::string_view key) {
    known_.push_back(key.substr(0, key.find('.')));
    const Node* node = find(map_, key);
    return node && node->kind != Kind::null ? node : nullptr;
  }
  Where place(const Node& node) const { return where_of(doc_, node.line, node.column); }

  void integer(std::string_view key, ModelConfig::Integer& out) {
    const Node* node = present(key);
    if (!node || out) return;
    if (node->kind == Kind::list && key == "moe_layer_freq") return;  // read by lists()
    double value = 0;
    // 2^30: larger than any size of a network, small enough for products of two in 64 bits.
    const bool whole = node->kind == Kind::scalar && !node->quoted && parse(*node, value) &&
                       value == std::floor(value) && value >= 0 && value <= (1 << 30);
    if (whole) {
      out = Seen<int>{static_cast<int>(value), place(*node)};
      return;
    }
    std::string hint;
    if (node->kind == Kind::list) hint = "layers of different sizes are not modelled";
    if (node->quoted) hint = "a number stands without quotes";
    problems_.push_back(doc_.problem(*node, "a whole number for " + std::string(key), hint));
  }

  void number(std::string_view key, ModelConfig::Number& out) {
    const Node* node = present(key);
    double value = 0;
    if (node && !out && node->kind == Kind::scalar && parse(*node, value) && value > 0)
      out = Seen<double>{value, place(*node)};
  }

  void flag(std::string_view key, ModelConfig::Flag& out) {
    const Node* node = present(key);
    if (!node || out || node->quoted) return;
    if (node->scalar == "true" || node->scalar == "false")
      out = Seen<bool>{node->scalar == "true", place(*node)};
  }

  void word(std::string_view key, ModelConfig::Word& out) {
    const Node* node = present(key);
    if (node && !out && node->kind == Kind::scalar && node->quoted)
      out = Seen<std::string>{node->scalar, place(*node)};
  }

  void lists(ModelConfig& out) {
    if (const Node* node = present("architectures"); node && node->kind == Kind::list)
      if (!node->items.empty() && node->items.front().kind == Kind::scalar)
        out.class_name = Seen<std::string>{node->items.front().scalar, place(node->items.front())};
    if (const Node* node = present("layer_types"); node && node->kind == Kind::list)
      for (const Node& item : node->items) out.layer_kinds.push_back(item.scalar);
    integers("moe_layer_freq", out.expert_layers);
    integers("mlp_only_layers", out.layers_without_experts);
  }

  void integers(std::string_view key, std::vector<int>& out) {
    const Node* node = present(key);
    if (!node || node->kind != Kind::list) return;
    for (const Node& item : node->items) {
      double value = 0;
      if (item.kind == Kind::scalar && parse(item, value) && std::abs(value) < (1 << 30)) {
        out.push_back(static_cast<int>(value));
      } else {
        problems_.push_back(doc_.problem(item, "a whole number in " + std::string(key)));
      }
    }
  }

  /// Numbers whose names speak of sizes, under keys that the table does not have.
  void unknown_sizes() {
    static constexpr std::string_view kTelling[] = {"_size",  "_dim",  "_rank",
                                                    "layers", "heads", "experts"};
    // Routing groups, generation and classification heads: no part of a training step's size.
    static constexpr std::string_view kHarmless[] = {
        "n_group",           "num_beams", "num_beam_groups", "num_labels", "num_return_sequences",
        "max_window_layers", "n_special"};
    for (std::size_t i = 0; i < map_.keys.size(); ++i) {
      const Node::Key& key = map_.keys[i];
      const Node& value = map_.items[i];
      double number = 0;
      if (value.kind != Kind::scalar || value.quoted || !parse(value, number)) continue;
      if (std::ranges::find(known_, key.name) != known_.end()) continue;
      if (std::ranges::find(kHarmless, key.name) != std::end(kHarmless)) continue;
      const bool counts = key.name.starts_with("num_") || key.name.starts_with("n_");
      if (!counts && std::ranges::none_of(kTelling, [&](auto t) { return key.name.contains(t); }))
        continue;
      unknown_.push_back({doc_.file(), key.line, key.column});
    }
  }

 public:
  const std::vector<Place>& unknown() const { return unknown_; }

 private:
  const Document& doc_;
  const Node& map_;
  Problems& problems_;
  std::vector<std::string_view> known_;
  std::vector<Place> unknown_;
};

bool has_layers(const Node& map) {
  return std::ranges::any_of(kIntegerSpellings, [&](const IntegerSpelling& s) {
    return s.field == &ModelConfig::layers && map.find(s.key);
  });
}

/// What a JSON file without layers probably is.
std::string name_of_other(const Node& root) {
  if (root.find("tokenizer_class") || root.find("added_tokens_decoder"))
    return "a tokenizer_config.json";
  if (root.find("train_batch_size") || root.find("zero_optimization") ||
      root.find("train_micro_batch_size_per_gpu"))
    return "a DeepSpeed configuration";
  if (root.find("weight_map")) return "an index of weights";
  if (root.find("traceEvents")) return "a trace";
  if (root.find("do_sample") || root.find("temperature") || root.find("max_new_tokens"))
    return "a generation_config.json";
  return "a JSON file without a number of layers";
}

}  // namespace

int sniff_hf_config(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return 0;
  if (head.contains("\"architectures\"") && head.contains("\"model_type\"")) return 95;
  if (head.contains("\"model_type\"")) return 80;
  for (const IntegerSpelling& s : kIntegerSpellings)
    if (s.field == &ModelConfig::layers && head.contains('"' + std::string(s.key) + '"')) return 60;
  return 0;
}

Checked<ModelConfig> read_hf_config(std::string file, std::string bytes) {
  if (bytes.find_first_not_of(" \t\r\n") == std::string::npos)
    return as_problems(
        {.at = {file, 1, 1}, .expected = "the config.json of a model", .found = "an empty file"});
  auto parsed = json::parse(std::move(file), std::move(bytes));
  if (!parsed) return std::unexpected(std::move(parsed).error());
  const Document& doc = *parsed;
  const Node& root = doc.root();
  if (root.kind != Kind::map)
    return as_problems(doc.problem(root, "the config.json of a model, which is a map"));

  ModelConfig out;
  out.file = doc.file();
  const Node* map = &root;
  if (!has_layers(root)) {
    for (const std::string_view part : kTextParts) {
      const Node* nested = find(root, part);
      if (!nested || nested->kind != Kind::map || !has_layers(*nested)) continue;
      map = nested;
      out.nested_text_part = true;
      break;
    }
    if (!out.nested_text_part)
      return as_problems(doc.problem(std::max(root.line, 1), std::max(root.column, 1),
                                     "the config.json of a model", name_of_other(root),
                                     "it stands beside the weights and has num_hidden_layers or "
                                     "n_layer in it"));
  }
  out.top = where_of(doc, std::max(map->line, 1), std::max(map->column, 1));

  Problems problems;
  Reader reader(doc, *map, problems);
  reader.read(out);
  if (!problems.empty()) return std::unexpected(std::move(problems));
  for (const Place& at : reader.unknown())
    facts::count(out.skipped, "sizes under keys that are not known", at,
                 "if one of them shapes the network, describe the model in the job file instead");
  // The class and the ties of a multimodal model stand outside its text part.
  if (out.nested_text_part) {
    ModelConfig outer;
    Problems ignored;
    Reader(doc, root, ignored).read(outer);
    if (!out.family) out.family = outer.family;
    if (!out.class_name) out.class_name = outer.class_name;
    if (!out.given_name) out.given_name = outer.given_name;
    if (!out.tied_embeddings) out.tied_embeddings = outer.tied_embeddings;
  }
  return out;
}

Checked<ModelConfig> load_hf_config(const std::string& path) {
  auto bytes = read_file(path, kLargest);
  if (!bytes) return as_problems(std::move(bytes).error());
  return read_hf_config(path, *std::move(bytes));
}

}  // namespace railyard::intake
