#include "intake/megatron_args.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "intake/line_index.h"
#include "intake/megatron_script.h"

namespace railyard::intake {

namespace {

using facts::Argument;
using facts::TrainingArguments;

// The launch script of a real run has a few kilobytes; a log can be long.
constexpr std::size_t kLargestScript = 1 << 20;

struct Line {
  std::string_view text = {};
  std::size_t offset = 0;
};

std::vector<Line> lines_of(std::string_view bytes) {
  std::vector<Line> out;
  std::size_t start = 0;
  while (start < bytes.size()) {
    const std::size_t end = std::min(bytes.find('\n', start), bytes.size());
    std::string_view line = bytes.substr(start, end - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.push_back({line, start});
    start = end + 1;
  }
  return out;
}

constexpr std::string_view kDashes = "--------";

bool opens_block(std::string_view line) {
  return line.contains("-- arguments --") && line.contains(kDashes);
}
bool closes_block(std::string_view line) {
  return line.contains("-- end of arguments --") && line.contains(kDashes);
}

bool is_name(std::string_view word) {
  return !word.empty() && !(word[0] >= '0' && word[0] <= '9') &&
         std::ranges::all_of(word, [](char c) {
           return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9');
         });
}

/// A line of the block cut into name and value; `name.data()` tells where the name stands.
struct Pair {
  std::string_view name = {}, value = {};
  bool found = false;
};

/// `  name ...... value`: the word before the dots, whatever tag stands in front of it.
Pair split_at_dots(std::string_view line) {
  for (std::size_t dots = line.find(" ."); dots != std::string_view::npos;
       dots = line.find(" .", dots + 1)) {
    const std::size_t end = line.find_first_not_of('.', dots + 1);
    if (end != std::string_view::npos && line[end] != ' ') continue;
    const std::string_view before = line.substr(0, dots);
    const std::string_view name = before.substr(before.find_last_of(" \t:]") + 1);
    if (!is_name(name)) continue;
    std::string_view value = end == std::string_view::npos ? "" : line.substr(end + 1);
    return {name, value, true};
  }
  return {};
}

/// Names of 48 letters and more leave no room for dots: `  name  value`. The tag in front must be
/// as long as on the line before.
Pair split_long_name(std::string_view line, std::size_t prefix) {
  if (line.size() <= prefix) return {};
  const std::string_view rest = line.substr(prefix);
  const std::string_view name = rest.substr(0, rest.find(' '));
  if (name.size() < 47 || !is_name(name)) return {};
  const std::size_t value = rest.find_first_not_of(' ', name.size());
  if (value == std::string_view::npos) return {};
  return {name, rest.substr(value), true};
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// Words of a Python value as `str()` prints it: `[1, 2]` and `('a', 'b')` are lists.
std::vector<std::string> words_of(std::string_view value) {
  const bool list = value.size() >= 2 && ((value.front() == '[' && value.back() == ']') ||
                                          (value.front() == '(' && value.back() == ')'));
  if (!list) return {std::string(value)};
  std::vector<std::string> out;
  std::string_view rest = value.substr(1, value.size() - 2);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view item = trimmed(rest.substr(0, comma));
    if (item.size() >= 2 && (item.front() == '\'' || item.front() == '"') &&
        item.back() == item.front())
      item = item.substr(1, item.size() - 2);
    if (!item.empty()) out.emplace_back(item);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return out;
}

/// Megatron pads the vocabulary after it has printed its arguments, and says so on a line of its
/// own: ` > padded vocab (size: 50257) with 47 dummy tokens (new size: 50304)`.
void read_padded_vocabulary(const std::vector<Line>& lines, std::size_t from,
                            const LineIndex& index, TrainingArguments& out) {
  constexpr std::string_view kNewSize = "(new size: ";
  for (std::size_t i = from; i < lines.size(); ++i) {
    const std::string_view line = lines[i].text;
    if (!line.contains("padded vocab (size:")) continue;
    const std::size_t at = line.find(kNewSize);
    if (at == std::string_view::npos) continue;
    const std::size_t number = at + kNewSize.size();
    const std::string_view size = line.substr(number, line.find(')', number) - number);
    out.arguments.push_back({.name = "padded_vocab_size",
                             .values = {std::string(size)},
                             .where = index.where(lines[i].offset + number)});
    return;
  }
}

TrainingArguments read_block(const Text& text, const std::vector<Line>& lines, std::size_t begin,
                             std::size_t end, bool closed) {
  TrainingArguments out;
  out.file = text.file;
  out.origin = TrainingArguments::Origin::log;
  const LineIndex index(text);
  std::size_t prefix = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Line& line = lines[i];
    if (trimmed(line.text).empty()) continue;
    Pair pair = split_at_dots(line.text);
    if (!pair.found) pair = split_long_name(line.text, prefix);
    if (!pair.found) {
      facts::count(out.skipped, "lines among the arguments that are none", index.place(line.offset),
                   "other ranks or warnings wrote between them; a torn argument is lost");
      continue;
    }
    prefix = static_cast<std::size_t>(pair.name.data() - line.text.data());
    const std::string_view value = trimmed(pair.value);
    Argument argument;
    argument.name = pair.name;
    argument.none = value == "None";
    argument.values = words_of(value);
    argument.where = index.where(line.offset + prefix);
    out.arguments.push_back(std::move(argument));
  }
  if (!closed)
    facts::count(
        out.skipped, "end of the arguments", index.place(text.bytes.size()),
        "the log ends inside the block: arguments that come later in the alphabet are missing");
  read_padded_vocabulary(lines, end, index, out);
  keep_last(out.arguments);
  return out;
}

}  // namespace

int sniff_megatron_arguments(std::string_view head) {
  if (opens_block(head)) return 100;
  static constexpr std::string_view kTelling[] = {
      "--num-layers",        "--hidden-size", "--num-attention-heads",       "--micro-batch-size",
      "--global-batch-size", "--seq-length",  "--tensor-model-parallel-size"};
  const auto found =
      std::ranges::count_if(kTelling, [&](std::string_view word) { return head.contains(word); });
  if (found >= 3) return 90;
  return found > 0 || head.contains("pretrain_gpt.py") ? 50 : 0;
}

Checked<TrainingArguments> read_megatron_arguments(const Text& text) {
  if (text.bytes.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return as_problems({.at = {std::string(text.file), 1, 1},
                        .expected = "a Megatron-LM log or launch script",
                        .found = "an empty file"});
  const std::vector<Line> lines = lines_of(text.bytes);
  // A job that restarted printed its arguments again: the last whole block counts.
  std::size_t open = lines.size(), begin = lines.size(), end = lines.size();
  bool closed = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (opens_block(lines[i].text)) open = i + 1;
    if (closes_block(lines[i].text) && open <= i) {
      begin = open;
      end = i;
      closed = true;
    }
  }
  if (!closed) begin = open;
  if (begin < lines.size()) {
    TrainingArguments out = read_block(text, lines, begin, end, closed);
    if (!out.arguments.empty()) return out;
    return as_problems(
        text.problem_at(lines[begin].offset, "arguments such as 'num_layers ...... 96'", "none"));
  }
  if (text.bytes.size() > kLargestScript)
    return as_problems(
        {.at = {std::string(text.file), 0, 0},
         .expected = "a log with a block of arguments, or a launch script",
         .found = "a large file without that block",
         .hint = "Megatron-LM prints the block once, at the start of the job's output"});
  return read_megatron_script(text);
}

Checked<TrainingArguments> load_megatron_arguments(const std::string& path) {
  auto bytes = read_file(path);
  if (!bytes) return as_problems(std::move(bytes).error());
  return read_megatron_arguments({.file = path, .bytes = *bytes});
}

}  // namespace railyard::intake
