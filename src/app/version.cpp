#include "app/version.h"

namespace railyard::app {

std::string_view version() { return RAILYARD_VERSION; }
std::string_view signature() { return "railyard " RAILYARD_VERSION; }
std::string_view compiler() { return "g++ " __VERSION__; }

}  // namespace railyard::app
