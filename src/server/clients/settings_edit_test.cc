#include "server/clients/settings_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/result_matchers.h"

namespace dossier::clients {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

const Path kPath = {"mcpServers", "dossier"};
const Json kEntry = JsonObject{{"command", "/usr/bin/dossier"}, {"args", JsonArray{"mcp"}}};

TEST(SettingsEdit, AnEntryIsWrittenAsTheFileIs) {  // SRV-31
  const auto tabs = SetEntry("{\r\n\t\"a\": 1\r\n}\r\n", SettingsForm::kJson, kPath, kEntry, "f");
  ASSERT_THAT(tabs, Succeeds());
  EXPECT_EQ(*tabs,
            "{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"dossier\": {\r\n\t\t\t\"command\": "
            "\"/usr/bin/dossier\",\r\n\t\t\t\"args\": [\"mcp\"]\r\n\t\t}\r\n\t}\r\n}\r\n");
  EXPECT_EQ(*SetEntry("{\"a\": 1}", SettingsForm::kJson, {"b"}, Json(2), "f"),
            "{\"a\": 1, \"b\": 2}");
  EXPECT_EQ(*SetEntry("a = 1\n", SettingsForm::kToml, {"mcp_servers", "x"}, kEntry, "f"),
            "a = 1\n\n[mcp_servers.x]\ncommand = \"/usr/bin/dossier\"\nargs = [\"mcp\"]\n");
}

TEST(SettingsEdit, ACommentKeepsItsPlaceBehindItsValue) {  // SRV-31
  const std::string before = "{\n  \"a\": 1 // one\n  // nothing more\n}\n";
  const auto after = SetEntry(before, SettingsForm::kJson, {"b"}, Json(2), "f");
  ASSERT_THAT(after, Succeeds());
  EXPECT_EQ(*after, "{\n  \"a\": 1, // one\n  // nothing more\n  \"b\": 2\n}\n");
  EXPECT_EQ(*RemoveEntry(*after, SettingsForm::kJson, {"b"}, "f"), before);
}

TEST(SettingsEdit, WhatIsThereIsFoundAndReplacedAlone) {  // SRV-31
  const std::string text = "{\"mcpServers\": {\"dossier\": {\"command\": \"old\",}, \"z\": 1}}";
  EXPECT_EQ(TextAt(**FindEntry(text, SettingsForm::kJson, kPath, "f"), "command"), "old");
  EXPECT_EQ(*SetEntry(text, SettingsForm::kJson, {"mcpServers", "z"}, Json(2), "f"),
            "{\"mcpServers\": {\"dossier\": {\"command\": \"old\",}, \"z\": 2}}");
  EXPECT_EQ(*RemoveEntry(text, SettingsForm::kJson, kPath, "f"), "{\"mcpServers\": { \"z\": 1}}");
  EXPECT_FALSE(FindEntry("{}", SettingsForm::kJson, kPath, "f")->has_value());
}

TEST(SettingsEdit, ListsGetAndLoseElements) {  // SRV-32
  const Path path = {"hooks", "PreToolUse"};
  const std::string before = "{\n  \"hooks\": {\n    \"PreToolUse\": [1]\n  }\n}\n";
  const auto after = AppendElement(before, path, Json("mark"), "f");
  ASSERT_THAT(after, Succeeds());
  EXPECT_EQ(*after, "{\n  \"hooks\": {\n    \"PreToolUse\": [1, \"mark\"]\n  }\n}\n");
  EXPECT_EQ(*RemoveElements(*after, path, "mark", "f"), before);
}

TEST(SettingsEdit, WhatCannotBeReadIsNamedByItsLine) {  // SRV-31
  EXPECT_THAT(
      SetEntry("{\n  \"a\": 1\n  \"b\": 2\n}", SettingsForm::kJson, kPath, kEntry, "f.json"),
      FailsWith(ErrorCode::kDamaged, "f.json:3: a comma is missing"));
  EXPECT_THAT(SetEntry("a = 1\n[b\n", SettingsForm::kToml, kPath, kEntry, "f.toml"),
              FailsWith(ErrorCode::kDamaged, "f.toml:2: "));
}

}  // namespace
}  // namespace dossier::clients
