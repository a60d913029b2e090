#include "model/parts.h"

namespace railyard::model {

std::string_view name(Precision p) {
  switch (p) {
    case Precision::fp32: return "fp32";
    case Precision::tf32: return "tf32";
    case Precision::fp16: return "fp16";
    case Precision::bf16: return "bf16";
    case Precision::fp8: return "fp8";
    case Precision::mxfp8: return "mxfp8";
    case Precision::nvfp4: return "nvfp4";
  }
  return "?";
}

std::string_view name(ScaleUpKind kind) {
  switch (kind) {
    case ScaleUpKind::none: return "none";
    case ScaleUpKind::bridge: return "bridge";
    case ScaleUpKind::fabric: return "fabric";
    case ScaleUpKind::mesh: return "mesh";
  }
  return "?";
}

std::string_view name(Confidence c) {
  switch (c) {
    case Confidence::agreed: return "agreed";
    case Confidence::single: return "single";
    case Confidence::recalled: return "recalled";
    case Confidence::conflict: return "conflict";
    case Confidence::supplied: return "supplied";
  }
  return "?";
}

}  // namespace railyard::model
