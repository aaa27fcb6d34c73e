#include "config/edit.h"

#include <gtest/gtest.h>

#include "assembly/layout/yaml_table.h"
#include "base/random.h"
#include "base/yaml/yaml.h"
#include "testing/result_matchers.h"

namespace dossier::config {
namespace {

using ::dossier::testing::FailsWith;

TEST(EditTest, OnlyTheKeyChangesCommentsAndOrderStay) {  // CON-9
  struct Case {
    const char *before, *key, *value, *after;
  };
  constexpr Case kCases[] = {
      {"", "model", "a", "model: a\n"},
      {"# only this", "model", "a", "# only this\nmodel: a\n"},
      {"model: a\n", "model", "b", "model: b\n"},
      {"# top\nmodel:   a   # why\nstream: true\n", "model", "b",
       "# top\nmodel: b   # why\nstream: true\n"},
      {"model: \"a # b\" # why\n", "model", "c", "model: c # why\n"},
      {"model: a", "max_tokens", "5", "model: a\nmax_tokens: 5\n"},
      {"params:\n  a: 1\n\n# next\nmodel: x\n", "params.b", "2",
       "params:\n  a: 1\n  b: 2\n\n# next\nmodel: x\n"},
      {"params:\n    a: 1  # one\n    c: 3\n", "params.a", "2",
       "params:\n    a: 2  # one\n    c: 3\n"},
      {"params: {a: 1, c: 3} # end\n", "params.b", "2", "params: {a: 1, c: 3, b: 2} # end\n"},
      {"params: {a: 1, c: 3}\n", "params.a", "25", "params: {a: 25, c: 3}\n"},
      {"params: {}\n", "params.b", "2", "params: {b: 2}\n"},
      {"compaction:\nmodel: x\n", "compaction.mode", "off", "compaction: {mode: off}\nmodel: x\n"},
      {"model: x\n", "compaction.mode", "off", "model: x\ncompaction:\n  mode: off\n"},
      {"key_cmd:\n- a\n- b\nmodel: x\n", "key_cmd", "[c]", "key_cmd: [c]\nmodel: x\n"},
      {"default_system_message: |\n  one\n  two\n# c\nmodel: x\n", "default_system_message",
       "three", "default_system_message: three\n# c\nmodel: x\n"},
  };
  for (const Case& c : kCases) {
    const auto after = SetKey(c.before, c.key, c.value, "f.yml");
    ASSERT_TRUE(after) << c.before << after.error().message;
    EXPECT_EQ(*after, c.after);
  }
}

TEST(EditTest, AFormThatLinesCannotChangeIsLeftAlone) {  // CON-9
  const std::pair<const char*, const char*> cases[] = {
      {"{model: a, params: {b: 1}}\n", "temperature"},
      {"params: {a: 1,\n  b: 2}\n", "params.c"},
      {"\"model\": a\n", "model"},
      {"params: [x]\n", "params.a"},
      {"params: &p\n  a: 1\nvariables: *p\n", "params.a"},
  };
  for (const auto& [text, key] : cases) {
    EXPECT_THAT(SetKey(text, key, "2", "f.yml"),
                FailsWith(ErrorCode::kConfig, "dossier config edit"))
        << text;
  }
  EXPECT_THAT(SetKey("a: [", "model", "1", "f.yml"), FailsWith(ErrorCode::kConfig, "f.yml:"));
  EXPECT_THAT(SetKey("", "model", "[", "f.yml"), FailsWith(ErrorCode::kConfig, "model:"));
}

TEST(EditTest, QuotedTextReadsBackAsItself) {  // CON-9
  Random random(/*seed=*/3);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random.Utf8(/*max_bytes=*/20);
    const auto node = assembly::ReadYaml("k: " + QuoteScalar(text), "f.yml");
    if (!node) continue;  // characters that YAML does not know at all
    EXPECT_EQ(node->entries[0].value.scalar, text);
  }
  for (const char* text :
       {"", " a ", "~", "null", "a: b", "a #b", "- x", "'", "\\", "{x}", "a\nb"}) {
    const auto node = assembly::ReadYaml("k: " + QuoteScalar(text), "f.yml");
    ASSERT_TRUE(node) << text;
    EXPECT_EQ(node->entries[0].value.kind, YamlNode::Kind::kScalar) << text;
    EXPECT_EQ(node->entries[0].value.scalar, text);
  }
}

}  // namespace
}  // namespace dossier::config
