#include "report/width.h"

#include <gtest/gtest.h>

namespace railyard::report {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("1.8 us"), 6);
  EXPECT_EQ(display_width("1.8 µs"), 6);
  EXPECT_EQ(display_width("├─ step"), 7);
  EXPECT_EQ(display_width("网卡"), 4) << "Chinese takes two columns a character";
  EXPECT_EQ(display_width("e\xcc\x81"), 1) << "a combining accent takes none";
  EXPECT_EQ(display_width("\xff\xc3"), 2) << "broken bytes count one each";
}

TEST(Pad, FillsToColumns) {
  EXPECT_EQ(pad_right("µs", 4), "µs  ");
  EXPECT_EQ(pad_left("网", 4), "  网");
  EXPECT_EQ(pad_left("longer", 4), "longer");
}

TEST(Cut, EndsBetweenWordsWhereItCan) {
  EXPECT_EQ(cut("bandwidth 3.35 TB/s", 19), "bandwidth 3.35 TB/s");
  EXPECT_EQ(cut("bandwidth 3.35 TB/s", 17), "bandwidth 3.35…");
  EXPECT_EQ(cut("incomprehensible", 8), "incompr…");
  EXPECT_EQ(cut("网卡网卡", 4), "网…") << "half a character is none";
  EXPECT_EQ(cut("x", 0), "");
}

TEST(Wrap, KeepsWordsWhole) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("enormousword a", 4), (std::vector<std::string>{"enormousword", "a"}));
  EXPECT_TRUE(wrap("", 10).empty());
}

}  // namespace
}  // namespace railyard::report
