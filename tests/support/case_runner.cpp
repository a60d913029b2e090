// Runs text tests: one file tells which files there are, what is typed, and what must come out.
//
//     # A comment.
//     needs shared                        skipped where the shared data is absent
//     --- file pod.yaml                   written to a fresh folder before anything runs;
//     servers: 4                          `--- file NAME escaped` reads \t \r \n \0 \\ and adds no
//     ---                                 line end of its own
//     --- folder empty
//     $ railyard predict pod.yaml         run by /bin/sh in that folder
//     > step time   {*} ms                a line of standard output; {*} is any text
//     > ...                               any number of lines
//     ! pod.yaml:1:10: expected {*}       a line of standard error
//     exit 3                              0 when not given
//
// Output that no line names is a failure. REPO and SHARED are set; the width is 100 columns.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE in tests/CMakeLists.txt

struct GivenFile {
  std::string name, bytes;
  bool folder = false;
};

struct Step {
  int line = 0;
  std::string command;
  std::vector<std::string> out, err;
  int exit = 0;
};

struct Case {
  std::vector<GivenFile> files;
  std::vector<Step> steps;
  bool needs_shared = false;
};

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    static constexpr std::string_view kLetters = "trn0";
    static constexpr std::string_view kMeanings("\t\r\n\0", 4);
    const std::size_t which = kLetters.find(c);
    out += which == std::string_view::npos ? c : kMeanings[which];
  }
  return out;
}

[[noreturn]] void bad_case(int line, const std::string& text) {
  std::cerr << "line " << line << " of the case is not understood: " << text << '\n';
  std::exit(2);
}

/// A line of what must come out of `step`; false when it is none.
bool read_expectation(const std::string& line, Step& step) {
  const std::string rest = line.size() > 2 ? line.substr(2) : std::string();
  if (line.starts_with("> ") || line == ">") {
    step.out.push_back(rest);
  } else if (line.starts_with("! ") || line == "!") {
    step.err.push_back(rest);
  } else if (line.starts_with("exit ")) {
    step.exit = std::atoi(line.c_str() + 5);
  } else {
    return false;
  }
  return true;
}

Case read_case(const std::string& path) {
  Case out;
  const std::vector<std::string> lines = lines_of(slurp(path));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const int number = static_cast<int>(i) + 1;
    const auto rest = [&](std::string_view word) { return line.substr(word.size()); };
    if (line.empty() || line.starts_with('#')) continue;
    if (line == "needs shared") {
      out.needs_shared = true;
    } else if (line.starts_with("--- folder ")) {
      out.files.push_back({rest("--- folder "), {}, true});
    } else if (line.starts_with("--- file ")) {
      GivenFile file{rest("--- file "), {}, false};
      const bool escaped = file.name.ends_with(" escaped");
      if (escaped) file.name.resize(file.name.size() - std::string_view(" escaped").size());
      while (++i < lines.size() && lines[i] != "---")
        file.bytes += escaped ? unescaped(lines[i]) : lines[i] + '\n';
      if (i == lines.size()) bad_case(number, "a file without its end '---'");
      out.files.push_back(std::move(file));
    } else if (line.starts_with("$ ")) {
      out.steps.push_back({number, rest("$ "), {}, {}, 0});
    } else if (out.steps.empty() || !read_expectation(line, out.steps.back())) {
      bad_case(number, line);
    }
  }
  if (out.steps.empty()) bad_case(1, "nothing is run");
  return out;
}

bool line_matches(std::string_view wanted, std::string_view line) {
  const std::size_t any = wanted.find("{*}");
  if (any == std::string_view::npos) return wanted == line;
  if (!line.starts_with(wanted.substr(0, any))) return false;
  wanted.remove_prefix(any + 3);
  for (std::size_t from = any; from <= line.size(); ++from)
    if (line_matches(wanted, line.substr(from))) return true;
  return false;
}

bool matches(const std::vector<std::string>& wanted, std::size_t w,
             const std::vector<std::string>& lines, std::size_t l) {
  if (w == wanted.size()) return l == lines.size();
  if (wanted[w] == "...") {
    for (std::size_t next = l; next <= lines.size(); ++next)
      if (matches(wanted, w + 1, lines, next)) return true;
    return false;
  }
  return l < lines.size() && line_matches(wanted[w], lines[l]) &&
         matches(wanted, w + 1, lines, l + 1);
}

/// Runs the step in `scratch`/work; true when all came out as the case says. Else prints what did,
/// in the form that a case has.
bool run_step(const Step& step, const fs::path& scratch) {
  const fs::path out = scratch / "out", err = scratch / "err";
  const std::string command = "cd '" + (scratch / "work").string() + "' && { " + step.command +
                              "\n} >'" + out.string() + "' 2>'" + err.string() + "' </dev/null";
  const int status = std::system(command.c_str());
  const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const std::vector<std::string> got_out = lines_of(slurp(out)), got_err = lines_of(slurp(err));
  if (exit == step.exit && matches(step.out, 0, got_out, 0) && matches(step.err, 0, got_err, 0))
    return true;
  std::cout << "line " << step.line << ": it came out otherwise, as\n$ " << step.command << '\n';
  for (const std::string& line : got_out) std::cout << "> " << line << '\n';
  for (const std::string& line : got_err) std::cout << "! " << line << '\n';
  std::cout << "exit " << exit << '\n';
  return false;
}

/// A folder that is gone when the test is.
class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / ("railyard-case-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_ / "work");
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void set_environment(const fs::path& program) {
  const char* path = std::getenv("PATH");
  setenv("PATH", (program.parent_path().string() + ':' + (path ? path : "")).c_str(), 1);
  const char* shared = std::getenv("RAILYARD_SHARED");
  const std::string data = fs::absolute(shared ? shared : "../shared").lexically_normal();
  setenv("SHARED", data.c_str(), 1);
  setenv("RAILYARD_SHARED", data.c_str(), 1);
  setenv("REPO", fs::current_path().c_str(), 1);
  setenv("COLUMNS", "100", 1);
  setenv("LC_ALL", "C.UTF-8", 1);
  for (const char* name : {"NO_COLOR", "FORCE_COLOR", "RAILYARD_CATALOG"}) unsetenv(name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "case_runner PROGRAM FILE.case\n";
    return 2;
  }
  set_environment(fs::absolute(argv[1]));
  const Case test = read_case(argv[2]);
  if (test.needs_shared && !fs::exists(std::getenv("SHARED"))) {
    std::cout << "skipped: no shared data at " << std::getenv("SHARED") << '\n';
    return kSkipped;
  }
  const Scratch scratch;
  const fs::path folder = scratch.path() / "work";
  for (const GivenFile& file : test.files) {
    fs::create_directories(file.folder ? folder / file.name : (folder / file.name).parent_path());
    if (!file.folder) std::ofstream(folder / file.name, std::ios::binary) << file.bytes;
  }
  bool all = true;
  for (const Step& step : test.steps) all = run_step(step, scratch.path()) && all;
  return all ? 0 : 1;
}
