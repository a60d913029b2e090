#pragma once
// The tree of terms behind a number. Every prediction carries one, so that a reader can follow a
// step time down to the datasheet line that it rests on.
//
// A term is what a line of a spreadsheet would be: a name, a value, how the value came from the
// children or from given numbers, and where those numbers are from. The value stands twice: as text
// for people, and as number and unit for scripts.

#include <string>
#include <utility>
#include <vector>

#include "base/measure.h"
#include "base/quantity.h"

namespace railyard::predict {

struct Term {
  std::string name = {};
  std::string value = {};    ///< for people: "8.52 ms", "3.35 TB/s"
  double number = 0;         ///< in `unit`; what JSON carries
  std::string unit = {};     ///< "s", "B", "B/s", "FLOP/s"; empty for a ratio or a count
  std::string formula = {};  ///< "2 (n-1)/n x message / bandwidth", or the sum with its numbers
  std::string source = {};   ///< catalogue entry, publication or file:line
  std::vector<Term> children = {};
};

// One maker per kind of value keeps text, number and unit of a term in step.
inline Term term(std::string name, Seconds t, std::string formula = {}, std::string source = {}) {
  return {.name = std::move(name),
          .value = show(t),
          .number = t.si(),
          .unit = "s",
          .formula = std::move(formula),
          .source = std::move(source)};
}
inline Term term(std::string name, Bytes b, std::string formula = {}, std::string source = {}) {
  return {.name = std::move(name),
          .value = show(b),
          .number = b.si(),
          .unit = "B",
          .formula = std::move(formula),
          .source = std::move(source)};
}
inline Term term(std::string name, Bandwidth b, std::string formula = {}, std::string source = {}) {
  return {.name = std::move(name),
          .value = show(b),
          .number = b.si(),
          .unit = "B/s",
          .formula = std::move(formula),
          .source = std::move(source)};
}
inline Term term(std::string name, FlopRate r, std::string formula = {}, std::string source = {}) {
  return {.name = std::move(name),
          .value = show(r),
          .number = r.si(),
          .unit = "FLOP/s",
          .formula = std::move(formula),
          .source = std::move(source)};
}
/// A ratio or a count.
inline Term term(std::string name, double ratio, std::string formula = {},
                 std::string source = {}) {
  return {.name = std::move(name),
          .value = show_number(ratio),
          .number = ratio,
          .unit = {},
          .formula = std::move(formula),
          .source = std::move(source)};
}

}  // namespace railyard::predict
