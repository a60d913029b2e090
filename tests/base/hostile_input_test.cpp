// Readers meet files that were cut, edited by hand, or are something else. Whatever the bytes, a
// reader answers with a tree or with problems that lie inside the file; it never crashes or hangs.
// The sanitizer build (./dev asan) runs the same inputs.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/csv.h"
#include "base/json_reader.h"
#include "base/random.h"
#include "base/yaml.h"

namespace railyard {
namespace {

constexpr int kRounds = 4000;

/// A few small damages: a byte replaced, removed, doubled, a piece moved, the end cut off.
std::string damaged(std::string text, Random& random) {
  static constexpr std::string_view kNasty("{}[]:,\"'\\\n\r\t -#&*!|>%@`0\0\x80\xff\xc3", 28);
  const std::uint64_t damages = 1 + random.below(4);
  for (std::uint64_t i = 0; i < damages && !text.empty(); ++i) {
    const std::size_t at = random.below(text.size());
    switch (random.below(6)) {
      case 0: text[at] = kNasty[random.below(kNasty.size())]; break;
      case 1: text.insert(at, 1, kNasty[random.below(kNasty.size())]); break;
      case 2: text.erase(at, 1 + random.below(5)); break;
      case 3: text.insert(at, text.substr(at / 2, random.below(40))); break;
      case 4: text.resize(at); break;
      default: text[at] = static_cast<char>(random.below(256)); break;
    }
  }
  return text;
}

void expect_places_inside(const Problems& problems, const std::string& bytes) {
  ASSERT_FALSE(problems.empty());
  const auto lines = 1 + std::ranges::count(bytes, '\n');
  for (const Problem& p : problems) {
    EXPECT_GE(p.at.line, 0);
    EXPECT_LE(p.at.line, lines) << p.text();
    EXPECT_FALSE(p.expected.empty());
    EXPECT_FALSE(p.found.empty());
    EXPECT_FALSE(p.text().empty());
  }
}

int count_nodes(const yaml::Node& node) {
  int n = 1;
  for (const yaml::Node& item : node.items) n += count_nodes(item);
  return n;
}

const std::string kYaml =
    "name: pod\nserver: &box\n  gpus: 8\n  nics: [card, {part: 'other', rate: \"400 Gb/s\"}]\n"
    "list:\n  - *box\n  - a: |\n      text\n    b: >-\n      folded\n# comment\nlast: ~\n";

TEST(HostileInput, YamlIsReadOrRefused) {
  Random random = Random(11).stream("yaml");
  int read = 0, refused = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::string bytes = damaged(kYaml, random);
    const auto doc = yaml::Document::parse("x.yaml", bytes);
    if (doc) {
      ++read;
      EXPECT_GT(count_nodes(doc->root()), 0);
    } else {
      ++refused;
      expect_places_inside(doc.error(), bytes);
    }
  }
  EXPECT_GT(read, kRounds / 50) << "the damage is too heavy to test anything";
  EXPECT_GT(refused, kRounds / 50) << "the damage is too light to test anything";
}

const std::string kJson =
    "{\"name\": \"a\\u00b5\\n\", \"n\": [1, -2.5e3, true, null],\n \"o\": {\"k\": {}, \"l\": "
    "[]}}\n";

TEST(HostileInput, JsonIsReadOrRefused) {
  Random random = Random(11).stream("json");
  int read = 0, refused = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::string bytes = damaged(kJson, random);
    const auto doc = json::parse("x.json", bytes);
    if (doc) {
      ++read;
      EXPECT_GT(count_nodes(doc->root()), 0);
    } else {
      ++refused;
      expect_places_inside(doc.error(), bytes);
    }
  }
  EXPECT_GT(read, kRounds / 50);
  EXPECT_GT(refused, kRounds / 50);
}

const std::string kCsv = "model,gpus,note\ngpt,8,\"a, b\"\nllama,16,\nbert,2.5,x\r\n";

TEST(HostileInput, CsvIsReadOrRefused) {
  Random random = Random(11).stream("csv");
  int read = 0, refused = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::string bytes = damaged(kCsv, random);
    const auto table = csv::Table::parse({.file = "x.csv", .bytes = bytes});
    if (!table) {
      ++refused;
      expect_places_inside(table.error(), bytes);
      continue;
    }
    ++read;
    Problems problems;
    for (std::size_t r = 0; r < table->rows(); ++r)
      for (const std::string& column : table->columns()) table->integer(r, column, problems);
    if (!problems.empty()) expect_places_inside(problems, bytes);
  }
  EXPECT_GT(read, kRounds / 50);
  EXPECT_GT(refused, kRounds / 50);
}

}  // namespace
}  // namespace railyard
