#include "model/job/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "model/job/argument_names.h"

namespace railyard::model {

namespace {

template <class T>
bool parse(std::string_view text, T& out) {
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  return ec == std::errc{} && end == text.data() + text.size();
}

/// How the user would spell the argument.
std::string spelt(std::string_view name) {
  std::string out = "--" + std::string(name);
  std::ranges::replace(out, '_', '-');
  return out;
}

/// Recursive descent over `sum := product ('+' product)*`, `product := list ('*' number)*`.
class ListExpression {
 public:
  explicit ListExpression(std::string_view text) : rest_(text) {}

  std::vector<int> value() {
    std::vector<int> out;
    if (!sum(out, 0) || !rest_.empty()) out.clear();
    return out;
  }

 private:
  // The deepest network of the catalogue has 128 layers.
  static constexpr std::size_t kLongest = 4096;
  static constexpr int kDeepest = 16;

  bool take(char c) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool number(int& out) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    const auto [end, ec] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (ec != std::errc{}) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }
  bool sum(std::vector<int>& out, int depth) {
    do {
      std::vector<int> part;
      if (depth > kDeepest || !product(part, depth)) return false;
      out.insert(out.end(), part.begin(), part.end());
      if (out.size() > kLongest) return false;
    } while (take('+'));
    return true;
  }
  bool product(std::vector<int>& out, int depth) {
    if (take('(')) {
      if (!sum(out, depth + 1) || !take(')')) return false;
    } else if (take('[')) {
      int item = 0;
      do {
        if (!number(item)) return false;
        out.push_back(item);
      } while (take(',') && out.size() <= kLongest);
      if (!take(']')) return false;
    } else {
      return false;
    }
    int times = 0;
    while (take('*')) {
      if (!number(times) || times < 0 || out.size() * static_cast<std::size_t>(times) > kLongest)
        return false;
      const std::vector<int> once = out;
      out.clear();
      for (int i = 0; i < times; ++i) out.insert(out.end(), once.begin(), once.end());
    }
    return true;
  }

  std::string_view rest_;
};

}  // namespace

int Arguments::integer(std::string_view name, int otherwise, std::string_view field) {
  const facts::Argument* a = seen_.find(name);
  if (!a) return otherwise;
  if (!field.empty()) place({.field = field, .argument = name});
  int value = 0;
  // 2^20 keeps products of two sizes inside 64 bits and lists of degrees inside reason; batches and
  // vocabularies are below it, token counts are read as numbers.
  if (a->values.size() == 1 && parse(a->values.front(), value) && value >= 0 && value <= (1 << 28))
    return value;
  wrong(name, "a whole number for " + spelt(name));
  return otherwise;
}

int Arguments::need(std::string_view name, std::string_view field) {
  if (!has(name)) {
    missing(name, {});
    return 0;
  }
  const std::size_t before = problems_.size();
  const int value = integer(name, 0, field);
  if (value == 0 && problems_.size() == before) wrong(name, "a number above 0 for " + spelt(name));
  return value;
}

double Arguments::number(std::string_view name, double otherwise) {
  const facts::Argument* a = seen_.find(name);
  double value = 0;
  if (a && a->values.size() == 1 && parse(a->values.front(), value) && std::isfinite(value))
    return value;
  return otherwise;
}

bool Arguments::flag(std::string_view name, std::string_view field) {
  const facts::Argument* a = seen_.find(name);
  if (!a) return false;
  if (!field.empty()) place({.field = field, .argument = name});
  if (a->values.empty()) return true;
  const std::string& value = a->values.front();
  return value == "True" || value == "true" || value == "1";
}

std::string Arguments::word(std::string_view name, std::string_view field) {
  const facts::Argument* a = seen_.find(name);
  if (!a || a->values.empty()) return {};
  if (!field.empty()) place({.field = field, .argument = name});
  std::string out = a->values.front();
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::vector<std::string> Arguments::words(std::string_view name) const {
  const facts::Argument* a = seen_.find(name);
  return a ? a->values : std::vector<std::string>();
}

int Arguments::launched_processes() const {
  const auto read = [&](std::string_view name) {
    const facts::Argument* a = seen_.find_launcher(name);
    int value = 0;
    return a && !a->values.empty() && parse(a->values.front(), value) && value <= (1 << 20) ? value
                                                                                            : 0;
  };
  const int nodes = read("nnodes"), per_node = read("nproc_per_node");
  if (nodes > 0 && per_node > 0)
    return static_cast<int>(std::min<long long>(1LL * nodes * per_node, 1 << 28));
  return read("world_size");
}

void Arguments::place(FieldOf what) {
  const facts::Argument* a = seen_.find(what.argument);
  if (!a) return;
  std::erase_if(origin_.fields, [&](const JobOrigin::Field& f) { return f.name == what.field; });
  origin_.fields.push_back({std::string(what.field), a->where.at, a->where.line});
}

void Arguments::wrong(std::string_view name, std::string expected, std::string hint) {
  const facts::Argument* a = seen_.find(name);
  std::string found = "none";
  if (a) {
    found = a->values.empty() ? "no value" : "'" + a->values.front() + "'";
    if (hint.empty() && found.contains('$'))
      hint = "the script takes it from outside: put the number in, or give the job's output";
  }
  problems_.push_back(facts::problem_at(a ? a->where : facts::Where{.at = {seen_.file, 0, 0}},
                                        std::move(expected), std::move(found), std::move(hint)));
}

void Arguments::missing(std::string_view name, std::string hint) {
  problems_.push_back({.at = {seen_.file, 0, 0},
                       .expected = "the argument " + spelt(name),
                       .found = "none",
                       .hint = std::move(hint)});
}

void Arguments::tell_unknown(const facts::Argument& a) {
  const std::string_view meant = slip_of(a.name);
  if (!meant.empty()) {
    problems_.push_back(facts::problem_at(a.where, "an argument of Megatron-LM",
                                          "'" + spelt(a.name) + "'",
                                          "did you mean '" + spelt(meant) + "'?"));
    return;
  }
  const std::string near = nearest_argument(a.name);
  note(a.where.at.file + ':' + std::to_string(a.where.at.line) + ':' +
       std::to_string(a.where.at.column) + ": " + spelt(a.name) + " is not known and not read" +
       (near.empty() ? "" : "; did you mean " + spelt(near) + '?'));
}

void Arguments::tell_unread() {
  if (from_log()) return;
  std::string others;
  for (const facts::Argument& a : seen_.arguments) {
    if (is_read(a.name)) continue;
    if (is_not_modelled(a.name))
      others += (others.empty() ? "" : ", ") + spelt(a.name);
    else
      tell_unknown(a);
  }
  if (!others.empty()) note("not modelled: " + others);
}

std::vector<int> list_expression(std::string_view text) { return ListExpression(text).value(); }

}  // namespace railyard::model
