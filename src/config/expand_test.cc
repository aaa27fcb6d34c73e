#include "config/expand.h"

#include <gtest/gtest.h>

#include "assembly/layout/yaml_table.h"
#include "base/random.h"

namespace dossier::config {
namespace {

const Variables kVariables = {{"HOME", "/home/ada"}, {"EMPTY", ""}, {"LOOP", "${HOME}"}};

TEST(ExpandTest, ReferencesAreReplacedOnceAndAllElseStays) {  // CON-13
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", ""},
      {"plain $HOME {HOME}", "plain $HOME {HOME}"},
      {"${HOME}/notes", "/home/ada/notes"},
      {"${NO_SUCH}", "${NO_SUCH}"},
      {"${NO_SUCH:-here}", "here"},
      {"${NO_SUCH:-}", ""},
      {"${EMPTY}|", "|"},
      {"${EMPTY:-fallback}", "fallback"},
      {"$${HOME}", "${HOME}"},
      {"$$${HOME}", "$${HOME}"},
      {"${LOOP}", "${HOME}"},
      {"${HOME", "${HOME"},
      {"${HOME:-x", "${HOME:-x"},
      {"${}", "${}"},
      {"${1A}", "${1A}"},
      {"${HOME-x}", "${HOME-x}"},
      {"a${HOME}b${HOME}c", "a/home/adab/home/adac"},
  };
  for (const auto& [text, expanded] : cases) {
    EXPECT_EQ(ExpandText(text, kVariables), expanded) << text;
  }
}

TEST(ExpandTest, OnlyWholeReferencesAskForAVariable) {  // CON-15
  for (const char* text : {"${HOME}", "x ${NO_SUCH:-y} z", "$$$${A}${B}"}) {
    EXPECT_TRUE(HasVariable(text)) << text;
  }
  for (const char* text : {"", "$HOME", "$${HOME}", "${HOME", "${}", "${A-b}"}) {
    EXPECT_FALSE(HasVariable(text)) << text;
  }
}

TEST(ExpandTest, TextThatAsksForNothingExpandsTheSameWithAnyEnvironment) {  // CON-15
  Random random(/*seed=*/11);
  constexpr std::string_view kParts[] = {"$", "{", "}", ":-", "HOME", "A", " ", "$${", "${"};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (int part = 0; part < 8; ++part) text += kParts[random.Next() % std::size(kParts)];
    if (HasVariable(text)) continue;
    EXPECT_EQ(ExpandText(text, kVariables), ExpandText(text, {})) << text;
  }
}

TEST(ExpandTest, ThePlacesOfValuesStay) {  // CON-13
  Value root = MakeMap({});
  Set("params.user", FromYaml(assembly::ReadYaml("[\"${HOME}\"]", "f.yml").value(), "f.yml"),
      &root);
  Set("model", FromText("${HOME}", {Origin::Kind::kFlag, "--model"}), &root);
  Expand(kVariables, &root);
  EXPECT_EQ(root.Find("params.user")->node.items[0].scalar, "/home/ada");
  EXPECT_EQ(root.Find("params.user")->origin.ToText(), "f.yml:1");
  EXPECT_EQ(root.Find("model")->node.scalar, "${HOME}") << "flags are no templates";
}

}  // namespace
}  // namespace dossier::config
