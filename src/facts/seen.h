#pragma once
// What a reader hands on remembers where it was read, so that whoever finds it wrong later can
// point at the line. What a reader could not use is counted and placed, never dropped in silence.

#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"

namespace railyard::facts {

/// A place in the user's file and the text of that line (for the caret).
struct Where {
  Place at = {};
  std::string line = {};
};

/// A mistake found later, at a place that a reader remembered.
Problem problem_at(const Where& where, std::string expected, std::string found,
                   std::string hint = {});

/// A value as the file says it, and where.
template <class T>
struct Seen {
  T value = {};
  Where where = {};
};

/// A kind of line or key that a reader passed over.
struct Skipped {
  std::string what = {};
  int count = 0;
  std::vector<Place> first = {};  ///< of the first three
  std::string hint = {};          ///< what the user can do about it
};

/// Adds one to the entry `what`, making it when it is new.
void count(std::vector<Skipped>& skipped, std::string_view what, const Place& at,
           std::string_view hint);

}  // namespace railyard::facts
