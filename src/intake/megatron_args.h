#pragma once
// Reads the arguments of a Megatron-LM (or Megatron-DeepSpeed) run from a training log or from the
// script that launches it. A log is preferred: Megatron prints every argument there, defaults and
// derived values included, between two lines of dashes:
//
//   ------------------------ arguments ------------------------
//     global_batch_size ............................... 1536
//   -------------------- end of arguments ---------------------
//
// Lines may carry the tags that launchers put in front (`0: `, `[rank0]:`, a time).

#include <string>
#include <string_view>

#include "base/problem.h"
#include "base/text.h"
#include "facts/training_arguments.h"

namespace railyard::intake {

/// How sure the first bytes of a file make us: 0 no .. 100 certain.
int sniff_megatron_arguments(std::string_view head);

/// Reads the last block of arguments of a log; without one, the training command of a script.
Checked<facts::TrainingArguments> read_megatron_arguments(const Text& text);
Checked<facts::TrainingArguments> load_megatron_arguments(const std::string& path);

}  // namespace railyard::intake
