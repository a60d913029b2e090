// Environment variables as NCCL reads them.

#include "predict/nccl/settings.h"

#include <gtest/gtest.h>

namespace railyard::predict::nccl {
namespace {

Settings settings_of(const std::string& name, const std::string& value) {
  return read_settings({{.name = name, .value = value}}).value().settings;
}
bool refused(const std::string& name, const std::string& value) {
  return !read_settings({{.name = name, .value = value}}).has_value();
}

constexpr auto kAllReduce = static_cast<std::size_t>(Function::all_reduce);
constexpr auto kAllGather = static_cast<std::size_t>(Function::all_gather);
constexpr auto kRing = static_cast<std::size_t>(Algorithm::ring);
constexpr auto kTree = static_cast<std::size_t>(Algorithm::tree);

TEST(NcclSettings, AListWithoutCollectiveHoldsForAll) {
  const Settings s = settings_of("NCCL_ALGO", "Ring");
  EXPECT_TRUE(s.algorithms[kAllReduce][kRing]);
  EXPECT_FALSE(s.algorithms[kAllReduce][kTree]);
  EXPECT_FALSE(s.algorithms[kAllGather][kTree]);
}

TEST(NcclSettings, AListByCollectiveLeavesTheOthers) {
  const Settings s = settings_of("NCCL_ALGO", "allreduce:tree");
  EXPECT_FALSE(s.algorithms[kAllReduce][kRing]);
  EXPECT_TRUE(s.algorithms[kAllGather][kRing]);
}

TEST(NcclSettings, ACaretMeansAllBut) {
  const Settings s = settings_of("NCCL_PROTO", "^LL128;allreduce:LL128");
  EXPECT_EQ(s.protocols[kAllGather][1], false);
  EXPECT_EQ(s.protocols[kAllGather][0], true);
  EXPECT_EQ(s.protocols[kAllReduce][1], true);
  EXPECT_EQ(s.protocols[kAllReduce][0], false);
}

TEST(NcclSettings, WhatNcclWouldRejectIsRefused) {
  EXPECT_TRUE(refused("NCCL_ALGO", "Ringo"));
  EXPECT_TRUE(refused("NCCL_ALGO", "allreduce:ring;tree"));
  EXPECT_TRUE(refused("NCCL_ALGO", "allfoo:ring"));
  EXPECT_TRUE(refused("NCCL_NVLS_ENABLE", "yes"));
  EXPECT_TRUE(refused("NCCL_P2P_LEVEL", "NVLINK"));
  EXPECT_TRUE(refused("NCCL_NETDEVS_POLICY", "MAX:0"));
  EXPECT_TRUE(refused("PATH", "/bin"));
}

TEST(NcclSettings, LevelsGoByNameAndByTheOldNumbers) {
  EXPECT_EQ(settings_of("NCCL_P2P_LEVEL", "SYS").p2p_level, PathType::sys);
  EXPECT_EQ(settings_of("NCCL_P2P_LEVEL", "3").p2p_level, PathType::phb);
  EXPECT_EQ(settings_of("NCCL_P2P_DISABLE", "1").p2p_level, PathType::loc);
  EXPECT_FALSE(settings_of("NCCL_P2P_DISABLE", "0").p2p_level);
}

TEST(NcclSettings, VariablesWithoutAPartInTheDecisionAreNamed) {
  const auto read = read_settings({{.name = "NCCL_DEBUG", .value = "INFO"}}).value();
  EXPECT_EQ(read.without_effect, std::vector<std::string>{"NCCL_DEBUG"});
}

}  // namespace
}  // namespace railyard::predict::nccl
