#pragma once
// NCCL's own log (NCCL_DEBUG=INFO, with or without NCCL_DEBUG_SUBSYS), as NCCL 2.4 to 2.31 and RCCL
// print it and as people post it: ranks interleaved, lines torn, a launcher's prefix in front,
// colours, other programs' output in between.
//
// A line reads `host:pid:tid [cuda device] NCCL INFO text`. Communicators are told apart by process
// and pointer; a line without a pointer belongs to the communicator that its thread sets up, or
// else to the latest one on that process and device. Time is linear in the text; equal facts of
// many ranks are kept once, and lists end at a hundred thousand entries.

#include <string_view>

#include "base/text.h"
#include "facts/nccl_run.h"

namespace railyard::intake {

/// Whether the text holds lines of NCCL (also true of nccl-tests output with such lines in
/// between).
bool looks_like_nccl_log(std::string_view bytes);

/// Never fails: what cannot be read is counted in `skipped`.
facts::NcclRun read_nccl_log(Text text);

}  // namespace railyard::intake
