#pragma once
// Where a number comes from. Every value of the catalogue carries one of these.

#include <cstdint>
#include <string>
#include <string_view>

namespace railyard::model {

enum class Confidence : std::uint8_t {
  agreed,    ///< A: two independent sources agree
  single,    ///< B: one source
  recalled,  ///< C: from memory, no source opened
  conflict,  ///< X: sources disagree, see the note
  supplied,  ///< U: user-supplied, no datasheet
};
std::string_view name(Confidence c);

struct Provenance {
  std::string source = {};
  Confidence confidence = Confidence::single;
  std::string note = {};
};

}  // namespace railyard::model
