#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "base/json_reader.h"
#include "base/random.h"

namespace railyard::json {
namespace {

TEST(JsonWriter, KeepsTheOrderOfTheCallsAndEscapes) {
  Writer out;
  out.begin_object().field("b", 1).field("a", "say \"hi\"\n\x01 µ").key("list").begin_array();
  out.value(true).null().value(2.5).end_array().key("empty").begin_object().end_object();
  out.end_object();
  EXPECT_EQ(out.text(),
            "{\n"
            "  \"b\": 1,\n"
            "  \"a\": \"say \\\"hi\\\"\\n\\u0001 µ\",\n"
            "  \"list\": [\n"
            "    true,\n"
            "    null,\n"
            "    2.5\n"
            "  ],\n"
            "  \"empty\": {}\n"
            "}");
}

TEST(JsonWriter, WhatIsNoNumberIsNull) {
  Writer out;
  out.begin_array().value(std::nan("")).value(std::numeric_limits<double>::infinity()).end_array();
  EXPECT_EQ(out.text(), "[\n  null,\n  null\n]");
}

double read_back(const std::string& text) {
  const auto doc = parse("x.json", text);
  EXPECT_TRUE(doc) << railyard::text(doc.error());
  return doc ? std::strtod(doc->root().items.at(0).scalar.c_str(), nullptr) : std::nan("");
}

TEST(JsonWriter, EveryNumberReadsBackToTheBit) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const double v = std::ldexp(random.unit() - 0.5, static_cast<int>(random.below(600)) - 300);
    Writer out;
    out.begin_array().value(v).end_array();
    ASSERT_EQ(read_back(out.text()), v) << out.text();
  }
  for (const double v : {0.0, 1e308, 5e-324, std::numbers::pi, -1.0 / 3}) {
    Writer out;
    out.begin_array().value(v).end_array();
    EXPECT_EQ(read_back(out.text()), v);
  }
}

TEST(JsonReader, GivesTheTreeThatYamlGives) {
  const std::string bytes =
      "{\"name\": \"a\\u00b5\\n\", \"n\": 12,\n  \"list\": [1.5, true, null, {}], \"o\": {\"k\": "
      "-3e2}}";
  const auto doc = parse("x.json", bytes);
  ASSERT_TRUE(doc) << text(doc.error());
  const yaml::Node& root = doc->root();
  EXPECT_EQ(root.find("name")->scalar, "aµ\n");
  EXPECT_TRUE(root.find("name")->quoted);
  EXPECT_EQ(root.find("n")->scalar, "12");
  EXPECT_FALSE(root.find("n")->quoted);
  const yaml::Node& list = *root.find("list");
  ASSERT_EQ(list.items.size(), 4u);
  EXPECT_EQ(list.line, 2);
  EXPECT_EQ(list.column, 11);
  EXPECT_EQ(list.items[0].scalar, "1.5");
  EXPECT_EQ(list.items[1].scalar, "true");
  EXPECT_EQ(list.items[2].kind, yaml::Kind::null);
  EXPECT_EQ(list.items[3].kind, yaml::Kind::map);
  EXPECT_EQ(root.find("o")->find("k")->scalar, "-3e2") << "numbers keep their spelling";
}

TEST(JsonReader, BrokenTextIsRefusedWithAPlace) {
  for (const char* bytes : {"", "{", "[1,", "{\"a\" 1}", "{\"a\": }", "[1 2]", "nul", "\"open",
                            "{\"a\": 1}}", "[01]", "{a: 1}", "[1] [2]"}) {
    const auto doc = parse("x.json", bytes);
    ASSERT_FALSE(doc) << bytes;
    EXPECT_EQ(doc.error().at(0).expected, "JSON") << bytes;
    EXPECT_GE(doc.error().at(0).at.line, 1) << bytes;
  }
}

TEST(JsonReader, NestingHasALimit) {
  EXPECT_TRUE(parse("a", std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(parse("a", std::string(100'000, '[') + std::string(100'000, ']')));
}

TEST(JsonReader, ReadsWhatTheWriterWrites) {
  Writer out;
  out.begin_object().field("text", "tab\t\"quote\" \\ ü").field("n", -0.1).key("l").begin_array();
  for (int i = 0; i < 3; ++i) out.begin_object().field("i", i).end_object();
  out.end_array().end_object();
  const auto doc = parse("x.json", out.text());
  ASSERT_TRUE(doc) << text(doc.error());
  EXPECT_EQ(doc->root().find("text")->scalar, "tab\t\"quote\" \\ ü");
  EXPECT_EQ(doc->root().find("n")->scalar, "-0.1");
  EXPECT_EQ(doc->root().find("l")->items.at(2).find("i")->scalar, "2");
}

}  // namespace
}  // namespace railyard::json
