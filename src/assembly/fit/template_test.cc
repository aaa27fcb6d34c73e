#include <gtest/gtest.h>

#include "assembly/assemble.h"
#include "assembly/layout/layout.h"
#include "assembly/layout/template_scan.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

constexpr std::string_view kId = "72c8d227357539eddfb5fdecebeb5f0b";  // MakeBoundary(1)
using Values = std::map<std::string, std::string>;

std::string Render(std::string_view markdown, const Values& values) {
  auto text = ParseTemplate(markdown, "prompts/t.md");
  EXPECT_THAT(text, Succeeds());
  if (!text) return {};
  auto out = RenderTemplate(*text, values, kId);
  EXPECT_THAT(out, Succeeds());
  return out.value_or("");
}

std::string WithFront(std::string_view front, std::string_view body) {
  return fmt::format("---\n{}\n---\n{}", front, body);
}

TEST(TemplateTest, ReplacesPlaceholdersInOnePassWithLiteralValues) {  // ASM-21, ASM-22, ASM-T11
  const std::string markdown =
      WithFront("placeholders: {question: required, hint: optional}", "Q: {question}{hint}\n");
  constexpr std::string_view kValues[] = {"{question}", "$1 and \\1",        "{{",         "}}",
                                          "{}",         "{\"a\":{\"b\":1}}", "two\nlines", kId};
  for (const std::string_view value : kValues) {
    const std::string text(value);
    EXPECT_EQ(Render(markdown, {{"question", text}}), "Q: " + text);
  }
  EXPECT_EQ(Render(markdown, {{"question", "{hint}"}, {"hint", "{question}"}}),
            "Q: {hint}{question}");
}

TEST(TemplateTest, BracesDoubledOrLiteral) {  // ASM-23
  struct Case {
    std::string_view braces, body, rendered;
  };
  constexpr Case kCases[] = {
      {"double", "{{x}}", "{x}"},
      {"double", "{\"a\":1} and { x } and {1}", "{\"a\":1} and { x } and {1}"},
      {"double", "{{{x}}}", "{value}"},
      {"double", "f({x: y", "f({x: y"},
      {"double", "}{", "}{"},
      {"literal", "{{x}} {other} {x}", "{{x}} {other} value"},
      {"literal", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}"},
  };
  for (const Case& c : kCases) {
    const std::string front = fmt::format("placeholders: {{x: optional}}\nbraces: {}", c.braces);
    EXPECT_EQ(Render(WithFront(front, c.body), {{"x", "value"}}), c.rendered) << c.body;
  }
}

TEST(TemplateTest, FormatsGroupDigitsQuoteJsonAndFence) {  // ASM-21
  const std::string body = "{n:,} {n:json} {n:fence}";
  EXPECT_EQ(Render(WithFront("placeholders: {n: required}", body), {{"n", "3800000"}}),
            fmt::format("3,800,000 \"3800000\" n:\n<<<DATA {}\n3800000\nDATA {}>>>", kId, kId));
  EXPECT_EQ(Render(WithFront("placeholders: {n: required}", "{n:,}|{n:json}"), {{"n", "a\"\n"}}),
            "a\"\n|\"a\\\"\\n\"");
}

TEST(TemplateTest, AnUntrustedValueIsAlwaysFencedAndAnEmptyOneLeavesNoFrame) {  // ASM-25, ASM-8
  const std::string markdown =
      WithFront("placeholders: {hint: optional}\nuntrusted: [hint]", "A{hint}B");
  EXPECT_EQ(Render(markdown, {{"hint", "x\n"}}),
            fmt::format("Ahint:\n<<<DATA {}\nx\nDATA {}>>>B", kId, kId));
  const auto titled = ParseTemplate(
      WithFront("placeholders: {hint: optional}\nuntrusted: [hint]\ntitles: {hint: What it is}",
                "A\n{hint}"),
      "t.md");  // FLT-29
  ASSERT_THAT(titled, Succeeds());
  EXPECT_EQ(*RenderTemplate(*titled, {{"hint", "x"}}, kId),
            fmt::format("A\nWhat it is:\n<<<DATA {}\nx\nDATA {}>>>", kId, kId));
  EXPECT_THAT(
      ParseTemplate(WithFront("placeholders: {hint: optional}\ntitles: {hnt: What}", "{hint}"),
                    "t.md"),
      FailsWith(ErrorCode::kConfig, "t.md:3:10: titles names unknown placeholder hnt"));
  EXPECT_EQ(Render(markdown, {{"hint", ""}}), "AB");
  EXPECT_EQ(Render(markdown, {}), "AB");
}

TEST(TemplateTest, AMissingRequiredValueNamesTemplateAndPlaceholder) {  // ASM-24, section 6
  const auto text = ParseTemplate(WithFront("placeholders: {question: required}", "{question}"),
                                  "prompts/coding-rules.md");
  ASSERT_THAT(text, Succeeds());
  EXPECT_THAT(RenderTemplate(*text, {}, kId),
              FailsWith(ErrorCode::kConfig, "prompts/coding-rules.md: {question} has no value"));
}

TEST(TemplateTest, TenBrokenTemplatesAreRefusedWithTheirPlace) {  // ASM-20, 24, 27, ASM-T10
  struct Case {
    std::string_view markdown, message;
  };
  constexpr Case kCases[] = {
      {"---\nplaceholders: {a: required}\n", "t.md:1:1: the front matter has no closing ---"},
      {"---", "t.md:1:1: the front matter has no closing ---"},
      {"---\nplaceholders: {question: required}\n---\nHello {qestion}",
       "t.md:4:7: unknown placeholder qestion (question?)"},
      {"---\nplaceholders: {a: required}\n---\nHello", "required placeholder {a} is missing"},
      {"---\nplaceholders: {a: required}\n---\none\n{a:x}", "t.md:5:1: unknown format {a:x}"},
      {"---\nplaceholder: {a: required}\n---\n{a}",
       "t.md:2:1: unknown key placeholder (placeholders?)"},
      {"---\nplaceholders: {a: maybe}\n---\n{a}",
       "t.md:2:19: placeholder a must be required or optional"},
      {"---\nplaceholders: [a]\n---\n{a}", "placeholders must be a map"},
      {"---\nplaceholders: {a: required}\nuntrusted: [b]\n---\n{a}", "unknown placeholder b"},
      {"---\nbraces: triple\n---\nx", "t.md:2:9: braces must be double or literal"},
      {"---\nbraces: literal\nbraces: double\n---\nx", "t.md:3:1: duplicate key braces"},
      {"No front matter, but {a}.", "t.md:1:22: unknown placeholder a"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(ParseTemplate(c.markdown, "t.md"),
                FailsWith(ErrorCode::kConfig, std::string(c.message)))
        << c.markdown;
  }
}

TEST(TemplateTest, CrlfFilesAndFilesWithoutFrontMatterWork) {  // ASM-20
  EXPECT_EQ(Render("---\r\nplaceholders: {a: required}\r\n---\r\nHi {a}\r\n", {{"a", "x"}}),
            "Hi x");
  EXPECT_EQ(Render("Only text.\n\n", {}), "Only text.");
}

TEST(TemplateTest, ScanningLosesNoByteOfALiteralTemplate) {  // ASM-22, ASM-23
  Random random(/*seed=*/3);
  constexpr std::string_view kAlphabet[] = {"{", "}", "{{", "}}", "a", ":", ",", "\n", "é", "{a}"};
  for (int round = 0; round < 5000; ++round) {
    std::string body;
    for (std::uint64_t i = random.Below(20); i > 0; --i) body += kAlphabet[random.Below(10)];
    std::string copied;
    ScanTemplate(body, Template::Braces::kLiteral, [&](const TemplatePiece& piece) {
      copied += std::string_view(body).substr(piece.offset, piece.length);
    });
    EXPECT_EQ(copied, body);
  }
}

TEST(TemplateTest, AnyBytesParseOrFailWithoutHarm) {  // ASM-20
  Random random(/*seed=*/4);
  for (int round = 0; round < 3000; ++round) {
    const std::string bytes =
        random.Below(2) == 0 ? random.Bytes(random.Below(80)) : WithFront(random.Utf8(40), "{a}");
    auto text = ParseTemplate(bytes, "t.md");
    if (text) (void)RenderTemplate(*text, {{"a", "{a}"}}, kId);
  }
}

}  // namespace
}  // namespace dossier::assembly
