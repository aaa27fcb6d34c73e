
#include <gtest/gtest.h>

#include "assembly/layout/front_matter.h"
#include "assembly/layout/yaml_fields.h"
#include "assembly/layout/yaml_table.h"
#include "base/files/locations.h"
#include "base/random.h"
#include "base/yaml/yaml.h"
#include "testing/result_matchers.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::Succeeds;

// All that a tree says.
std::string BytesOf(const YamlNode& node) {
  std::string bytes;
  AppendTree(node, &bytes);
  return bytes;
}

TEST(YamlTreeTest, ATreeComesBackAsItWas) {
  constexpr std::string_view kTexts[] = {
      "", "~", "word", "'quoted'", "[]", "{}", "a: 1\nb: [x, {c: 'y'}, ~]\nd:\n  e: |\n    f\n",
  };
  for (const std::string_view text : kTexts) {
    const auto root = ParseYaml(text, "x.yaml");
    ASSERT_THAT(root, Succeeds()) << text;
    const YamlNode back = TreeOf(BytesOf(*root), /*first_line=*/0);
    EXPECT_EQ(BytesOf(back), BytesOf(*root)) << text;
    EXPECT_EQ(ToJson(ToJsonValue(back)), ToJson(ToJsonValue(*root))) << text;
    EXPECT_EQ(TreeOf(BytesOf(*root), /*first_line=*/7).line, root->line + 7) << text;
  }
}

TEST(YamlTreeTest, NumbersOfEverySizeComeBack) {
  std::string bytes;
  const std::size_t numbers[] = {0, 1, 127, 128, 16'383, 16'384, std::size_t{1} << 40};
  for (const std::size_t number : numbers) AppendNumber(number, &bytes);
  std::string_view rest = bytes;
  for (const std::size_t number : numbers) EXPECT_EQ(TakeNumber(&rest), number);
  EXPECT_TRUE(rest.empty());
}

TEST(YamlTreeTest, CutBytesGiveSomeTreeAndNoHarm) {
  const std::string bytes = BytesOf(*ParseYaml("a: [x, y]\nb: {c: long enough}\n", "x.yaml"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    TreeOf(std::string_view(bytes).substr(0, size), /*first_line=*/0);
  }
}

// The tree from the table, and the parser's tree of the same text.
void ExpectSame(std::string_view yaml, std::string_view path, int first_line) {
  ASSERT_TRUE(FindBuiltInYaml(yaml)) << path;
  const YamlOptions options{.first_line = first_line};
  const auto read = ReadYaml(yaml, path, options), parsed = ParseYaml(yaml, path, options);
  ASSERT_THAT(read, Succeeds());
  ASSERT_THAT(parsed, Succeeds());
  EXPECT_EQ(BytesOf(*read), BytesOf(*parsed)) << path;
}

TEST(YamlTableTest, HoldsEveryBuiltInFileAsItsTextSays) {  // ASM-11
  int files = 0;
  for (const std::string_view path : BuiltInAssets("")) {
    const std::string_view text = *BuiltInAsset(path);
    if (path.ends_with(".yaml")) ExpectSame(text, path, 0);
    if (path.ends_with(".md")) {
      const auto front = SplitFrontMatter(text, path);
      ASSERT_THAT(front, Succeeds());
      if (!front->yaml.empty()) ExpectSame(front->yaml, path, 1);
    }
    files += path.ends_with(".yaml") ? 1 : 0;
  }
  EXPECT_GT(files, 10);
}

TEST(YamlTableTest, AChangedCopyIsRead) {
  const std::string text(*BuiltInAsset("layouts/chat.yaml"));
  EXPECT_TRUE(FindBuiltInYaml(text));
  EXPECT_FALSE(FindBuiltInYaml(text + "#"));
  EXPECT_FALSE(FindBuiltInYaml(text.substr(1)));
  EXPECT_FALSE(FindBuiltInYaml(""));
}

TEST(YamlReaderTest, BracketsInTextsAreNoNesting) {  // REP-21, A4
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += "- \"if (x) { a[\"  # [{\n";
  const auto root = ReadYaml(text, "x.yaml");
  ASSERT_THAT(root, Succeeds());
  EXPECT_EQ(root->items.size(), 1'000u);
}

struct Port {
  enum class Kind : std::uint8_t { kPlain, kSecure };
  std::optional<std::int64_t> number;
  Kind kind = Kind::kPlain, second = Kind::kPlain;
};
struct Server {
  std::string name;
  Port port;
};

constexpr std::string_view kKinds[] = {"plain", "secure"};
constexpr YamlField<Server> kServer[] = {
    {"name", Into<ReadString, &Server::name>},
    {"number", Into<ReadWholeFrom<1>, &Server::port, &Port::number>},
    {"kind", Into<ReadWordOf<kKinds>, &Server::port, &Port::kind>},
    {"second",
     Into<ReadFlagAs<Port::Kind::kSecure, Port::Kind::kPlain>, &Server::port, &Port::second>},
};

TEST(YamlFieldsTest, FieldsAreReadIntoMembersAndMembersOfMembers) {
  Server server;
  const auto node = ParseYaml("name: a\nnumber: 8080\nkind: secure\nsecond: true\n", "x.yaml");
  ASSERT_TRUE(ReadFields<Server>(*node, "x.yaml", kServer, &server));
  EXPECT_EQ(server.name, "a");
  EXPECT_EQ(server.port.number, 8080);
  EXPECT_EQ(server.port.kind, Port::Kind::kSecure);
  EXPECT_EQ(server.port.second, Port::Kind::kSecure);
}

TEST(YamlFieldsTest, AMistakeHasThePlaceAndWhatIsMeant) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"name: [a]", "x.yaml:1:7: name must be a text"},
      {"number: 0", "x.yaml:1:9: number must be a whole number from 1 up"},
      {"number: '1'", "x.yaml:1:9: number must be a whole number from 1 up"},
      {"kind: secur", "x.yaml:1:7: unknown kind secur (secure?)"},
      {"second: 1", "x.yaml:1:9: second must be true or false"},
      {"nam: a", "x.yaml:1:1: unknown key nam (name?)"},
      {"[a]", "x.yaml:1:1: must be a map of keys"},
  };
  for (const auto& [yaml, message] : kCases) {
    Server server;
    const Status read = ReadFields<Server>(*ParseYaml(yaml, "x.yaml"), "x.yaml", kServer, &server);
    ASSERT_FALSE(read) << yaml;
    EXPECT_EQ(read.error().message, message);
  }
}

}  // namespace
}  // namespace dossier::assembly
