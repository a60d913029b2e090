#include "intake/nccl_log.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include "intake/detail/log_lines.h"
#include "intake/detail/nccl_lines.h"
#include "intake/detail/scan.h"

namespace railyard::intake {

namespace {

using facts::NcclCommState;
using facts::NcclCommunicator;

// Logs of large jobs repeat themselves; what lies beyond is counted.
constexpr std::size_t kMostRecords = 100'000;
// A WARN can carry a build path of hundreds of characters.
constexpr std::size_t kLongestText = 2000, kLongestLine = 400;

constexpr std::string_view kTornHint = "two processes wrote at once; a part of the line is lost";

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};
using Index = std::unordered_map<std::string, int, TextHash, std::equal_to<>>;

// `[2026-03-13 22:26:02] host:pid:tid [dev] file:line NCCL WARN text`, taken apart.
struct Head {
  std::string_view thread = {};  // host:pid:tid
  std::string_view host = {}, timestamp = {}, source = {}, text = {};
  int pid = 0, device = -1;
  bool warn = false;
};

std::size_t find_words(std::string_view line) {
  constexpr std::string_view kInfo = "NCCL INFO", kWarn = "NCCL WARN";
  std::size_t at = 0;
  while ((at = line.find("NCCL ", at)) != std::string_view::npos) {
    const std::string_view rest = line.substr(at);
    if (rest.starts_with(kInfo) || rest.starts_with(kWarn)) return at;
    at += 5;
  }
  return at;
}

// What a launcher glued to the host name, or a torn line left in front of it.
std::string_view host_of(std::string_view word) {
  if (const std::size_t at = word.rfind(">:"); at != std::string_view::npos)
    word.remove_prefix(at + 2);
  if (word.starts_with('[')) {
    const std::size_t at = word.find("]:");
    if (at != std::string_view::npos) word.remove_prefix(at + 2);
  }
  if (word.starts_with('-')) {  // the root column -1 of a torn result row
    word.remove_prefix(1);
    while (!word.empty() && word.front() >= '0' && word.front() <= '9') word.remove_prefix(1);
  }
  return word;
}

std::optional<Head> head_of(std::string_view line) {
  const std::size_t words = find_words(line);
  if (words == std::string_view::npos) return std::nullopt;
  Head out;
  constexpr std::size_t kWords = 9;  // NCCL INFO
  out.warn = line.substr(words + 5).starts_with("WARN");
  out.text = line.substr(std::min(words + kWords + 1, line.size()));
  std::string_view front = line.substr(0, words);
  const std::size_t open = front.rfind(" [");
  if (open == std::string_view::npos) return std::nullopt;
  Scan in(front.substr(open + 2));
  out.device = in.integer().value_or(-1);
  if (!in.take("]")) return std::nullopt;
  out.source = in.word();
  front = front.substr(0, open);
  const std::size_t blank = front.rfind(' ');
  std::string_view word = front.substr(blank == std::string_view::npos ? 0 : blank + 1);
  const std::size_t tid = word.rfind(':');
  if (tid == std::string_view::npos || !whole_integer<std::int64_t>(word.substr(tid + 1)))
    return std::nullopt;
  const std::size_t pid = word.substr(0, tid).rfind(':');
  if (pid == std::string_view::npos) return std::nullopt;
  const auto number = whole_integer(word.substr(pid + 1, tid - pid - 1));
  if (!number) return std::nullopt;
  out.pid = *number;
  out.host = host_of(word.substr(0, pid));
  if (out.host.empty()) return std::nullopt;
  out.thread = word.substr(static_cast<std::size_t>(out.host.data() - word.data()));
  if (blank != std::string_view::npos) {
    front = front.substr(0, blank);
    const std::size_t from = front.rfind('[');
    if (front.ends_with(']') && front.size() - from > 12)  // a time, not a rank
      out.timestamp = front.substr(from + 1, front.size() - from - 2);
  }
  return out;
}

// What a thread is in the middle of.
struct Thread {
  int process = -1, communicator = -1, warning = -1;
  std::optional<nccl::SystemDump> system = {};
  int system_owner = -1;
  bool in_graph = false;
  nccl::TuningTable tuning = {};
};

class Reader {
 public:
  explicit Reader(Text text) : text_(text) {}

  facts::NcclRun read() {
    for (LogLines lines(text_.bytes); lines.next();) {
      number_ = lines.number();
      line_ = lines.line();
      ++run_.lines;
      if (line_.find_first_not_of(" \t") == std::string_view::npos) continue;
      if (find_words(line_) == std::string_view::npos) {
        other_line();
      } else if (const auto head = head_of(whole_part())) {
        ++run_.nccl_lines;
        nccl_line(*head);
      } else {
        skip("torn NCCL line", kTornHint);
      }
    }
    for (Thread& thread : threads_) close_system(thread);
    for (NcclCommunicator& comm : run_.communicators) give_network(comm);
    return std::move(run_);
  }

 private:
  Place here() const { return {.file = std::string(text_.file), .line = number_, .column = 1}; }
  void skip(std::string_view what, std::string_view hint = {}) {
    facts::count(run_.skipped, what, here(), hint);
  }

  /// The record with this key: found, or made by `make` at the end of `list`; nothing when full.
  template <class T, class Make>
  T* once(std::vector<T>& list, std::string_view key, Make make) {
    if (const auto it = index_.find(key); it != index_.end())
      return &list[static_cast<std::size_t>(it->second)];
    if (list.size() >= kMostRecords) {
      skip("records beyond the first 100000 of their kind");
      return nullptr;
    }
    index_.emplace(std::string(key), static_cast<int>(list.size()));
    list.push_back(make());
    list.back().at = here();
    return &list.back();
  }
  // Counts one more of a record that is kept once for each `key`.
  template <class T>
  void tally(std::vector<T>& list, std::string_view key, T record) {
    if (T* kept = once(list, key, [&] { return std::move(record); })) ++kept->count;
  }
  std::string_view key(std::initializer_list<std::string_view> parts) {
    key_.clear();
    for (const std::string_view part : parts) {
      key_ += part.substr(0, kLongestText);
      key_ += '\x1f';
    }
    return key_;
  }

  // Where two processes wrote at once, the line is read from the last of them on.
  std::string_view whole_part() {
    std::string_view line = line_;
    for (std::size_t at = find_words(line); at != std::string_view::npos;) {
      const std::string_view rest = line.substr(at + 5);
      at = find_words(rest);
      if (at == std::string_view::npos) break;
      skip("torn NCCL line", kTornHint);
      line = rest;
    }
    return line;
  }

  Thread& thread_of(const Head& head) {
    if (last_thread_ >= 0 && head.thread == last_name_)
      return threads_[static_cast<std::size_t>(last_thread_)];
    int found = -1;
    if (const auto it = thread_index_.find(head.thread); it != thread_index_.end()) {
      found = it->second;
    } else {
      found = static_cast<int>(threads_.size());
      thread_index_.emplace(std::string(head.thread), found);
      threads_.push_back({.process = process_of(head)});
    }
    last_thread_ = found;
    last_name_ = head.thread;
    return threads_[static_cast<std::size_t>(found)];
  }
  int process_of(const Head& head) {
    const std::string name(head.thread.substr(0, head.thread.rfind(':')));
    if (const auto it = process_index_.find(name); it != process_index_.end()) return it->second;
    const int made = static_cast<int>(run_.processes.size());
    process_index_.emplace(name, made);
    run_.processes.push_back({.at = here(), .host = std::string(head.host), .pid = head.pid});
    last_warning_of_process_.push_back(-1);
    return made;
  }

  // Communicators.

  NcclCommunicator& communicator(int index) {
    return run_.communicators[static_cast<std::size_t>(index)];
  }
  static std::string device_key(int process, int device) {
    return std::to_string(process) + '/' + std::to_string(device);
  }
  static std::string pointer_key(int process, std::string_view pointer) {
    return std::to_string(process) + '@' + std::string(pointer);
  }
  int new_communicator(Thread& thread, const Head& head) {
    if (run_.communicators.size() >= kMostRecords) {
      skip("records beyond the first 100000 of their kind");
      return 0;
    }
    const int made = static_cast<int>(run_.communicators.size());
    run_.communicators.push_back({.at = here(), .process = thread.process});
    if (head.device >= 0) communicator(made).cuda_device = head.device;
    thread.communicator = made;
    latest_[device_key(thread.process, head.device)] = made;
    return made;
  }
  // For a line of the set-up: the communicator that this thread builds.
  NcclCommunicator& building(Thread& thread, const Head& head) {
    const int now = thread.communicator;
    if (now >= 0 && communicator(now).state < NcclCommState::complete) return communicator(now);
    return communicator(new_communicator(thread, head));
  }
  // For a line that can come from any thread: the one that it builds, or else the latest one on the
  // device.
  int current(const Thread& thread, const Head& head) const {
    const int now = thread.communicator;
    if (now >= 0 &&
        run_.communicators[static_cast<std::size_t>(now)].state < NcclCommState::complete)
      return now;
    const auto it = latest_.find(device_key(thread.process, head.device));
    return it == latest_.end() ? now : it->second;
  }
  NcclCommunicator& known_or_building(Thread& thread, const Head& head) {
    const int at = current(thread, head);
    return communicator(at >= 0 ? at : new_communicator(thread, head));
  }

  // `comm 0x.. rank 0 nranks 8 ... - Init START`
  bool communicator_line(Thread& thread, const Head& head) {
    const std::string_view text = head.text;
    const std::size_t at = text.find("comm 0x");
    if (at == std::string_view::npos) return false;
    const bool start = text.ends_with("Init START"), complete = text.ends_with("Init COMPLETE");
    const bool aborted = text.ends_with("Abort COMPLETE");
    const bool destroyed = text.ends_with("Destroy COMPLETE");
    const bool sizes = text.find(" nNodes ") != std::string_view::npos;
    const bool nvls = text.starts_with("NVLS comm ");
    if (!start && !complete && !aborted && !destroyed && !sizes && !nvls) return false;

    NcclCommunicator said;
    nccl::communicator(text, said);
    int found = -1;
    if (!start) {
      const auto it = index_.find(pointer_key(thread.process, said.pointer));
      if (it != index_.end()) found = it->second;
    }
    if (found < 0 && (aborted || destroyed)) {  // its set-up is not in this text
      skip("end of a communicator whose start is not here");
      return true;
    }
    if (found < 0) {
      const int now = thread.communicator;
      const bool open = now >= 0 && communicator(now).state == NcclCommState::seen &&
                        communicator(now).pointer.empty();
      found = open && !start ? now : new_communicator(thread, head);
      index_[pointer_key(thread.process, said.pointer)] = found;
    }
    NcclCommunicator& comm = communicator(found);
    merge(std::move(said), comm);
    if (start || complete) {
      const std::string_view call = text.substr(0, at);
      if (const auto name = call.substr(0, call.find(' ')); name.starts_with("nccl"))
        comm.call = name;
    }
    if (start) comm.state = NcclCommState::started;
    if (complete) comm.state = NcclCommState::complete;
    if (aborted) comm.state = NcclCommState::aborted;
    if (destroyed) comm.state = NcclCommState::destroyed;
    if (nvls) {
      Scan in(text);
      if (in.skip_to(" nHeads ")) comm.nvls_heads = in.integer();
    }
    if (comm.cuda_device) latest_[device_key(thread.process, *comm.cuda_device)] = found;
    return true;
  }
  static void merge(NcclCommunicator&& said, NcclCommunicator& into) {
    const auto take = [](auto& from, auto& to) {
      if (from) to = from;
    };
    into.pointer = std::move(said.pointer);
    if (!said.id.empty()) into.id = std::move(said.id);
    if (!said.bus_id.empty()) into.bus_id = std::move(said.bus_id);
    if (!said.parent.empty()) into.parent = std::move(said.parent);
    take(said.rank, into.rank);
    take(said.ranks, into.ranks);
    take(said.nodes, into.nodes);
    take(said.local_ranks, into.local_ranks);
    take(said.local_rank, into.local_rank);
    take(said.cuda_device, into.cuda_device);
    take(said.nvml_device, into.nvml_device);
    take(said.mnnvl, into.mnnvl);
  }

  // The dump of the system: lines of one thread, one after the other.

  bool system_line(Thread& thread, const Head& head) {
    if (auto begun = nccl::SystemDump::begin(head.text)) {
      close_system(thread);
      building(thread, head);
      thread.system = std::move(begun);
      thread.system->system().at = here();
      thread.system_owner = thread.communicator;
      return true;
    }
    if (!thread.system) return false;
    if (thread.system->add(head.text, number_)) return true;
    close_system(thread);
    return false;
  }
  void close_system(Thread& thread) {
    if (!thread.system) return;
    facts::NcclSystem& system = thread.system->system();
    const std::string name = "system" + std::to_string(thread.system->digest());
    int at = -1;
    if (const auto it = index_.find(name); it != index_.end()) {
      at = it->second;
    } else if (run_.systems.size() < kMostRecords) {
      at = static_cast<int>(run_.systems.size());
      index_.emplace(name, at);
      run_.systems.push_back(std::move(system));
    }
    if (at >= 0) ++run_.systems[static_cast<std::size_t>(at)].count;
    if (thread.system_owner >= 0) communicator(thread.system_owner).system = at;
    thread.system.reset();
  }

  bool graph_line(Thread& thread, const Head& head) {
    if (auto graph = nccl::graph_head(head.text)) {
      graph->at = here();
      std::vector<facts::NcclGraph>& graphs = building(thread, head).graphs;
      // the search prints ring and tree first; a second tree is CollNet's chain
      constexpr int kTree = 1, kCollNetChain = 2;
      const auto tree = [](const facts::NcclGraph& g) { return g.id == kTree; };
      if (graph->id == kTree && std::ranges::any_of(graphs, tree)) graph->id = kCollNetChain;
      graphs.push_back(std::move(*graph));
      thread.in_graph = true;
      return true;
    }
    if (!thread.in_graph) return false;
    auto channel = nccl::graph_channel(head.text);
    if (!channel || building(thread, head).graphs.empty()) {
      thread.in_graph = false;
      return false;
    }
    channel->at = here();
    building(thread, head).graphs.back().list.push_back(std::move(*channel));
    return true;
  }

  // Lines of all kinds, by how they begin.

  void nccl_line(const Head& head) {
    Thread& thread = thread_of(head);
    if (head.warn) return warning(thread, head);
    Head info = head;
    if (info.text.starts_with("[Rank ")) {  // 2.29 and later
      Scan in(info.text);
      in.skip_to("] ");
      info.text = in.rest();
    }
    if (system_line(thread, info) || graph_line(thread, info)) return;
    if (call_line(thread, info) || channel_line(thread, info) || network_line(thread, info) ||
        communicator_line(thread, info) || setup_line(thread, info) || global_line(thread, info))
      return;
    passed_over(info.text);
  }

  bool call_line(const Thread& thread, const Head& head) {
    if (auto call = nccl::call(head.text)) {
      call->communicator = current(thread, head);
      const std::string_view name = key({"call", std::to_string(call->communicator), head.text});
      tally(run_.calls, name, std::move(*call));
      return true;
    }
    if (auto op = nccl::operation(head.text)) {
      const std::string_view name =
          key({"op", op->collective, std::to_string(op->elements), std::to_string(op->datatype),
               std::to_string(op->op), std::to_string(op->ranks)});
      tally(run_.operations, name, std::move(*op));
      return true;
    }
    return false;
  }

  bool channel_line(Thread& thread, const Head& head) {
    const std::string_view text = head.text;
    if (!text.starts_with("Channel ") && !text.starts_with("CollNet ") &&
        !text.starts_with("Ring "))
      return false;
    if (auto line = nccl::connection(text)) {
      if (run_.connections.size() >= kMostRecords) {
        skip("records beyond the first 100000 of their kind");
        return true;
      }
      facts::NcclConnection& c = line->connection;
      c.at = here();
      c.communicator = current(thread, head);
      if (!line->communicator.empty())
        if (const auto it = index_.find(pointer_key(thread.process, line->communicator));
            it != index_.end())
          c.communicator = it->second;
      if (c.communicator < 0) c.communicator = new_communicator(thread, head);
      run_.connections.push_back(std::move(c));
      return true;
    }
    if (auto ring = nccl::ring(text)) {
      ring->line = number_;
      building(thread, head).rings.push_back(std::move(*ring));
      return true;
    }
    if (text.starts_with("Ring ") && text.find("->") != std::string_view::npos)
      skip("neighbours of a rank in rings and trees");
    else
      unreadable();
    return true;
  }

  bool network_line(Thread& thread, const Head& head) {
    const std::string_view text = head.text;
    const bool hex = !run_.versions.empty() &&
                     (run_.versions.back().major > 2 || run_.versions.back().minor >= 21);
    if (text.find("GPU Direct RDMA ") != std::string_view::npos) {
      auto g = nccl::gpu_direct(text, hex ? nccl::NicNumber::hex : nccl::NicNumber::decimal);
      if (g) {
        g->host = head.host;
        tally(run_.gpu_direct, key({"gdr", head.host, text}), std::move(*g));
      } else {
        unreadable();
      }
      return true;
    }
    if (text.starts_with("Using network ")) {
      known_network(thread, head, text.substr(14));
      return true;
    }
    if (text.starts_with("NET/")) {
      if (auto speed = nccl::device_speed(text)) {
        speed->host = head.host;
        const std::string_view name =
            key({"speed", head.host, speed->name, std::to_string(speed->mbps)});
        tally(run_.speeds, name, std::move(*speed));
        return true;
      }
      if (auto list = nccl::device_list(text)) {
        list->host = head.host;
        tally(run_.devices, key({"devices", head.host, text}), std::move(*list));
        return true;
      }
    }
    constexpr std::array<std::string_view, 12> kPlugins{"NET/",
                                                        "P2P plugin",
                                                        "Plugin Path",
                                                        "TUNER/Plugin",
                                                        "ENV/Plugin",
                                                        "PROFILER/Plugin",
                                                        "GIN/Plugin",
                                                        "Successfully loaded external plugin",
                                                        "PXN Disabled",
                                                        "Initialized NET",
                                                        "Failed to initialize NET plugin",
                                                        "Assigned NET plugin"};
    if (std::ranges::none_of(kPlugins, [&](std::string_view p) { return text.starts_with(p); }))
      return false;
    tally(run_.plugins, key({"plugin", text}), {.text = std::string(text.substr(0, kLongestText))});
    return true;
  }
  // Printed by the thread that builds a communicator, before it says so (2.18 and later), or by the
  // main thread before the set-up starts.
  void known_network(Thread& thread, const Head& head, std::string_view name) {
    network_[device_key(thread.process, head.device)] = std::string(name);
    if (thread.communicator >= 0 &&
        communicator(thread.communicator).state < NcclCommState::complete)
      communicator(thread.communicator).network = name;
  }
  void give_network(NcclCommunicator& comm) {
    if (!comm.network.empty()) return;
    const auto it = network_.find(device_key(comm.process, comm.cuda_device.value_or(-1)));
    if (it != network_.end()) comm.network = it->second;
  }

  bool setup_line(Thread& thread, const Head& head) {
    const std::string_view text = head.text;
    Scan in(text);
    if (in.take("Setting affinity for GPU ")) {
      in.integer();
      if (in.take(" to ")) building(thread, head).affinity = in.rest();
    } else if (text.starts_with("threadThresholds ")) {
      building(thread, head).thread_thresholds = nccl::thread_thresholds(text);
    } else if (text.find(" coll channels") != std::string_view::npos) {
      NcclCommunicator& comm = building(thread, head);
      if (!nccl::channel_counts(text, comm)) unreadable();
    } else if (in.take("P2P Chunksize set to ")) {
      building(thread, head).p2p_chunk = in.integer();
    } else if (in.take("NVLS multicast support is ")) {
      building(thread, head).nvls_support = !in.take("not ");
    } else if (in.take("Connected ")) {
      NcclCommunicator& comm = known_or_building(thread, head);
      if (in.take("all rings")) comm.rings_connected = true;
      if (in.take("all trees")) comm.trees_connected = true;
      if (in.take("NVLS tree")) comm.nvls_connected = true;
      if (in.skip_to(" PXN ")) comm.pxn = in.integer().value_or(0) != 0;
      if (in.skip_to(" GDR ")) comm.gpu_direct = in.integer().value_or(0) != 0;
    } else if (in.take("Init timings")) {
      NcclCommunicator& comm = known_or_latest(thread);
      if (in.skip_to(" total ")) comm.init_seconds = in.number();
    } else {
      return tuning_line(thread, head);
    }
    return true;
  }
  // Comes behind `Init COMPLETE` of the same thread.
  NcclCommunicator& known_or_latest(Thread& thread) {
    return thread.communicator >= 0 ? communicator(thread.communicator) : nobody_;
  }
  bool tuning_line(Thread& thread, const Head& head) {
    if (head.text.find('|') == std::string_view::npos) return false;
    std::vector<facts::NcclTuningCell> cells;
    const auto row = thread.tuning.add(head.text, cells);
    if (row == nccl::TuningTable::Row::no) return false;
    std::vector<facts::NcclTuningCell>& all = building(thread, head).tuning;
    constexpr std::size_t kMostCells = 1000;  // 2.28 prints 105
    if (all.size() + cells.size() <= kMostCells) std::ranges::move(cells, std::back_inserter(all));
    return true;
  }

  bool global_line(const Thread& thread, const Head& head) {
    const std::string_view text = head.text;
    if (auto variable = nccl::variable(text)) {
      // Named first: the move into tally's argument may come before the key is made.
      const std::string_view same = key({"env", variable->name, variable->value});
      tally(run_.environment, same, std::move(*variable));
      return true;
    }
    if (auto version = nccl::version(text)) {
      see_version(std::move(*version));
      return true;
    }
    if (Scan in(text); in.take("cudaDriverVersion ")) {
      if (const auto v = in.integer(); v && !run_.cuda_driver) run_.cuda_driver = {*v, where()};
      return true;
    }
    constexpr std::array<std::string_view, 5> kRemarks{
        "Topology detection", "Could not find real path", "ncclTopo", "Attribute ", "KV Convert"};
    if (std::ranges::any_of(kRemarks, [&](std::string_view p) { return text.starts_with(p); })) {
      tally(run_.topology_remarks, key({"topology", text}),
            {.text = std::string(text.substr(0, kLongestText))});
      return true;
    }
    if (auto trail = nccl::trail(text)) {
      int at = thread.warning;
      if (at < 0) at = last_warning_of_process_[static_cast<std::size_t>(thread.process)];
      constexpr std::size_t kLongestTrail = 32;
      if (at < 0)
        skip("return trail without a warning in front of it");
      else if (auto& w = run_.warnings[static_cast<std::size_t>(at)];
               w.count == 1 && w.trail.size() < kLongestTrail)
        w.trail.push_back(std::move(*trail));
      return true;
    }
    return false;
  }
  void see_version(facts::NcclVersion version) {
    const std::string_view name = key({"version", version.rccl ? "r" : "n", version.text});
    tally(run_.versions, name, std::move(version));
  }

  void passed_over(std::string_view text) {
    constexpr std::array<std::string_view, 3> kNeighbours{"Trees ", "Tree ", "NVLS Head"};
    for (const std::string_view p : kNeighbours)
      if (text.starts_with(p)) return skip("neighbours of a rank in rings and trees");
    constexpr std::array<std::string_view, 26> kProgress{"Bootstrap",       "[Proxy",
                                                         "New proxy",       "Connected to proxy",
                                                         "Launch mode",     "RAS ",
                                                         "Comm config",     "DMA-BUF",
                                                         "Dmabuf",          "Check P2P",
                                                         "CC Off",          "MNNVL ",
                                                         "TOPO/NET",        "ncclP2p",
                                                         "Sharp rank",      "ROCr",
                                                         "Kernel version",  "Found /sys",
                                                         "Enabled GDRCopy", "initialized internal",
                                                         "[node_id",        "Using non-device",
                                                         "Call to mlx5dv",  "Communicator has",
                                                         "[Service",        "Using "};
    for (const std::string_view p : kProgress)
      if (text.starts_with(p)) return skip("progress of the set-up");
    skip("NCCL line of an unknown kind");
  }
  void unreadable() { skip("NCCL line that is cut off", "its kind is known, its end is missing"); }

  facts::Where where() const {
    return {.at = here(), .line = std::string(line_.substr(0, kLongestLine))};
  }
  void add_warning(std::string_view name, facts::NcclWarning warning, Thread* thread) {
    int at = -1;
    if (const auto it = index_.find(name); it != index_.end()) {
      at = it->second;
    } else if (run_.warnings.size() < kMostRecords) {
      at = static_cast<int>(run_.warnings.size());
      index_.emplace(std::string(name), at);
      warning.where = where();
      run_.warnings.push_back(std::move(warning));
    } else {
      skip("records beyond the first 100000 of their kind");
    }
    if (at >= 0) ++run_.warnings[static_cast<std::size_t>(at)].count;
    if (thread == nullptr) return;
    thread->warning = at;
    last_warning_of_process_[static_cast<std::size_t>(thread->process)] = at;
  }
  void warning(Thread& thread, const Head& head) {
    if (auto error = nccl::completion_error(head.text)) {
      error->host = head.host;
      tally(run_.completion_errors, key({"completion", head.host, head.text}), std::move(*error));
    }
    add_warning(key({"warn", head.host, head.source, head.text}),
                {.host = std::string(head.host),
                 .source = std::string(head.source.substr(0, kLongestText)),
                 .timestamp = std::string(head.timestamp),
                 .text = std::string(head.text.substr(0, kLongestText))},
                &thread);
  }

  // Lines of other programs: the bare version line, and exceptions of frameworks on NCCL.
  void other_line() {
    const bool last_error = !last_error_prefix_.empty() || last_error_next_;
    if (last_error && line_.starts_with(last_error_prefix_)) {
      exception(line_.substr(last_error_prefix_.size()));
      last_error_next_ = false;
      last_error_prefix_.clear();
      return;
    }
    if (const std::size_t at = line_.find("Last error:"); at != std::string_view::npos) {
      const std::string_view rest = Scan(line_.substr(at + 11)).blanks().rest();
      if (!rest.empty()) return exception(rest);
      last_error_next_ = true;
      last_error_prefix_ = line_.substr(0, at);
      return;
    }
    if (line_.find("NCCL") != std::string_view::npos) {
      const std::string_view text = without_launcher(line_);
      if (auto version = nccl::version(text)) return see_version(std::move(*version));
      if (const std::size_t at = text.find("NCCL error in: "); at != std::string_view::npos) {
        Scan in(text.substr(at));
        if (in.skip_to(", NCCL version "))
          if (auto v = nccl::version("NCCL version " + std::string(in.rest())))
            see_version(std::move(*v));
        return exception(text.substr(at));
      }
    }
    constexpr std::array<std::string_view, 6> kErrors{
        "ncclUnhandledCudaError: ", "ncclSystemError: ",
        "ncclInternalError: ",      "ncclInvalidUsage: ",
        "ncclRemoteError: ",        "Watchdog caught collective operation timeout"};
    for (const std::string_view error : kErrors)
      if (const std::size_t at = line_.find(error); at != std::string_view::npos)
        return exception(line_.substr(at));
    skip("line of another program");
  }
  void exception(std::string_view text) {
    add_warning(key({"exception", text}),
                {.text = std::string(text.substr(0, kLongestText)), .exception = true}, nullptr);
  }

  Text text_;
  std::string_view line_;
  int number_ = 0;
  facts::NcclRun run_;
  std::vector<Thread> threads_;
  std::vector<int> last_warning_of_process_;
  Index thread_index_, process_index_, index_, latest_;
  std::unordered_map<std::string, std::string, TextHash, std::equal_to<>> network_;
  std::string key_, last_name_, last_error_prefix_;
  bool last_error_next_ = false;
  int last_thread_ = -1;
  NcclCommunicator nobody_;
};

}  // namespace

bool looks_like_nccl_log(std::string_view bytes) {
  constexpr std::size_t kLookedAt = 1 << 18;  // a training log can have long banners in front
  for (LogLines lines(bytes.substr(0, kLookedAt)); lines.next();) {
    const std::string_view line = lines.line();
    if (line.find("NCCL") == std::string_view::npos) continue;
    if (head_of(line) || nccl::version(without_launcher(line))) return true;
    if (line.find("NCCL error in: ") != std::string_view::npos) return true;
  }
  return false;
}

facts::NcclRun read_nccl_log(Text text) { return Reader(text).read(); }

}  // namespace railyard::intake
