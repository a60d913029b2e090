#pragma once
// job.yaml: the model, the batch, the precision, the layout, and what the software does.
//
//   job: llama3-70b on 64
//   model: llama3-70b            # catalogue, path of a config.json, or a map ({like: ID, layers:
//   40}) sequence: 8192 global_batch: 128            # sequences per step; or global_batch_tokens
//   precision: bf16
//   stack: megatron-core-0.12    # any of its features can be set under software:
//   layout: {tensor_parallel: 4, pipeline_parallel: 4, virtual_stages: 5, zero: 1}
//
// data_parallel may be left out: fit_to() fills the cluster. Everything wrong in the file is
// reported in one go, each mistake at its line and column.

#include <functional>
#include <string>

#include "base/problem.h"
#include "base/yaml.h"
#include "facts/model_config.h"
#include "model/catalog.h"
#include "model/job.h"
#include "model/stacks.h"

namespace railyard::model {

/// Reads the config.json at a path. The reader of that format is in another room; whoever wires the
/// rooms together hands it in.
using ModelResolver = std::function<Checked<facts::ModelConfig>(const std::string& path)>;

Checked<Job> load_job(const std::string& path, const Catalog& catalog, const Stacks& stacks,
                      const ModelResolver& resolve);
/// As load_job. A relative path of a config.json counts from the folder of the document.
Checked<Job> parse_job(const yaml::Document& document, const Catalog& catalog, const Stacks& stacks,
                       const ModelResolver& resolve);

}  // namespace railyard::model
