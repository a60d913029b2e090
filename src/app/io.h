#pragma once
// What a command may touch of the outside world: two streams, the shape of the terminal, a clock,
// and where the catalogue lies. A command is data in, result out; because it gets its world handed
// in, a test needs no process, and nothing below this room reads an environment variable or prints.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace railyard::app {

/// The exit codes of every command; scripts rely on them.
enum class Exit : std::uint8_t {
  ok = 0,
  findings = 1,      ///< done, with the full result, and something is wrong or does not fit
  usage = 2,         ///< the command line itself
  bad_input = 3,     ///< a file that cannot be read, or describes what cannot be
  unreachable = 4,   ///< a host
  internal = 70,     ///< our bug [EX_SOFTWARE of sysexits.h]
  output = 74,       ///< the answer could not be written [EX_IOERR]
  interrupted = 130  ///< Ctrl-C [128 + SIGINT, as shells count]
};

struct Io {
  std::function<void(std::string_view)> out;  ///< the answer, nothing else
  std::function<void(std::string_view)> err;  ///< progress, warnings, problems
  int width = 100;                            ///< columns of a table
  bool colour = false;                        ///< of `err`; `out` has none
  std::function<Seconds()> now;               ///< steady clock, any origin
  std::string catalog = {};                   ///< folder, unless --catalog says otherwise
};

}  // namespace railyard::app
