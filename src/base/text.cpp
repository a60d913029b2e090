#include "base/text.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace railyard {

Problem Text::problem_at(std::size_t offset, std::string expected, std::string found,
                         std::string hint) const {
  const LinePlace where = line_at(bytes, offset);
  return {.at = {std::string(file), where.line, where.column},
          .expected = std::move(expected),
          .found = std::move(found),
          .hint = std::move(hint),
          .source_line = std::string(where.text)};
}

namespace {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Problem file_problem(const std::string& path, std::string expected, std::string found,
                     std::string hint = {}) {
  return {.at = {.file = path},
          .expected = std::move(expected),
          .found = std::move(found),
          .hint = std::move(hint)};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec))
    return std::unexpected(file_problem(path, "a file", "a directory", "name a file inside it"));
  const File f(std::fopen(path.c_str(), "rb"));
  if (!f) return std::unexpected(file_problem(path, "a readable file", std::strerror(errno)));
  std::string out;
  char buffer[1 << 16];
  for (;;) {
    const std::size_t got = std::fread(buffer, 1, sizeof buffer, f.get());
    out.append(buffer, got);
    if (out.size() > limit)
      return std::unexpected(
          file_problem(path, "at most " + std::to_string(limit) + " bytes", "a larger file"));
    if (got < sizeof buffer) break;
  }
  if (std::ferror(f.get()) != 0)
    return std::unexpected(file_problem(path, "a readable file", std::strerror(errno)));
  return out;
}

namespace {

/// Writes, flushes and closes, each of which may find the disk full; what went wrong, or empty.
std::string put(std::FILE* f, std::string_view bytes) {
  errno = 0;
  bool ok = std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size() && std::fflush(f) == 0;
  std::string why = ok ? "" : std::strerror(errno);
  ok = std::fclose(f) == 0 && ok;
  if (!ok && why.empty()) why = std::strerror(errno);
  return why;
}

/// A device or a pipe: something that takes bytes, and that no file may take the place of.
bool takes_bytes(const std::string& path) {
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);
  return std::filesystem::exists(status) && std::filesystem::is_other(status);
}

}  // namespace

Result<std::size_t> write_file(const std::string& path, std::string_view bytes) {
  const bool direct = takes_bytes(path);
  const std::string target = direct ? path : path + ".partial";
  std::FILE* f = std::fopen(target.c_str(), "wb");
  if (!f) return std::unexpected(file_problem(path, "a writable place", std::strerror(errno)));
  if (const std::string why = put(f, bytes); !why.empty()) {
    if (!direct) std::remove(target.c_str());
    return std::unexpected(file_problem(path, "room for the whole file", why));
  }
  if (!direct && std::rename(target.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    std::remove(target.c_str());
    return std::unexpected(file_problem(path, "a writable place", why));
  }
  return bytes.size();
}

}  // namespace railyard
