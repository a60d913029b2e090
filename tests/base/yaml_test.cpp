#include "base/yaml.h"

#include <gtest/gtest.h>

namespace railyard::yaml {
namespace {

Document parsed(std::string bytes) {
  auto doc = Document::parse("pod.yaml", std::move(bytes));
  EXPECT_TRUE(doc) << text(doc.error());
  return doc ? *std::move(doc) : Document();
}

/// The only problem of a text that cannot be read.
Problem refused(std::string bytes) {
  const auto doc = Document::parse("pod.yaml", std::move(bytes));
  EXPECT_FALSE(doc);
  return doc ? Problem() : doc.error().at(0);
}

TEST(Yaml, EveryNodeKnowsItsPlace) {
  const Document doc = parsed(
      "name: pod\n"
      "server:\n"
      "  nics:\n"
      "    - card-a\n"
      "    - {part: card-b, ports: 2}\n");
  const Node& root = doc.root();
  ASSERT_EQ(root.kind, Kind::map);
  EXPECT_EQ(root.keys[1].name, "server");
  EXPECT_EQ(root.keys[1].line, 2);
  EXPECT_EQ(root.find("name")->scalar, "pod");
  EXPECT_EQ(root.find("name")->column, 7);
  const Node& nics = *root.find("server")->find("nics");
  ASSERT_EQ(nics.kind, Kind::list);
  ASSERT_EQ(nics.items.size(), 2u);
  EXPECT_EQ(nics.items[0].line, 4);
  EXPECT_EQ(nics.items[0].column, 7);
  EXPECT_EQ(nics.items[1].find("ports")->line, 5);
  EXPECT_EQ(nics.items[1].find("ports")->column, 29);
  EXPECT_EQ(nics.items[1].keys[0].column, 8);
}

TEST(Yaml, ValuesThatAreNotThereAreNull) {
  const Document doc = parsed("a:\nb: ~\nc: null\nd: \"null\"\n");
  EXPECT_EQ(doc.root().find("a")->kind, Kind::null);
  EXPECT_EQ(doc.root().find("b")->kind, Kind::null);
  EXPECT_EQ(doc.root().find("c")->kind, Kind::null);
  EXPECT_EQ(doc.root().find("d")->kind, Kind::scalar) << "quoted: the word";
  EXPECT_TRUE(doc.root().find("d")->quoted);
  EXPECT_EQ(doc.root().find("e"), nullptr);
}

TEST(Yaml, JsonIsReadByTheSameDoor) {
  const Document doc = parsed("{\"gpus\": 8, \"names\": [\"a\", \"b\"]}");
  EXPECT_EQ(doc.root().find("gpus")->scalar, "8");
  EXPECT_EQ(doc.root().find("names")->items.size(), 2u);
}

TEST(Yaml, ADuplicateKeyIsRefusedAtTheSecondOne) {
  const Problem p = refused("servers: 4\nname: a\nservers: 8\n");
  EXPECT_EQ(p.at.line, 3);
  EXPECT_EQ(p.at.column, 1);
  EXPECT_EQ(p.hint, "each key may stand once in a map");
}

TEST(Yaml, ATabIsRefusedAtItsLine) {
  const Problem p = refused("server:\n\tgpus: 8\n");
  EXPECT_EQ(p.at.line, 2);
  EXPECT_EQ(p.hint, "YAML indents with spaces; this line holds a tab");
}

TEST(Yaml, AnOpenBracketOrQuoteIsRefused) {
  EXPECT_FALSE(refused("a: [1, 2\n").hint.empty());
  EXPECT_FALSE(refused("a: {b: 1\n").hint.empty());
  EXPECT_FALSE(refused("a: \"open\n").hint.empty());
}

TEST(Yaml, LineEndsOfWindowsChangeNothing) {
  const Document doc = parsed("a: 1\r\nb:\r\n  c: two words\r\n");
  EXPECT_EQ(doc.root().find("a")->scalar, "1");
  EXPECT_EQ(doc.root().find("b")->find("c")->scalar, "two words");
  EXPECT_EQ(doc.root().find("b")->find("c")->line, 3);
}

TEST(Yaml, AnEmptyFileIsNotADesign) {
  for (const char* bytes : {"", "\n\n", "# only a comment\n"}) {
    const Problem p = refused(bytes);
    EXPECT_EQ(p.at.line, 1) << bytes;
    EXPECT_EQ(p.found, "an empty file") << bytes;
  }
}

TEST(Yaml, ABinaryFileIsToldSo) {
  const Problem p = refused(std::string("a: 1\nb: \0\n", 10));
  EXPECT_EQ(p.at.line, 2);
  EXPECT_EQ(p.found, "a zero byte");
}

TEST(Yaml, NestingHasALimit) {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']');
  };
  EXPECT_TRUE(Document::parse("a", nested(60)));
  EXPECT_FALSE(Document::parse("a", nested(80)));
  EXPECT_FALSE(Document::parse("a", nested(100'000))) << "and a hostile file does not overflow";
}

TEST(Yaml, AMissingFileIsAProblemWithItsName) {
  const auto doc = Document::load("no/such.yaml");
  ASSERT_FALSE(doc);
  EXPECT_EQ(doc.error().at(0).at.file, "no/such.yaml");
}

class YamlFields : public testing::Test {
 protected:
  /// Reads the map of `bytes` with `read`, then closes it; returns the problems as text.
  std::string problems_of(std::string bytes, const std::function<void(Fields&)>& read) {
    const Document doc = parsed(std::move(bytes));
    Problems problems;
    Fields fields(doc, doc.root(), problems, "a server");
    read(fields);
    fields.done();
    return text(problems);
  }
};

TEST_F(YamlFields, AreReadInTheirUnits) {
  Bytes memory;
  Bandwidth rate;
  Seconds latency;
  int gpus = 0;
  bool direct = false;
  double share = 0;
  std::string name;
  EXPECT_EQ(problems_of("name: box\nmemory: 2 TB\nrate: 400 Gb/s\nlatency: 1.8 us\ngpus: 8\n"
                        "direct: yes\nshare: 0.5\n",
                        [&](Fields& f) {
                          f.text("name", name);
                          f.bytes("memory", memory);
                          f.bandwidth("rate", rate);
                          f.seconds("latency", latency);
                          f.integer("gpus", gpus, 1, 16);
                          f.flag("direct", direct);
                          f.fraction("share", share);
                        }),
            "");
  EXPECT_EQ(name, "box");
  EXPECT_DOUBLE_EQ(memory.si(), 2e12);
  EXPECT_DOUBLE_EQ(rate.si(), 50e9);
  EXPECT_DOUBLE_EQ(latency.si(), 1.8e-6);
  EXPECT_EQ(gpus, 8);
  EXPECT_TRUE(direct);
  EXPECT_DOUBLE_EQ(share, 0.5);
}

TEST_F(YamlFields, AllMistakesOfAMapComeInOneGoAndLeaveTheValuesAlone) {
  Bandwidth rate = 1.0 * GBps;
  int gpus = 4;
  EXPECT_EQ(problems_of("rate: 400\ngpus: 99\nmemry: 2 TB\n",
                        [&](Fields& f) {
                          f.bandwidth("rate", rate);
                          f.integer("gpus", gpus, 1, 16);
                          Bytes memory;
                          f.bytes("memory", memory);
                        }),
            "pod.yaml:1:7: expected a bandwidth such as '400 Gb/s' or '50 GB/s', found '400'\n"
            "  rate: 400\n"
            "        ^\n"
            "  hint: a unit is missing: write for example '400 Gb/s'\n"
            "pod.yaml:2:7: expected an integer from 1 to 16, found '99'\n"
            "  gpus: 99\n"
            "        ^\n"
            "pod.yaml:3:1: expected a key of a server, found 'memry'\n"
            "  memry: 2 TB\n"
            "  ^\n"
            "  hint: did you mean 'memory'?\n");
  EXPECT_EQ(rate, 1.0 * GBps);
  EXPECT_EQ(gpus, 4);
}

TEST_F(YamlFields, AMissingKeyIsReportedWithTheOneThatLooksLikeIt) {
  const std::string problems =
      problems_of("gpu: 8\n", [&](Fields& f) { EXPECT_EQ(f.need("gpus"), nullptr); });
  EXPECT_TRUE(problems.contains("expected key 'gpus' in a server, found none")) << problems;
  EXPECT_TRUE(problems.contains("'gpu' looks like it")) << problems;
}

TEST_F(YamlFields, AWordOfAClosedListIsChecked) {
  enum class Kind { tree, ring };
  const std::vector<std::pair<std::string, Kind>> words{{"tree", Kind::tree}, {"ring", Kind::ring}};
  Kind kind = Kind::tree;
  EXPECT_EQ(problems_of("kind: ring\n", [&](Fields& f) { f.choice("kind", words, kind); }), "");
  EXPECT_EQ(kind, Kind::ring);
  const std::string wrong =
      problems_of("kind: rinq\n", [&](Fields& f) { f.choice("kind", words, kind); });
  EXPECT_TRUE(wrong.contains("expected one of tree, ring, found 'rinq'")) << wrong;
  EXPECT_TRUE(wrong.contains("did you mean 'ring'?")) << wrong;
}

TEST_F(YamlFields, AListWhereAMapIsDueIsNamed) {
  EXPECT_TRUE(problems_of("- 1\n- 2\n", [](Fields&) {}).contains("expected a map for a server"));
}

TEST_F(YamlFields, NumbersThatAreNoneAreRefused) {
  double share = 0.25;
  for (const char* bytes : {"share: nan\n", "share: inf\n", "share: 0.5x\n", "share: [1]\n",
                            "share: -0.1\n", "share: 1.1\n", "share: ''\n"})
    EXPECT_NE(problems_of(bytes, [&](Fields& f) { f.fraction("share", share); }), "") << bytes;
  EXPECT_DOUBLE_EQ(share, 0.25);
}

TEST_F(YamlFields, AKeyThatIsThereAlreadyIsNoSuggestion) {
  const std::string says = problems_of("serverz: 8\nserver: dgx\n", [](Fields& f) {
    f.need("servers");
    f.need("server");
  });
  EXPECT_TRUE(says.contains("did you mean 'servers'?")) << says;
  EXPECT_FALSE(says.contains("did you mean 'server'?")) << says;
  EXPECT_FALSE(says.contains("looks like it")) << "two keys do";
}

TEST_F(YamlFields, LimitsOfANumberAreShownAsTheyAre) {
  double n = 1;
  EXPECT_TRUE(problems_of("n: 0.5\n", [&](Fields& f) {
                f.number("n", n, 1, 64);
              }).contains("expected a number from 1 to 64, found '0.5'"));
}

TEST(Yaml, ATabThatBeginsALineIsBlamedAndNotTheLineAboveIt) {
  const Problem p = refused("job: gpt\n\tmodel: gpt3-13b\n");
  EXPECT_EQ(p.at.line, 2);
  EXPECT_EQ(p.at.column, 1);
  EXPECT_EQ(p.found, "a tab at the start of a line");
}

TEST(Yaml, AnAliasStandsForWhatItNames) {
  const Document doc = parsed("a: &it {x: 1, y: 2}\nb: *it\nc:\n  <<: *it\n  x: 3\n");
  const Node& root = doc.root();
  EXPECT_EQ(root.find("b")->find("y")->scalar, "2");
  EXPECT_EQ(root.find("c")->find("x")->scalar, "3") << "a key of its own goes first";
  EXPECT_EQ(root.find("c")->find("y")->scalar, "2");
  EXPECT_EQ(root.find("c")->find("<<"), nullptr);
}

TEST(Yaml, AliasesThatMultiplyAreRefusedBeforeTheyAreBuilt) {
  std::string bomb = "a0: &a0 x\n";
  for (int i = 1; i <= 9; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i);
    bomb += name + ": &" + name + " [" + below;
    for (int k = 1; k < 9; ++k) bomb += ", " + below;
    bomb += "]\n";
  }
  const Problem p = refused(bomb);
  EXPECT_EQ(p.at.line, 6);
  EXPECT_EQ(p.expected, "aliases that repeat at most 10000 values");
}

TEST(Yaml, AnAliasOfNothingAndOneInsideOfItselfAreRefused) {
  const Problem nothing = refused("a: 1\nb: *c\n");
  EXPECT_EQ(nothing.at.line, 2);
  EXPECT_EQ(nothing.found, "'*c'");
  EXPECT_EQ(refused("a: &a [1, *a]\n").found, "'*a'");
}

TEST(Yaml, ASecondDocumentIsRefusedAtItsPlace) {
  EXPECT_EQ(refused("a: 1\n---\nb: 2\n").at.line, 2);
  EXPECT_EQ(refused("---\na: 1\n--- \n").at.line, 3);
  EXPECT_EQ(refused("a: 1\n...\n# and\nb: 2\n").at.line, 4);
  parsed("# a head\n---\na: 1\n...\n");
  parsed("a: |\n  ---\n  b\n");
}

TEST(Yaml, ADirectiveWithBrokenBytesIsRefusedWhereTheLibraryWouldNotComeBack) {
  EXPECT_EQ(refused("%%%\xff").at.column, 4);
  EXPECT_EQ(refused("# a head\n%\xff\n").at.line, 2);
  EXPECT_EQ(refused("\xef\xbb\xbf%\xf7,,").at.column, 5);
  parsed("a: 5 %  # \u00fc\n");
  parsed("\xef\xbb\xbf%YAML 1.1\n---\na: 1\n");
}

TEST_F(YamlFields, ACountWithASuffixIsShownWrittenOut) {
  int n = 0;
  double x = 0;
  EXPECT_TRUE(problems_of("n: 4k\n", [&](Fields& f) {
                f.integer("n", n);
              }).contains("a count has no suffix: write 4000 or 4096"));
  EXPECT_TRUE(problems_of("n: 4M\n", [&](Fields& f) {
                f.number("n", x);
              }).contains("write 4000000 or 4194304"));
  EXPECT_FALSE(problems_of("n: four\n", [&](Fields& f) { f.integer("n", n); }).contains("suffix"));
}

}  // namespace
}  // namespace railyard::yaml
