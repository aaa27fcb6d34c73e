#include "model/providers/command_client.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/random.h"
#include "model/client/gate.h"
#include "model/providers/connect.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Variables = std::map<std::string, std::string, std::less<>>;

Environment Lookup(const Variables& variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    if (name == "PATH") return std::string(getenv("PATH"));
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

CommandPreset Shell(std::string script) {
  return {.name = "test", .argv = {"sh", "-c", std::move(script)}};
}

Result<Reply> AskCommand(CommandPreset preset, Variables variables = {},
                         Request request = UserRequest("x"), const CancelToken& cancel = {}) {
  auto client = MakeCommandClient(std::move(preset), {.environment = Lookup(std::move(variables))});
  if (!client) return tl::unexpected(client.error());
  auto sink = std::make_shared<RecordingSink>();
  (*client)->Submit(std::make_shared<const Request>(std::move(request)), cancel, sink);
  return sink->Wait();
}

TEST(CommandClientTest, ThePromptGoesInByStdinOrAsAFile) {  // MOD-16
  Request request = UserRequest("How many?");
  request.messages.system = {{.text = "Be brief."}};
  EXPECT_EQ(AskCommand(Shell("cat"), {}, request)->text, "Be brief.\n\nHow many?");
  request.messages.turns.push_back({assembly::Role::kAssistant, {{.text = "7"}}});
  EXPECT_EQ(AskCommand(Shell("cat"), {}, request)->text,
            "Be brief.\n\n<user>\nHow many?\n</user>\n\n<assistant>\n7\n</assistant>");
  CommandPreset file = Shell("");
  file.argv = {"cat", "{prompt_file}"};
  file.prompt = CommandPreset::Prompt::kFile;
  EXPECT_EQ(AskCommand(file)->text, "x");
}

TEST(CommandClientTest, OfflineOnlyAProgramThatNeedsNoNetworkRuns) {  // CON-2
  const TempFolder folder = *TempFolder::Make();
  const auto connect = [&](std::string_view network) {
    const std::string preset =
        fmt::format("schema: dossier.command/1\nargv: [sh, -c, \"echo 4\"]\n{}\n", network);
    EXPECT_TRUE(WriteFileAtomic(folder.path() + "/mine.yaml", preset));
    Choice choice;
    choice.provider.name = "command";
    choice.model = "mine";
    return Connect(choice,
                   {.commands_folder = folder.path(),
                    .environment = Lookup({}),
                    .network = ConnectOptions::Network::kNone},
                   {});
  };
  EXPECT_THAT(connect(""), FailsWith(ErrorCode::kNetwork, "--offline: mine may reach the network"));
  EXPECT_THAT(connect("network: needed"), FailsWith(ErrorCode::kNetwork, "--offline"));
  EXPECT_TRUE(connect("network: none"));
}

TEST(CommandClientTest, TheEnvironmentIsScrubbedAndTheFolderEmpty) {  // MOD-16, MOD-A6
  setenv("SOME_API_KEY", "leak", 1);
  CommandPreset preset = Shell("env; ls -A; echo end");
  preset.pass_env = {"WANTED"};
  const auto reply =
      AskCommand(preset, {{"HOME", "/h"}, {"WANTED", "yes"}, {"OTHER_TOKEN", "leak"}});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(reply->text,
              AllOf(HasSubstr("HOME=/h"), HasSubstr("WANTED=yes"), Not(HasSubstr("leak"))));
  unsetenv("SOME_API_KEY");
}

TEST(CommandClientTest, AKeyThatWouldBillIsRefusedUnlessAskedForByName) {  // MOD-16
  CommandPreset preset = Shell("echo $PAY_KEY");
  preset.billing = {"PAY_KEY"};
  EXPECT_THAT(AskCommand(preset, {{"PAY_KEY", "secret"}}),
              FailsWith(ErrorCode::kRefused, "PAY_KEY is set"));
  auto asked = MakeCommandClient(
      preset, {.key_env = "PAY_KEY", .environment = Lookup({{"PAY_KEY", "secret"}})});
  ASSERT_TRUE(asked);
  auto sink = std::make_shared<RecordingSink>();
  (*asked)->Submit(std::make_shared<const Request>(UserRequest("x")), {}, sink);
  EXPECT_EQ(sink->Wait()->text, "secret");
  EXPECT_TRUE(AskCommand(Shell("echo a")));
}

TEST(CommandClientTest, TextUsageAndFinishAreWhereThePresetSays) {  // MOD-16
  CommandPreset json{.argv = {"x"},
                     .form = CommandPreset::Form::kJson,
                     .text = "/a/0/text",
                     .finish = "/why",
                     .failed = "/bad",
                     .input = "/use/in",
                     .cached = "/use/hit",
                     .output = "/use/out"};
  const auto reply = ReadOutput(
      json, R"( {"a":[{"text":"hi"}],"why":"max_tokens","use":{"in":5,"hit":2,"out":3}} )");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "hi");
  EXPECT_EQ(reply->finish, Finish::kLength);
  EXPECT_EQ(reply->usage.input, 7);
  EXPECT_EQ(reply->usage.cached, 2);
  EXPECT_FALSE(reply->usage.estimated);
  json.text = "/a~1b/*/text";  // each of a list; a slash in a key
  EXPECT_EQ(ReadOutput(json, R"({"a/b":[{"text":"one"},{"text":"two"}]})")->text, "two");
  json.text = "/a/text";  // a word is no place in a list
  EXPECT_THAT(ReadOutput(json, R"({"a":["no"]})"), FailsWith(ErrorCode::kNetwork, "no text at"));
  json.text = "/a/0/text";
  EXPECT_THAT(ReadOutput(json, R"({"bad":true,"a":[{"text":"no login"}]})"),
              FailsWith(ErrorCode::kFailed, "reports: no login"));

  CommandPreset lines{.argv = {"x"},
                      .form = CommandPreset::Form::kJsonLines,
                      .text = "/item/text",
                      .output = "/use/out"};
  EXPECT_EQ(ReadOutput(lines,
                       "starting …\n{\"item\":{\"text\":\"draft\"}}\n{broken\n"
                       "{\"item\":{\"text\":\"final\"}}\n{\"use\":{\"out\":9}}\n")
                ->text,
            "final");
  for (const char* hostile : {"", "7", "[]", "{\"item\":7}", "{\"item\":{\"text\":7}}"}) {
    EXPECT_THAT(ReadOutput(lines, hostile), FailsWith(ErrorCode::kNetwork, "malformed reply"));
  }
  EXPECT_TRUE(ReadOutput({.argv = {"x"}}, " words \n")->usage.estimated);
  EXPECT_THAT(ReadOutput({.argv = {"x"}}, " \n"), FailsWith(ErrorCode::kNetwork, "nothing"));
}

TEST(CommandClientTest, FailuresNameTheProgramAndItsLastWords) {  // MOD-16, section 6
  EXPECT_THAT(AskCommand(Shell("echo 'please log in' >&2; exit 3")),
              FailsWith(ErrorCode::kFailed, "sh ended with status 3: please log in"));
  CommandPreset none = Shell("");
  none.argv = {"no-such-program"};
  EXPECT_THAT(AskCommand(none),
              FailsWith(ErrorCode::kNotFound, "no-such-program is not on the PATH"));
  Request request = UserRequest("x");
  request.deadline = Millis(50);
  EXPECT_THAT(AskCommand(Shell("sleep 60"), {}, request),
              FailsWith(ErrorCode::kTimeout, "the deadline"));
}

TEST(CommandClientTest, CancellingEndsTheWholeProcessGroup) {  // MOD-16, MOD-23
  auto folder = TempFolder::Make();
  const std::string fifo = folder->path() + "/alive";
  ASSERT_TRUE(WriteFileAtomic(fifo, ""));
  CancelSource source;
  auto client = MakeCommandClient(Shell("sleep 600 & echo $! > " + fifo + "; wait"),
                                  {.environment = Lookup({})});
  auto sink = std::make_shared<RecordingSink>();
  (*client)->Submit(std::make_shared<const Request>(UserRequest("x")), source.token(), sink);
  std::string pid;
  while (pid.empty() || pid.back() != '\n') pid = ReadFile(fifo).value_or("");
  source.Cancel("enough");
  EXPECT_THAT(sink->Wait(), FailsWith(ErrorCode::kCancelled, "enough"));
  while (kill(std::stoi(pid), 0) == 0) std::this_thread::yield();
}

TEST(CommandPresetTest, AllBuiltInPresetsAreGoodAndUsersWin) {  // MOD-16
  auto folder = TempFolder::Make();
  const std::vector<std::string> names = PresetNames(folder->path());
  EXPECT_GE(names.size(), 2u);
  for (const std::string& name : names) {
    const auto preset = LoadPreset(name, folder->path());
    EXPECT_TRUE(preset) << preset.error().message;
    EXPECT_FALSE(preset->billing.empty()) << name;
  }
  ASSERT_TRUE(WriteFileAtomic(folder->path() + "/" + names[0] + ".yaml",
                              "schema: dossier.command/1\nargv: mine\n"));
  EXPECT_EQ(LoadPreset(names[0], folder->path())->argv, std::vector<std::string>{"mine"});
  EXPECT_THAT(LoadPreset("nobody", folder->path()), FailsWith(ErrorCode::kConfig, names[1]));
  EXPECT_THAT(LoadPreset("../x", folder->path()),
              FailsWith(ErrorCode::kConfig, "no command preset"));
  const std::pair<const char*, const char*> mistakes[] = {
      {"argv: a", "dossier.command/1 is wanted"},
      {"schema: dossier.command/1", "argv is a program"},
      {"schema: dossier.command/1\nargv: a\nreply: {form: json}", "where is the text"},
      {"schema: dossier.command/1\nargv: a\nreply: {text: a}", "starts with /"},
      {"schema: dossier.command/1\nargv: a\nprompt: voice", "one of stdin, file"},
  };
  for (const auto& [yaml, message] : mistakes) {
    EXPECT_THAT(ParsePreset(yaml, "f.yaml"), FailsWith(ErrorCode::kConfig, message));
  }
}

TEST(CommandPresetTest, NoOutputCrashesTheReader) {  // MOD-A11
  Random random(3);
  CommandPreset preset{.argv = {"x"},
                       .form = CommandPreset::Form::kJsonLines,
                       .text = "/a/0/t",
                       .finish = "/a/1",
                       .failed = "/f",
                       .output = "/u/o"};
  const std::string base = "{\"a\":[{\"t\":\"x\"},7],\"f\":false,\"u\":{\"o\":3}}\n";
  for (int round = 0; round < 5000; ++round) {
    std::string text = base + base;
    for (int i = 0; i < 4; ++i)
      text[random.Below(text.size())] = "{}[]\",:0\n\xFF"[random.Below(10)];
    preset.form = random.Below(2) ? CommandPreset::Form::kJson : CommandPreset::Form::kJsonLines;
    (void)ReadOutput(preset, text).has_value();
  }
}

}  // namespace
}  // namespace dossier::model
