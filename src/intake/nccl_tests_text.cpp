#include "intake/nccl_tests_text.h"

#include <algorithm>
#include <utility>

#include "intake/detail/log_lines.h"
#include "intake/detail/scan.h"

namespace railyard::intake {

namespace {

using facts::Buffers;
using facts::CollectiveRun;
using facts::CollectiveTiming;
using Words = std::vector<std::string_view>;

constexpr std::size_t kMostPoints = 1'000'000;
constexpr std::string_view kNew =
    "size count type redop root time algbw busbw #wrong time algbw busbw #wrong";
constexpr std::string_view kOld =
    "size count type redop time algbw busbw error time algbw busbw error";

Words words_of(std::string_view line) {
  constexpr std::size_t kMost = 40;  // 22 columns are printed in 2.19.2
  Words out;
  for (Scan in(line); !in.blanks().at_end() && out.size() < kMost;) out.push_back(in.word());
  return out;
}

bool is_integer(std::string_view word) { return whole_integer<std::int64_t>(word).has_value(); }

bool is_head(const Words& words) {
  return std::ranges::find(words, "size") != words.end() &&
         std::ranges::find(words, "algbw") != words.end() &&
         std::ranges::find(words, "busbw") != words.end();
}

// The line without the launcher's prefix, blanks and the # of a comment.
std::string_view body_of(std::string_view line) {
  Scan in(without_launcher(line));
  in.blanks();
  in.take("#");
  return in.blanks().rest();
}

class Reader {
 public:
  explicit Reader(Text text) : text_(text) {}

  facts::CollectiveRuns read() {
    for (LogLines lines(text_.bytes); lines.next();) {
      number_ = lines.number();
      const std::string_view line = lines.line();
      if (line.find("NCCL INFO") != std::string_view::npos ||
          line.find("NCCL WARN") != std::string_view::npos) {
        const Words words = words_of(without_launcher(line));
        if (words.size() > 2 && is_integer(words[0]) && is_integer(words[1]))
          skip("torn result row", "NCCL wrote into it; send NCCL's log to a file of its own");
        else
          skip("line of NCCL's log");
        continue;
      }
      one(body_of(line));
    }
    for (CollectiveRun& run : out_.runs) finish(run);
    std::erase_if(out_.runs, [](const CollectiveRun& r) {
      return r.points.empty() && r.devices.empty() && !r.min_bytes && !r.failed;
    });
    return std::move(out_);
  }

 private:
  void skip(std::string_view what, std::string_view hint = {}) {
    facts::count(out_.skipped, what,
                 {.file = std::string(text_.file), .line = number_, .column = 1}, hint);
  }
  CollectiveRun& now() {
    if (out_.runs.empty()) start();
    return out_.runs.back();
  }
  void start() {
    out_.runs.push_back({.at = {.file = std::string(text_.file), .line = number_, .column = 1}});
    columns_.clear();
  }
  // The run that a line of the head belongs to: a head behind results begins the next run.
  CollectiveRun& head() {
    if (out_.runs.empty() || !out_.runs.back().points.empty() || concluded_) start();
    concluded_ = false;
    return out_.runs.back();
  }

  void one(std::string_view body) {
    if (body.empty()) return;
    Scan in(body);
    if (body.front() >= '0' && body.front() <= '9') return row(body);
    if (in.take("nThread ")) return options(body);
    if (in.take("Rank ")) return device(in);
    if (in.take("nccl-tests version ")) {
      CollectiveRun& run = head();
      run.tests_version = in.word();
      if (in.skip_to("nccl-library=")) run.nccl_version = in.word();
      return;
    }
    if (in.take("rccl-tests: Version ")) {
      now().tests_version = in.word();
      now().rccl = true;
      return;
    }
    if (in.take("Collective test starting: ")) {
      CollectiveRun& run = head();
      run.program = in.word();
      return;
    }
    if (in.take("Collective test concluded")) {
      concluded_ = true;
      return;
    }
    if (in.take("Out of bounds values")) {
      if (in.skip_to(":")) now().out_of_bounds = in.blanks().integer();
      now().failed |= in.rest().find("FAILED") != std::string_view::npos;
      return;
    }
    if (in.take("Avg bus bandwidth")) {
      if (in.skip_to(":")) now().average_busbw_gbs = in.blanks().number();
      return;
    }
    if (in.take("NCCL version ")) {
      if (now().nccl_version.empty()) now().nccl_version = in.word();
      return;
    }
    other(body);
  }

  void other(std::string_view body) {
    if (const Words words = words_of(body); is_head(words)) {
      // a second header without anything in between belongs to a run of its own
      CollectiveRun& run = head();
      if (run.program.empty()) run.program = program_;
      program_.clear();
      columns_.clear();
      for (const std::string_view w : words) columns_.emplace_back(w);
      return;
    }
    if (body.find("Test failure") != std::string_view::npos) {
      now().failed = true;
      return;
    }
    if (const std::size_t at = body.find("_perf"); at != std::string_view::npos) {  // a command
      const std::size_t from = body.substr(0, at).find_last_of(" \t/'\"=") + 1;     // npos + 1 is 0
      program_ = body.substr(from, at + 5 - from);
      return;
    }
    if (body == "...") return skip("part left out by whoever posted it");
    if (body.starts_with("(B)") || body.starts_with("out-of-place") || body == "Using devices")
      return;
    skip("line of another program");
  }

  void options(std::string_view body) {
    CollectiveRun& run = head();
    Scan in(body);
    const auto size = [](Scan& s) { return s.blanks().integer<std::uint64_t>(); };
    while (!in.blanks().at_end()) {
      const std::string_view key = in.word();
      if (key == "nThread") run.threads = in.blanks().integer();
      if (key == "nGpus") run.gpus_per_thread = in.blanks().integer();
      if (key == "minBytes") run.min_bytes = size(in);
      if (key == "maxBytes") run.max_bytes = size(in);
      if (key == "step:") {
        const auto step = size(in);
        if (in.take("(factor)") && step)
          run.step_factor = static_cast<int>(std::min<std::uint64_t>(*step, 1 << 30));
        else
          run.step_bytes = step;
      }
      if (key == "warmup") {
        in.word();
        run.warmup = in.blanks().integer();
      }
      if (key == "agg") {
        in.word();
        run.aggregated = in.blanks().integer();
      }
      if (key == "iters:") run.iterations = in.blanks().integer();
      if (key == "validation:") run.validation = in.blanks().integer();
      if (key == "graph:") run.graph = in.blanks().integer();
    }
  }

  void device(Scan in) {
    facts::CollectiveDevice out{.line = number_};
    const auto rank = in.blanks().integer();
    if (!rank) return skip("line of another program");
    out.rank = *rank;
    if (in.blanks().take("Group ")) out.group = in.blanks().integer().value_or(0);
    if (!in.blanks().take("Pid ")) return skip("line of another program");
    out.pid = in.blanks().integer().value_or(0);
    if (in.blanks().take("on ")) out.host = in.word();
    if (in.blanks().take("device ")) out.device = in.blanks().integer().value_or(0);
    if (in.blanks().take("[")) {
      out.bus_id = in.until("]");
      in.take("]");
    }
    out.name = in.blanks().rest();
    head().devices.push_back(std::move(out));
  }

  // Splits a row by the columns of the header, or by their number where the header is cut away.
  void row(std::string_view body) {
    const Words words = words_of(body);
    if (words.size() < 3 || !is_integer(words[0]) || !is_integer(words[1])) {
      const bool rest = words.size() >= 3 && std::ranges::all_of(words, [](std::string_view w) {
                          return w == "N/A" || whole_number(w);
                        });
      return rest ? skip("torn result row") : skip("line of another program");
    }
    Words columns(columns_.begin(), columns_.end());
    if (columns.empty()) columns = words_of(words.size() >= 13 ? kNew : kOld);
    const bool stamp = !columns.empty() && columns.back() == "timestamp";
    const std::size_t have = words.size() - (stamp && words.size() > columns.size() ? 1 : 0);
    if (have + 1 == columns.size())  // alltoall had no reduction up to 2.12
      std::erase(columns, "redop");
    if (have != columns.size())
      return skip("torn result row", "its number of columns is not that of the header");
    points(words, columns);
  }

  void points(const Words& words, const Words& columns) {
    CollectiveTiming base{.line = number_}, point;
    int way = 0;
    bool good = true;
    CollectiveRun& run = now();
    const auto close = [&] {
      if (way > 0 && good && run.points.size() < kMostPoints) run.points.push_back(point);
    };
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string_view c = columns[i], w = words[i];
      const auto number = [&] {
        const auto v = whole_number(w);
        if (!v || !(*v >= 0)) good = false;
        return v.value_or(0);
      };
      if (c == "size") base.bytes = whole_integer<std::uint64_t>(w).value_or(0);
      if (c == "count") base.elements = whole_integer<std::uint64_t>(w).value_or(0);
      if (c == "type") base.type = w;
      if (c == "redop") base.redop = w;
      if (c == "root") base.root = whole_integer(w);
      if (c == "time" || c == "cputime") {
        close();
        point = base;
        good = true;
        point.buffers = ++way == 1 ? Buffers::out_of_place : Buffers::in_place;
        point.time_us = number();
      }
      if (c == "algbw") point.algbw_gbs = number();
      if (c == "busbw") point.busbw_gbs = number();
      if (c == "#wrong" || c == "error") point.wrong = whole_number(w);
      if (c == "i_min") point.time_us_min = whole_number(w);
      if (c == "i_max") point.time_us_max = whole_number(w);
    }
    close();
  }

  void finish(CollectiveRun& run) {
    if (run.program.empty()) run.program = program_;
    run.collective = collective_of_program(run.program);
    int most = -1;
    std::vector<std::string_view> hosts;
    for (const auto& d : run.devices) {
      most = std::max(most, d.rank);
      hosts.push_back(d.host);
    }
    if (most >= 0 && most < (1 << 24)) run.ranks = most + 1;
    std::ranges::sort(hosts);
    const auto same = std::ranges::unique(hosts);
    hosts.erase(same.begin(), same.end());
    if (!hosts.empty()) run.nodes = static_cast<int>(hosts.size());
  }

  Text text_;
  int number_ = 0;
  facts::CollectiveRuns out_;
  std::vector<std::string> columns_;
  std::string program_;  // named by a command line in front of the run
  bool concluded_ = false;
};

}  // namespace

std::string_view collective_of_program(std::string_view program) {
  if (const std::size_t at = program.rfind('/'); at != std::string_view::npos)
    program.remove_prefix(at + 1);
  const std::size_t end = program.find("_perf");
  return end == std::string_view::npos ? std::string_view() : program.substr(0, end);
}

bool looks_like_nccl_tests_text(std::string_view bytes) {
  constexpr std::size_t kLookedAt = 1 << 18;  // NCCL's log can stand in front of the table
  for (LogLines lines(bytes.substr(0, kLookedAt)); lines.next();) {
    const std::string_view body = body_of(lines.line());
    if (body.starts_with("nThread ") || body.starts_with("nccl-tests version ") ||
        body.starts_with("Collective test starting"))
      return true;
    if (body.find("algbw") != std::string_view::npos && body.find(',') == std::string_view::npos &&
        is_head(words_of(body)))
      return true;
  }
  return false;
}

facts::CollectiveRuns read_nccl_tests_text(Text text) { return Reader(text).read(); }

}  // namespace railyard::intake
