#pragma once
// Software stacks by name: what Megatron-Core 0.12, torchtitan 2025 or plain DDP do with a step.
// The facts stand in catalog/stacks.yaml with source, confidence and release date.

#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "base/yaml.h"
#include "model/job.h"
#include "model/provenance.h"

namespace railyard::model {

struct Stack {
  std::string id = {}, title = {};
  Software software = {};
  std::vector<std::string> aliases = {};
  Provenance from = {};
};

struct Stacks {
  std::vector<Stack> list;

  const Stack* find(std::string_view id_or_alias) const;
};

/// Stands for a job that names no stack.
inline constexpr std::string_view kDefaultStack = "megatron-core-0.12";

/// Reads stacks.yaml. A stack may begin `like:` one that stands above it.
Checked<Stacks> load_stacks(const std::string& path);
Checked<Stacks> parse_stacks(const yaml::Document& document);

/// Reads the features of Software over what is already there (also for `software:` of a job file).
void read_software(yaml::Fields& fields, Software& out);

}  // namespace railyard::model
