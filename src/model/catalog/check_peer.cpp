// Hardware files of other tools against ours.
//
// Both formats are small JSON files of bare numbers, so that the usual slip (both directions added,
// a sparse peak, GB for GiB) shows as a plain factor; the finding names the factor where it is one
// that is known. A rate printed with fewer digits is a note.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "model/catalog/findings.h"

namespace railyard::model {

namespace {

// 1000 for 989.5 is rounding; more than that is another number.
constexpr double kRounded = 0.025, kSame = 0.005;

template <class T>
std::optional<T> read_number(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// Words of a name: "A100-SXM4-80GB" -> a100 sxm 80g.
std::vector<std::string> words(std::string_view name) {
  std::vector<std::string> out;
  std::string word;
  const auto end = [&] {
    if (word.size() > 2 && word.ends_with("gb")) word.pop_back();
    if (word.size() == 4 && word.starts_with("sxm")) word.pop_back();
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      word += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      word += c;
    } else {
      end();
    }
  }
  end();
  return out;
}

/// The part that a name means: one of our spellings, else the part that shares the first word and
/// most of the others, and adds the fewest.
const Accelerator* find_part(const Catalog& catalog, std::string_view name) {
  if (const Accelerator* exact = catalog.accelerator(name)) return exact;
  const std::vector<std::string> wanted = words(name);
  if (wanted.empty()) return nullptr;
  const Accelerator* best = nullptr;
  int best_score = 0;
  for (const Accelerator& a : catalog.accelerators) {
    const std::vector<std::string> has = words(a.id);
    if (std::ranges::find(has, wanted.front()) == has.end()) continue;
    int score = 100 - static_cast<int>(has.size());
    for (const std::string& w : wanted) score += std::ranges::find(has, w) == has.end() ? 0 : 10;
    if (score > best_score) {
      best_score = score;
      best = &a;
    }
  }
  return best;
}

/// What a factor between two figures usually means.
std::string_view usual_reason(double factor) {
  struct Reason {
    double factor;
    std::string_view text;
  };
  static constexpr Reason reasons[] = {{2, "twice: both directions added, or the sparse rate"},
                                       {0.5, "half: one die of two, or one direction of a sum"},
                                       {4, "four times: the rate of a narrower format"},
                                       {0.25, "a quarter: the rate without tensor cores"},
                                       {1.0737, "GiB read as GB"},
                                       {0.9313, "GB read as GiB"}};
  if (factor > 1000) return "no limit, on purpose";
  for (const Reason& r : reasons)
    if (std::abs(factor / r.factor - 1) < 0.01) return r.text;
  return {};
}

/// A value of ours, and the unit that the other tool's bare number is in.
template <class Q>
struct Ours {
  Q value, unit;
};

class Comparison {
 public:
  Comparison(const yaml::Document& file, const Accelerator& part, PeerCheck& out)
      : file_(file), part_(part), out_(out) {}

  /// The number at `path` ("mem1.GBps") against ours; nothing where either is missing.
  template <class Q>
  void value(std::string_view path, Ours<Q> ours) {
    const std::optional<double> number = at(path);
    if (!number || ours.value == Q{}) return;
    ++out_.rules;
    const Q theirs = *number * ours.unit;
    const double factor = theirs / ours.value;
    if (std::abs(factor - 1) <= kSame) return;
    std::string sum = show(theirs) + " there, " + show(ours.value) + " here: ";
    sum += (factor > 1 ? "+" : "-") + show_percent(std::abs(factor - 1));
    const std::string_view reason = usual_reason(factor);
    if (!reason.empty()) sum += " (" + std::string(reason) + ')';
    out_.found.push_back({std::abs(factor - 1) <= kRounded ? Severity::note : Severity::error,
                          part_.id, std::string(path) + " differs", std::move(sum),
                          show(ours.value), show(theirs)});
  }

  void error(std::string_view path, std::string what, std::string sum) {
    if (!at(path)) return;
    ++out_.rules;
    out_.found.push_back({Severity::error, part_.id, std::move(what), std::move(sum)});
  }

  /// A number below the root; list items by their index.
  std::optional<double> at(std::string_view path) const {
    const yaml::Node* node = &file_.root();
    while (node && !path.empty()) {
      const std::size_t dot = std::min(path.find('.'), path.size());
      const std::string_view key = path.substr(0, dot);
      path.remove_prefix(std::min(dot + 1, path.size()));
      if (node->kind == yaml::Kind::list) {
        const std::size_t index = read_number<std::size_t>(key).value_or(node->items.size());
        node = index < node->items.size() ? &node->items[index] : nullptr;
      } else {
        node = node->find(key);
      }
    }
    if (!node || node->kind != yaml::Kind::scalar) return {};
    return read_number<double>(node->scalar);
  }

 private:
  const yaml::Document& file_;
  const Accelerator& part_;
  PeerCheck& out_;
};

/// [Calculon systems/*.json: matrix and vector peaks by format, mem1 the device memory, networks
/// from the innermost]
void compare_calculon(Comparison& c, const Accelerator& a) {
  const FlopRate half = max(a.peak_of(Precision::bf16), a.peak_of(Precision::fp16));
  c.value("matrix.float16.tflops", Ours{half, TFLOPS});
  c.value("matrix.bfloat16.tflops", Ours{a.peak_of(Precision::bf16), TFLOPS});
  c.value("matrix.float32.tflops",
          Ours{max(a.peak_of(Precision::tf32), a.peak_of(Precision::fp32)), TFLOPS});
  c.value("matrix.float8.tflops", Ours{a.peak_of(Precision::fp8), TFLOPS});
  c.value("mem1.GiB", Ours{a.memory_usable, GiB});
  c.value("mem1.GBps", Ours{a.memory, GBps});
  c.value("networks.0.bandwidth", Ours{a.scale_up.total, GBps});
}

/// The rate of 8-bit integers: that of fp8 where there is one; CDNA 2 gives them the rate of fp16.
FlopRate int8_rate(const Accelerator& a) {
  if (const FlopRate fp8 = a.peak_of(Precision::fp8); fp8 > FlopRate{}) return fp8;
  const FlopRate half = a.peak_of(Precision::fp16);
  return a.vendor == "amd" ? half : 2 * half;
}

/// [llm-analysis gpu_configs/*.json]
void compare_llm_analysis(Comparison& c, const Accelerator& a) {
  c.value("peak_fp16_TFLOPS",
          Ours{max(a.peak_of(Precision::fp16), a.peak_of(Precision::bf16)), TFLOPS});
  c.value("peak_i8_TFLOPS", Ours{int8_rate(a), TFLOPS});
  if (a.compute_capability >= 90)
    c.error("peak_i4_TFLOPS", "peak_i4_TFLOPS of a part without a 4-bit integer path",
            "tensor cores from Hopper on have none");
  c.value("mem_per_GPU_in_GB", Ours{a.memory_label, GB});
  c.value("hbm_bandwidth_in_GB_per_sec", Ours{a.memory, GBps});
  const std::string_view inside = "intra_node_bandwidth_in_GB_per_sec";
  c.value(inside, Ours{a.scale_up.total, GBps});  // of parts without such links: nothing to compare
  if (a.scale_up.kind == ScaleUpKind::bridge)
    c.error(inside, "intra_node_bandwidth holds for a bridged pair only",
            "all others go through PCIe");
}

}  // namespace

Checked<PeerCheck> check_peer(const Catalog& catalog, const yaml::Document& file) {
  const yaml::Node& root = file.root();
  const bool calculon = root.find("matrix") && root.find("mem1");
  const bool analysis = root.find("peak_fp16_TFLOPS") || root.find("mem_per_GPU_in_GB");
  if (!calculon && !analysis)
    return as_problems(file.problem(
        root, "a hardware file of another tool",
        "read are Calculon's (matrix, mem1, networks) and llm-analysis' (peak_fp16_TFLOPS, ...)"));

  PeerCheck out;
  out.format = calculon ? "calculon" : "llm-analysis";
  const yaml::Node* name = root.find("name");
  out.name = name && name->kind == yaml::Kind::scalar
                 ? name->scalar  // Calculon's files have their name outside
                 : std::filesystem::path(file.file()).stem().string();
  const Accelerator* part = find_part(catalog, out.name);
  if (!part)
    return as_problems(file.problem(name ? *name : root, "the name of an accelerator that we have",
                                    '\'' + out.name + "' is none of them"));
  out.part = part->id;
  Comparison comparison(file, *part, out);
  if (calculon) {
    compare_calculon(comparison, *part);
  } else {
    compare_llm_analysis(comparison, *part);
  }
  return out;
}

}  // namespace railyard::model
