#pragma once
// From the words of a published measurement to a platform and a question.
//
// The table names systems as their publishers do: "H100-SXM", "NVSwitch3 (NVLink4 900)", "RoCE CX7
// 400G per GPU". Only hardware terms are taken; nothing depends on who published.

#include <expected>
#include <string>

#include "facts/busbw_row.h"
#include "predict/nccl/time_law.h"

namespace railyard::judge {

struct BusbwSetup {
  predict::nccl::Platform platform = {};
  predict::nccl::TimeQuestion question = {};
  double measured_us = 0;
};

/// Or why there is none.
std::expected<BusbwSetup, std::string> setup_of(const facts::BusbwRow& row);

/// Rows of the same system: gpu, gpus_per_node, nodes, intra, nic, nics_per_node.
std::string system_of(const facts::BusbwRow& row);

}  // namespace railyard::judge
