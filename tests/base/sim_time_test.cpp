#include "base/sim_time.h"

#include <gtest/gtest.h>

#include "base/id.h"

namespace railyard {
namespace {

TEST(SimTime, SumsAreExactAndTiesAreReal) {
  // A tenth of a second ten times is one second; with doubles it is not.
  SimTime t{};
  for (int i = 0; i < 10; ++i) t = t + SimTime::from(Seconds::si(0.1));
  EXPECT_EQ(t, SimTime::from(1.0 * second));
}

TEST(SimTime, RoundsToTheNearestPicosecond) {
  EXPECT_EQ(SimTime::from(Seconds::si(320.4e-12)).ps, 320);
  EXPECT_EQ(SimTime::from(1.0 * day).ps, 86'400'000'000'000'000);
  EXPECT_DOUBLE_EQ(SimTime{1'500'000}.seconds().in(us), 1.5);
}

TEST(Table, HandsOutIdsInOrder) {
  using PortId = Id<struct PortTag>;
  Table<PortId, std::string> ports;
  const PortId a = ports.add("a"), b = ports.add("b");
  EXPECT_LT(a, b);
  EXPECT_EQ(ports[b], "b");
  ports[a] = "c";
  EXPECT_EQ(*ports.begin(), "c");
  EXPECT_EQ(ports.size(), 2u);
  static_assert(!std::is_convertible_v<PortId, Id<struct OtherTag>>);
}

}  // namespace
}  // namespace railyard
