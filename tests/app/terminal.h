#pragma once
// A command's world in a test: streams that remember, a clock that stands, no terminal.

#include <string>
#include <vector>

#include "app/run.h"
#include "support/support.h"

namespace railyard::app {

struct Terminal {
  std::string out = {}, err = {};
  double seconds = 0;  ///< what the clock shows
  Io io() {
    return {.out = [this](std::string_view text) { out += text; },
            .err = [this](std::string_view text) { err += text; },
            .now = [this] { return Seconds::si(seconds); },
            .catalog = test::repository("catalog")};
  }
  Exit run(const std::vector<std::string>& words, const std::vector<Command>& table) {
    return app::run(words, table, io());
  }
};

}  // namespace railyard::app
