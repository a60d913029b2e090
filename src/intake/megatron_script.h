#pragma once
// The part of the Megatron-LM reader that looks for the training command in a launch script.

#include "base/problem.h"
#include "base/text.h"
#include "facts/training_arguments.h"

namespace railyard::intake {

Checked<facts::TrainingArguments> read_megatron_script(const Text& text);

/// Sorts by name; of arguments with one name the last stays, as argparse does.
void keep_last(std::vector<facts::Argument>& arguments);

}  // namespace railyard::intake
