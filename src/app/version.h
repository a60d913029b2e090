#pragma once

#include <string_view>

namespace railyard::app {

/// "0.1.0", from CMakeLists.txt.
std::string_view version();
/// "railyard 0.1.0", as results are signed.
std::string_view signature();
/// The compiler that built this program.
std::string_view compiler();

}  // namespace railyard::app
