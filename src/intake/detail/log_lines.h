#pragma once
// Logs of many processes as people post them: terminal colours, CRLF, and in front of each line
// what the launcher put there (mpirun --tag-output, srun --label, torchrun, Ray, kubectl, pdsh).

#include <string>
#include <string_view>

namespace railyard::intake {

/// The lines of a text, without line ends and colours.
class LogLines {
 public:
  explicit LogLines(std::string_view bytes) : rest_(bytes) {}

  /// False at the end. The line is a view that the next call invalidates.
  bool next();
  std::string_view line() const { return line_; }
  /// Counts from 1.
  int number() const { return number_; }

 private:
  std::string_view rest_, line_;
  std::string clean_;  // a line whose colours were taken out
  int number_ = 0;
};

/// The line behind the launcher's prefix: `[1,0]<stdout>:`, `[default0]:`, `rank3: `, ` 0: `,
/// `(Worker pid=1, ip=..) `, a time stamp.
std::string_view without_launcher(std::string_view line);

}  // namespace railyard::intake
