#include "app/bug_report.h"

#include "app/version.h"
#include "base/sha256.h"
#include "base/text.h"

namespace railyard::app {

std::string bug_report(std::span<const std::string> words, std::string_view what) {
  std::string line = "railyard";
  std::string inputs;
  for (const std::string& word : words) {
    line += word.find(' ') == std::string::npos ? ' ' + word : " '" + word + '\'';
    if (const auto bytes = read_file(word, 1 << 30))
      inputs += "  input    " + word + "  sha256 " + sha256(*bytes) + '\n';
  }
  return "railyard: a mistake in railyard, not in what you typed\n"
         "  command  " +
         line +
         "\n"
         "  message  " +
         std::string(what) +
         "\n"
         "  version  " +
         std::string(version()) + ", " + std::string(compiler()) + '\n' + inputs +
         "Please report it with these lines and the input files. Nothing was sent.\n";
}

}  // namespace railyard::app
