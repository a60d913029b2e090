#include "base/xml.h"

#include <string>

#include "gtest/gtest.h"

namespace railyard::xml {
namespace {

Checked<Document> parse(std::string_view bytes) {
  return Document::parse({.file = "a.xml", .bytes = bytes});
}

/// The first problem, or "read".
std::string refused(std::string_view bytes) {
  const auto document = parse(bytes);
  return document ? "read" : document.error().front().text();
}

TEST(Xml, ElementsAndAttributesKnowTheirPlaces) {
  const std::string bytes = "<!-- c -->\n<a x=\"1\">\n  <b  y='two'/>\n  text\n</a>\n";
  const auto document = parse(bytes);
  ASSERT_TRUE(document) << text(document.error());
  const Element& a = document->root();
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.line, 2);
  EXPECT_EQ(a.column, 1);
  EXPECT_EQ(a.text, "text");
  ASSERT_TRUE(a.find("x"));
  EXPECT_EQ(a.find("x")->value, "1");
  EXPECT_EQ(a.find("x")->column, 4);
  EXPECT_FALSE(a.find("y"));
  ASSERT_EQ(a.children.size(), 1u);
  const Attribute* y = a.children[0].find("y");
  ASSERT_TRUE(y);
  EXPECT_EQ(y->value, "two");
  EXPECT_EQ(y->line, 3);
  EXPECT_EQ(y->column, 7);
}

TEST(Xml, OnlyThePredefinedEntitiesAreReplaced) {
  const std::string bytes = "<a x=\"&lt;&amp;&quot;&#65; &other;\"/>";
  const auto document = parse(bytes);
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().find("x")->value, "<&\"A &other;");
  EXPECT_EQ(quoted("<&\"A\n"), "&lt;&amp;&quot;A&#10;");
}

TEST(Xml, ADocumentTypeMayBeNamedButDefinesNothing) {
  EXPECT_EQ(refused("<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<a/>"), "read");
  EXPECT_TRUE(refused("<!DOCTYPE a [<!ENTITY b \"bbbb\">]>\n<a x=\"&b;\"/>")
                  .starts_with("a.xml:1:1: expected a document type without definitions"));
}

TEST(Xml, AnEndTagOfAnotherElementNamesTheOneThatIsOpen) {
  const std::string said = refused("<a>\n  <b>\n    <c/>\n  </a>\n");
  EXPECT_TRUE(said.starts_with("a.xml:4:3: expected </b>, found </a>")) << said;
  EXPECT_TRUE(said.contains("<b> begins in line 2")) << said;
}

TEST(Xml, AFileThatIsCutOffSaysSo) {
  const std::string said = refused("<a>\n  <b x=\"1\">\n");
  EXPECT_TRUE(said.starts_with("a.xml:3:1: expected </b>, found the end of the file")) << said;
  EXPECT_TRUE(refused("<a>\n  <b x=\"1").contains("cut off"));
}

TEST(Xml, TheSameAttributeTwiceIsRefused) {
  EXPECT_TRUE(refused("<a x=\"1\"\n   x=\"2\"/>")
                  .starts_with("a.xml:2:4: expected each attribute once, found 'x' again"));
}

TEST(Xml, OneOutermostElementAndNothingBesideIt) {
  EXPECT_TRUE(refused("").starts_with("a.xml:1:1: expected an XML element, found an empty file"));
  EXPECT_TRUE(refused("<a/>\n<b/>").starts_with("a.xml:2:1: expected one outermost element"));
  EXPECT_TRUE(refused("{\"a\": 1}").contains("expected an element in angle brackets"));
  EXPECT_TRUE(refused("<a/> b").starts_with("a.xml:1:6: expected an element in angle brackets"));
}

TEST(Xml, DeepNestingManyAttributesAndZeroBytesAreRefused) {
  const auto nested = [](int depth) {
    std::string out;
    for (int i = 0; i < depth; ++i) out += "<a>";
    for (int i = 0; i < depth; ++i) out += "</a>";
    return out;
  };
  EXPECT_EQ(refused(nested(64)), "read");
  EXPECT_TRUE(refused(nested(65)).contains("at most 64 nested elements"));
  EXPECT_TRUE(refused(nested(200'000)).contains("at most 64 nested elements"));
  std::string many = "<a";
  for (int i = 0; i < 300; ++i) many += " a" + std::to_string(i) + "=\"\"";
  EXPECT_TRUE(refused(many + "/>").contains("at most 256 attributes"));
  using namespace std::string_view_literals;
  EXPECT_TRUE(refused("<a>\0</a>"sv).contains("a zero byte"));
}

TEST(Xml, TheOutermostElementIsKnownFromTheFirstBytes) {
  EXPECT_EQ(root_name("\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<!-- <b> -->\n<system ver"), "system");
  EXPECT_EQ(root_name("  <a>"), "a");
  EXPECT_EQ(root_name("<a/"), "a");
  EXPECT_EQ(root_name("a < b"), "");
  EXPECT_EQ(root_name(""), "");
  EXPECT_EQ(root_name("<!-- open"), "");
}

}  // namespace
}  // namespace railyard::xml
