#pragma once
// What tests share: where the repository and the shared data are.

#include <string>

namespace railyard::test {

/// Path inside the repository.
std::string repository(const std::string& relative);
/// Path inside the shared data (RAILYARD_SHARED, default ../shared beside the repository); empty
/// when it is not there, and then the test skips with a message.
std::string shared(const std::string& relative);

}  // namespace railyard::test
