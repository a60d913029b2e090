#include "app/run.h"

#include <algorithm>
#include <exception>

#include "app/bug_report.h"
#include "app/command_line.h"
#include "app/help.h"
#include "app/version.h"
#include "base/text.h"
#include "report/problems.h"

namespace railyard::app {

namespace {

bool is_help(const std::string& word) { return word == "-h" || word == "--help"; }

Exit misused(const Problem& problem, const Io& io) {
  io.err(report::to_text(Problems{problem},
                         {.colour = io.colour ? report::Colour::yes : report::Colour::no}));
  return Exit::usage;
}

/// The page of the command that `words` begin with, of a group of commands, or the overview.
Exit show_help(std::span<const std::string> words, const std::vector<Command>& table,
               const Io& io) {
  if (words.empty()) {
    io.out(overview(table, io.width));
    return Exit::ok;
  }
  const auto match = find_command(table, words);
  const std::string page =
      match ? help(*match->command, io.width) : group_help(table, words.front(), io.width);
  if (page.empty()) return misused(match.error(), io);
  io.out(page);
  return Exit::ok;
}

/// Runs with the answer kept back, then writes it to the file in one go.
Exit run_into_file(const Command& command, const Given& given, Io& io) {
  std::string answer;
  io.out = [&answer](std::string_view text) { answer += text; };
  const Exit exit = command.run(given, io);
  if (exit != Exit::ok && exit != Exit::findings) return exit;
  if (const auto written = write_file(given.text("--output"), answer); !written) {
    io.err(written.error().text() + '\n');
    return Exit::output;
  }
  return exit;
}

Exit run_command(std::span<const std::string> words, const std::vector<Command>& table, Io& io) {
  if (words.empty()) return show_help({}, table, io);
  if (words.front() == "--version") {
    io.out(std::string(signature()) + '\n');
    return Exit::ok;
  }
  const auto options_end = std::ranges::find(words, "--");
  if (std::find_if(words.begin(), options_end, is_help) != options_end) {
    std::vector<std::string> rest(words.begin(), words.end());
    std::erase_if(rest, is_help);
    return show_help(rest, table, io);
  }

  const auto match = find_command(table, words);
  if (!match) return misused(match.error(), io);
  const Command& command = *match->command;
  const auto given = parse_command_line(command, words.subspan(match->words));
  if (!given) return misused(given.error(), io);
  if (!command.result) return command.run(*given, io);
  if (given->flag("--no-color")) io.colour = false;
  return given->has("--output") ? run_into_file(command, *given, io) : command.run(*given, io);
}

}  // namespace

Exit run(std::span<const std::string> words, const std::vector<Command>& table, Io io) {
  try {
    return run_command(words, table, io);
  } catch (const std::exception& e) {
    io.err(bug_report(words, e.what()));
  } catch (...) {
    io.err(bug_report(words, "an exception without a message"));
  }
  return Exit::internal;
}

}  // namespace railyard::app
