#pragma once
// case.yaml: what somebody claims, as printed, and the clusters and jobs to compare it with.
//
//   case: 256 to 512 H100, 100G to 400G
//   source: customer case, as printed
//   sets:                       # one model each; every run is a cluster.yaml and a job.yaml
//   - set: 175b
//     runs:
//     - {run: before, role: before, cluster: before.yaml, job: job-175b.yaml}
//     - {run: network, role: after, cluster: after-256.yaml, job: job-175b.yaml}
//   claims:                     # each is optional; sums are made of those that are there
//     all_reduce: {before: 8.5 ms, after: 3.2 ms}
//     communication_share: {before: 35 %, after: 12 %}
//
// The claims are a closed list: each has its own sums (claims.h). Figures keep the digits that were
// printed, because rounding decides whether two of them can hold together.

#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "base/yaml.h"
#include "judge/printed.h"

namespace railyard::judge {

/// What a run stands for in the comparison.
enum class Role : std::uint8_t {
  other,
  before,
  after,    ///< the change alone, on the same accelerators
  reading,  ///< one way to read the text about a larger cluster
};

struct RunFiles {
  std::string id = {}, title = {};
  Role role = Role::other;
  std::string cluster = {}, job = {};  ///< paths
};

/// The runs of one model.
struct RunSet {
  std::string id = {}, title = {};
  std::vector<RunFiles> runs = {};
};

/// A figure of which the text gives only an order of magnitude.
template <class Q>
struct Vague {
  Q least = {}, most = {};  ///< `most` zero: no upper end
  Q example = {};           ///< the value that sums take
  std::string text = {};    ///< "tens of GB"
};

struct PlatformClaim {
  std::string server = {};  ///< a template of the catalogue
  std::string text = {};
};

/// Host memory is said to overflow under a model of so many parameters.
struct OverflowClaim {
  double parameters = 0;
  double bytes_per_parameter = 0;  ///< weights, gradients, optimizer state
  int servers = 0;
};

struct RentClaim {
  double least = 0, most = 0;  ///< a month, in `currency`
  std::string currency = {}, text = {};
  std::vector<double> prices = {};  ///< samples of ours, per accelerator-hour
};

/// A line of a table of measurements. `run` names one of the runs.
struct MeasuredClaim {
  std::string run = {};
  Printed<double> throughput = {};  ///< samples/s of the whole job
  std::optional<Printed<Seconds>> all_reduce = {};
  std::string unreadable_all_reduce = {};  ///< as printed, where a digit is lost: "?.2 ms"
  std::optional<Printed<Bandwidth>> network = {};
};

/// A number of a data sheet as quoted, with the part that it is said of.
struct ScaleUpClaim {
  std::string accelerator = {};
  Printed<Bandwidth> rate = {};
  double over_pcie = 0;  ///< "ten times PCIe 5.0"; 0: not said
  int pcie_generation = 5;
};
struct PeakClaim {
  std::string accelerator = {};
  Printed<FlopRate> rate = {};
};

struct Claims {
  std::optional<PlatformClaim> platform = {};
  std::optional<Change<double>> accelerators = {};       ///< counts
  std::string slots_text = {};                           ///< "PCIe slots full"; empty: not said
  std::optional<PrintedChange<Bandwidth>> network = {};  ///< of a server
  std::optional<Vague<Bytes>> gradients = {};            ///< synchronised in a step
  int servers = 0;                                       ///< that an all-reduce spans
  std::optional<PrintedChange<Seconds>> all_reduce = {};
  std::optional<PrintedChange<double>> communication_share = {};
  std::optional<PrintedChange<double>> utilisation = {};
  std::optional<Printed<double>> throughput = {};  ///< gain
  std::optional<PrintedChange<Seconds>> training_time = {};
  std::optional<PrintedChange<Bytes>> host_memory = {};  ///< of a server
  std::optional<OverflowClaim> overflow = {};
  std::string offload_text = {};  ///< "offload nearly eliminated by more host memory"
  std::optional<RentClaim> rent = {};
  std::vector<MeasuredClaim> measurements = {};
  std::string out_of_memory = {};                      ///< the run that is said not to have fitted
  std::optional<Printed<double>> software = {};        ///< gain of software alone
  std::optional<Printed<double>> sync_time = {};       ///< fall of gradient synchronisation time
  std::optional<Printed<double>> pcie_bandwidth = {};  ///< gain of bandwidth between accelerators
  std::optional<ScaleUpClaim> scale_up = {};
  std::optional<PeakClaim> peak = {};
};

struct CaseFile {
  std::string title = {}, source = {};
  std::string file = {}, bytes = {};  ///< for the list of inputs
  std::vector<RunSet> sets = {};
  Claims claims = {};
};

/// Paths in it count from its folder.
Checked<CaseFile> load_case(const std::string& path);
Checked<CaseFile> parse_case(const yaml::Document& document);

}  // namespace railyard::judge
