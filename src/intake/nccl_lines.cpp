#include <algorithm>
#include <array>
#include <utility>

#include "intake/detail/nccl_lines.h"
#include "intake/detail/scan.h"

namespace railyard::intake::nccl {

namespace {

using facts::NcclDirection;
using facts::NcclTransport;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// `[0]mlx5_0:1/IB/SHARP`, `[0]eth0:10.0.0.1<0>`
void name_port_link(std::string_view word, facts::NcclDevice& out) {
  Scan in(word);
  out.name = in.until(":/");
  if (!in.take(":")) return;
  const std::string_view port = in.until("/");
  out.port = whole_integer(port).value_or(0);
  if (!in.take("/")) return;
  out.link = in.until("/");
  out.sharp = in.rest().find("SHARP") != std::string_view::npos;
}

// `{[0] a:1/RoCE, [1] b:1/RoCE}`: ports that act as one device
void merged_ports(std::string_view inside, facts::NcclDevice& out) {
  Scan in(inside);
  while (in.skip_to("[")) {
    in.skip_to("]");
    facts::NcclDevice part;
    name_port_link(trimmed(in.blanks().until(",}")), part);
    if (out.name.empty()) {
      out.name = part.name;
      out.port = part.port;
      out.link = part.link;
    }
    out.sharp |= part.sharp;
    out.parts.push_back(std::move(part.name));
  }
}

}  // namespace

std::optional<facts::NcclVersion> version(std::string_view text) {
  Scan in(text);
  const bool rccl = text.starts_with("RCCL");
  if (!in.take("NCCL version ") && !in.take("RCCL version ")) return std::nullopt;
  in.blanks();
  if (in.take(":")) in.blanks();
  facts::NcclVersion out;
  out.text = Scan(in.rest()).word();
  if (out.text.empty() || !is_digit(out.text.front())) return std::nullopt;
  out.rccl = rccl;
  out.major = in.integer().value_or(0);
  if (in.take(".")) out.minor = in.integer().value_or(0);
  if (in.take(".")) out.patch = in.integer().value_or(0);
  return out;
}

std::optional<facts::NcclVariable> variable(std::string_view text) {
  constexpr std::string_view kWords = " set by environment to ";
  const std::size_t at = text.find(kWords);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, at);
  if (name.empty() || name.find(' ') != std::string_view::npos) return std::nullopt;
  std::string_view value = trimmed(text.substr(at + kWords.size()));
  // a number ends with a full stop, a word does not
  if (value.ends_with('.') && whole_integer<std::int64_t>(value.substr(0, value.size() - 1)))
    value.remove_suffix(1);
  facts::NcclVariable out;
  out.name = name;
  out.value = value;
  return out;
}

std::optional<facts::NcclDeviceList> device_list(std::string_view text) {
  Scan in(text);
  if (!in.take("NET/")) return std::nullopt;
  facts::NcclDeviceList out;
  out.network = trimmed(in.until(":"));
  if (!in.take(":")) return std::nullopt;
  in.blanks();
  if (in.take("No device found")) {
    out.none_found = true;
    return out;
  }
  if (!in.take("Using ")) return std::nullopt;
  while (!in.blanks().at_end()) {
    if (in.take("[RO]")) {
      out.relaxed_ordering = true;
    } else if (in.take("[")) {
      facts::NcclDevice device;
      device.index = in.integer().value_or(-1);
      if (!in.take("]")) return out;  // cut off
      if (in.take("={")) {
        merged_ports(in.until("}"), device);
        in.take("}");
      } else {
        name_port_link(in.until(" ;"), device);
      }
      if (!device.name.empty()) out.devices.push_back(std::move(device));
    } else if (in.take(";")) {
      if (in.blanks().take("OOB ")) out.out_of_band = trimmed(in.rest());
      break;
    } else {
      in.word();
    }
  }
  return out;
}

std::optional<facts::NcclDeviceSpeed> device_speed(std::string_view text) {
  Scan in(text);
  if (!in.take("NET/")) return std::nullopt;
  facts::NcclDeviceSpeed out;
  if (in.skip_to("Made virtual device [")) {
    out.index = in.integer().value_or(-1);
    if (!in.skip_to("name=")) return std::nullopt;
    out.name = in.until(" ");
  } else if (text.find(" provider=") != std::string_view::npos && in.skip_to("[")) {
    // `[0] mlx5_0:uverbs0:1/IB provider=Mlx5 speed=400000 ...`
    out.index = in.integer().value_or(-1);
    in.skip_to("]");
    out.name = in.blanks().until(":/ ");
  } else {
    return std::nullopt;
  }
  if (!in.skip_to("speed=")) return std::nullopt;
  const auto mbps = in.number();
  if (!mbps || !(*mbps >= 0)) return std::nullopt;
  out.mbps = *mbps;
  if (in.skip_to("ndevs=")) out.devices = in.integer().value_or(1);
  return out;
}

std::optional<facts::NcclGpuDirect> gpu_direct(std::string_view text, NicNumber spelling) {
  constexpr std::string_view kWords = "GPU Direct RDMA ";
  const std::size_t at = text.find(kWords);
  if (at == std::string_view::npos) return std::nullopt;
  facts::NcclGpuDirect out;
  std::string_view before = trimmed(text.substr(0, at));
  if (before.ends_with(':')) before.remove_suffix(1);
  out.network = trimmed(before);
  Scan in(text.substr(at + kWords.size()));
  if (in.take("(")) {  // `(DMABUF) enabled`
    out.reason = in.until(")");
    in.take(")");
    in.blanks();
  }
  if (in.take("Enabled for ") || in.take("enabled for "))
    out.enabled = true;
  else if (!in.take("Disabled for ") && !in.take("disabled for "))
    return std::nullopt;
  if (in.take("GPU ")) {
    out.gpu = in.until(" ");
    in.blanks();
    if (!in.take("/")) return std::nullopt;
    in.blanks();
  }
  if (!in.take("HCA ")) return std::nullopt;
  const std::string_view number = in.until(" ,(");
  const bool letters = number.find_first_of("abcdef") != std::string_view::npos;
  const auto nic = whole_integer(number, letters || spelling == NicNumber::hex ? 16 : 10);
  if (!nic) return std::nullopt;
  out.nic = *nic;
  in.blanks();
  if (in.take("'")) {  // some plugins forget the closing quote
    out.nic_name = trimmed(in.until("'"));
    in.take("'");
    in.blanks();
  }
  if (in.take("(distance ")) {
    out.distance = in.integer();
    while (!in.at_end() && !is_digit(in.peek())) in.until("0123456789");
    out.threshold = in.integer();
    in.take(")");
    if (in.skip_to("read ")) out.read = in.integer().value_or(0) != 0;
  } else if (in.take("(")) {
    out.reason = in.until(")");
  }
  return out;
}

std::optional<facts::NcclRing> ring(std::string_view text) {
  Scan in(text);
  if (!in.take("Channel ")) return std::nullopt;
  const auto channel = in.integer();
  if (!channel || !in.take("/")) return std::nullopt;
  const auto of = in.integer();
  in.blanks();
  if (!of || !in.take(":")) return std::nullopt;
  facts::NcclRing out{.channel = *channel, .of = *of};
  while (!in.blanks().at_end()) {
    const auto rank = in.integer();
    if (!rank || (!in.at_end() && in.peek() != ' ')) return std::nullopt;
    out.ranks.push_back(*rank);
  }
  if (out.ranks.empty()) return std::nullopt;
  return out;
}

namespace {

// `15[c1000]`
bool rank_and_device(Scan& in, int& rank, std::string& device) {
  const auto r = in.blanks().integer();
  if (!r) return false;
  rank = *r;
  if (in.take("[")) {
    device = in.until("]");
    return in.take("]");
  }
  return true;
}

// `NET/IBext/0(8)/GDRDMA/Shared`, `P2P/CUMEM`, `SHM/direct/direct`, `direct shared memory`
bool transport(std::string_view via, facts::NcclConnection& out) {
  via = trimmed(via);
  if (via.empty()) return false;
  out.via = via;
  Scan in(via);
  if (in.take("P2P")) {
    out.transport = NcclTransport::p2p;
  } else if (in.take("SHM") || via == "direct shared memory") {
    out.transport = NcclTransport::shm;
  } else if (in.take("NVLS")) {
    out.transport = NcclTransport::nvls;
  } else if (const bool net = in.take("NET/"); net || in.take("COLLNET/")) {
    out.transport = net ? NcclTransport::net : NcclTransport::collnet;
    out.network = in.until("/");
    if (in.take("/")) out.device = in.integer().value_or(-1);
    if (in.take("(")) {
      out.proxy_rank = in.integer().value_or(-1);
      in.take(")");
    }
    out.gpu_direct = in.rest().find("/GDRDMA") != std::string_view::npos;
    out.shared = in.rest().find("/Shared") != std::string_view::npos;
  }
  return true;
}

}  // namespace

std::optional<ConnectionLine> connection(std::string_view text) {
  Scan in(text);
  const bool collnet = in.take("CollNet ");
  if (!collnet && !in.take("Channel ") && !in.take("Ring ")) return std::nullopt;
  ConnectionLine line;
  facts::NcclConnection& out = line.connection;
  const auto channel = in.integer();
  if (!channel) return std::nullopt;
  out.channel = *channel;
  if (in.take("/")) out.connection = in.integer().value_or(0);
  in.blanks();
  if (!in.take(":") || !rank_and_device(in, out.from, out.from_device)) return std::nullopt;
  in.blanks();
  if (in.take("->") && !rank_and_device(in, out.to, out.to_device)) return std::nullopt;
  in.blanks();
  if (in.take("[send]")) out.direction = NcclDirection::send;
  if (in.take("[receive]")) out.direction = NcclDirection::receive;
  in.blanks();
  if (!in.take("via ")) return std::nullopt;
  std::string_view via = in.rest();
  if (const std::size_t at = via.find(" comm 0x"); at != std::string_view::npos) {  // RCCL
    line.communicator = Scan(via.substr(at + 6)).word();
    via = via.substr(0, at);
  }
  if (!transport(via, out)) return std::nullopt;
  return line;
}

std::optional<facts::NcclCall> call(std::string_view text) {
  Scan in(text);
  facts::NcclCall out;
  if (!is_digit(in.peek())) {  // up to 2.7 without the collective
    out.collective = in.until(": ");
    if (!in.take(": ")) return std::nullopt;
  }
  const auto bytes = in.integer<std::uint64_t>();
  if (!bytes || !in.take(" Bytes -> Algo ")) return std::nullopt;
  out.bytes = *bytes;
  out.algorithm = in.word();
  if (!in.blanks().take("proto ")) return std::nullopt;
  out.protocol = in.word();
  in.blanks();
  if (in.take("time ")) {
    out.estimate_us = in.number();
  } else if (in.skip_to("={")) {
    out.first_channel = in.integer();
    if (in.take("..")) out.last_channel = in.integer();
    if (!in.take("}")) return std::nullopt;
  }
  return out;
}

std::optional<facts::NcclOperation> operation(std::string_view text) {
  Scan in(text);
  facts::NcclOperation out;
  out.collective = in.until(": ");
  if (out.collective.empty() || !in.take(": opCount ") || !in.skip_to(" count "))
    return std::nullopt;
  const auto elements = in.integer<std::uint64_t>();
  if (!elements || !in.take(" datatype ")) return std::nullopt;
  out.elements = *elements;
  out.datatype = in.integer().value_or(-1);
  if (in.take(" op ")) out.op = in.integer().value_or(-1);
  if (in.skip_to("[nranks=")) out.ranks = in.integer().value_or(0);
  return out;
}

std::optional<facts::NcclCompletionError> completion_error(std::string_view text) {
  const std::size_t at = text.find("Got completion ");
  if (at == std::string_view::npos) return std::nullopt;
  // `NAME(12)` or `12`
  const auto code = [](Scan& in) {
    if (!is_digit(in.peek())) in.skip_to("(");
    return in.integer().value_or(0);
  };
  facts::NcclCompletionError out;
  Scan in(text.substr(at));
  if (in.take("Got completion from peer ")) out.peer = in.until(" ");
  Scan status = in, opcode = in, vendor = in;
  if (!status.skip_to("with error ") && !status.skip_to("status=")) return std::nullopt;
  out.status = code(status);
  if (opcode.skip_to("opcode ") || opcode.skip_to("opcode=")) out.opcode = code(opcode);
  if (vendor.skip_to("vendor err ") || vendor.skip_to("vendor_err="))
    out.vendor_error = code(vendor);
  if (vendor.blanks().take("(")) out.operation = vendor.until(")");
  Scan local = in, remote = in, nic = in;
  if (local.skip_to("localGid ")) out.local_gid = local.word();
  if (remote.skip_to("remoteGid")) {  // `remoteGids` without a blank before the address
    remote.take("s");
    out.remote_gid = remote.word();
  }
  if (nic.skip_to(" hca ")) out.nic = nic.word();
  return out;
}

std::optional<facts::NcclTrail> trail(std::string_view text) {
  const std::size_t arrow = text.rfind(" -> ");
  if (arrow == std::string_view::npos) return std::nullopt;
  const std::string_view place = text.substr(0, arrow);
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || place.find(' ') != std::string_view::npos)
    return std::nullopt;
  const auto line = whole_integer(place.substr(colon + 1));
  Scan in(text.substr(arrow + 4));
  const auto code = in.integer();
  if (!line || !code) return std::nullopt;
  return facts::NcclTrail{
      .file = std::string(place.substr(0, colon)), .line = *line, .code = *code};
}

bool communicator(std::string_view text, facts::NcclCommunicator& out) {
  const std::size_t at = text.find("comm 0x");
  if (at == std::string_view::npos) return false;
  Scan in(text.substr(at + 5));
  out.pointer = in.word();
  const auto integer = [&](std::optional<int>& into) {
    if (const auto v = whole_integer(in.word())) into = v;
  };
  while (!in.blanks().at_end()) {
    const std::string_view key = in.word();
    if (key == "-") break;
    if (key == "rank") integer(out.rank);
    if (key == "nranks" || key == "nRanks") integer(out.ranks);
    if (key == "nNodes") integer(out.nodes);
    if (key == "localRanks") integer(out.local_ranks);
    if (key == "localRank") integer(out.local_rank);
    if (key == "cudaDev") integer(out.cuda_device);
    if (key == "nvmlDev") integer(out.nvml_device);
    if (key == "busId") out.bus_id = in.word();
    if (key == "commId") out.id = in.word();
    if (key == "parent") out.parent = in.word();
    if (key == "MNNVL") {
      std::optional<int> v;
      integer(v);
      if (v) out.mnnvl = *v != 0;
    }
  }
  return true;
}

bool channel_counts(std::string_view text, facts::NcclCommunicator& out) {
  if (text.find(" coll channels") == std::string_view::npos) return false;
  Scan in(text);
  while (!in.blanks().at_end()) {
    const auto n = in.integer();
    if (!n) return false;
    in.blanks();
    const std::string_view what = trimmed(in.until(","));
    in.take(",");
    if (what == "coll channels") out.coll_channels = n;
    if (what == "collnet channels") out.collnet_channels = n;
    if (what == "nvls channels") out.nvls_channels = n;
    if (what == "p2p channels") out.p2p_channels = n;
    if (what == "p2p channels per peer") out.p2p_channels_per_peer = n;
  }
  return true;
}

std::vector<int> thread_thresholds(std::string_view text) {
  std::vector<int> out;
  Scan in(text);
  if (!in.take("threadThresholds ")) return out;
  while (!in.at_end()) {
    if (const auto n = in.integer())
      out.push_back(*n);
    else if (!in.take(" ") && !in.take("/") && !in.take("|"))
      return {};
  }
  return out;
}

std::optional<facts::NcclGraph> graph_head(std::string_view text) {
  Scan in(text);
  if (!in.take("Pattern ")) return std::nullopt;
  facts::NcclGraph out;
  const auto pattern = in.integer();
  if (!pattern) return std::nullopt;
  out.pattern = *pattern;
  while (in.take(", ")) {
    if (in.take("crossNic ")) {
      out.cross_nic = in.integer().value_or(0);
    } else if (in.take("nChannels ")) {
      out.channels = in.integer().value_or(0);
    } else if (in.take("bw ") || in.take("speed ")) {
      out.speed_intra = out.speed_inter = in.number().value_or(0);
      if (in.take("/")) out.speed_inter = in.number().value_or(0);
    } else if (in.take("type ")) {
      out.type_intra = in.until("/,");
      if (in.take("/")) out.type_inter = in.until(",");
    } else if (in.take("sameChannels ")) {
      out.same_channels = in.integer().value_or(0) != 0;
    }
    in.until(",");
  }
  // the log names no graph; ring and NVLS have patterns of their own
  constexpr int kRing = 4, kNvls = 5, kCollNetDirect = 6;
  out.id = out.pattern == kRing            ? 0
           : out.pattern == kNvls          ? 3
           : out.pattern == kCollNetDirect ? 4
                                           : 1;
  if (out.channels < 0) return std::nullopt;
  return out;
}

std::optional<facts::NcclGraphChannel> graph_channel(std::string_view text) {
  Scan in(text);
  if (!in.blanks().integer() || !in.take(" : ")) return std::nullopt;
  facts::NcclGraphChannel out;
  while (!in.blanks().at_end()) {
    const std::string_view node = in.word();
    const std::size_t slash = node.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const std::string_view kind = node.substr(0, slash);
    std::string_view id = node.substr(slash + 1);
    if (const std::size_t dash = id.find('-'); dash != std::string_view::npos)
      id = id.substr(dash + 1);  // in front stands the number of the system (MNNVL)
    const auto v = whole_integer<std::uint64_t>(id, 16);
    if (!v) return std::nullopt;
    if (kind == "GPU") out.gpus.push_back(static_cast<std::int64_t>(*v));
    if (kind == "NET") out.nets.push_back(static_cast<std::int64_t>(*v));
  }
  if (out.gpus.empty() && out.nets.empty()) return std::nullopt;
  return out;
}

std::optional<SystemDump> SystemDump::begin(std::string_view text) {
  Scan in(text);
  if (!in.take("=== System : ")) return std::nullopt;
  SystemDump out;
  if (!in.take("maxBw ") && !in.take("maxWidth ")) return std::nullopt;
  out.system_.max_bandwidth = in.number().value_or(0);
  in.blanks();
  if (in.take("totalBw ") || in.take("totalWidth "))
    out.system_.total_bandwidth = in.number().value_or(0);
  out.mix(text);
  return out;
}

void SystemDump::mix(std::string_view text) {  // FNV-1a
  if (digest_ == 0) digest_ = 14695981039346656037ull;
  for (const char c : text) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  digest_ = (digest_ ^ 0x0aull) * 1099511628211ull;
}

bool SystemDump::add(std::string_view text, int line) {
  bool ours = false;
  if (!system_.complete) {
    if (text.starts_with("====")) {
      system_.complete = ours = true;
    } else {
      ours = add_node(text, line);
    }
  } else {
    ours = add_paths(text, line);
  }
  if (ours) mix(text);
  return ours;
}

// `+ PCI[48.0] - GPU/0-60 (0)`, indented by how deep it hangs
bool SystemDump::add_node(std::string_view text, int line) {
  facts::NcclSystemNode out{.line = line};
  const std::size_t column = text.find_first_not_of(' ');
  if (column == std::string_view::npos) return false;
  Scan in(text.substr(column));
  if (in.take("+ ")) {
    while (!columns_.empty() && columns_.back() >= column) columns_.pop_back();
    columns_.push_back(column);
    out.depth = static_cast<int>(columns_.size());
    out.link = in.until("[");
    if (!in.take("[")) return false;
    const auto bandwidth = in.number();
    if (!bandwidth || !in.take("]")) return false;
    out.bandwidth = *bandwidth;
    if (!in.blanks().take("- ")) return false;
  } else if (text.starts_with("CPU/")) {
    columns_.clear();
  } else {
    return false;
  }
  out.node = in.until(" ");
  if (in.blanks().take("(")) out.detail = in.until(")");
  system_.nodes.push_back(std::move(out));
  return true;
}

// `GPU/0-60 :GPU/0-60 (0/5000.0/LOC) GPU/0-70 (2/370.8/NVL) `
bool SystemDump::add_paths(std::string_view text, int line) {
  Scan in(text);
  const std::string_view from = in.until(" ");
  if (from.find('/') == std::string_view::npos || !in.take(" :")) return false;
  while (!in.blanks().at_end()) {
    facts::NcclPath path{.line = line, .from = std::string(from)};
    path.to = in.until(" ");
    if (!in.take(" (")) break;
    path.hops = in.integer().value_or(0);
    if (!in.take("/")) break;
    path.bandwidth = in.number().value_or(0);
    if (!in.take("/")) break;
    path.type = in.until(")");
    if (!in.take(")")) break;
    system_.paths.push_back(std::move(path));
  }
  return true;
}

TuningTable::Row TuningTable::add(std::string_view text, std::vector<facts::NcclTuningCell>& out) {
  const std::size_t bar = text.find('|');
  if (bar == std::string_view::npos) return Row::no;
  const std::string_view name = trimmed(text.substr(0, bar));
  std::vector<std::string_view> fields;
  constexpr std::size_t kMostColumns = 64;  // algorithms times protocols: 21 in 2.28
  for (Scan in(text.substr(bar + 1)); !in.at_end() && fields.size() < kMostColumns; in.take("|"))
    fields.push_back(trimmed(in.until("|")));
  while (!fields.empty() && fields.back().empty()) fields.pop_back();
  if (name == "Algorithm") {
    algorithms_.assign(fields.begin(), fields.end());
    columns_.clear();
    return Row::head;
  }
  if (name == "Protocol") {
    columns_.clear();
    if (algorithms_.empty() || fields.size() % algorithms_.size() != 0) return Row::head;
    const std::size_t each = fields.size() / algorithms_.size();
    for (std::size_t i = 0; i < fields.size(); ++i)
      columns_.push_back({.algorithm = algorithms_[i / each], .protocol = std::string(fields[i])});
    return Row::head;
  }
  if (name == "Latency/AlgBw") {  // up to 2.20: `Tree/ LL128`, all algorithms on one line
    columns_.clear();
    for (const std::string_view field : fields) {
      const std::size_t slash = field.find('/');
      if (slash == std::string_view::npos) break;
      columns_.push_back({.algorithm = std::string(trimmed(field.substr(0, slash))),
                          .protocol = std::string(trimmed(field.substr(slash + 1)))});
    }
    return Row::head;
  }
  if (columns_.empty() || fields.empty()) return Row::no;
  if (name == "Max NThreads") {
    for (std::size_t i = 0; i < std::min(columns_.size(), fields.size()); ++i)
      columns_[i].max_threads = whole_integer(fields[i]).value_or(0);
    return Row::head;
  }
  if (name.empty() || name.find(' ') != std::string_view::npos) return Row::no;
  for (std::size_t i = 0; i < std::min(columns_.size(), fields.size()); ++i) {
    Scan in(fields[i]);
    const auto latency = in.number();
    if (!latency || !in.take("/")) return Row::no;
    const auto bandwidth = in.blanks().number();
    if (!bandwidth) return Row::no;
    out.push_back({.collective = std::string(name),
                   .algorithm = columns_[i].algorithm,
                   .protocol = columns_[i].protocol,
                   .latency_us = *latency,
                   .bandwidth_gbs = *bandwidth,
                   .max_threads = columns_[i].max_threads});
  }
  return Row::cells;
}

}  // namespace railyard::intake::nccl
