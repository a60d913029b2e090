#pragma once
// Other people's descriptions of a model or a run become ours: a Hugging Face config.json an
// Architecture, the arguments of a Megatron-LM run a Job. What the description leaves out and we
// had to assume is said in the notes; what cannot be assumed is a problem at its place.

#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "facts/model_config.h"
#include "facts/training_arguments.h"
#include "model/architecture.h"
#include "model/job.h"
#include "model/stacks.h"

namespace railyard::model {

struct ReadArchitecture {
  Architecture model = {};
  std::vector<std::string> notes = {};  ///< sentences: what was assumed or left out
};
Checked<ReadArchitecture> architecture_from(const facts::ModelConfig& config);

/// The job that the arguments describe. `stack` names what the arguments leave open (kernels, bytes
/// of gradients); arguments that say otherwise win. Without a world size, `layout.data` stays 0: to
/// be fitted to a cluster. Notes stand in the job's origin.
Checked<Job> job_from(const facts::TrainingArguments& arguments, const Stacks& stacks,
                      std::string_view stack = kDefaultStack);

}  // namespace railyard::model
