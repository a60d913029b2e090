#pragma once
// A user's mistakes on the screen: all of a file in one go, in file order, and not more than a
// screen or two of them.

#include <string>

#include "base/problem.h"

namespace railyard::report {

enum class Colour : bool { no, yes };

struct ProblemOptions {
  Colour colour = Colour::no;  ///< severity only: the caret is red
  std::size_t most = 20;       ///< the rest is counted in a last line
};

std::string to_text(const Problems& problems, ProblemOptions options = {});

}  // namespace railyard::report
