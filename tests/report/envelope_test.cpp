#include "report/envelope.h"

#include <gtest/gtest.h>

#include "base/json_reader.h"

namespace railyard::report {
namespace {

TEST(Envelope, NamesSchemaProgramAndInputs) {
  const std::string text =
      to_json({.command = "catalog list",
               .generated_by = "railyard 1.2.3",
               .inputs = {input_of("a.yaml", "abc")}},
              [](json::Writer& out) { out.begin_object().field("n", 1).end_object(); });
  EXPECT_EQ(
      text,
      "{\n"
      "  \"schema\": \"railyard.catalog-list/1\",\n"
      "  \"generated_by\": \"railyard 1.2.3\",\n"
      "  \"inputs\": [\n"
      "    {\n"
      "      \"path\": \"a.yaml\",\n"
      "      \"sha256\": \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n"
      "    }\n"
      "  ],\n"
      "  \"result\": {\n"
      "    \"n\": 1\n"
      "  }\n"
      "}\n");
  EXPECT_TRUE(json::parse("e.json", text));
}

}  // namespace
}  // namespace railyard::report
