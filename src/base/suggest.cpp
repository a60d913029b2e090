#include "base/suggest.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace railyard {

namespace {

// What people type for a longer word: the option names of Megatron-LM and its users' shorthand.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kShort{{
    {"tp", "tensor_parallel"},
    {"pp", "pipeline_parallel"},
    {"dp", "data_parallel"},
    {"cp", "context_parallel"},
    {"ep", "expert_parallel"},
    {"etp", "expert_tensor_parallel"},
    {"sp", "sequence_parallel"},
    {"vpp", "virtual_stages"},
    {"mbs", "micro_batch"},
    {"gbs", "global_batch"},
    {"ib", "infiniband"},
}};

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return out;
}

/// The known word that `word` is but for its case, or is the usual short form of.
const std::string* same(std::string_view word, std::span<const std::string> known) {
  const std::string low = lower(word);
  for (const std::string& k : known)
    if (lower(k) == low) return &k;
  for (const auto& [brief, full] : kShort)
    if (low == brief)
      if (const auto it = std::ranges::find(known, full); it != known.end()) return &*it;
  return nullptr;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Restricted Damerau-Levenshtein with three rolling rows.
  const std::size_t n = b.size();
  std::vector<int> before(n + 1), last(n + 1), row(n + 1);
  for (std::size_t j = 0; j <= n; ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= n; ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[n];
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
  if (const std::string* known_as = same(word, known)) return *known_as;
  // A word of three letters within two edits of another says nothing.
  const int most = word.size() < 4 ? 1 : std::max(2, static_cast<int>(word.size()) / 3);
  const std::string* best = nullptr;
  int least = most + 1;
  for (const std::string& k : known) {
    const int d = edit_distance(word, k);
    if (d < least) {
      least = d;
      best = &k;
    }
  }
  if (best) return *best;
  if (word.size() >= 3)
    for (const std::string& k : known)
      if (k.find(word) != std::string::npos) return k;
  return {};
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::string best = nearest(word, known);
  return best.empty() ? std::string() : "did you mean '" + best + "'?";
}

}  // namespace railyard
