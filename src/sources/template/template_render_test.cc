#include "sources/template/template_render.h"

#include <gtest/gtest.h>

#include "assembly/layout/yaml_table.h"
#include "base/random.h"
#include "base/yaml/yaml.h"
#include "sources/commands/command_text.h"
#include "sources/template/template_value.h"
#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::dossier::testing::FailsWith;

// The variables of the table in the specification.
TemplateVariables Table() {
  const auto yaml = assembly::ReadYaml(
      "{F: docs/adr 0012.md, Q: \"it's\", E: '', N: 7, B: true, Z: null, X: -5.0, L: [a, b],\n"
      " D: {k: v, list: [1, 2]}, H: 'é\\n', W: \"  w \"}",
      "test.yml");
  TemplateVariables variables;
  for (const YamlEntry& entry : yaml->entries) {
    variables[entry.key] = {ValueOfYaml(entry.value), VariableOrigin::kConfig};
  }
  return variables;
}

struct Case {
  std::string_view text, result;
};

TEST(RenderTemplateTest, GivesWhatTheSpecsTableSays) {  // CON-19
  constexpr Case kCases[] = {
      {"cat {{ F | shellquote }}", "cat 'docs/adr 0012.md'"},
      {"{{ Q|shellquote }}", R"('it'"'"'s')"},
      {"{{ E|shellquote }}", "''"},
      {"{{ N }} {{ B }} {{ Z }} {{ X }} {{ L }}", "7 True None -5.0 ['a', 'b']"},
      {"{% if B %}\n  yes\n{% else %}\n  no\n{% endif %}\nend", "yes\nend"},
      {"{% for i in L %}{{ loop.index }}={{ i }};{% endfor %}{{ '3.9'|int }}", "1=a;2=b;3"},
  };
  for (const Case& c : kCases) {
    const auto result = RenderTemplate(c.text, Table());
    ASSERT_TRUE(result) << c.text << ": " << result.error().message;
    EXPECT_EQ(*result, c.result) << c.text;
  }
}

TEST(RenderTemplateTest, KnowsEveryConstructOfTheSubset) {  // CON-19
  constexpr Case kCases[] = {
      {"a{# gone #}b", "ab"},
      {"a {#- gone -#} b", "ab"},
      {"a {%- if B -%} b {%- endif -%} c", "abc"},
      {"{% raw %}{{ N }}{% endraw %}", "{{ N }}"},
      {"x {%- raw -%} {{ N }} {%- endraw -%} y", "x{{ N }}y"},
      {"{% for x in [] %}{% else %}none{% endfor %}", "none"},
      {"{% for x in L %}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }} "
       "{% endfor %}",
       "0TrueFalse2 1FalseTrue2"},
      {"{% if not B %}1{% elif N == 7 %}2{% else %}3{% endif %}", "2"},
      {"{{ 'a' in L and 'z' not in L }} {{ 1 < N <= 7 }} {{ N >= 8 or 'x' }}", "True True x"},
      {"{{ 'n=' ~ N ~ Z }} {{ 'y' if B else 'n' }} {{ -3 }} {{ 1.50 }}", "n=7None y -3 1.5"},
      {"{{ D.k }}{{ D['k'] }}{{ L[0] }}{{ L[-1] }}{{ D.list[1] }}", "vvab2"},
      {"{{ nope|default('d') }}{{ D.nope|default('e') }}{{ E|default('f', true) }}", "def"},
      {"{{ nope is defined }} {{ N is defined }} {{ Z is none }} {{ N is not none }}",
       "False True True True"},
      {"{{ F|upper|replace('/', '-')|replace('', '.') }}", ".D.O.C.S.-.A.D.R. .0.0.1.2...M.D."},
      {"{{ L|join(', ') }} {{ L|length }}{{ H|length }} {{ L|first }}{{ L|last }}", "a, b 23 ab"},
      {"[{{ W|trim }}] {{ '1e3'|float }} {{ 'x'|int(5) }} {{ B|int }} {{ 2.9|int }}",
       "[w] 1000.0 5 1 2"},
      {"{{ ['é', \"it's\", '\"', '\\n', none, 1e16, 1e-5] }}",
       "['é', \"it's\", '\"', '\\n', None, 1e+16, 1e-05]"},
      {"{{ D }}", "{'k': 'v', 'list': [1, 2]}"},
      {"{{ 'a\\tb' }}{{ \"\\u00e9\" }}", "a\tbé"},
      {"  \n {{ N }} \n\n", "7"},
  };
  for (const Case& c : kCases) {
    const auto result = RenderTemplate(c.text, Table());
    ASSERT_TRUE(result) << c.text << ": " << result.error().message;
    EXPECT_EQ(*result, c.result) << c.text;
  }
}

TEST(RenderTemplateTest, RefusesAllElseWithConstructAndColumn) {  // CON-19, CON-D5
  constexpr Case kCases[] = {
      {"{{ D.nope }}", "column 5: there is no .nope"},
      {"{{ F.__class__ }}", "column 5: .__class__ of a text"},
      {"a {{ missing }}", "column 6: variable missing is not defined"},
      {"é {% set x = 1 %}", "column 6: {% set %} is not supported"},
      {"{{ range(3) }}", "column 9: calls are not supported"},
      {"{{ N + 1 }}", "column 6: expected }} instead of '+'"},
      {"{{ N|abs }}", "column 6: the filter 'abs' is not supported (default, upper"},
      {"{{ F|replace('a') }}", "column 6: replace takes 2 arguments, not 1"},
      {"{{ N is odd }}", "column 9: the test 'odd' is not supported"},
      {"{{ 'a'", "column 1: {{ is never closed"},
      {"x\n{% if B %}", "line 2, column 4: {% if %} is never closed"},
      {"{% endif %}", "column 4: {% endif %} is not supported here"},
      {"{{ N < 'a' }}", "a number and a text have no order"},
      {"{{ {'a': 1} }}", "column 4: '{' is not supported"},
      {"{{ 'a' if B }}", "column 8: an if without else"},
      {"{% if N if B else E %}x{% endif %}", "column 9: expected %} instead of 'if'"},
      {"{{ N is defined if B else E }}", "column 17: 'if' behind a test: put the test in brackets"},
      {"{% for loop in L %}{% endfor %}", "'loop' cannot be the variable"},
      {"{% for x in N %}{% endfor %}", "a number has no items"},
      {"{{ 007 }}", "column 4: 007 is no number"},
      {"{{ 9223372036854775808 }}", "does not fit 64 bits"},
      {"{{ 'abc'[0] }}", "[] of a text"},
      {"{{ }}", "column 4: a value is missing before }}"},
      {"{%+ if B %}", "the mark + is not supported"},
      {"\xff", "not UTF-8"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(RenderTemplate(c.text, Table()),
                FailsWith(ErrorCode::kConfig, std::string(c.result)))
        << c.text;
  }
}

TEST(RenderTemplateTest, HoldsItsLimits) {  // CON-19
  std::string loops = "{% for a in L %}";
  for (int i = 0; i < 14; ++i) loops += "{% for b in L %}";
  for (int i = 0; i < 15; ++i) loops += "{% endfor %}";
  EXPECT_THAT(RenderTemplate(loops, Table()), FailsWith(ErrorCode::kConfig, "10,000 passes"));
  const std::string wide(1 << 20, 'x');
  EXPECT_TRUE(RenderTemplate(wide, {}));
  EXPECT_THAT(RenderTemplate(wide + "x", {}), FailsWith(ErrorCode::kConfig, "1 MiB"));
  EXPECT_THAT(RenderTemplate("{{ T }}{{ T }}", {{"T", {TemplateValue(wide), {}}}}),
              FailsWith(ErrorCode::kConfig, "1 MiB"));
  EXPECT_THAT(RenderTemplate("{{ T|replace('', T) }}", {{"T", {TemplateValue(wide), {}}}}),
              FailsWith(ErrorCode::kConfig, "1 MiB"));
  const auto nested = [](int depth) {
    return "{{ " + std::string(static_cast<std::size_t>(depth), '(') + "1" +
           std::string(static_cast<std::size_t>(depth), ')') + " }}";
  };
  EXPECT_TRUE(RenderTemplate(nested(31), {}));
  EXPECT_THAT(RenderTemplate(nested(32), {}), FailsWith(ErrorCode::kConfig, "deeper than 32"));
  std::string blocks, ends;
  for (int i = 0; i < 33; ++i) blocks += "{% if true %}", ends += "{% endif %}";
  EXPECT_THAT(RenderTemplate(blocks + ends, {}), FailsWith(ErrorCode::kConfig, "deeper than 32"));
  EXPECT_TRUE(RenderTemplate(blocks.substr(13) + ends.substr(11), {}));
}

TEST(RenderTemplateTest, AnyTextEndsInAResultOrAnError) {
  constexpr std::string_view kPieces[] = {
      "{{",  "}}",      "{%",    "%}",   "{#",    "#}",     "-",    " ",    "\n",
      "if ", "for ",    "x",     " in ", "endif", "endfor", "else", "raw",  "endraw",
      "|",   "default", "('a')", "L",    "D",     ".k",     "[0]",  "'",    "\\",
      "(",   ")",       "not ",  "is ",  "1",     ".",      "é",    "\xC3", "~"};
  Random random(/*seed=*/19);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(24); i > 0; --i) {
      text += kPieces[random.Below(std::size(kPieces))];
    }
    const auto result = RenderTemplate(text, Table());
    EXPECT_TRUE(result || result.error().code == ErrorCode::kConfig) << text;
  }
}

TEST(RenderTemplateTest, ValuesFromOutsideAreQuotedOrRefused) {  // CON-20
  const auto variables = [](std::string_view value, VariableOrigin origin) {
    return TemplateVariables{{"F", {TemplateValue(value), origin}}};
  };
  constexpr auto kGiven = VariableOrigin::kCommandLine;
  constexpr std::string_view kUnsafe = "`$;&|<>(){}\\\"'*?[]~#!\n\x01\x7f";
  constexpr std::string_view kMessage =
      "variable F holds shell characters; write {{ F | shellquote }} or use argv";
  for (const char c : kUnsafe) {
    const TemplateVariables given = variables(fmt::format("a{}b", c), kGiven);
    EXPECT_THAT(RenderTemplate("ls {{ F }}", given, ShellRule::kRefuse),
                FailsWith(ErrorCode::kConfig, std::string(kMessage)))
        << c;
    EXPECT_TRUE(RenderTemplate("ls {{ F }}", given, ShellRule::kNone)) << c;
    EXPECT_TRUE(RenderTemplate("ls {{ F|shellquote }}", given, ShellRule::kRefuse)) << c;
    EXPECT_TRUE(RenderTemplate("ls {{ F|raw }}", given, ShellRule::kRefuse)) << c;
  }
  const TemplateVariables given = variables("a;b", kGiven);
  for (const std::string_view text :
       {"{{ F|upper }}", "{{ 'x' ~ F }}", "{{ [F]|join }}", "{{ [F] }}", "{{ F|trim }}",
        "{{ 'x'|replace('x', F) }}", "{{ F if true else 1 }}", "{{ nope|default(F) }}",
        "{% for c in F %}{{ c }}{% endfor %}", "{% for c in [F] %}{{ c }}{% endfor %}"}) {
    EXPECT_FALSE(RenderTemplate(text, given, ShellRule::kRefuse)) << text;
  }
  for (const std::string_view text :
       {"{{ F|replace(';', '') }}", "{{ F|length }}; ls", "{{ 'yes;' if F == 'a;b' else 'no' }}"}) {
    EXPECT_TRUE(RenderTemplate(text, given, ShellRule::kRefuse)) << text;
  }
  EXPECT_TRUE(
      RenderTemplate("{{ F }}", variables("a b/c.d-e_f%@,=+:^é", kGiven), ShellRule::kRefuse));
  // FLT-130: values from a file are no more trusted than those of a command line.
  EXPECT_FALSE(
      RenderTemplate("{{ F }}", variables("a;b", VariableOrigin::kConfig), ShellRule::kRefuse));
  const TemplateVariables nested{
      {"L",
       {TemplateValue(TemplateValue::List{TemplateValue("a"), TemplateValue("b;c")}),
        VariableOrigin::kConfig}},
      {"M",
       {TemplateValue(TemplateValue::Map{{"k", TemplateValue("b;c")}}), VariableOrigin::kConfig}}};
  for (const std::string_view text :
       {"{{ L[1] }}", "{{ L|last }}", "{{ L|join(' ') }}", "{{ M.k }}", "{{ M['k'] }}",
        "{% for x in L %}{{ x }} {% endfor %}"}) {
    EXPECT_FALSE(RenderTemplate(text, nested, ShellRule::kRefuse)) << text;
  }
  EXPECT_EQ(RenderTemplate("{{ L[0] }} {{ L[1]|shellquote }}", nested, ShellRule::kRefuse).value(),
            "a 'b;c'");
  EXPECT_FALSE(RenderTemplate("{{ F }}", variables("a;b", VariableOrigin::kEnvironment),
                              ShellRule::kRefuse));
  std::vector<std::string> warnings;
  EXPECT_EQ(RenderTemplate("ls {{ F }}", given, ShellRule::kWarn, &warnings).value(), "ls a;b");
  EXPECT_EQ(warnings, std::vector<std::string>{std::string(kMessage)});
}

TEST(VariablesTest, TextBecomesTheTypeItLooksLike) {  // CON-18
  struct Coercion {
    std::string_view text, dossier, compat;
  };
  constexpr Coercion kCases[] = {
      {"true", "True", "True"},
      {"FALSE", "False", "False"},
      {"7", "7", "7"},
      {"-5", "-5", "-5.0"},
      {"0", "0", "0"},
      {"-0", "0", "-0.0"},
      {"007", "'007'", "7"},
      {"1.50", "1.5", "1.5"},
      {"-5.0", "-5.0", "-5.0"},
      {"²", "'²'", "'²'"},
      {"1.", "'1.'", "'1.'"},
      {".5", "'.5'", "'.5'"},
      {"1e5", "'1e5'", "'1e5'"},
      {"+1", "'+1'", "'+1'"},
      {"", "''", "''"},
      {"9223372036854775807", "9223372036854775807", "9223372036854775807"},
      {"9223372036854775808", "'9223372036854775808'", "'9223372036854775808'"},
      {" 7", "' 7'", "' 7'"},
      {"none", "'none'", "'none'"},
  };
  for (const Coercion& c : kCases) {
    EXPECT_EQ(CoerceText(c.text, CommandRules::kDossier).ToLiteral(), c.dossier) << c.text;
    EXPECT_EQ(CoerceText(c.text, CommandRules::kCompat).ToLiteral(), c.compat) << c.text;
  }
}

TEST(VariablesTest, TheCommandLineBeatsTheEnvironmentAndThatTheConfig) {  // CON-17
  const VariableInput input{
      .declared = {{"A", TemplateValue("a")}, {"B", TemplateValue("b")}, {"C", std::nullopt}},
      .given = {"A=1", "A=x=y", "U=2"},
      .environment = [](const std::string& name) -> std::optional<std::string> {
        if (name == "C") return "5";
        if (name == "A" || name == "U") return "from the environment";
        return std::nullopt;
      }};
  const auto variables = ResolveVariables(input);
  ASSERT_TRUE(variables) << variables.error().message;
  EXPECT_EQ(variables->at("A").value.ToText(), "x=y");
  EXPECT_EQ(variables->at("A").origin, VariableOrigin::kCommandLine);
  EXPECT_EQ(variables->at("B").origin, VariableOrigin::kConfig);
  EXPECT_EQ(variables->at("C").value.ToLiteral(), "5");
  EXPECT_EQ(variables->at("U").value.ToLiteral(), "2");
}

TEST(VariablesTest, AMissingOrMisnamedOneIsSaidSo) {  // CON-17, CON-D5
  EXPECT_THAT(ResolveVariables({.declared = {{"F", std::nullopt}}}),
              FailsWith(ErrorCode::kConfig,
                        "variable F is required (no default): give -D F=VALUE "
                        "or set it in the environment"));
  for (const char* given : {"1x=2", "=2", "x", "a-b=1", "é=1", ""}) {
    EXPECT_THAT(ResolveVariables({.given = {given}}),
                FailsWith(ErrorCode::kUsage, fmt::format("-D {}: must be NAME=VALUE", given)));
  }
}

}  // namespace
}  // namespace dossier::sources
