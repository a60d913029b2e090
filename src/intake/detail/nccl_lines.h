#pragma once
// What single lines of an NCCL log say: text behind `NCCL INFO ` in, a record out, or nothing when
// the line is of another kind or cut off. Places and communicators are the reader's business.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/nccl_run.h"

namespace railyard::intake::nccl {

/// How a version prints the number of an HCA. [FORMATS: hex from 2.21 on]
enum class NicNumber : std::uint8_t { decimal, hex };

std::optional<facts::NcclVersion> version(std::string_view text);
std::optional<facts::NcclVariable> variable(std::string_view text);
std::optional<facts::NcclDeviceList> device_list(std::string_view text);
std::optional<facts::NcclDeviceSpeed> device_speed(std::string_view text);
std::optional<facts::NcclGpuDirect> gpu_direct(std::string_view text, NicNumber spelling);
std::optional<facts::NcclRing> ring(std::string_view text);
/// Also hands back the pointer behind `comm`, which RCCL adds.
struct ConnectionLine {
  facts::NcclConnection connection = {};
  std::string_view communicator = {};
};
std::optional<ConnectionLine> connection(std::string_view text);
std::optional<facts::NcclCall> call(std::string_view text);
std::optional<facts::NcclOperation> operation(std::string_view text);
std::optional<facts::NcclCompletionError> completion_error(std::string_view text);
std::optional<facts::NcclTrail> trail(std::string_view text);
/// Fills what the words behind `comm 0x..` say; false when there is no pointer.
bool communicator(std::string_view text, facts::NcclCommunicator& out);
/// `24 coll channels, 24 collnet channels, ...`
bool channel_counts(std::string_view text, facts::NcclCommunicator& out);
std::vector<int> thread_thresholds(std::string_view text);

/// The head `Pattern 4, crossNic 0, ...` and the lines ` 0 : GPU/0-60 GPU/0-70` under it.
std::optional<facts::NcclGraph> graph_head(std::string_view text);
std::optional<facts::NcclGraphChannel> graph_channel(std::string_view text);

/// The dump of the system, line by line.
class SystemDump {
 public:
  static std::optional<SystemDump> begin(std::string_view text);
  /// False when the line does not belong to the dump.
  bool add(std::string_view text, int line);
  /// Equal for equal dumps.
  std::uint64_t digest() const { return digest_; }
  facts::NcclSystem& system() { return system_; }

 private:
  bool add_node(std::string_view text, int line);
  bool add_paths(std::string_view text, int line);
  void mix(std::string_view text);

  facts::NcclSystem system_ = {};
  std::vector<std::size_t> columns_ = {};  // of the plus signs that lead to the current line
  std::uint64_t digest_ = 0;
};

/// The table of expected latencies and bandwidths, which comes in blocks of algorithms.
class TuningTable {
 public:
  enum class Row : std::uint8_t { no, head, cells };
  /// Takes the line when it is one of the table; the cells of a row are appended to `out`.
  Row add(std::string_view text, std::vector<facts::NcclTuningCell>& out);

 private:
  struct Column {
    std::string algorithm = {}, protocol = {};
    int max_threads = 0;
  };
  std::vector<std::string> algorithms_ = {};
  std::vector<Column> columns_ = {};
};

}  // namespace railyard::intake::nccl
