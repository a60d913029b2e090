#pragma once
// Attributes of NCCL's XML files, read as NCCL reads them: C's strtol takes what it understands and
// passes over the rest, so "18x" is 18, "010" is 8, "yes" is 0, and nobody complains.
// [NCCL 2.28: src/graph/xml.h]

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/xml.h"
#include "facts/nccl_topology.h"

namespace railyard::intake {

enum class Base : std::uint8_t { as_spelled, hexadecimal };

struct LooseInteger {
  std::int64_t value = 0;
  bool as_it_looks = true;  ///< false: a part was passed over, or it is octal, or too large
};

/// The number at the start of `text`: blanks, a sign, `0x` or a leading zero as in C.
LooseInteger read_loosely(std::string_view text, Base base = Base::as_spelled);

/// The attributes of one element: those that are asked for by name, then the rest.
class NcclFields {
 public:
  NcclFields(const xml::Document& document, const xml::Element& element,
             std::vector<facts::NcclMisread>& misread)
      : document_(document), element_(element), misread_(misread) {}

  /// Nothing when the attribute is absent.
  std::optional<std::string> text(std::string_view name);
  std::optional<int> integer(std::string_view name);
  std::optional<double> number(std::string_view name);
  /// Absence is noted: NCCL needs it.
  int needed_integer(std::string_view name);
  std::string needed_text(std::string_view name);
  /// What nobody asked for.
  facts::NcclAttributes other() const;

 private:
  const xml::Attribute* get(std::string_view name);
  void missing(std::string_view name);

  const xml::Document& document_;
  const xml::Element& element_;
  std::vector<facts::NcclMisread>& misread_;
  std::vector<std::string_view> asked_ = {};
};

/// How an element is handed to its reader.
using ElementReader = std::function<void(const xml::Element&)>;

/// Hands each child to the reader of its name. Others are counted: NCCL passes over them, with
/// everything inside.
void read_children(const xml::Document& document, const xml::Element& parent,
                   std::initializer_list<std::pair<std::string_view, ElementReader>> readers,
                   std::vector<facts::Skipped>& skipped);

/// Text between elements: NCCL gives up there. All such places, as problems.
Problems stray_text(const xml::Document& document);

}  // namespace railyard::intake
