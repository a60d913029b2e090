#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace railyard {
namespace {

constexpr std::size_t kAll = std::string_view::npos;

/// One code point by its definition.
std::string encoded(std::uint32_t c) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0 | (c >> 6)), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePointButTheSurrogates) {
  for (std::uint32_t c = 0; c <= 0x10ffff; ++c) {
    const bool surrogate = c >= 0xd800 && c < 0xe000;
    ASSERT_EQ(invalid_utf8(encoded(c)), surrogate ? 0 : kAll) << c;
  }
  EXPECT_EQ(invalid_utf8(encoded(0x110000)), 0u);
}

TEST(Utf8, TheFirstBadByteIsNamed) {
  EXPECT_EQ(invalid_utf8(""), kAll);
  EXPECT_EQ(invalid_utf8("ab\xff"), 2u);
  EXPECT_EQ(invalid_utf8("a\xc3"), 1u);             // cut off
  EXPECT_EQ(invalid_utf8("\xc3\xa9\xa9"), 2u);      // a tail without a head
  EXPECT_EQ(invalid_utf8("\xc0\x80"), 0u);          // overlong
  EXPECT_EQ(invalid_utf8("\xe0\x9f\xbf"), 0u);      // overlong
  EXPECT_EQ(invalid_utf8("\xf0\x8f\xbf\xbf"), 0u);  // overlong
}

TEST(Utf8, WhatIsPrintedIsHarmless) {
  EXPECT_EQ(printable("a\tb\n\u00fc"), "a\tb\n\u00fc");
  EXPECT_EQ(printable("\x1b[32m\xff\x7f\xc3"), "?[32m???");
}

}  // namespace
}  // namespace railyard
