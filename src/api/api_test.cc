// Tests the public API over a scripted model and the real sandbox: results, refusals, and handles
// that are moved and shared.

#include <dossier/dossier.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/text/text.h"
#include "testing/result_matchers.h"
#include "testing/thread_sanitizer.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Uses its own home: the tester's configuration, runs and memory are not touched.
class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("HOME", folder_.path().c_str(), 1);
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
                             "DOSSIER_LAYOUTS_DIR", "DOSSIER_MEMORY"}) {
      unsetenv(name);
    }
  }

  std::string Path(std::string_view name) const {
    return fmt::format("{}/{}", folder_.path(), name);
  }
  std::string Write(std::string_view name, std::string_view text) const {
    EXPECT_THAT(WriteFileAtomic(Path(name), text), Succeeds());
    return Path(name);
  }
  Model Script(std::string_view yaml, const ModelOptions& options = {}) const {
    auto model = Model::Open("script:" + Write("replies.yaml", yaml), options);
    EXPECT_THAT(model, Succeeds());
    return model.value_or(Model());
  }
  AskOptions With(const Model& model) const {
    AskOptions options{.model = model, .mode = AskOptions::Mode::kRecursive, .seed = 7};
    options.sandbox.worker = std::string(DOSSIER_BIN_DIR) + "/dossier-python-worker";
    return options;
  }

 private:
  const TempFolder folder_ = *TempFolder::Make();
};

constexpr std::string_view kCounts =
    "- {reply: \"```repl\\nFINAL(context.count('x'))\\n```\", times: always}\n";

using ModelTest = ApiTest;

TEST_F(ModelTest, AnswersAndSaysWhatItTook) {
  const Model model = Script("- {when: capital, reply: Paris}\n");
  std::string streamed;
  const auto reply = model.Complete("The capital of France?",
                                    {.on_text = [&](std::string_view text) { streamed += text; }});
  ASSERT_THAT(reply, Succeeds());
  EXPECT_EQ(reply->text, "Paris");
  EXPECT_EQ(streamed, "Paris");
  EXPECT_EQ(reply->finish, "stop");
  EXPECT_EQ(reply->usage.calls, 1);
  EXPECT_GT(reply->usage.input_tokens, 0);
}

TEST_F(ModelTest, WhatCannotBeOpenedIsAnError) {
  EXPECT_THAT(Model::Open("claud-opus-5"), FailsWith(ErrorCode::kConfig, "claude-opus-5"));
  EXPECT_THAT(Model::Open("script:" + Path("none.yaml")),
              FailsWith(ErrorCode::kNotFound, "none.yaml"));
  EXPECT_THAT(Model::Open("http://127.0.0.1:1/v1"),
              FailsWith(ErrorCode::kInvalidArgument, "ADDRESS#NAME"));
  EXPECT_THAT(Model::Open("local", {.price_input = 1}),
              FailsWith(ErrorCode::kInvalidArgument, "price_output"));
  EXPECT_THAT(Model::Open("local", {.deadline = Millis(0)}),
              FailsWith(ErrorCode::kInvalidArgument, "deadline"));
}

TEST_F(ModelTest, AnAddressNamesAModelThatIsAskedOnlyLater) {
  const auto model = Model::Open("http://127.0.0.1:1/v1#mine", {.retries = 0});
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->name(), "mine");
  EXPECT_THAT(model->Complete("Hello?"), FailsWith(ErrorCode::kNetwork, "127.0.0.1"));
  EXPECT_THAT(
      Model::Open("http://example.invalid/v1#mine", {.network = ModelOptions::Network::kNone}),
      FailsWith(ErrorCode::kNetwork, ""));
}

TEST_F(ModelTest, OneThatWasMovedFromOrNeverOpenedIsNone) {
  Model model = Script("- hello\n");
  const Model moved = std::move(model);
  EXPECT_TRUE(moved);
  EXPECT_FALSE(model);  // NOLINT: what is left is stated
  EXPECT_EQ(model.name(), "");
  EXPECT_FALSE(model.has_price());
  EXPECT_THAT(model.Complete("Hello?"), FailsWith(ErrorCode::kInvalidArgument, "no model"));
  EXPECT_THAT(moved.Complete("Hello?"), Succeeds());
}

TEST_F(ModelTest, CancelledRequestsAndWrongRolesAreErrors) {
  const Model model = Script("- {reply: late, delay: 60s, times: always}\n");
  CancelSource source;
  source.Cancel("stop");
  EXPECT_THAT(model.Complete("Hello?", {.cancel = source.token()}),
              FailsWith(ErrorCode::kCancelled, ""));
  EXPECT_THAT(model.Complete({{.role = "robot", .text = "x"}}),
              FailsWith(ErrorCode::kInvalidArgument, "robot"));
  EXPECT_THAT(model.Complete(std::vector<Message>()), FailsWith(ErrorCode::kInvalidArgument, ""));
}

TEST_F(ModelTest, AProjectsConfigurationIsNotRead) {
  const auto here = std::filesystem::current_path();
  Write("dossier.yml", "no such key: [1\n");
  std::filesystem::current_path(Path(""));
  EXPECT_TRUE(Script("- hello\n"));
  std::filesystem::current_path(here);
}

using AskTest = ApiTest;

TEST_F(AskTest, CodeAnswersOverTheContext) {
  const auto answer =
      Ask("How many x?", {Text("x y x"), File(Write("more.txt", "z"))},
          With(Script("- \"```repl\\nFINAL(sum(d.count('x') for d in context))\\n```\"\n")));
  ASSERT_THAT(answer, Succeeds());
  EXPECT_EQ(answer->text, "2");
  EXPECT_EQ(answer->usage.calls, 1);
  EXPECT_THAT(answer->run, Not(IsEmpty()));
  EXPECT_THAT(answer->json, HasSubstr("dossier.ask/1"));
  EXPECT_FALSE(answer->error);
}

TEST_F(AskTest, TheBudgetOfTheUsersRunsHolds) {  // REC-78
  ASSERT_THAT(MakeFolders(Path(".config/dossier")), Succeeds());
  const std::string config =
      Write(".config/dossier/dossier.yml", "limits: {window: 5h, calls: 1}\n");
  chmod(config.c_str(), 0600);
  const Model model = Script("- {times: always, reply: \"```repl\\nFINAL(len(context))\\n```\"}\n");
  EXPECT_THAT(Ask("How long?", {Text("abc")}, With(model)), Succeeds());
  EXPECT_THAT(Ask("How long?", {Text("abc")}, With(model)),
              FailsWith(ErrorCode::kLimit, "limits.calls"));
}

TEST_F(AskTest, WhatCannotBeAskedIsAnErrorBeforeAnythingRuns) {
  const Model model = Script(kCounts);
  EXPECT_THAT(Ask("How many?", {}, {}), FailsWith(ErrorCode::kInvalidArgument, "no model"));
  EXPECT_THAT(Ask(" \n", {}, With(model)), FailsWith(ErrorCode::kInvalidArgument, "question"));
  EXPECT_THAT(Ask("How many?", {File(Path("none.txt"))}, With(model)),
              FailsWith(ErrorCode::kNotFound, "none.txt"));
  EXPECT_THAT(Ask("How many?", {File(Path(""))}, With(model)),
              FailsWith(ErrorCode::kInvalidArgument, "Folder()"));
  EXPECT_THAT(Ask("How many?", {File("-")}, With(model)),
              FailsWith(ErrorCode::kInvalidArgument, "./-"));
  AskOptions none = With(model);
  none.max_calls = 0;
  EXPECT_THAT(Ask("How many?", {}, none), FailsWith(ErrorCode::kInvalidArgument, "above 0"));
}

TEST_F(AskTest, AnAnswerFitsASchemaAndTheCallersCheck) {  // REC-64, REC-80
  AskOptions options =
      With(Script("- \"```repl\\nn = context.count('x')\\nprint(n)\\nFINAL({'sum': n})\\n```\"\n"
                  "- \"```repl\\nFINAL({'count': 7})\\n```\"\n"
                  "- \"```repl\\nFINAL({'count': n})\\n```\"\n"));
  options.json_schema = "count int";
  std::vector<std::string> seen;
  options.check = [&](std::string_view text) -> std::string {
    seen.emplace_back(text);
    return text == R"({"count":2})" ? "" : "count again";
  };
  const auto answer = Ask("How many x?", {Text("x y x")}, options);
  ASSERT_THAT(answer, Succeeds());
  EXPECT_EQ(answer->text, R"({"count":2})");
  EXPECT_EQ(answer->status, AnswerStatus::kFinal);
  EXPECT_THAT(seen, ::testing::Contains(R"({"count":2})"));
  options = With(Script("- \"```repl\\nprint(context)\\nFINAL('two')\\n```\"\n"));
  options.json_schema = "count int";
  options.repairs = 0;
  const auto wrong = Ask("How many x?", {Text("x y x")}, options);
  ASSERT_THAT(wrong, Succeeds());
  EXPECT_EQ(wrong->text, "two");
  ASSERT_TRUE(wrong->error);
  EXPECT_EQ(wrong->error->code, ErrorCode::kSchema);
  options.json_schema = "{";
  EXPECT_THAT(Ask("How many x?", {Text("x")}, options),
              FailsWith(ErrorCode::kConfig, "json_schema"));
}

TEST_F(AskTest, CodeWritesFilesForTheCaller) {  // REC-83
  AskOptions options =
      With(Script("- \"```repl\\nsave_file('a.txt', 'x')\\nFINAL(context.count('x'))\\n```\"\n"));
  options.out_dir = Path("out");
  const auto answer = Ask("How many x?", {Text("x y x")}, options);
  ASSERT_THAT(answer, Succeeds());
  ASSERT_EQ(answer->files.size(), 1u);
  EXPECT_EQ(answer->files[0].path, Path("out") + "/a.txt");
  EXPECT_EQ(answer->files[0].bytes, 1u);
  EXPECT_THAT(Ask("How many x?", {Text("x y x")}, options),
              FailsWith(ErrorCode::kUsage, "holds files already"));
}

TEST_F(AskTest, CodeShowsImagesToAModel) {  // REC-50
  std::filesystem::create_directories(Path(".config/dossier"));
  Write(".config/dossier/dossier.yml", "models: {data: [models.yaml]}\n");
  Write(
      ".config/dossier/models.yaml",
      "schema: dossier.models/1\nmodels:\n  - {name: scripted, provider: scripted, window: 131072, "
      "max_output: 16384, image: {tokens: 100}, as_of: 2026-11-27, source: a test}\n");
  std::string png;
  ASSERT_TRUE(AppendBase64(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElF"
      "TkSuQmCC",
      &png));
  constexpr std::string_view kShows =
      "- \"```repl\\nprint(llm_query('Which?', media=['plan', 'other']))\\n```\"\n"
      "- a dot\n- \"FINAL: a dot\"\n";
  AskOptions options = With(Script(kShows));
  options.media = {{.name = "plan", .place = Write("plan.png", png), .bytes = {}},
                   {.name = "other", .place = {}, .bytes = png}};
  int shown = 0;
  options.on_event = [&](const RunEvent& event) {
    shown += event.type == "request.sent" &&
             event.data.find(R"("media":[{"name":"plan",)") != std::string::npos;
  };
  const auto answer = Ask("What is drawn?", {}, options);
  ASSERT_THAT(answer, Succeeds());
  EXPECT_EQ(answer->text, "a dot");
  EXPECT_EQ(shown, 1);

  const auto with = [&](AskImage image) {
    AskOptions one = With(Script(kShows));
    one.media = {std::move(image)};
    return Ask("What is drawn?", {}, one);
  };
  EXPECT_THAT(with({.name = "plan", .place = Path("none.png"), .bytes = {}}),
              FailsWith(ErrorCode::kNotFound, "none.png"));
  EXPECT_THAT(with({.name = "plan", .place = Write("t.txt", "words"), .bytes = {}}),
              FailsWith(ErrorCode::kInvalidArgument, "t.txt is no image (PNG, JPEG, GIF, WebP)"));
  EXPECT_THAT(with({.name = "plan", .place = {}, .bytes = {}}),
              FailsWith(ErrorCode::kInvalidArgument, "needs a place"));
  EXPECT_THAT(with({.name = "7", .place = {}, .bytes = png}),
              FailsWith(ErrorCode::kUsage, "begins with a letter"));
  options.media[1].name = "plan";
  EXPECT_THAT(Ask("?", {}, options), FailsWith(ErrorCode::kUsage, "two images of this name"));
  options.media.pop_back();
  options.max_depth = 0;
  EXPECT_THAT(Ask("?", {}, options), FailsWith(ErrorCode::kInvalidArgument, "at depth 0"));
  options.max_depth = 1;
  options.mode = AskOptions::Mode::kDirect;
  EXPECT_THAT(Ask("?", {}, options), FailsWith(ErrorCode::kInvalidArgument, "mode direct"));
  std::filesystem::remove(Path(".config/dossier/dossier.yml"));
  AskOptions blind = With(Script(kShows));
  blind.media = options.media;
  EXPECT_THAT(Ask("?", {}, blind), FailsWith(ErrorCode::kInvalidArgument, "takes no images"));
}

TEST_F(AskTest, ALimitOfCostNeedsAPrice) {
  const auto unpriced = Model::Open("http://127.0.0.1:1/v1#mine");
  ASSERT_THAT(unpriced, Succeeds());
  EXPECT_FALSE(unpriced->has_price());
  AskOptions options = With(*unpriced);
  options.max_usd = 0.5;
  EXPECT_THAT(Ask("How many x?", {Text("x")}, options),
              FailsWith(ErrorCode::kInvalidArgument, "price_input"));
  options.model = Script(kCounts, {.price_input = 1, .price_output = 2});
  const auto answer = Ask("How many x?", {Text("x")}, options);
  ASSERT_THAT(answer, Succeeds());
  EXPECT_EQ(answer->text, "1");
  EXPECT_GT(answer->usage.usd.value_or(0), 0);
}

TEST_F(AskTest, ALimitEndsTheRunWithAnAnswerThatSaysSo) {
  AskOptions options = With(Script("- {reply: \"```repl\\nprint(1)\\n```\", times: always}\n"));
  options.max_calls = 3;
  const auto answer = Ask("How many x?", {Text("x")}, options);
  ASSERT_THAT(answer, Succeeds());
  EXPECT_NE(answer->status, AnswerStatus::kFinal);
  ASSERT_THAT(answer->limits_hit, Not(IsEmpty()));
  EXPECT_EQ(answer->limits_hit[0].limit, "calls");
  EXPECT_EQ(answer->limits_hit[0].max, 3);
}

TEST_F(AskTest, ACancelledRunEndsAsInterrupted) {
  CancelSource source;
  AskOptions options = With(Script("- {reply: \"```repl\\nprint(1)\\n```\", times: always}\n"));
  options.cancel = source.token();
  options.on_event = [&](const RunEvent& event) {
    if (event.type == "turn.started") source.Cancel("enough");
  };
  const auto answer = Ask("How many x?", {Text("x")}, options);
  ASSERT_THAT(answer, Succeeds());
  EXPECT_EQ(answer->status, AnswerStatus::kInterrupted);
  EXPECT_EQ(AnswerStatusName(answer->status), "interrupted");
}

TEST_F(AskTest, ManyAtOnceOnOneModel) {
  const Model model = Script(kCounts);
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto answer = Ask("How many x?", {Text(std::string(i + 1, 'x'))}, With(model));
      texts[i] = answer ? answer->text : answer.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(texts, ElementsAre("1", "2", "3", "4"));
}

using InspectTest = ApiTest;

TEST_F(InspectTest, FilesAndTextsAreDescribed) {
  const auto about =
      Inspect(Write("a.csv", "name,n\nx,1\ny,2\n"), {.hash = InspectOptions::Hash::kSha256});
  ASSERT_THAT(about, Succeeds());
  EXPECT_EQ(about->format, "csv");
  EXPECT_EQ(about->records, 2U);
  ASSERT_EQ(about->fields.size(), 2U);
  EXPECT_EQ(about->fields[1].name, "n");
  EXPECT_THAT(about->fields[1].types, ElementsAre("integer"));
  EXPECT_EQ(about->sha256.size(), 64U);
  EXPECT_THAT(about->hint, HasSubstr("name"));
  const auto text = InspectText("{\"a\":1}\n{\"a\":2}\n", "feed.ndjson");
  ASSERT_THAT(text, Succeeds());
  EXPECT_EQ(text->format, "ndjson");
}

TEST_F(InspectTest, WhatIsNotThereOrNotKnownIsAnError) {
  EXPECT_THAT(Inspect(Path("none.csv")), FailsWith(ErrorCode::kNotFound, "none.csv"));
  EXPECT_THAT(InspectText("x", "", {.format = "klingon"}),
              FailsWith(ErrorCode::kInvalidArgument, "klingon"));
  EXPECT_THAT(InspectText("x", "", {.encoding = "klingon"}),
              FailsWith(ErrorCode::kInvalidArgument, "klingon"));
}

using TokensTest = ApiTest;

TEST_F(TokensTest, CountsCutsAndRefuses) {
  const auto tokenizer = Tokenizer::Open({.encoding = "chars"});
  ASSERT_THAT(tokenizer, Succeeds());
  EXPECT_EQ(tokenizer->Count("naïve").tokens, 5);
  EXPECT_TRUE(tokenizer->Count("naïve").exact);
  EXPECT_EQ(tokenizer->Prefix("naïve", 3), "naï");
  EXPECT_EQ(tokenizer->Suffix("naïve", 3), "ïve");
  EXPECT_EQ(tokenizer->Prefix("naïve", 0), "");
  EXPECT_THAT(CountTokens("x", {.encoding = "chars", .model = "gpt-5-mini"}),
              FailsWith(ErrorCode::kInvalidArgument, ""));
  EXPECT_THAT(CountTokens("x", {.encoding = "o200k_bass"}),
              FailsWith(ErrorCode::kInvalidArgument, "o200k_base"));
  EXPECT_THAT(Tokenizer::Of(Model()), FailsWith(ErrorCode::kInvalidArgument, "no model"));
  const TokenCount estimate = Tokenizer().Count("some words");
  EXPECT_FALSE(estimate.exact);
  EXPECT_GT(estimate.upper(), 0);
}

using AssembleTest = ApiTest;

constexpr std::string_view kLayout =
    "schema: dossier.layout/1\nname: mine\nsections:\n"
    "  - {name: log, zone: volatile, source: data, fit: tail}\n"
    "  - {name: question, zone: request, source: data, required: true}\n";

TEST_F(AssembleTest, FitsTheBudgetAndSaysWhatGaveWay) {
  const AssembleOptions options{.model = Script("- hello\n"), .budget = 300, .seed = 1};
  const std::vector<Section> sections = {{.name = "log", .text = std::string(20'000, 'a')},
                                         {.name = "question", .text = "What?"}};
  const auto prompt = Assemble(LayoutText(std::string(kLayout)), sections, options);
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_LE(prompt->tokens, 300);
  ASSERT_EQ(prompt->sections.size(), 2U);
  EXPECT_NE(prompt->sections[0].outcome, "kept");
  EXPECT_EQ(prompt->sections[1].outcome, "kept");
  const auto again = Assemble(LayoutFile(Write("mine.yaml", kLayout)), sections, options);
  ASSERT_THAT(again, Succeeds());
  EXPECT_EQ(again->messages, prompt->messages) << "the same seed, the same bytes";
}

TEST_F(AssembleTest, WhatCannotBeAssembledIsAnError) {
  const Model model = Script("- hello\n");
  const Layout layout = LayoutText(std::string(kLayout));
  EXPECT_THAT(Assemble(LayoutNamed("chatt"), {}, {.model = model}),
              FailsWith(ErrorCode::kNotFound, "chat"));
  EXPECT_THAT(Assemble(LayoutText("sections: 1"), {}, {.model = model}),
              FailsWith(ErrorCode::kConfig, "the layout:1"));
  EXPECT_THAT(
      Assemble(layout,
               {{.name = "log", .text = "x"}, {.name = "question", .text = std::string(9000, 'a')}},
               {.model = model, .budget = 50}),
      FailsWith(ErrorCode::kTooLong, ""));
  EXPECT_THAT(Assemble(layout, {}, {.model = model, .model_name = "gpt-5-mini"}),
              FailsWith(ErrorCode::kInvalidArgument, "model_name"));
}

using ChatTest = ApiTest;

TEST_F(ChatTest, AnotherObjectGoesOnWithTheConversation) {
  const Model model = Script("- first\n- second\n");
  const ChatOptions options{
      .model = model, .id = "talk", .folder = Path("talks"), .system = "Be brief."};
  for (const std::string wanted : {"first", "second"}) {
    auto opened = Conversation::Open(options);
    ASSERT_THAT(opened, Succeeds());
    Conversation conversation = std::move(*opened);
    std::string streamed;
    const auto reply =
        conversation.Send("Hello?", {.on_text = [&](std::string_view text) { streamed += text; }});
    ASSERT_THAT(reply, Succeeds());
    EXPECT_EQ(reply->text, wanted);
    EXPECT_EQ(streamed, wanted);
    EXPECT_THAT(opened->Send("Hello?"), FailsWith(ErrorCode::kInvalidArgument, "moved from"));
    EXPECT_EQ(opened->id(), "");
  }
  const auto history = Conversation::Open(options)->History();
  ASSERT_THAT(history, Succeeds());
  ASSERT_EQ(history->size(), 5U);
  EXPECT_EQ(history->front().role, "system");
  EXPECT_EQ(history->back().text, "second");
}

TEST_F(ChatTest, WhatTheModelFailsWithIsInTheReply) {
  const Model model = Script("- {fail: {status: 400, body: no}, times: always}\n", {.retries = 0});
  auto conversation = Conversation::Open({.model = model, .folder = Path("talks")});
  ASSERT_THAT(conversation, Succeeds());
  const auto reply = conversation->Send("Hello?");
  ASSERT_THAT(reply, Succeeds());
  EXPECT_TRUE(reply->error);
  EXPECT_THAT(Conversation::Open({}), FailsWith(ErrorCode::kInvalidArgument, "no model"));
  EXPECT_FALSE(Conversation::Open({.model = model, .id = "../up"}));
  EXPECT_THAT(conversation->Send(""), FailsWith(ErrorCode::kInvalidArgument, "empty"));
}

using MemoryTest = ApiTest;

TEST_F(MemoryTest, KeepsFindsRendersAndForgets) {
  auto memory = Memory::Open(Path("m.sqlite"));
  ASSERT_THAT(memory, Succeeds());
  EXPECT_THAT(memory->Set("compiler", "icpx"), Succeeds());
  const auto id = memory->Add("The linker needs -lfftw3.", {.tags = {"build"}});
  ASSERT_THAT(id, Succeeds());
  EXPECT_EQ(*memory->Add("The linker needs -lfftw3.", {.tags = {"build"}}), *id);
  const auto hits = memory->Search("linker");
  ASSERT_THAT(hits, Succeeds());
  ASSERT_EQ(hits->size(), 1U);
  EXPECT_EQ(hits->front().id, *id);
  EXPECT_THAT(hits->front().tags, ElementsAre("build"));
  EXPECT_THAT(*memory->Render(), HasSubstr("icpx"));
  EXPECT_THAT(memory->Forget("compiler"), Succeeds());
  EXPECT_THAT(memory->Get("compiler"), FailsWith(ErrorCode::kNotFound, "compiler"));
}

TEST_F(MemoryTest, BranchesSeeTheirParentAndKeepWhatIsTheirs) {
  auto memory = Memory::Open(Path("m.sqlite"));
  ASSERT_THAT(memory->Set("a", "1"), Succeeds());
  auto branch = Memory::Open(Path("m.sqlite"), {.branch = "side"});
  ASSERT_THAT(branch, Succeeds());
  EXPECT_EQ(branch->branch(), "side");
  EXPECT_EQ(*branch->Get("a"), "1");
  EXPECT_THAT(branch->Set("a", "2"), Succeeds());
  EXPECT_EQ(*memory->Get("a"), "1");
}

TEST_F(MemoryTest, WhatIsNoneOrNotThereIsAnError) {
  EXPECT_THAT(Memory::Open(Path("none.sqlite"), {.mode = MemoryOptions::Mode::kExisting}),
              FailsWith(ErrorCode::kNotFound, "none.sqlite"));
  Memory memory = *Memory::Open(Path("m.sqlite"));
  const Memory moved = std::move(memory);
  EXPECT_TRUE(moved);
  EXPECT_THAT(memory.Get("a"), FailsWith(ErrorCode::kInvalidArgument, ""));  // NOLINT
  EXPECT_THAT(memory.Set("a", "b"), FailsWith(ErrorCode::kInvalidArgument, ""));
  EXPECT_THAT(memory.Search("a"), FailsWith(ErrorCode::kInvalidArgument, ""));
  EXPECT_EQ(memory.path(), "");
}

TEST_F(MemoryTest, ARunReadsWhatIsRemembered) {
  AskOptions options = With(
      Script("- when: icpx\n  reply: |\n    ```repl\n    FINAL('it is remembered')\n    ```\n"));
  options.memory = *Memory::Open(Path("m.sqlite"));
  ASSERT_THAT(options.memory.Set("compiler", "icpx"), Succeeds());
  const auto answer = Ask("Which compiler?", {Text("xx")}, options);
  ASSERT_THAT(answer, Succeeds());
  EXPECT_EQ(answer->text, "it is remembered");
}

class SandboxTest : public ApiTest {
 protected:
  SandboxOptions Options() const { return With(Model()).sandbox; }
};

TEST_F(SandboxTest, RunsCodeAndKeepsItsNames) {
  SandboxOptions options = Options();
  options.texts = {{"b.txt", "xx"}, {"a.txt", "x"}};
  auto opened = Sandbox::Open(options);
  ASSERT_THAT(opened, Succeeds());
  Sandbox sandbox = std::move(*opened);
  const auto result = sandbox.Run("n = open('b.txt').read().count('x')\nprint(n)");
  ASSERT_THAT(result, Succeeds());
  EXPECT_EQ(result->status, CodeResult::Status::kOk);
  EXPECT_EQ(result->output, "2\n");
  EXPECT_EQ(*sandbox.Get("n"), "2");
  EXPECT_THAT(*sandbox.Report(), HasSubstr("dossier.sandbox/1"));
  EXPECT_THAT(sandbox.Reset(), Succeeds());
  EXPECT_THAT(sandbox.Get("n"), FailsWith(ErrorCode::kNotFound, "n"));
  EXPECT_THAT(opened->Run("1"), FailsWith(ErrorCode::kInvalidArgument, "moved from"));
  EXPECT_THAT(opened->Report(), FailsWith(ErrorCode::kInvalidArgument, "moved from"));
}

TEST_F(SandboxTest, CodeReadsRecords) {  // HSE-10
  SandboxOptions options = Options();
  options.texts = {{"data.csv", "a,b\n1,2\n3,4\n"}};
  auto sandbox = Sandbox::Open(options);
  ASSERT_THAT(sandbox, Succeeds());
  const auto result = sandbox->Run("total = sum(r['b'] for r in records)");
  ASSERT_THAT(result, Succeeds());
  EXPECT_EQ(result->status, CodeResult::Status::kOk) << result->error;
  EXPECT_EQ(sandbox->Get("total").value_or(""), "6");
}

TEST_F(SandboxTest, CodeQueriesRecords) {  // REC-76
  SandboxOptions options = Options();
  options.texts = {{"data.csv", "a,b\n1,2\n3,4\n"}};
  auto opened = Sandbox::Open(options);
  ASSERT_THAT(opened, Succeeds());
  const auto result = opened->Run("print(sql('SELECT sum(b) AS s FROM records WHERE a > 1'))");
  ASSERT_THAT(result, Succeeds());
  EXPECT_EQ(result->output, "[{'s': 4}]\n");
}

TEST_F(SandboxTest, WhatCodeDoesWrongIsAResult) {
  SandboxOptions options = Options();
  options.silence = Millis(300);
  options.cpu = Millis(300);
  auto sandbox = Sandbox::Open(options);
  ASSERT_THAT(sandbox, Succeeds());
  const auto wrong = sandbox->Run("x = 1\n{}['size']");
  ASSERT_THAT(wrong, Succeeds());
  EXPECT_EQ(wrong->status, CodeResult::Status::kError);
  EXPECT_THAT(wrong->error, AllOf(StartsWith("KeyError: 'size'"), HasSubstr("(line 2)")));
  if (kThreadSanitizer) GTEST_SKIP() << "a worker slowed down does not stop in time, and is ended";
  const auto endless = sandbox->Run("while True: pass");
  ASSERT_THAT(endless, Succeeds());
  EXPECT_EQ(endless->status, CodeResult::Status::kLimit);
  const auto asks = sandbox->Run("llm('hello')");
  ASSERT_THAT(asks, Succeeds());
  EXPECT_EQ(asks->status, CodeResult::Status::kError) << asks->output;
  EXPECT_THAT(Sandbox::Open({.worker = Path("none")}), FailsWith(ErrorCode::kUnavailable, "none"));
  EXPECT_THAT(Sandbox::Open({.texts = {{"a", "\xff"}}}),
              FailsWith(ErrorCode::kInvalidArgument, "UTF-8"));
}

using RunsTest = ApiTest;

TEST_F(RunsTest, RepositoriesAndIdeasThatAreNotThereAreErrors) {
  EXPECT_THAT(PlanAgents({.repository = Path("none")}), FailsWith(ErrorCode::kNotFound, "none"));
  EXPECT_THAT(RunAgents({.workers = 0}), FailsWith(ErrorCode::kInvalidArgument, "workers"));
  EXPECT_THAT(RunResearch({.idea = Path("none.md")}), FailsWith(ErrorCode::kNotFound, "none.md"));
  EXPECT_FALSE(GetResearchStatus(Path("none")));
  EXPECT_THAT(PlanResearch({.idea = Path("none.md")}), FailsWith(ErrorCode::kNotFound, "none.md"));
  EXPECT_FALSE(SteerResearch(Path("none"), "pin", "draft 1"));
  EXPECT_THAT(SteerResearch(Path("none"), "fly", "draft 1"),
              FailsWith(ErrorCode::kInvalidArgument, "pin, prune, free, hint and name are"));
  const std::string idea = Write("idea.md", "no idea at all\n");
  EXPECT_THAT(RunResearch({.idea = idea, .out = Path("runs")}),
              FailsWith(ErrorCode::kDamaged, "Title"));
  EXPECT_FALSE(std::filesystem::exists(Path("runs"))) << "nothing is made before all is read";
}

TEST_F(RunsTest, OnlyAnOwnResearchFolderIsGoneOnWith) {
  if (kThreadSanitizer) GTEST_SKIP() << "no user namespaces under ThreadSanitizer";
  using Trust = ResearchOptions::Trust;
  ResearchOptions options{
      .idea = std::string(DOSSIER_SOURCE_DIR) + "/docs/examples/sorting/idea.md",
      .model = Script("- {reply: \"no plan\", times: always}\n"),
      .out = Path("runs"),
      .settings = {"agent.steps=1", "limits.max_cost_usd=0.000001"},
      .stages = "1",
      .until = "phase0",
      .network = ResearchOptions::Network::kNone};
  const auto run = RunResearch(options);
  ASSERT_THAT(run, Succeeds());
  EXPECT_THAT(ResumeResearch(run->folder, options), Succeeds()) << run->end;
  const std::string config = run->folder + "/config.yaml";
  ASSERT_THAT(WriteFileAtomic(config, ReadFile(config).value_or("") + "# of somebody else\n"),
              Succeeds());
  EXPECT_THAT(ResumeResearch(run->folder, options),
              FailsWith(ErrorCode::kRefused, "dossier trust"));
  options.trust = Trust::kFolder;
  EXPECT_THAT(ResumeResearch(run->folder, options), Succeeds());
  std::filesystem::create_symlink("/etc/passwd", run->folder + "/link");
  EXPECT_THAT(ResumeResearch(run->folder, options), FailsWith(ErrorCode::kRefused, "leads out"));
}

}  // namespace
}  // namespace dossier
