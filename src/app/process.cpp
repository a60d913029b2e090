#include "app/process.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace railyard::app {

namespace {

constexpr int kWidth = 100;     // of a pipe or a file
constexpr int kNarrowest = 40;  // below this a table is no table

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int columns() {
  const int asked = std::atoi(environment("COLUMNS").c_str());
  winsize size{};
  if (asked <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<int>(size.ws_col, kNarrowest);
  return asked > 0 ? std::max(asked, kNarrowest) : kWidth;
}

/// https://no-color.org: any non-empty value switches colour off.
bool colour_wanted(int stream) {
  if (!environment("NO_COLOR").empty()) return false;
  if (!environment("FORCE_COLOR").empty()) return true;
  return isatty(stream) == 1 && environment("TERM") != "dumb";
}

/// RAILYARD_CATALOG, else beside the program: where a build tree and where an installation has it.
std::string find_catalog() {
  if (std::string named = environment("RAILYARD_CATALOG"); !named.empty()) return named;
  std::error_code ec;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ec);
  if (ec) return {};
  for (const char* place : {"../../../catalog", "../share/railyard/catalog"}) {
    const auto folder = (program.parent_path() / place).lexically_normal();
    if (std::filesystem::is_directory(folder, ec)) return folder.string();
  }
  return {};
}

}  // namespace

Io Process::io() const {
  // Whether all bytes arrived is asked once, in finish().
  return {.out = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); },
          .err = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); },
          .width = columns(),
          .colour = colour_wanted(STDERR_FILENO),
          .now =
              [] {
                const auto since = std::chrono::steady_clock::now().time_since_epoch();
                return Seconds::si(std::chrono::duration<double>(since).count());
              },
          .catalog = find_catalog()};
}

Exit Process::finish(Exit exit) const {
  errno = 0;
  const bool lost_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !lost_before) return exit;
  std::fprintf(stderr, "railyard: the answer could not be written: %s\n",
               errno != 0 ? std::strerror(errno) : "an error on standard output");
  return Exit::output;
}

}  // namespace railyard::app
