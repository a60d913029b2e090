#pragma once
// What NCCL itself would have estimated for a published measurement, to set our errors beside its
// own. Known for NVSwitch servers, whose topology the catalogue has.

#include <map>
#include <optional>
#include <string>

#include "facts/busbw_row.h"
#include "judge/busbw_setup.h"
#include "model/catalog.h"
#include "predict/nccl/communicator.h"

namespace railyard::judge {

class NcclOwnEstimate {
 public:
  explicit NcclOwnEstimate(const model::Catalog& catalog) : catalog_(catalog) {}

  /// us of NCCL's choice by its own cost table; nothing where the topology is not known.
  std::optional<double> us(const facts::BusbwRow& row, const BusbwSetup& setup);

 private:
  const predict::nccl::Communicator* communicator(const facts::BusbwRow& row,
                                                  const BusbwSetup& setup);

  const model::Catalog& catalog_;
  std::map<std::string, std::optional<predict::nccl::Communicator>> known_;
};

}  // namespace railyard::judge
