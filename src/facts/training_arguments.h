#pragma once
// The arguments of a Megatron-LM run as somebody wrote or logged them: name -> words, with places.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facts/seen.h"

namespace railyard::facts {

/// One argument. Names carry underscores, as the log prints them: `--num-layers` is `num_layers`.
struct Argument {
  std::string name = {};
  std::vector<std::string> values = {};  ///< none for a bare switch of a script
  bool none = false;                     ///< the log says None: not set
  Where where = {};
};

struct TrainingArguments {
  /// A log has every argument, defaults and derived values included; a script only what was typed.
  enum class Origin : std::uint8_t { script, log };

  std::string file = {};
  Origin origin = Origin::script;
  std::vector<Argument> arguments = {};  ///< by name; of repeated ones the last, as argparse does
  std::vector<Argument> launcher = {};   ///< of torchrun, srun and sbatch: nnodes, nproc_per_node
  std::vector<Skipped> skipped = {};

  /// The argument, or nullptr when it is absent or None.
  const Argument* find(std::string_view name) const { return find_in(arguments, name); }
  const Argument* find_launcher(std::string_view name) const { return find_in(launcher, name); }

 private:
  static const Argument* find_in(const std::vector<Argument>& list, std::string_view name) {
    const auto at = std::ranges::lower_bound(list, name, {}, &Argument::name);
    return at != list.end() && at->name == name && !at->none ? &*at : nullptr;
  }
};

}  // namespace railyard::facts
