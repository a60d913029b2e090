#include "app/file_kinds.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace railyard::app {

namespace {

int count_of(const yaml::Node& root, std::initializer_list<std::string_view> keys) {
  return static_cast<int>(
      std::ranges::count_if(keys, [&](std::string_view key) { return root.find(key) != nullptr; }));
}

// One key may be a slip, two are another kind of file.
constexpr int kTelling = 2;

bool is_job(const yaml::Node& root) {
  return count_of(root, {"model", "layout", "sequence", "global_batch", "precision", "stack"}) >=
         kTelling;
}
bool is_cluster(const yaml::Node& root) {
  return count_of(root, {"cluster", "servers", "server", "fabric"}) >= kTelling;
}
bool is_model_config(const yaml::Node& root) {
  return count_of(root, {"model_type", "architectures", "hidden_size", "vocab_size"}) >= kTelling;
}

constexpr const char* kOrder = "the cluster stands before the job: CLUSTER JOB";

}  // namespace

std::optional<Problem> not_a_cluster(const yaml::Document& document) {
  const yaml::Node& root = document.root();
  if (is_cluster(root)) return std::nullopt;
  if (is_job(root)) return document.problem(1, 1, "a cluster file", "a job file", kOrder);
  if (is_model_config(root))
    return document.problem(1, 1, "a cluster file", "the config.json of a model",
                            "name it in a job file: 'model: " + document.file() + "'");
  return std::nullopt;
}

std::optional<Problem> not_a_job(const yaml::Document& document) {
  const yaml::Node& root = document.root();
  if (is_job(root)) return std::nullopt;
  if (is_cluster(root)) return document.problem(1, 1, "a job file", "a cluster file", kOrder);
  if (is_model_config(root))
    return document.problem(1, 1, "a job file", "the config.json of a model",
                            "name it in a job file: 'model: " + document.file() + "'");
  return std::nullopt;
}

}  // namespace railyard::app
