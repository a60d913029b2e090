#pragma once
// SHA-256 (FIPS 180-4), so that a result can name the very bytes it was computed from. Nothing here
// is about secrecy; sixty lines are cheaper than a dependency on a TLS library.

#include <string>
#include <string_view>

namespace railyard {

/// The digest in 64 lower-case hexadecimal digits, as `sha256sum` prints it.
std::string sha256(std::string_view bytes);

}  // namespace railyard
