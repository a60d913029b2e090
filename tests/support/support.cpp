#include "support.h"

#include <cstdlib>
#include <filesystem>

namespace railyard::test {

// ctest runs every test in the repository root (tests/CMakeLists.txt).
std::string repository(const std::string& relative) { return relative; }

std::string shared(const std::string& relative) {
  const char* root = std::getenv("RAILYARD_SHARED");
  const std::string path = std::string(root ? root : "../shared") + '/' + relative;
  return std::filesystem::exists(path) ? path : std::string();
}

}  // namespace railyard::test
