#pragma once
// "Did you mean ...?": the nearest known word by edit distance.

#include <span>
#include <string>
#include <string_view>

namespace railyard {

/// Number of insertions, deletions, substitutions and swaps of neighbours that turn a into b.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate that differs in case only or that the word is short for ("tp"); else the best
/// within two edits (or a third of the word's length), ties by order; else one that contains it.
std::string nearest(std::string_view word, std::span<const std::string> known);

/// "did you mean 'x'?" or empty.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace railyard
