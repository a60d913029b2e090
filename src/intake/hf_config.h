#pragma once
// Reads the config.json of a Hugging Face model directory. The spellings of some forty
// architectures are a table (hf_spellings.h); a new architecture is a new line there.

#include <string>
#include <string_view>

#include "base/problem.h"
#include "facts/model_config.h"

namespace railyard::intake {

/// How sure the first bytes of a file make us that it is a config.json: 0 no .. 100 certain.
int sniff_hf_config(std::string_view head);

/// Reads the text of a config.json. Refuses other JSON files of a model directory by name.
Checked<facts::ModelConfig> read_hf_config(std::string file, std::string bytes);
Checked<facts::ModelConfig> load_hf_config(const std::string& path);

}  // namespace railyard::intake
