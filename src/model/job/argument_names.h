#pragma once
// Which names a Megatron-LM run may give: those that the job is made of, those that are known and
// not modelled, and what a misspelt one was meant to be. Private to the model room.

#include <string>
#include <string_view>

namespace railyard::model {

/// Whether the conversion reads it. Names carry underscores: "num_layers".
bool is_read(std::string_view name);
/// Whether it is known to be no part of the model: learning rates, paths, logging.
bool is_not_modelled(std::string_view name);
/// The argument that is read and that `name` misspells or shortens; empty: none.
std::string_view slip_of(std::string_view name);
/// The nearest known argument of all; empty: none is near.
std::string nearest_argument(std::string_view name);

}  // namespace railyard::model
