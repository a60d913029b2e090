#include "judge/case_file.h"

#include <algorithm>
#include <utility>

#include "base/suggest.h"

namespace railyard::judge {

namespace {

/// Reads the claims; every reader leaves its member empty when the key is absent.
class ClaimsReader {
 public:
  ClaimsReader(yaml::Fields& fields, const std::vector<RunSet>& sets, Claims& out)
      : f_(fields), out_(out) {
    for (const RunSet& set : sets)
      for (const RunFiles& run : set.runs) runs_.push_back(run.id);
  }

  void run() {
    platform();
    map("accelerators", [&](yaml::Fields& f) {
      int before = 0, after = 0;
      f.need("before"), f.need("after");
      f.integer("before", before, 1), f.integer("after", after, 1);
      out_.accelerators = {static_cast<double>(before), static_cast<double>(after)};
    });
    f_.text("slots_full", out_.slots_text);
    change("network", parse_printed_bandwidth, out_.network);
    gradients();
    f_.integer("servers", out_.servers, 2, 1 << 20);
    change("all_reduce", parse_printed_seconds, out_.all_reduce);
    change("communication_share", parse_printed_percent, out_.communication_share);
    change("utilisation", parse_printed_percent, out_.utilisation);
    printed(f_, "throughput", parse_printed_percent, out_.throughput);
    change("training_time", parse_printed_seconds, out_.training_time);
    change("host_memory", parse_printed_bytes, out_.host_memory);
    overflow();
    f_.text("offload_eliminated", out_.offload_text);
    rent();
    measurements();
    run_name(f_, "out_of_memory", out_.out_of_memory);
    printed(f_, "software", parse_printed_percent, out_.software);
    printed(f_, "sync_time", parse_printed_percent, out_.sync_time);
    printed(f_, "pcie_bandwidth", parse_printed_percent, out_.pcie_bandwidth);
    scale_up();
    peak();
    if (out_.all_reduce && out_.servers == 0)
      f_.report(*f_.get("all_reduce"), "servers: the number that the all-reduce spans",
                "write for example servers: 32 beside it");
  }

 private:
  template <class Read>
  void map(std::string_view key, Read read) {
    const yaml::Node* node = f_.get(key);
    if (!node) return;
    yaml::Fields f(f_.document(), *node, f_.problems(), std::string(key));
    if (f.is_map()) read(f);
    f.done();
  }

  template <class Q>
  using Parse = Measured<Printed<Q>> (*)(std::string_view);

  /// One printed figure; absent is fine.
  template <class Q>
  static void printed(yaml::Fields& f, std::string_view key, Parse<Q> parse,
                      std::optional<Printed<Q>>& out) {
    const yaml::Node* node = f.get(key);
    if (!node) return;
    if (node->kind != yaml::Kind::scalar) {
      f.report(*node, "one figure");
      return;
    }
    auto value = parse(node->scalar);
    if (value)
      out = *std::move(value);
    else
      f.report(*node, value.error().expected, value.error().hint);
  }

  /// {before: 8.5 ms, after: 3.2 ms}
  template <class Q>
  void change(std::string_view key, Parse<Q> parse, std::optional<PrintedChange<Q>>& out) {
    map(key, [&](yaml::Fields& f) {
      std::optional<Printed<Q>> before, after;
      f.need("before"), f.need("after");
      printed(f, "before", parse, before);
      printed(f, "after", parse, after);
      if (before && after) out = PrintedChange<Q>{*before, *after};
    });
  }

  /// The id of a run of the case.
  void run_name(yaml::Fields& f, std::string_view key, std::string& out) const {
    if (f.text(key, out) && std::ranges::find(runs_, out) == runs_.end())
      f.report(*f.get(key), "the name of a run", did_you_mean(out, runs_));
  }

  void platform() {
    map("platform", [&](yaml::Fields& f) {
      PlatformClaim c;
      f.need("server");
      f.text("server", c.server);
      f.text("text", c.text);
      out_.platform = std::move(c);
    });
  }

  void gradients() {
    map("gradients", [&](yaml::Fields& f) {
      Vague<Bytes> c;
      f.need("least"), f.need("example");
      f.bytes("least", c.least);
      f.bytes("most", c.most);
      f.bytes("example", c.example);
      f.text("text", c.text);
      out_.gradients = std::move(c);
    });
  }

  void overflow() {
    map("overflow", [&](yaml::Fields& f) {
      OverflowClaim c;
      f.need("parameters"), f.need("bytes_per_parameter"), f.need("servers");
      f.number("parameters", c.parameters, 1);
      f.number("bytes_per_parameter", c.bytes_per_parameter, 1, 100);
      f.integer("servers", c.servers, 1);
      out_.overflow = c;
    });
  }

  void rent() {
    map("rent", [&](yaml::Fields& f) {
      RentClaim c;
      f.need("least"), f.need("most"), f.need("currency"), f.need("prices");
      f.number("least", c.least);
      f.number("most", c.most);
      f.text("currency", c.currency);
      f.text("text", c.text);
      f.list("prices", [&](const yaml::Node& item) {
        auto price = item.kind == yaml::Kind::scalar
                         ? parse_printed_number(item.scalar)
                         : std::unexpected(MeasureProblem{"a price", {}});
        if (price)
          c.prices.push_back(price->value);
        else
          f.report(item, price.error().expected, price.error().hint);
      });
      out_.rent = std::move(c);
    });
  }

  void measurements() {
    f_.list("measurements", [&](const yaml::Node& item) {
      yaml::Fields f(f_.document(), item, f_.problems(), "a measurement");
      if (!f.is_map()) return;
      MeasuredClaim c;
      f.need("run"), f.need("samples_per_s");
      run_name(f, "run", c.run);
      std::optional<Printed<double>> throughput;
      printed(f, "samples_per_s", parse_printed_number, throughput);
      if (throughput) c.throughput = *std::move(throughput);
      const yaml::Node* time = f.get("all_reduce");
      if (time && time->scalar.starts_with('?'))
        c.unreadable_all_reduce = time->scalar;
      else
        printed(f, "all_reduce", parse_printed_seconds, c.all_reduce);
      printed(f, "network", parse_printed_bandwidth, c.network);
      f.done();
      out_.measurements.push_back(std::move(c));
    });
  }

  void scale_up() {
    map("scale_up", [&](yaml::Fields& f) {
      ScaleUpClaim c;
      f.need("accelerator"), f.need("rate");
      f.text("accelerator", c.accelerator);
      std::optional<Printed<Bandwidth>> rate;
      printed(f, "rate", parse_printed_bandwidth, rate);
      if (rate) c.rate = *std::move(rate);
      f.number("over_pcie", c.over_pcie);
      f.integer("pcie_generation", c.pcie_generation, 1, 6);
      out_.scale_up = std::move(c);
    });
  }

  void peak() {
    map("peak", [&](yaml::Fields& f) {
      PeakClaim c;
      f.need("accelerator"), f.need("rate");
      f.text("accelerator", c.accelerator);
      std::optional<Printed<FlopRate>> rate;
      printed(f, "rate", parse_printed_flop_rate, rate);
      if (rate) c.rate = *std::move(rate);
      out_.peak = std::move(c);
    });
  }

  yaml::Fields& f_;
  Claims& out_;
  std::vector<std::string> runs_;
};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

RunFiles read_run(yaml::Fields& f, const std::string& folder) {
  RunFiles run;
  for (const char* key : {"run", "cluster", "job"}) f.need(key);
  f.text("run", run.id);
  run.title = run.id;
  f.text("title", run.title);
  f.choice<Role>("role",
                 {{"before", Role::before}, {"after", Role::after}, {"reading", Role::reading}},
                 run.role);
  f.text("cluster", run.cluster);
  f.text("job", run.job);
  for (std::string* path : {&run.cluster, &run.job})
    if (!path->starts_with('/')) *path = folder + *path;
  f.done();
  return run;
}

}  // namespace

Checked<CaseFile> parse_case(const yaml::Document& document) {
  Problems problems;
  CaseFile out;
  out.file = document.file();
  out.bytes = document.bytes();
  const std::string folder = folder_of(out.file);
  yaml::Fields top(document, document.root(), problems, "a case");
  if (!top.is_map()) return std::unexpected(std::move(problems));
  top.need("case"), top.need("sets"), top.need("claims");
  top.text("case", out.title);
  top.text("source", out.source);
  top.list("sets", [&](const yaml::Node& item) {
    yaml::Fields f(document, item, problems, "a set of runs");
    if (!f.is_map()) return;
    RunSet set;
    f.need("set"), f.need("runs");
    f.text("set", set.id);
    f.text("title", set.title);
    f.list("runs", [&](const yaml::Node& run) {
      yaml::Fields fields(document, run, problems, "a run");
      if (fields.is_map()) set.runs.push_back(read_run(fields, folder));
    });
    if (const yaml::Node* runs = f.get("runs"); runs && runs->items.empty())
      f.report(*runs, "at least one run");
    f.done();
    out.sets.push_back(std::move(set));
  });
  if (const yaml::Node* node = top.get("sets"); node && out.sets.empty() && problems.empty())
    top.report(*node, "at least one set of runs");
  if (const yaml::Node* node = top.get("claims")) {
    yaml::Fields f(document, *node, problems, "the claims");
    if (f.is_map()) ClaimsReader(f, out.sets, out.claims).run();
    f.done();
  }
  top.done();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return out;
}

Checked<CaseFile> load_case(const std::string& path) {
  const yaml::Document document = RY_TRY(yaml::Document::load(path));
  return parse_case(document);
}

}  // namespace railyard::judge
