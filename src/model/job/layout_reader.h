#pragma once
// The `layout:` part of a job file. Private to the model room.

#include "base/yaml.h"
#include "model/job.h"

namespace railyard::model {

/// Reads the keys of the map into `job.layout`; what the schedule and the shards imply is filled
/// in.
void read_layout(yaml::Fields& fields, Job& job);

}  // namespace railyard::model
