#pragma once
// The surroundings of this process as a command may see them: streams, terminal, environment,
// clock. The only file that asks the operating system for any of them.

#include "app/io.h"

namespace railyard::app {

class Process {
 public:
  /// Reads COLUMNS, NO_COLOR, FORCE_COLOR, TERM, RAILYARD_CATALOG and the terminals.
  Io io() const;
  /// Brings the answer out of the buffers. `exit`, or Exit::output when a byte of it was lost.
  Exit finish(Exit exit) const;
};

}  // namespace railyard::app
