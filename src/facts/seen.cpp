#include "facts/seen.h"

#include <algorithm>
#include <utility>

namespace railyard::facts {

Problem problem_at(const Where& where, std::string expected, std::string found, std::string hint) {
  return {.at = where.at,
          .expected = std::move(expected),
          .found = std::move(found),
          .hint = std::move(hint),
          .source_line = where.line};
}

void count(std::vector<Skipped>& skipped, std::string_view what, const Place& at,
           std::string_view hint) {
  auto entry = std::ranges::find(skipped, what, &Skipped::what);
  if (entry == skipped.end()) {
    skipped.push_back({.what = std::string(what), .hint = std::string(hint)});
    entry = skipped.end() - 1;
  }
  ++entry->count;
  if (entry->first.size() < 3) entry->first.push_back(at);
}

}  // namespace railyard::facts
