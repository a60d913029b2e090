#pragma once
// What is printed when the mistake is ours (exit code 70): everything that is needed to repeat it.
// Nothing is sent anywhere.

#include <span>
#include <string>
#include <string_view>

namespace railyard::app {

std::string bug_report(std::span<const std::string> words, std::string_view what);

}  // namespace railyard::app
