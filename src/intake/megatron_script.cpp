#include "intake/megatron_script.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "intake/line_index.h"
#include "intake/shell_words.h"

namespace railyard::intake {

namespace {

using facts::Argument;
using facts::TrainingArguments;

/// Options that every Megatron-LM training command has some of.
constexpr std::string_view kTelling[] = {"num_layers",
                                         "hidden_size",
                                         "num_attention_heads",
                                         "seq_length",
                                         "micro_batch_size",
                                         "global_batch_size",
                                         "train_iters",
                                         "train_samples",
                                         "tensor_model_parallel_size",
                                         "use_mcore_models",
                                         "max_position_embeddings"};

struct LauncherWord {
  std::string_view spelling, name;
};
constexpr LauncherWord kLauncherOptions[] = {{"nproc_per_node", "nproc_per_node"},
                                             {"gpus_per_node", "nproc_per_node"},
                                             {"num_gpus", "nproc_per_node"},
                                             {"nnodes", "nnodes"},
                                             {"num_nodes", "nnodes"},
                                             {"nodes", "nnodes"},
                                             {"gres", "nproc_per_node"}};
constexpr LauncherWord kLauncherVariables[] = {{"WORLD_SIZE", "world_size"},
                                               {"GPUS_PER_NODE", "nproc_per_node"},
                                               {"NPROC_PER_NODE", "nproc_per_node"},
                                               {"NNODES", "nnodes"},
                                               {"NUM_NODES", "nnodes"}};

bool is_option(std::string_view word) {
  return word.size() > 2 && word.starts_with("--") && word[2] != '-' && word[2] != ' ';
}

/// `--num-layers=96` is num_layers.
std::string option_name(std::string_view word) {
  std::string name(word.substr(2, word.find('=') - 2));
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Options with the words that follow each.
std::vector<Argument> options_of(std::span<const ShellWord> words, const LineIndex& index) {
  std::vector<Argument> out;
  for (const ShellWord& word : words) {
    if (is_option(word.text)) {
      Argument argument;
      argument.name = option_name(word.text);
      argument.where = index.where(word.offset);
      if (const std::size_t equals = word.text.find('='); equals != std::string::npos)
        argument.values.push_back(word.text.substr(equals + 1));
      out.push_back(std::move(argument));
    } else if (!out.empty() && !word.text.empty() && word.text != "\\") {
      out.back().values.push_back(word.text);
    }
  }
  return out;
}

/// A list of words that may hold the training command.
struct Candidate {
  std::span<const ShellWord> words = {};
  std::size_t program_end = 0;  ///< one past `pretrain_gpt.py`; 0 when there is no such word
  int telling = 0, options = 0;
};

Candidate weigh(std::span<const ShellWord> words) {
  Candidate out{.words = words};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].text.ends_with(".py") && !is_option(words[i].text)) {
      out.program_end = i + 1;
      out.telling = out.options = 0;  // what stood before belongs to the launcher
    }
    if (!is_option(words[i].text)) continue;
    ++out.options;
    if (std::ranges::find(kTelling, option_name(words[i].text)) != std::end(kTelling))
      ++out.telling;
  }
  return out;
}

void add_launcher(TrainingArguments& out, std::string_view name, std::string_view value,
                  const facts::Where& where) {
  const std::size_t colon = value.find_last_of(':');  // --gres=gpu:8
  if (colon != std::string_view::npos) value = value.substr(colon + 1);
  if (value.empty() || !std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; }))
    return;
  if (std::ranges::find(out.launcher, name, &Argument::name) != out.launcher.end()) return;
  out.launcher.push_back(
      {.name = std::string(name), .values = {std::string(value)}, .where = where});
}

/// Numbers of nodes and of processes: from the command, other commands, #SBATCH lines and
/// variables, in this order; the first that is a number counts.
void find_launcher(TrainingArguments& out, const ShellScript& script, const Candidate& best,
                   const LineIndex& index) {
  const auto from_words = [&](std::span<const ShellWord> words) {
    for (const Argument& a : options_of(words, index))
      for (const LauncherWord& w : kLauncherOptions)
        if (a.name == w.spelling && !a.values.empty())
          add_launcher(out, w.name, a.values.front(), a.where);
  };
  if (best.program_end > 0) from_words(best.words.first(best.program_end - 1));
  for (const auto& [name, words] : script.variables) from_words(words);
  for (const ShellCommand& command : script.commands) {
    const Candidate c = weigh(command);
    from_words(std::span(command).first(c.program_end > 0 ? c.program_end - 1 : command.size()));
  }
  for (const ShellWord& comment : script.comments) {
    const std::size_t option = comment.text.find("--");
    if (!comment.text.starts_with("#SBATCH") || option == std::string::npos) continue;
    const std::string rest = comment.text.substr(option);  // `--nodes=48` or `--nodes 48`
    const std::size_t end = std::min(rest.find_first_of(" \t\r"), rest.size());
    const std::size_t value = std::min(rest.find_first_not_of(" \t\r", end), rest.size());
    const ShellCommand words{{rest.substr(0, end), comment.offset + option},
                             {rest.substr(value, rest.find_first_of(" \t\r", value) - value),
                              comment.offset + option + value}};
    from_words(words);
  }
  for (const LauncherWord& w : kLauncherVariables)
    for (const auto& [name, words] : script.variables)
      if (name == w.spelling && words.size() == 1)
        add_launcher(out, w.name, words.front().text, index.where(words.front().offset));
}

}  // namespace

void keep_last(std::vector<Argument>& arguments) {
  std::ranges::stable_sort(arguments, {}, &Argument::name);
  std::vector<Argument> out;
  for (Argument& a : arguments) {
    if (!out.empty() && out.back().name == a.name) {
      out.back() = std::move(a);
    } else {
      out.push_back(std::move(a));
    }
  }
  arguments = std::move(out);
}

Checked<TrainingArguments> read_megatron_script(const Text& text) {
  ShellScript script = read_shell(text);
  const LineIndex index(text);

  // Arguments pasted one a line, without a command around them, make a command too.
  ShellCommand pasted;
  for (const ShellCommand& command : script.commands)
    if (!command.empty() && is_option(command.front().text))
      pasted.insert(pasted.end(), command.begin(), command.end());

  Candidate best;
  const auto consider = [&](std::span<const ShellWord> words) {
    const Candidate c = weigh(words);
    const auto worth = [](const Candidate& x) {
      return std::array{x.telling, x.program_end > 0 ? 1 : 0, x.options};
    };
    if (worth(c) >= worth(best)) best = c;
  };
  for (const auto& [name, words] : script.variables) consider(words);
  consider(pasted);
  for (const ShellCommand& command : script.commands) consider(command);
  if (best.telling == 0)
    return as_problems({.at = {std::string(text.file), 1, 1},
                        .expected = "a Megatron-LM log or launch script",
                        .found = "a text without options such as --num-layers or --hidden-size",
                        .hint = "give the script that starts pretrain_gpt.py, or the job's output",
                        .source_line = std::string(line_of(text.bytes, 1))});

  TrainingArguments out;
  out.file = text.file;
  out.origin = TrainingArguments::Origin::script;
  out.arguments = options_of(best.words.subspan(best.program_end), index);
  for (const Argument& a : out.arguments)
    for (const std::string& value : a.values)
      if (value.contains('$') || value.contains('`'))
        facts::count(out.skipped, "values that come from outside the script", a.where.at,
                     "put the number into the script, or give the job's output instead");
  keep_last(out.arguments);
  find_launcher(out, script, best, index);
  std::ranges::sort(out.launcher, {}, &Argument::name);
  out.skipped.insert(out.skipped.begin(), script.skipped.begin(), script.skipped.end());
  return out;
}

}  // namespace railyard::intake
