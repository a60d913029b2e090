#include "model/stacks.h"

#include <charconv>
#include <utility>

#include "base/suggest.h"
#include "model/catalog.h"
#include "model/catalog/readers.h"

namespace railyard::model {

namespace {

struct FlagField {
  std::string_view key;
  bool Software::* field;
};
constexpr FlagField kFlags[] = {
    {"fused_kernels", &Software::fused_kernels},
    {"compiled", &Software::compiled},
    {"cuda_graphs", &Software::cuda_graphs},
    {"fused_accumulation", &Software::fused_accumulation},
    {"fused_sinks", &Software::fused_sinks},
    {"fused_loss", &Software::fused_loss},
    {"attention_dropout", &Software::attention_dropout},
    {"scatter_gather", &Software::scatter_gather},
    {"owner_by_owner", &Software::owner_by_owner},
    {"reduce_scatter_gradients", &Software::reduce_scatter_gradients},
    {"deduplicate_dispatch", &Software::deduplicate_dispatch},
    {"quantised_weights_kept", &Software::quantised_weights_kept},
    {"overlap_tensor", &Software::overlap_tensor},
    {"overlap_pipeline", &Software::overlap_pipeline},
    {"overlap_gradients", &Software::overlap_gradients},
    {"overlap_parameters", &Software::overlap_parameters},
    {"overlap_expert", &Software::overlap_expert},
    {"overlap_context", &Software::overlap_context},
};

/// Bytes per parameter: FP8 and the like, 16 bit, 32 bit.
struct WidthField {
  std::string_view key;
  int Software::* field;
  std::vector<std::string> widths;
};
const std::vector<WidthField>& widths() {
  static const std::vector<WidthField> all{
      {"gradient_bytes", &Software::gradient_bytes, {"2", "4"}},
      {"gradient_wire_bytes", &Software::gradient_wire_bytes, {"1", "2", "4"}},
      {"parameter_wire_bytes", &Software::parameter_wire_bytes, {"1", "2", "4"}},
      {"master_bytes", &Software::master_bytes, {"0", "2", "4"}},
      {"moment_bytes", &Software::moment_bytes, {"1", "2", "4"}},
  };
  return all;
}

const std::vector<std::pair<std::string, AttentionKernel>>& attention_words() {
  static const std::vector<std::pair<std::string, AttentionKernel>> words{
      {"unfused", AttentionKernel::unfused},
      {"flash", AttentionKernel::flash2},
      {"flash1", AttentionKernel::flash1},
      {"flash2", AttentionKernel::flash2},
      {"flash3", AttentionKernel::flash3}};
  return words;
}

/// `released: 2024-07`
void read_release(yaml::Fields& fields, Software& out) {
  std::string date;
  if (!fields.text("released", date)) return;
  int year = 0, month = 0;
  const char* const end = date.data() + date.size();
  const auto y = std::from_chars(date.data(), end, year);
  const bool dash = y.ec == std::errc{} && y.ptr != end && *y.ptr == '-';
  const auto m = dash ? std::from_chars(y.ptr + 1, end, month) : y;
  if (!dash || m.ec != std::errc{} || m.ptr != end || year < 2015 || year > 2100 || month < 1 ||
      month > 12) {
    fields.report(*fields.get("released"), "a month such as 2024-07");
    return;
  }
  out.year = year;
  out.month = month;
}

}  // namespace

const Stack* Stacks::find(std::string_view id_or_alias) const {
  for (const Stack& stack : list) {
    if (same_name(stack.id, id_or_alias)) return &stack;
    for (const std::string& alias : stack.aliases)
      if (same_name(alias, id_or_alias)) return &stack;
  }
  return nullptr;
}

void read_software(yaml::Fields& fields, Software& out) {
  read_release(fields, out);
  fields.choice("attention", attention_words(), out.attention);
  for (const FlagField& f : kFlags) fields.flag(f.key, out.*f.field);
  for (const WidthField& w : widths()) {
    int index = 0;
    if (fields.word(w.key, w.widths, index))
      out.*w.field = w.widths[static_cast<std::size_t>(index)][0] - '0';
  }
  Bytes buckets = Bytes::si(out.bucket_bytes);
  if (fields.bytes("bucket_bytes", buckets)) out.bucket_bytes = buckets.si();
  fields.number("bucket_share", out.bucket_share, 0, 4);
  fields.number("expert_imbalance", out.expert_imbalance, 1, 1e6);
  fields.seconds("launch", out.launch);
}

Checked<Stacks> parse_stacks(const yaml::Document& document) {
  Problems problems;
  Stacks out;
  yaml::Fields top(document, document.root(), problems, "a file of software stacks");
  top.ignore("sources");
  top.need("stacks");
  top.list("stacks", [&](const yaml::Node& node) {
    yaml::Fields fields(document, node, problems, "a software stack");
    if (!fields.is_map()) return;
    Stack stack;
    if (const yaml::Node* like = fields.get("like")) {
      if (const Stack* base = out.find(like->scalar)) {
        stack.software = base->software;
        stack.from = base->from;
      } else {
        fields.report(*like, "a stack that stands above",
                      did_you_mean(like->scalar, ids(out.list)));
      }
    }
    fields.need("id");
    fields.text("id", stack.id);
    fields.text("title", stack.title);
    if (fields.need("released") && out.find(stack.id))
      fields.report(*fields.get("id"), "a name that no other stack has");
    read_software(fields, stack.software);
    catalog::read_aliases(fields, stack.aliases);
    catalog::read_provenance(fields, stack.from);
    fields.done();
    stack.software.stack = stack.id;
    out.list.push_back(std::move(stack));
  });
  top.done();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

Checked<Stacks> load_stacks(const std::string& path) {
  const yaml::Document document = RY_TRY(yaml::Document::load(path));
  return parse_stacks(document);
}

}  // namespace railyard::model
