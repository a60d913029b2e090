#include "intake/shell_words.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "intake/detail/traced.h"
#include "intake/line_index.h"
#include "intake/shell_arithmetic.h"

namespace railyard::intake {

namespace {

// A script that doubles a variable on each line would grow without end: this many expanded bytes
// are more than any launch script needs.
constexpr std::size_t kExpansionBudget = 4 << 20;
constexpr int kDeepest = 16;
// `${...}`, `$(...)` and `$((...))` longer than this are kept as written: a stray opening bracket
// must not make the reader search the whole file again and again.
constexpr std::size_t kLongestBracket = 2048;

struct Value {
  bool array = false;
  std::vector<Traced> items = {};  ///< one for a plain variable
};

class Shell {
 public:
  explicit Shell(const Text& text) : bytes_(text.bytes), lines_(text) {}

  ShellScript run() {
    while (at_ < bytes_.size()) command();
    for (const auto& [name, value] : variables_) {
      ShellCommand words;
      for (const Traced& item : value.items)
        for (const Traced& w : value.array ? std::vector<Traced>{item} : split(item))
          words.push_back(word_of(w));
      out_.variables.emplace_back(name, std::move(words));
    }
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < bytes_.size() ? bytes_[at_ + ahead] : '\0';
  }
  bool continued() const {  // a backslash before a line end
    return peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'));
  }
  void skip_blanks() {
    for (;;) {
      if (is_blank(peek()) && at_ < bytes_.size()) {
        ++at_;
      } else if (continued()) {
        at_ += peek(1) == '\r' ? 3 : 2;
      } else {
        return;
      }
    }
  }
  Place place(std::size_t offset) const { return lines_.place(offset); }

  static bool ends_command(char c) {
    return c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')';
  }

  void command() {
    std::vector<Traced> words;
    bool only_assignments = true;
    for (;;) {
      skip_blanks();
      if (at_ >= bytes_.size()) break;
      const char c = peek();
      if (ends_command(c)) {
        ++at_;
        break;
      }
      if (c == '#') {
        const std::size_t end = std::min(bytes_.find('\n', at_), bytes_.size());
        out_.comments.push_back({std::string(bytes_.substr(at_, end - at_)), at_});
        at_ = end;
        continue;
      }
      if (c == '<' || c == '>') {
        redirection(words);
        continue;
      }
      if (only_assignments && assignment()) continue;
      const std::size_t before = words.size();
      word(words, 0);
      if (only_assignments && words.size() == before + 1 &&
          goes_before_assignment(words.back().text)) {
        words.pop_back();
      } else {
        only_assignments = only_assignments && words.size() == before;
      }
    }
    if (!words.empty()) finish(words);
  }

  /// Words after which an assignment may still come; they are dropped.
  static bool goes_before_assignment(std::string_view w) {
    return w == "export" || w == "declare" || w == "local" || w == "readonly" || w == "then" ||
           w == "else" || w == "do" || w == "env" || w == "-a" || w == "-x" || w == "-i";
  }

  void finish(const std::vector<Traced>& words) {
    const std::string_view first = words.front().text;
    if (first == "if" || first == "case") ++conditions_;
    if ((first == "fi" || first == "esac") && conditions_ > 0) --conditions_;
    ShellCommand plain;
    for (const Traced& w : words) plain.push_back(word_of(w));
    out_.commands.push_back(std::move(plain));
    for (const Traced& w : words) {  // bash -c 'python pretrain.py --num-layers 8 ...'
      if (!w.text.contains(" --")) continue;
      ShellCommand inner;
      for (const Traced& part : split(w)) {
        std::vector<Traced> expanded = expand_word(part);
        for (const Traced& e : expanded) inner.push_back(word_of(e));
      }
      out_.commands.push_back(std::move(inner));
    }
  }

  /// A part of a single-quoted text that is a variable: its value, split.
  std::vector<Traced> expand_word(const Traced& part) {
    std::string_view name = part.text;
    if (!name.starts_with('$')) return {part};
    name.remove_prefix(1);
    if (name.starts_with('{') && name.ends_with('}')) name = name.substr(1, name.size() - 2);
    const Value* value = find(name);
    if (!value) return {part};
    std::vector<Traced> out;
    for (const Traced& item : value->items)
      for (Traced& w : split(item)) out.push_back(std::move(w));
    return spend(out) ? out : std::vector<Traced>{part};
  }

  /// `2>&1`, `>> file`, `<<EOF`: gone, with the word that follows.
  void redirection(std::vector<Traced>& words) {
    if (!words.empty() && at_ > 0 && is_digit(bytes_[at_ - 1]) &&
        std::ranges::all_of(words.back().text, is_digit))
      words.pop_back();  // the 2 of 2>
    while (peek() == '<' || peek() == '>' || peek() == '&' || peek() == '-' || peek() == '|') ++at_;
    skip_blanks();
    std::vector<Traced> target;
    if (at_ < bytes_.size() && !ends_command(peek()) && peek() != '<' && peek() != '>')
      word(target, 0);
  }

  /// NAME=value, NAME+=value, NAME=( words ): true when there was one here.
  bool assignment() {
    std::size_t end = at_;
    while (end < bytes_.size() && is_name(bytes_[end])) ++end;
    if (end == at_ || is_digit(bytes_[at_])) return false;
    bool append = false;
    std::size_t equals = end;
    if (equals + 1 < bytes_.size() && bytes_[equals] == '+') {
      append = true;
      ++equals;
    }
    if (equals >= bytes_.size() || bytes_[equals] != '=') return false;
    const std::string name(bytes_.substr(at_, end - at_));
    const std::size_t start = at_;
    at_ = equals + 1;
    Value value;
    if (peek() == '(') {
      ++at_;
      value.array = true;
      array_items(value.items);
    } else {
      Traced one;
      joined_ = &one;
      std::vector<Traced> none;
      if (at_ < bytes_.size() && !is_blank(peek()) && !ends_command(peek())) word(none, 0);
      joined_ = nullptr;
      value.items.push_back(std::move(one));
    }
    assign(name, std::move(value), append, start);
    return true;
  }

  void array_items(std::vector<Traced>& items) {
    for (;;) {
      skip_blanks();
      if (at_ >= bytes_.size()) return;
      const char c = peek();
      if (c == ')') {
        ++at_;
        return;
      }
      if (c == '#') {
        at_ = std::min(bytes_.find('\n', at_), bytes_.size());
      } else if (ends_command(c) || c == '<' || c == '>') {
        ++at_;  // a line end, or a sign that has no place here
      } else {
        word(items, 0);
      }
    }
  }

  void assign(const std::string& name, Value value, bool append, std::size_t at) {
    const auto known = variables_.find(name);
    if (known == variables_.end()) {
      variables_.emplace(name, std::move(value));
      return;
    }
    if (append) {
      if (!spend(known->second.items)) return;
      if (value.array || known->second.array) {
        for (Traced& item : value.items) known->second.items.push_back(std::move(item));
      } else {
        known->second.items.front().add(value.items.front());
      }
      return;
    }
    if (conditions_ > 0)
      facts::count(out_.skipped, "assignments under a condition", place(at),
                   "the last one in the file was taken; put in the values that you mean");
    known->second = std::move(value);
  }

  const Value* find(std::string_view name) const {
    const auto it = variables_.find(name);
    return it == variables_.end() ? nullptr : &it->second;
  }

  bool spend(const std::vector<Traced>& items) {
    for (const Traced& t : items) spent_ += t.text.size() + 1;
    if (spent_ <= kExpansionBudget) return true;
    if (!overspent_)
      facts::count(out_.skipped, "variables that grow too large", place(at_),
                   "only what stood before was read");
    overspent_ = true;
    return false;
  }

  /// A word in the making. `open`: it is there, even if nothing is in it yet (as in '').
  struct Open {
    Traced text = {};
    bool open = false;

    void put(char c, std::size_t offset) {
      text.add(c, offset);
      open = true;
    }
    void end(std::vector<Traced>& words) {
      if (open) words.push_back(std::move(text));
      *this = {};
    }
  };

  /// Reads one word; unquoted variables may turn it into none or several.
  void word(std::vector<Traced>& words, int depth) {
    Open now;
    while (at_ < bytes_.size()) {
      const char c = peek();
      if (continued()) {
        if (now.open || joined_) break;
        at_ += peek(1) == '\r' ? 3 : 2;
      } else if (is_blank(c) || ends_command(c) || c == '<' || c == '>') {
        break;
      } else if (c == '\\') {
        ++at_;
        if (at_ < bytes_.size()) now.put(peek(), at_);
        ++at_;
      } else if (c == '\'') {
        single_quoted(now);
      } else if (c == '"') {
        double_quoted(now, words, depth);
      } else if (c == '$' || c == '`') {
        bare_expansion(now, words, depth);
      } else {
        now.put(c, at_);
        ++at_;
      }
    }
    at_ = std::min(at_, bytes_.size());
    if (joined_) {
      joined_->add(now.text);
    } else {
      now.end(words);
    }
  }

  void single_quoted(Open& now) {
    const std::size_t end = bytes_.find('\'', at_ + 1);
    if (end == std::string_view::npos) unclosed(at_);
    const std::size_t stop = std::min(end, bytes_.size());
    for (++at_; at_ < stop; ++at_) now.put(peek(), at_);
    now.open = true;
    ++at_;
  }

  /// An expansion outside quotes: blanks in it end words, except on the right of an assignment.
  void bare_expansion(Open& now, std::vector<Traced>& words, int depth) {
    std::vector<Traced> parts;
    const bool literal = expansion(parts, depth);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Traced& part = parts[p];
      if (p > 0 && joined_) now.put(' ', at_ - 1);
      if (p > 0 && !joined_) now.end(words);
      for (std::size_t i = 0; i < part.text.size(); ++i) {
        const char c = part.text[i];
        if (!joined_ && !literal && (is_blank(c) || c == '\n')) {
          now.end(words);
        } else {
          now.put(c, part.from[i]);
        }
      }
    }
  }

  void unclosed(std::size_t at) {
    facts::count(out_.skipped, "quotes that are never closed", place(at),
                 "the rest of the file was read as one text");
  }

  void double_quoted(Open& now, std::vector<Traced>& words, int depth) {
    const std::size_t start = at_++;
    now.open = true;
    while (at_ < bytes_.size() && peek() != '"') {
      const char c = peek();
      if (continued()) {
        at_ += peek(1) == '\r' ? 3 : 2;
      } else if (c == '\\' &&
                 (peek(1) == '"' || peek(1) == '\\' || peek(1) == '$' || peek(1) == '`')) {
        ++at_;
        now.put(peek(), at_);
        ++at_;
      } else if (c == '$' || c == '`') {
        std::vector<Traced> parts;
        expansion(parts, depth);
        for (std::size_t p = 0; p < parts.size(); ++p) {
          if (p > 0 && joined_) now.put(' ', at_ - 1);
          if (p > 0 && !joined_) now.end(words);  // "${ARRAY[@]}": one word per item
          now.text.add(parts[p]);
          now.open = true;
        }
      } else {
        now.put(c, at_);
        ++at_;
      }
    }
    if (at_ >= bytes_.size()) unclosed(start);
    ++at_;
  }

  /// What stands behind a `$` or in back quotes. Returns true when it is kept as written.
  bool expansion(std::vector<Traced>& out, int depth) {
    const std::size_t start = at_;
    const auto keep = [&](std::size_t end) {
      at_ = std::min(end, bytes_.size());
      Traced literal;
      for (std::size_t i = start; i < at_; ++i) literal.add(bytes_[i], i);
      out.push_back(std::move(literal));
      return true;
    };
    if (peek() == '`') {
      const std::size_t end = bytes_.find('`', at_ + 1);
      return keep(end == std::string_view::npos ? bytes_.size() : end + 1);
    }
    if (peek(1) == '(' && peek(2) == '(') {
      const std::size_t end = bytes_.substr(0, at_ + kLongestBracket).find("))", at_ + 3);
      if (end == std::string_view::npos) return keep(at_ + 1);
      const auto value = shell_arithmetic(with_values(bytes_.substr(at_ + 3, end - at_ - 3)));
      if (!value) return keep(end + 2);
      Traced number;
      for (const char c : std::to_string(*value)) number.add(c, start);
      at_ = end + 2;
      out.push_back(std::move(number));
      return false;
    }
    if (peek(1) == '(') {
      const std::size_t end = closing(at_ + 1);
      return keep(end > bytes_.size() ? at_ + 1 : end);
    }
    if (peek(1) == '{') {
      const std::size_t end = closing(at_ + 1);
      if (end > bytes_.size() || end < at_ + 3) return keep(at_ + 1);
      if (braced(bytes_.substr(at_ + 2, end - at_ - 3), at_ + 2, out, depth)) {
        at_ = end;
        return false;
      }
      out.clear();
      return keep(end);
    }
    std::size_t end = at_ + 1;
    while (end < bytes_.size() && is_name(bytes_[end])) ++end;
    const std::string_view name = bytes_.substr(at_ + 1, end - at_ - 1);
    const Value* value = find(name);
    if (name.empty() || is_digit(name.front()) || !value) return keep(std::max(end, at_ + 1));
    if (value->items.empty() || !spend({value->items.front()})) {
      at_ = end;
      return false;
    }
    out.push_back(value->items.front());
    at_ = end;
    return false;
  }

  /// The inside of `${...}`; false when it is a form that only a shell can work out.
  bool braced(std::string_view inside, std::size_t offset, std::vector<Traced>& out, int depth) {
    std::size_t end = 0;
    while (end < inside.size() && is_name(inside[end])) ++end;
    const Value* value = end > 0 && !is_digit(inside[0]) ? find(inside.substr(0, end)) : nullptr;
    const std::string_view form = inside.substr(end);
    if (form.empty() || form == "[@]" || form == "[*]") {
      if (!value || !spend(value->items)) return false;
      const std::size_t n =
          form.empty() ? std::min<std::size_t>(1, value->items.size()) : value->items.size();
      out.insert(out.end(), value->items.begin(), value->items.begin() + static_cast<long>(n));
      return true;
    }
    if (form.starts_with(":-") || form.starts_with(":=") || form.starts_with('-') ||
        form.starts_with('=')) {
      if (value && !value->items.empty() && !value->items.front().text.empty()) {
        if (!spend(value->items)) return false;
        out.push_back(value->items.front());
        return true;
      }
      if (depth >= kDeepest) return false;
      const std::size_t skip = end + (form.starts_with(':') ? 2 : 1);
      out.push_back(with_defaults(inside.substr(skip), offset + skip, depth + 1));
      return true;
    }
    return false;
  }

  /// The default of `${NAME:-default}`, itself expanded and without quotes around it.
  Traced with_defaults(std::string_view text, std::size_t offset, int depth) {
    const std::string_view all = bytes_;
    const std::size_t here = at_;
    Traced* const outer = joined_;
    Traced out;
    bytes_ = all.substr(0, offset + text.size());
    at_ = offset;
    joined_ = &out;
    std::vector<Traced> none;
    while (at_ < bytes_.size()) {
      word(none, depth);
      if (at_ < bytes_.size()) {  // a blank or bracket: part of the text here
        out.add(bytes_[at_], at_);
        ++at_;
      }
    }
    joined_ = outer;
    at_ = here;
    bytes_ = all;
    return out;
  }

  /// Text of an arithmetic expression with the values of its variables in it.
  std::string with_values(std::string_view text) const {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      if (!is_name(text[i]) || is_digit(text[i])) {
        if (text[i] != '$' && text[i] != '{' && text[i] != '}') out += text[i];
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && is_name(text[end])) ++end;
      const Value* value = find(text.substr(i, end - i));
      if (value && !value->items.empty() && value->items.front().text.size() < 32) {
        out += value->items.front().text;
      } else {
        out += '?';  // not a number: the whole stays as written
      }
      i = end;
    }
    return out;
  }

  /// One past the character that closes the bracket at `open`; past the end when there is none.
  std::size_t closing(std::size_t open) const {
    const char left = bytes_[open], right = left == '(' ? ')' : '}';
    int depth = 0;
    const std::size_t last = std::min(bytes_.size(), open + kLongestBracket);
    for (std::size_t i = open; i < last; ++i) {
      if (bytes_[i] == left) ++depth;
      if (bytes_[i] == right && --depth == 0) return i + 1;
    }
    return bytes_.size() + 1;
  }

  std::string_view bytes_;
  LineIndex lines_;
  std::size_t at_ = 0;
  std::map<std::string, Value, std::less<>> variables_;
  Traced* joined_ = nullptr;  ///< the right side of an assignment goes here, unsplit
  int conditions_ = 0;
  std::size_t spent_ = 0;
  bool overspent_ = false;
  ShellScript out_;
};

}  // namespace

ShellScript read_shell(const Text& text) { return Shell(text).run(); }

}  // namespace railyard::intake
