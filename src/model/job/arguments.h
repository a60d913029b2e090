#pragma once
// Typed access to the arguments of a Megatron-LM run. Knows that a bare switch of a script is true,
// that a log spells True and False, and remembers at which argument each field of the job was read.
// Private to the model room.

#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "facts/training_arguments.h"
#include "model/job.h"

namespace railyard::model {

class Arguments {
 public:
  Arguments(const facts::TrainingArguments& seen, JobOrigin& origin, Problems& problems)
      : seen_(seen), origin_(origin), problems_(problems) {}

  bool has(std::string_view name) const { return seen_.find(name) != nullptr; }
  bool from_log() const { return seen_.origin == facts::TrainingArguments::Origin::log; }

  /// The number, or `otherwise` when the argument is absent. `field` is the field of the job that
  /// it becomes, for later mistakes; empty: none.
  int integer(std::string_view name, int otherwise, std::string_view field = {});
  /// As integer; absence is a problem.
  int need(std::string_view name, std::string_view field = {});
  double number(std::string_view name, double otherwise);
  /// Whether a switch is on.
  bool flag(std::string_view name, std::string_view field = {});
  /// The first word in lower case; empty when absent.
  std::string word(std::string_view name, std::string_view field = {});
  std::vector<std::string> words(std::string_view name) const;

  /// Number of processes that the launcher starts; 0 when the file does not say.
  int launched_processes() const;

  /// A field of the job and the argument that it comes from.
  struct FieldOf {
    std::string_view field = {}, argument = {};
  };
  /// Remembers where the field stands.
  void place(FieldOf what);
  void note(std::string sentence) { origin_.notes.push_back(std::move(sentence)); }
  void wrong(std::string_view name, std::string expected, std::string hint = {});
  void missing(std::string_view name, std::string hint);

  /// Arguments of a script that nothing reads: a slip of one that is read is a problem, any other
  /// a note. A log has only names that Megatron's own parser took.
  void tell_unread();

 private:
  void tell_unknown(const facts::Argument& a);

  const facts::TrainingArguments& seen_;
  JobOrigin& origin_;
  Problems& problems_;
};

/// Value of a Python list expression of integers such as "([0]*3+[1]*58)"; empty when it is none.
std::vector<int> list_expression(std::string_view text);

/// The network that the arguments describe.
Architecture architecture_from(Arguments& args, int tensor);

}  // namespace railyard::model
