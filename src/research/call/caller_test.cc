#include "research/call/caller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>

#include "base/files/file.h"
#include "base/hash.h"
#include "memory/store/store.h"
#include "testing/result_matchers.h"
#include "testing/scripted_model_for_test.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kNode = "3f9a1c02d4e5f60718293a4b5c6d7e8f";
constexpr std::string_view kReview = R"({"is_bug": false, "summary": "it sorts"})";

// A run of one process; Restart does what a resume does.
class CallerTest : public ::testing::Test {
 protected:
  enum class Memory : std::uint8_t { kOff, kOn };

  void Start(Memory memory = Memory::kOn) {
    if (memory == Memory::kOn && !store_) {
      auto store = memory::Store::Open(
          {.path = temp_.path() + "/memory.sqlite", .mode = memory::OpenMode::kCreate});
      ASSERT_TRUE(store) << store.error().message;
      store_ = *std::move(store);
    }
    caller_.reset();
    log_.reset();
    auto log = std::filesystem::exists(temp_.path() + "/journal.sqlite")
                   ? ResearchLog::Reopen(temp_.path(), clock_, watch_)
                   : ResearchLog::Start(temp_.path(), {}, clock_, watch_);
    ASSERT_TRUE(log) << log.error().message;
    log_ = *std::move(log);
    CallerOptions options{
        .log = log_.get(),
        .memory = {.store = store_},
        .ledger = &ledger_,
        .open = model_.Open(),
        .clock = clock_,
        .run_folder = temp_.path(),
        .persona = "geologist",
        .variables = {{"mount", "/workspace"}, {"output_name", "x_data.npy"}},
        .retry = {.max_wait = max_wait_,
                  .setting = "limits.max_wait_seconds",
                  .wait = [this](Millis time, const CancelToken&) { waits_.push_back(time); }}};
    auto caller = RoleCaller::Open(std::move(options));
    ASSERT_TRUE(caller) << caller.error().message;
    caller_ = *std::move(caller);
  }

  static CallRequest Request(std::string site) {
    CallRequest request{.site = std::move(site),
                        .scope = {.node = std::string(kNode), .stage = "1_x_1_y"}};
    request.prefix = {.idea = JsonObject{{"Title", "Sorting"}}, .environment = "- cpu: two cores"};
    return request;
  }
  static CallRequest Review() {
    CallRequest request = Request("execution_review");
    request.sections = {{"implementation", "int main() {}"}, {"execution_output", "0.5 s"}};
    return request;
  }

  CallOutcome Call(const CallRequest& request) {
    auto outcome = caller_->Call(request, CancelToken());
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(CallOutcome());
  }
  std::string File(const std::string& name) const {
    return ReadFile(temp_.path() + "/" + name).value_or("(no file)");
  }
  static std::string Logs() { return fmt::format("logs/phase_logs/node_{}/prompt_logs/", kNode); }

  TempFolder temp_ = *TempFolder::Make("caller");
  std::shared_ptr<const Clock> clock_ = SystemClock();
  ScriptedModel model_;
  model::Ledger ledger_{{}, clock_};
  Millis max_wait_{0};
  std::vector<Millis> waits_;
  ResearchLog::Watch watch_;
  std::shared_ptr<memory::Store> store_;
  std::unique_ptr<ResearchLog> log_;
  std::unique_ptr<RoleCaller> caller_;
};

TEST_F(CallerTest, AReplyInTheFormOfTheTableIsTheAnswer) {
  Start();
  model_.Always("execution_review", fmt::format("```json\n{}\n```", kReview));
  const CallOutcome outcome = Call(Review());
  EXPECT_FALSE(outcome.failure);
  EXPECT_EQ(outcome.payload, R"({"is_bug":false,"summary":"it sorts"})");
  EXPECT_EQ(log_->UsageOf(kNode).calls, 2);  // one asks for memory alone
  EXPECT_EQ(outcome.log, "0002_execution_review_a1_r1");
}

TEST_F(CallerTest, MemoryIsAskedForFirstWhereTheTableSaysSo) {  // MEM-29
  Start();
  model_.Always("execution_review", std::string(kReview));
  Call(Review());
  CallRequest after_timeout = Review();
  after_timeout.label = "again";
  after_timeout.memory_round = CallRequest::MemoryRound::kNo;
  model_.Always("again", std::string(kReview));
  Call(after_timeout);
  const auto calls = model_.Calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].attempt, 0);
  EXPECT_THAT(calls[0].prompt, HasSubstr("one `<memory_update>` block and nothing else"));
  EXPECT_THAT(calls[0].prompt, Not(HasSubstr("Decide from its output")));
  EXPECT_EQ(calls[1].attempt, 1);
  EXPECT_THAT(calls[1].prompt, HasSubstr("Decide from its output"));
  EXPECT_THAT(calls[1].prompt, HasSubstr("Memory operations"));
  EXPECT_EQ(calls[2].attempt, 1);
}

TEST_F(CallerTest, WithoutMemoryNoPromptSpeaksOfItAndABlockIsRemoved) {  // RSP-T25, MEM-54
  Start(Memory::kOff);
  model_.Next(
      "execution_review",
      "<memory_update>{\"core_set\": {\"a\": \"b\"}}</memory_update>\n" + std::string(kReview));
  const CallOutcome outcome = Call(Review());
  EXPECT_FALSE(outcome.failure);
  EXPECT_EQ(outcome.payload, R"({"is_bug":false,"summary":"it sorts"})");
  ASSERT_EQ(model_.Calls().size(), 1u);
  EXPECT_THAT(model_.Calls()[0].prompt, Not(HasSubstr("emory")));
}

TEST_F(CallerTest, ABadReplyIsExplainedAndAfterThreeTheCallFails) {  // RSP-T2, RSP-6, MEM-28
  Start(Memory::kOff);
  model_.Next("execution_review", "It looks fine to me.");
  model_.Next("execution_review", R"({"is_bug": "no", "summary": "x"})");
  model_.Next("execution_review", "[]");
  const CallOutcome outcome = Call(Review());
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->reason, "refused");
  EXPECT_EQ(outcome.payload, "");
  EXPECT_EQ(File(outcome.failure->reply_path), "[]");
  const auto calls = model_.Calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_THAT(calls[1].prompt, HasSubstr("Parsing Feedback"));
  EXPECT_THAT(calls[1].prompt, HasSubstr("It looks fine to me."));
  EXPECT_THAT(calls[2].prompt, HasSubstr("/is_bug"));
  const auto warning = log_->Recorded("warning", fmt::format("{}/execution_review", kNode)).value();
  ASSERT_TRUE(warning);
  EXPECT_EQ(FindString(Json(warning->data), "code"), "call_failed");
}

TEST_F(CallerTest, ThePayloadIsShownToTheOneWhoAsks) {
  Start(Memory::kOff);
  model_.Next("draft", "{}");
  model_.Next("draft", R"({"phase_artifacts": {}})");
  CallRequest request = Request("draft");
  request.check = [](std::string_view payload) -> Status {
    if (payload != "{}") return {};
    return MakeError(ErrorCode::kInvalidArgument, "there are no files in it");
  };
  EXPECT_EQ(Call(request).payload, R"({"phase_artifacts": {}})");
  EXPECT_THAT(model_.Calls()[1].prompt, HasSubstr("there are no files in it"));
}

TEST_F(CallerTest, ReadsAreAnsweredAndCostNoAttempt) {  // RSP-T4, MEM-25
  Start();
  model_.Next("phase1_step", R"(<memory_update>{"core_get": "compiler"}</memory_update>)");
  model_.Next("phase1_step", R"({"command": "make", "done": false})");
  const CallOutcome outcome = Call(Request("phase1_step"));
  EXPECT_EQ(outcome.payload, R"({"command":"make","done":false})");
  const auto calls = model_.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[1].attempt, 1);
  EXPECT_EQ(calls[1].round, 2);
  EXPECT_THAT(calls[1].prompt, HasSubstr("Memory Read Results"));
  EXPECT_THAT(calls[1].prompt, HasSubstr("compiler: (not found)"));
}

TEST_F(CallerTest, TheCodeRoleMustBeginWithABlock) {  // RSP-4, MEM-26
  Start();
  model_.When("define_metrics", [](const ScriptedCall&) { return "run time"; });
  EXPECT_FALSE(Call(Request("define_metrics")).failure);  // a call without memory
  model_.When("draft", [](const ScriptedCall& call) {
    return call.attempt == 1 ? "<memory_update>{\"core_set\": 7" : "{}";
  });
  EXPECT_FALSE(Call(Request("draft")).failure);
  EXPECT_THAT(model_.Calls("draft").back().prompt, HasSubstr("malformed_block"));
}

TEST_F(CallerTest, AReplyInTheJournalIsNotAskedForAgain) {  // RSP-47, RSP-T20
  Start();
  model_.Next("phase1_step", R"(<memory_update>{"recall_append": {"text": "linked"}}</memory_update>
{"command": "make"})");
  const CallOutcome first = Call(Request("phase1_step"));
  const auto changes = store_->History("root", {})->size();
  const model::UsageSum used = log_->UsageOf(kNode);
  EXPECT_EQ(used.calls, 1);
  Start();
  const CallOutcome again = Call(Request("phase1_step"));
  EXPECT_EQ(again.payload, first.payload);
  EXPECT_EQ(ToJson(UsageJson(log_->UsageOf(kNode))), ToJson(UsageJson(used)));  // FLT-67
  EXPECT_EQ(again.log, first.log);
  EXPECT_EQ(model_.Calls().size(), 1u);
  EXPECT_EQ(store_->History("root", {})->size(), changes);
}

TEST_F(CallerTest, ReadsWithoutAnAnswerEndAtTheirCeiling) {  // RSP-T4, MEM-25
  Start();
  const std::string read = R"(<memory_update>{"core_get": "a"}</memory_update>)";
  model_.When("draft", [&](const ScriptedCall& call) {
    return call.attempt == 1 ? read : read + "\n{\"coding\": {}}";
  });
  EXPECT_EQ(Call(Request("draft")).payload, R"({"coding": {}})");
  const auto calls = model_.Calls();
  ASSERT_EQ(calls.size(), 7u);  // five reads, one too many, the answer
  EXPECT_THAT(calls.back().prompt, HasSubstr("reads_used_up"));
}

TEST_F(CallerTest, AnEndAtAnyEventLeavesACallThatGoesOn) {  // RSP-47, RSP-T20
  const auto answer = [](const ScriptedCall& call) -> std::string {
    if (call.attempt == 1) return "no JSON";
    return R"(<memory_update>{"core_set": {"n": "7"}}</memory_update>)" + std::string(kReview);
  };
  const std::string saved = temp_.path() + ".saved";
  std::vector<std::string> copies;
  watch_ = [&](const store::Event& event) {
    copies.push_back(fmt::format("{}/{}", saved, event.seq));
    std::filesystem::create_directories(copies.back());
    std::filesystem::copy(
        temp_.path(), copies.back(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  };
  Start();
  model_.When("execution_review", answer);
  model_.When("execution_review/memory", [](const ScriptedCall& call) -> std::string {
    if (call.round > 1) return "<memory_update>{}</memory_update>";
    return R"(<memory_update>{"recall_append": {"text": "seen"}, "core_get": "n"}</memory_update>)";
  });
  const CallOutcome whole = Call(Review());
  const auto prompts = model_.Calls();
  const std::string last_log = File(Logs() + whole.log + "_prompt.md");
  watch_ = {};
  caller_.reset(), log_.reset(), store_.reset();
  ASSERT_GT(copies.size(), 10u);
  for (const std::string& copy : copies) {
    std::filesystem::remove_all(temp_.path());
    std::filesystem::copy(
        copy, temp_.path(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    const std::size_t before = model_.Calls().size();
    Start();
    const std::size_t replied = log_->EventsOf("call.replied")->size();
    const CallOutcome again = Call(Review());
    EXPECT_EQ(again.payload, whole.payload) << copy;
    EXPECT_EQ(again.log, whole.log) << copy;
    EXPECT_EQ(model_.Calls().size() - before + replied, prompts.size()) << copy;
    EXPECT_EQ(model_.Calls().back().prompt, prompts.back().prompt) << copy;
    EXPECT_EQ(File(Logs() + whole.log + "_prompt.md"), last_log) << copy;
    EXPECT_EQ(store_->Snapshot("root")->Core("n")->value, "7") << copy;
    EXPECT_EQ(store_->Snapshot("root")->Counts()->events, 1) << copy;
    caller_.reset(), log_.reset(), store_.reset();
  }
  std::filesystem::remove_all(saved);
}

TEST_F(CallerTest, MemoryIsSearchedByTheQueryElseByTheFirstSection) {  // RSP-8
  Start();
  model_.Always("", "{}");
  CallRequest request = Request("improve");
  request.sections = {{"previous_solution", "int quick_sort();"}};
  Call(request);
  request.label = "asked";
  request.memory_query = "Sorting. fastest?";
  Call(request);
  const auto query = [&](std::string_view label) {
    const auto sent = log_->Recorded("call.sent", fmt::format("{}/{}/a1/r1", kNode, label)).value();
    return std::string(*FindString(*Find(sent->data, "memory"), "archival_query"));
  };
  EXPECT_EQ(query("improve"), "int quick_sort();");
  EXPECT_EQ(query("asked"), "Sorting. fastest?");
}

TEST_F(CallerTest, ABlockThatTheStoreHasIsNotAppliedAgain) {  // RSP-48, MEM-27
  // The process ended between the block and the journal: the journal has only the reply.
  Start();
  const std::string place = fmt::format("{}/phase1_step/a1/r1", kNode);
  const std::string reply =
      "<memory_update>{\"core_set\": {\"n\": \"old\"}}</memory_update>\n{\"command\": \"make\"}";
  ASSERT_TRUE(log_->Add("call.replied", place, {{"reply", reply}, {"counter", 1}}));
  ASSERT_TRUE(store_->Transact(
      "root", {.block_id = place}, [](memory::BranchTransaction& session) -> Status {
        return session.SetCore("n", {.value = "new"}).map([](const memory::CoreWrite&) {});
      }));
  EXPECT_EQ(Call(Request("phase1_step")).payload, R"({"command":"make"})");
  EXPECT_EQ(store_->Snapshot("root")->Core("n")->value, "new");
  EXPECT_TRUE(log_->Has("block.applied", place));
}

TEST_F(CallerTest, PromptsRepliesAndOperationsAreLogged) {  // RSP-45, RSP-T19
  Start();
  CallRequest request = Request("phase0_plan");
  request.alias = "phase0_prompt";
  model_.Next("phase0_plan", R"(<memory_update>{"core_set": {"goal": "fast"}}</memory_update>
{"plan": {"goal_summary": "sort"}})");
  Call(request);
  const std::string start = Logs() + "0001_phase0_plan_a1_r1_";
  const auto prompt = ParseJson(File(start + "prompt.json"));
  ASSERT_TRUE(prompt);
  EXPECT_EQ(FindInt(*Find(*prompt, "meta"), "counter"), 1);
  EXPECT_EQ(FindString(*Find(*prompt, "meta"), "stage"), "1_x_1_y");
  EXPECT_EQ(FindString(Find(*prompt, "sections")->get_array()[1], "name"), "role");
  for (const std::string_view key : {"system", "messages", "response_format", "memory"}) {
    EXPECT_NE(Find(*prompt, key), nullptr) << key;
  }
  EXPECT_THAT(File(start + "prompt.md"), HasSubstr("Your role: geologist."));
  EXPECT_THAT(File(start + "response.txt"), HasSubstr("goal_summary"));
  EXPECT_THAT(File(start + "memory_ops.json"), HasSubstr("core_set"));
  EXPECT_THAT(File("logs/memory/memory_operations.jsonl"), HasSubstr("phase0_plan/a1/r1"));
  EXPECT_EQ(File(Logs() + "phase0_prompt.json"), File(start + "prompt.json"));
  const std::string alias = fmt::format("{}/{}phase0_prompt.json", temp_.path(), Logs());
  struct stat before{}, after{};
  ASSERT_EQ(lstat(alias.c_str(), &before), 0);
  Start();
  Call(request);
  ASSERT_EQ(lstat(alias.c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino) << "a link that is right was made anew";
  // The sent bytes are in the store under their hash.
  const std::string sha256(*FindString(*Find(*prompt, "meta"), "request_sha256"));
  const auto sent = log_->journal().content().Get(sha256);
  ASSERT_TRUE(sent);
  EXPECT_EQ(Sha256Hex(*sent), sha256);
  EXPECT_THAT(*sent, HasSubstr("Plan the work on this idea"));
}

TEST_F(CallerTest, NoPromptLogIsOverwritten) {  // RSP-T19
  Start(Memory::kOff);
  model_.Always("", "text");
  CallRequest request = Request("define_metrics");
  request.scope.node = "";
  Call(request);
  const std::string before = File("logs/prompt_logs/0001_define_metrics_a1_r1_prompt.json");
  request.label = "define metrics/2";
  Call(request);
  EXPECT_EQ(File("logs/prompt_logs/0001_define_metrics_a1_r1_prompt.json"), before);
  EXPECT_NE(File("logs/prompt_logs/0002_define_metrics_2_a1_r1_prompt.json"), "(no file)");
}

// From a process that ended between the file and its event.
TEST_F(CallerTest, ALogThatIsThereStaysAndTheCallGoesOn) {  // RSP-45, RSP-47, 8.8
  Start(Memory::kOff);
  model_.Always("", "run time");
  const std::string left = Logs() + "0001_define_metrics_a1_r1_";
  ASSERT_TRUE(MakeFolders(temp_.path() + "/" + Logs()));
  for (const std::string_view name : {"prompt.json", "response.txt"}) {
    ASSERT_TRUE(WriteFileAtomic(fmt::format("{}/{}{}", temp_.path(), left, name), "left"));
  }
  EXPECT_EQ(Call(Request("define_metrics")).payload, "run time");
  EXPECT_EQ(File(left + "prompt.json"), "left");
  EXPECT_EQ(File(left + "response.txt"), "left");
  EXPECT_THAT(File(left + "prompt.md"), HasSubstr("Sorting"));
}

TEST_F(CallerTest, ACallWhosePromptCannotBeWrittenHasNoAnswer) {  // RSP-45
  Start(Memory::kOff);
  model_.Always("", "run time");
  ASSERT_TRUE(WriteFileAtomic(temp_.path() + "/logs", "in the way"));
  EXPECT_FALSE(caller_->Call(Request("define_metrics"), CancelToken()));
  EXPECT_FALSE(log_->Has("call.replied", fmt::format("{}/define_metrics/a1/r1", kNode)));
}

TEST_F(CallerTest, AnInterruptedCallIsSentAgainWithTheSameBytes) {  // RSP-48
  Start(Memory::kOff);
  model_.FailNext("define_metrics", {ErrorCode::kAuth, "no key"});
  const auto failed = caller_->Call(Request("define_metrics"), CancelToken());
  EXPECT_THAT(failed, FailsWith(ErrorCode::kAuth, "no key"));
  // A process that ended right after asking left no prompt files.
  const std::string log = Logs() + "0001_define_metrics_a1_r1_prompt.json";
  const auto written = ParseJson(File(log));
  ASSERT_TRUE(written);
  ASSERT_TRUE(RemoveAll(temp_.path() + "/" + log));
  Start(Memory::kOff);
  model_.Next("define_metrics", "run time");
  Call(Request("define_metrics"));
  const auto calls = model_.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].prompt, calls[1].prompt);
  EXPECT_EQ(File(Logs() + "0002_define_metrics_a1_r1_prompt.json"), "(no file)");
  const auto again = ParseJson(File(log));
  ASSERT_TRUE(again);
  EXPECT_EQ(TextAt(*Find(*again, "meta"), "request_sha256"),
            TextAt(*Find(*written, "meta"), "request_sha256"));
  EXPECT_EQ(*Find(*again, "messages"), *Find(*written, "messages"));
}

TEST_F(CallerTest, AllCallsOfANodeBeginWithTheSameBytes) {  // RSP-1, RSP-2
  Start();
  model_.Always("", "{}");
  std::set<std::string> prefixes;
  for (const std::string site : {"draft", "debug", "improve", "tuning_node", "phase1_step"}) {
    CallRequest request = Request(site);
    request.prefix.plan = JsonObject{{"goal_summary", "sort"}};
    if (site == "debug") request.sections = {{"previous_implementation", "x"}};
    if (site == "improve") request.sections = {{"previous_solution", "x"}};
    if (site == "tuning_node") request.sections = {{"base_code", "x"}, {"tuning_idea", "y"}};
    ASSERT_TRUE(caller_->Call(request, CancelToken())) << site;
    const std::string prompt = model_.Calls(site).front().prompt;
    const std::size_t end = prompt.find("goal_summary");
    ASSERT_NE(end, std::string::npos) << site;
    prefixes.insert(prompt.substr(0, end));
  }
  EXPECT_EQ(prefixes.size(), 1u);
  EXPECT_THAT(*prefixes.begin(), HasSubstr("two cores"));
}

TEST_F(CallerTest, ThePersonaIsReplacedInTemplatesAndNeverInData) {  // RSP-T3, RSP-4
  Start(Memory::kOff);
  model_.Always("execution_review", std::string(kReview));
  CallRequest request = Review();
  request.sections[1].value = "the {persona} ran";
  Call(request);
  const std::string prompt = model_.Calls()[0].prompt;
  EXPECT_THAT(prompt, HasSubstr("their author is: geologist."));
  EXPECT_THAT(prompt, HasSubstr("the {persona} ran"));
}

TEST_F(CallerTest, AModelWithToolsIsMadeToCallThem) {  // 4.2
  model_.entry.tools = true;
  Start();
  model_.Always("execution_review", std::string(kReview));
  Call(Review());
  const auto calls = model_.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].request.tool_use, model::Request::ToolUse::kNone);
  EXPECT_EQ(calls[1].request.tool_use, model::Request::ToolUse::kRequired);
  ASSERT_EQ(calls[1].request.messages.tools.size(), 1u);
  EXPECT_EQ(calls[1].request.messages.tools[0].name, "submit_review");
}

TEST_F(CallerTest, AReplyThatIsOneObjectIsHeldToItsSchemaWhereThatCanBe) {  // MOD-35
  model_.Always("", "{}");
  model_.Always("execution_review", std::string(kReview));
  int asked = 0;
  for (const bool able : {true, false}) {
    model_.entry.json_schema = able;
    for (const Memory memory : {Memory::kOff, Memory::kOn}) {
      Start(memory);
      const std::size_t before = model_.Calls().size();
      CallRequest review = Review();
      review.label = fmt::format("execution_review/{}", ++asked);
      (void)caller_->Call(review, CancelToken());
      ASSERT_GT(model_.Calls().size(), before);
      // With memory a block may come before the object.
      EXPECT_EQ(model_.Calls().back().request.schema.has_value(), able && memory == Memory::kOff);
    }
  }
  model_.entry.json_schema = true;
  Start(Memory::kOff);
  (void)caller_->Call(Request("define_metrics"), CancelToken());
  EXPECT_FALSE(model_.Calls().back().request.schema) << "text has no schema";
}

TEST_F(CallerTest, ASecretInASectionReachesNobody) {  // Contract 2, RSP-T6
  Start();
  const std::string secret =
      "sk-x8Kq2LwZ9vT"
      "n4RbY7cMd1eQ5";
  CallRequest request = Review();
  request.sections[1].value = "OPENAI " + secret;
  model_.Always("execution_review", std::string(kReview));
  Call(request);
  for (const ScriptedCall& call : model_.Calls()) EXPECT_THAT(call.prompt, Not(HasSubstr(secret)));
  log_.reset();
  for (const auto& file : std::filesystem::recursive_directory_iterator(temp_.path())) {
    if (!file.is_regular_file()) continue;
    EXPECT_THAT(*ReadFile(file.path().string()), Not(HasSubstr(secret))) << file.path();
  }
}

TEST_F(CallerTest, AProviderThatIsAwayIsWaitedForButNotForEver) {  // RSP-46
  max_wait_ = Millis(12'000);
  Start(Memory::kOff);
  for (int i = 0; i < 2; ++i) model_.FailNext("define_metrics", {ErrorCode::kRateLimited, "429"});
  model_.Always("define_metrics", "run time");
  EXPECT_EQ(Call(Request("define_metrics")).payload, "run time");
  EXPECT_EQ(waits_, (std::vector<Millis>{Millis(5'000), Millis(7'000)}));
  for (int i = 0; i < 3; ++i) model_.FailNext("later", {ErrorCode::kNetwork, "away"});
  CallRequest later = Request("define_metrics");
  later.label = "later";
  EXPECT_THAT(
      caller_->Call(later, CancelToken()),
      FailsWith(ErrorCode::kNetwork, "away (after 12 s of waiting; limits.max_wait_seconds)"));
}

TEST_F(CallerTest, ASectionThatTheLayoutDoesNotHaveIsADefect) {
  Start(Memory::kOff);
  CallRequest request = Request("define_metrics");
  request.sections = {{"code", "x"}};
  EXPECT_THAT(caller_->Call(request, CancelToken()),
              FailsWith(ErrorCode::kInternal, "has no section code"));
}

TEST_F(CallerTest, APreviewSendsAndWritesNothing) {
  Start();
  const auto preview = caller_->Preview(Request("phase0_plan"));
  ASSERT_TRUE(preview) << preview.error().message;
  EXPECT_THAT(ToJson(*preview), HasSubstr("Plan the work on this idea"));
  EXPECT_TRUE(model_.Calls().empty());
  EXPECT_EQ(log_->Events().value().size(), 1u);
  EXPECT_FALSE(Exists(temp_.path() + "/logs"));
}

}  // namespace
}  // namespace dossier::research
