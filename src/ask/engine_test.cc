#include "ask/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/hash.h"
#include "base/process/build_info.h"
#include "model/scripted/scripted.h"
#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Collector final : public EventSink {
 public:
  void OnEvent(const store::Event& event) override {
    std::lock_guard lock(mutex_);
    events_.push_back(event);
    if (event.type == stop_at_) stop_.Cancel("interrupted");
  }
  // Interrupts the run at its first event of this type; needs stop() as the run's token.
  void StopAt(std::string type) { stop_at_ = std::move(type); }
  CancelToken stop() const { return stop_.token(); }
  std::vector<std::string> Types() const {
    std::vector<std::string> types;
    for (const store::Event& event : events_) types.push_back(event.type);
    return types;
  }
  const std::vector<store::Event>& events() const { return events_; }

 private:
  std::mutex mutex_;
  std::vector<store::Event> events_;
  std::string stop_at_;
  CancelSource stop_;
};

std::vector<std::string> Codes(const Outcome& outcome) {
  std::vector<std::string> codes;
  for (const Warning& warning : outcome.warnings) codes.push_back(warning.code);
  return codes;
}

// A complete engine over a scripted model, with the real sandbox.
class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    journal_ = std::shared_ptr<store::Journal>(*store::Journal::Open(folder_.path() + "/runs"));
    request_.question = "Which letter comes first?";
    request_.seed = 7;
    SetContext("abc\n");
  }

  void SetContext(std::string text) {
    ContextOptions options;
    options.content = &journal_->content();
    request_.context = *LoadContext({{.text = std::move(text)}}, options, {});
  }

  // `rules`: YAML as in docs/formats/scripts.md.
  EngineOptions Options(std::string_view rules) {
    driver::BoundModel model{.name = "scripted", .origin = "test"};
    model.entry.capability.window = 32'768;
    model.entry.capability.max_output = 1'024;
    model.counter = *tokens::MakeEstimator({.bytes_per_token = 4, .margin = 0});
    auto client = model::MakeScriptedClient(*model::Script::Parse(rules, "test"), SystemClock());
    model.gate = model::Gate::Make(std::move(client), {.retries = 0}, SystemClock());
    EngineOptions options{.root = model, .sub = model};
    options.pool_options.worker_path = DOSSIER_BIN_DIR "/dossier-python-worker";
    options.journal = journal_;
    return options;
  }

  Outcome Run(std::string_view rules, const CancelToken& cancel = {}) {
    Engine engine(Options(rules));
    auto outcome = engine.Run(request_, cancel, events_);
    EXPECT_THAT(outcome, Succeeds());
    return outcome.value_or(Outcome());
  }

  TempFolder folder_ = *TempFolder::Make("engine");
  std::shared_ptr<store::Journal> journal_;
  AskRequest request_;
  Collector events_;
};

TEST_F(EngineTest, AShortContextIsOnePlainCallWithoutAWorker) {  // REC-1, REC-2, REC-A2
  const Outcome outcome = Run("[\"<think>b?</think> a\"]");
  EXPECT_EQ(outcome.mode, Mode::kDirect);
  EXPECT_EQ(outcome.text, "a");
  EXPECT_EQ(outcome.source, Source::kDirect);
  EXPECT_EQ(outcome.exit_code(), 0);
  EXPECT_EQ(outcome.usage.calls, 1);
  EXPECT_EQ(outcome.evidence.read_by_models, 1.0) << "the model was shown all of it";
  EXPECT_THAT(events_.Types(), ElementsAre("run.started", "mode.decided", "request.sent",
                                           "reply.received", "answer.accepted", "run.finished"));
}

TEST_F(EngineTest, TheTokensOfTheModeAreThoseOfThePlainPrompt) {  // REC-1
  const Outcome outcome = Run("[\"a\"]");
  std::int64_t sent = 0;
  for (const store::Event& event : events_.events()) {
    if (event.type == "request.sent") sent = FindInt(Json(event.data), "tokens").value_or(0);
  }
  EXPECT_EQ(outcome.mode_tokens, sent);
}

TEST_F(EngineTest, DirectModeRefusesWhatDoesNotFitAndCutsNothing) {  // REC-3
  SetContext(std::string(200'000, 'x'));
  request_.mode = Mode::kDirect;
  Engine engine(Options("[]"));
  const auto outcome = engine.Run(request_, {}, events_);
  EXPECT_THAT(outcome, FailsWith(ErrorCode::kTooLong, "--mode recursive"));
  EXPECT_THAT(outcome, FailsWith(ErrorCode::kTooLong, "31,744"));
}

TEST_F(EngineTest, CodeRunsAndAVariableIsTheAnswer) {  // REC-27, REC-A1
  request_.mode = Mode::kRecursive;
  const Outcome outcome = Run("[\"```repl\\nfirst = context[0]\\nFINAL_VAR('first')\\n```\"]");
  EXPECT_EQ(outcome.text, "a");
  EXPECT_EQ(outcome.source, Source::kFinalVar);
  EXPECT_EQ(outcome.status, RunStatus::kFinal);
  // An action is in the journal before its consequences (REC-68).
  EXPECT_THAT(
      events_.Types(),
      ElementsAre("run.started", "mode.decided", "turn.started", "request.sent", "reply.received",
                  "code.extracted", "context.stored", "sandbox.started", "block.started",
                  "block.done", "answer.offered", "answer.accepted", "run.finished"));
}

// Records in the list of events when a session begins and when it is waited for.
class NotingPool final : public sandbox::Pool {
 public:
  NotingPool(std::unique_ptr<sandbox::Pool> pool, Collector& events)
      : pool_(std::move(pool)), events_(events) {}

  void Prepare() override { pool_->Prepare(); }
  Result<std::unique_ptr<sandbox::Session>> Open(sandbox::SessionSpec spec,
                                                 const CancelToken& cancel) override {
    events_.OnEvent({.type = "opened"});
    return pool_->Open(std::move(spec), cancel);
  }
  Result<std::unique_ptr<sandbox::Opening>> Begin(sandbox::SessionSpec spec,
                                                  const CancelToken& cancel) override {
    events_.OnEvent({.type = "begun"});
    DOSSIER_ASSIGN_OR_RETURN(auto opening, pool_->Begin(std::move(spec), cancel));
    return std::make_unique<Noting>(std::move(opening), events_);
  }

 private:
  class Noting final : public sandbox::Opening {
   public:
    Noting(std::unique_ptr<sandbox::Opening> opening, Collector& events)
        : opening_(std::move(opening)), events_(events) {}
    ~Noting() override {
      if (!finished_) events_.OnEvent({.type = "dropped"});
    }
    Result<std::unique_ptr<sandbox::Session>> Finish() override {
      finished_ = true;
      events_.OnEvent({.type = "finished"});
      return opening_->Finish();
    }

   private:
    std::unique_ptr<sandbox::Opening> opening_;
    Collector& events_;
    bool finished_ = false;
  };

  std::unique_ptr<sandbox::Pool> pool_;
  Collector& events_;
};

class EarlySessionTest : public EngineTest {
 protected:
  std::vector<std::string> TypesOf(std::string_view rules) {
    request_.mode = Mode::kRecursive;
    EngineOptions options = Options(rules);
    options.pool =
        std::make_shared<NotingPool>(*sandbox::Pool::Make(options.pool_options), events_);
    EXPECT_THAT(Engine(options).Run(request_, {}, events_), Succeeds());
    return events_.Types();
  }
};

TEST_F(EarlySessionTest, ItMakesReadyBeforeAnythingIsAsked) {  // REC-4, SBX-3
  EXPECT_THAT(TypesOf("[\"```repl\\nfirst = context[0]\\nFINAL_VAR('first')\\n```\"]"),
              ElementsAre("begun", "run.started", "mode.decided", "turn.started", "request.sent",
                          "reply.received", "code.extracted", "context.stored", "finished",
                          "sandbox.started", "block.started", "block.done", "answer.offered",
                          "answer.accepted", "run.finished"));
}

TEST_F(EarlySessionTest, WithoutCodeItIsGivenUpAndNotSpokenOf) {  // REC-4
  const std::vector<std::string> types =
      TypesOf("[\"FINAL(the letter a)\", \"FINAL(the letter a)\"]");
  EXPECT_EQ(types.front(), "begun");
  EXPECT_THAT(types, Contains("dropped"));
  EXPECT_THAT(types, Not(Contains("sandbox.started")));
}

// Only what a user replaced has another hash (REC-85).
TEST_F(EngineTest, TheManifestNamesAllThatCanChangeARun) {
  const auto manifest = [&](const EngineOptions& options) {
    const auto outcome = Engine(options).Run(request_, {}, events_);
    EXPECT_THAT(outcome, Succeeds());
    const auto stored = journal_->Events(outcome->run);
    EXPECT_THAT(stored, Succeeds());
    const Json started(stored->front().data);
    const Json* found = Find(started, "manifest");
    return found ? *found : Json();
  };
  const auto hash = [](const Json& whole, std::string_view kind, std::string_view name) {
    const Json* list = Find(whole, kind);
    return std::string(list ? FindString(*list, name).value_or("") : "");
  };
  constexpr std::string_view kTemplate = "prompts/recursion/reminder.md";
  const Json built_in = manifest(Options("[\"a\"]"));
  EXPECT_EQ(hash(built_in, "layouts", "recursion.large"),
            Sha256Hex(BuiltInAsset("layouts/recursion.large.yaml").value_or("")));
  EXPECT_EQ(hash(built_in, "templates", "builtin:" + std::string(kTemplate)),
            Sha256Hex(BuiltInAsset(kTemplate).value_or("")));
  EXPECT_EQ(FindString(built_in, "program"), BuildId());
  EXPECT_EQ(FindString(built_in, "worker"),
            BuildIdOf(DOSSIER_BIN_DIR "/dossier-python-worker").value_or("none"));
  EXPECT_EQ(FindInt(*Find(*Find(built_in, "models"), "sub"), "window"), 32'768);

  const std::string own = folder_.path() + "/own";
  ASSERT_THAT(MakeFolders(own + "/prompts/recursion", 0700), Succeeds());
  ASSERT_THAT(WriteFileAtomic(own + "/" + std::string(kTemplate), "Think of llm_query.\n", 0600),
              Succeeds());
  EngineOptions options = Options("[\"a\"]");
  options.folders.overrides = {own};
  const Json replaced = manifest(options);
  EXPECT_EQ(hash(replaced, "templates", own + "/" + std::string(kTemplate)),
            Sha256Hex("Think of llm_query.\n"));
  EXPECT_EQ(Find(replaced, "layouts")->get_object(), Find(built_in, "layouts")->get_object());
}

TEST_F(EngineTest, TheJournalHoldsWhatTheSinkSaw) {  // REC-68
  const Outcome outcome = Run("[\"a\"]");
  const auto stored = journal_->Events(outcome.run);
  ASSERT_THAT(stored, Succeeds());
  ASSERT_EQ(stored->size(), events_.events().size());
  for (std::size_t i = 0; i < stored->size(); ++i) {
    EXPECT_EQ((*stored)[i].type, events_.events()[i].type);
    EXPECT_EQ((*stored)[i].seq, static_cast<std::int64_t>(i) + 1);
  }
}

TEST_F(EngineTest, NoSecretOfAQuestionReachesTheJournal) {  // REC-68, contract 2
  constexpr std::string_view kKey =
      "sk-proj-"
      "q7Zt2VbX9mKd4RwLs8NcYf3HgJ6pTe1uAo5iBxQ0vWzS";
  request_.question = fmt::format("What is {}?", kKey);
  const Outcome outcome = Run(fmt::format("[\"It is {}.\"]", kKey));
  EXPECT_THAT(outcome.text, HasSubstr(kKey)) << "the answer itself is not changed";
  const auto stored = journal_->Events(outcome.run);
  ASSERT_THAT(stored, Succeeds());
  for (const store::Event& event : *stored) {
    EXPECT_THAT(ToJson(Json(event.data)), Not(HasSubstr(kKey))) << event.type;
  }
}

TEST_F(EngineTest, ALimitOfTurnsLeadsToTheClosingRequest) {  // REC-56, REC-59, REC-A9
  request_.mode = Mode::kRecursive;
  request_.limits.iterations = 1;
  const Outcome outcome =
      Run("[{turn: 1, times: 1, reply: \"```repl\\nprint(1)\\n```\"}, {purpose: extract, reply: "
          "\"It is a.\"}]");
  EXPECT_EQ(outcome.status, RunStatus::kExtracted);
  EXPECT_EQ(outcome.text, "It is a.");
  EXPECT_EQ(outcome.exit_code(), 10);
  ASSERT_EQ(outcome.limits_hit.size(), 1u);
  EXPECT_EQ(outcome.limits_hit[0].limit, "iterations");
}

TEST_F(EngineTest, ADraftOutlivesALimitWithoutAnyClosingText) {  // REC-60, REC-A10
  request_.mode = Mode::kRecursive;
  request_.limits.iterations = 1;
  const Outcome outcome =
      Run("[{turn: 1, times: 1, reply: \"```repl\\nanswer['content'] = 'perhaps a'\\nprint(1)\\n"
          "```\"}, {purpose: extract, reply: \"```repl\\nprint(2)\\n```\"}]");
  EXPECT_EQ(outcome.status, RunStatus::kPartial);
  EXPECT_EQ(outcome.source, Source::kDraft);
  EXPECT_EQ(outcome.text, "perhaps a");
  EXPECT_EQ(outcome.exit_code(), 13);
}

TEST_F(EngineTest, ACancelledRunEndsAtOnceAndSaysSo) {  // REC-61
  CancelSource stop;
  stop.Cancel("interrupted");
  const Outcome outcome = Run("[\"late\"]", stop.token());
  EXPECT_EQ(outcome.status, RunStatus::kInterrupted);
  EXPECT_EQ(outcome.exit_code(), 130);
  EXPECT_EQ(outcome.text, "");
  EXPECT_EQ(events_.Types().back(), "run.finished");
}

TEST_F(EngineTest, AnInterruptDuringARequestAsksForNoClosingOne) {  // REC-61
  request_.mode = Mode::kRecursive;
  events_.StopAt("request.sent");
  const Outcome outcome = Run("[{reply: late, delay: 100s}]", events_.stop());
  EXPECT_EQ(outcome.status, RunStatus::kInterrupted);
  EXPECT_THAT(events_.Types(), ElementsAre("run.started", "mode.decided", "turn.started",
                                           "request.sent", "request.failed", "run.finished"));
}

TEST_F(EngineTest, ABlockIsInTheJournalBeforeWhatItDoes) {  // REC-68
  request_.mode = Mode::kRecursive;
  Run("[{purpose: root, reply: \"```repl\\nFINAL(llm_query('one'))\\n```\"}, {purpose: subcall, "
      "reply: b}]");
  std::vector<std::string> types;
  for (const std::string& type : events_.Types()) {
    if (type.starts_with("block.") || type == "request.sent") types.push_back(type);
  }
  EXPECT_THAT(types, ElementsAre("request.sent", "block.started", "request.sent", "block.done"));
}

TEST_F(EngineTest, AProviderThatRefusesForGoodEndsTheRunWithItsCode) {  // REC-62
  struct Case {
    int status, exit;
  };
  for (const Case& c : {Case{401, 5}, Case{429, 6}, Case{503, 8}}) {
    request_.mode = Mode::kRecursive;
    const Outcome outcome = Run(fmt::format("[{{fail: {{status: {}, body: no}}}}]", c.status));
    EXPECT_EQ(outcome.status, RunStatus::kFailed) << c.status;
    EXPECT_EQ(outcome.exit_code(), c.exit) << c.status;
  }
}

TEST_F(EngineTest, TheLedgerHoldsForRepliesOfAllKinds) {  // REC-55
  request_.mode = Mode::kRecursive;
  const Outcome outcome =
      Run("[{purpose: root, usage: {input: 10, output: 1}, reply: "
          "\"```repl\\nFINAL(llm_query('one') + llm_query('two'))\\n```\"},"
          " {purpose: subcall, usage: {input: 100, output: 5}, reply: b}]");
  EXPECT_EQ(outcome.text, "bb");
  EXPECT_EQ(outcome.usage.calls, 3);
  EXPECT_EQ(outcome.usage.spent.total.input, 210);
  EXPECT_EQ(outcome.usage.spent.total.output, 11);
}

TEST_F(EngineTest, ASubCallAskedBeforeIsNotAskedAgain) {  // REC-50
  const auto replies = std::shared_ptr<const store::Memo>(
      *store::Memo::Open(folder_.path() + "/runs", journal_->content()));
  constexpr std::string_view kRules =
      "[{purpose: root, times: always, reply: \"```repl\\nFINAL(llm_query('one', context=doc[0:3]))"
      "\\n```\"}, {purpose: subcall, times: 1, reply: first}, {purpose: subcall, times: 1, reply: "
      "second}]";
  request_.mode = Mode::kRecursive;
  struct Case {
    const char* what;
    std::optional<double> temperature;
    CacheUse use;
    std::uint64_t seed;  // the run's seed, which determines the boundary
    std::int64_t calls, cached;
  };
  constexpr Case kCases[] = {
      {"another temperature may give another reply", std::nullopt, CacheUse::kOn, 1, 2, 0},
      {"asked", 0.0, CacheUse::kOn, 2, 2, 0},
      {"known, in a run with another boundary", 0.0, CacheUse::kOn, 3, 1, 1},
      {"switched off", 0.0, CacheUse::kOff, 3, 2, 0},
      {"refreshed", 0.0, CacheUse::kRefresh, 3, 2, 0},
  };
  for (const Case& c : kCases) {
    request_.temperature = c.temperature;
    request_.cache = c.use;
    request_.seed = c.seed;
    EngineOptions options = Options(kRules);
    options.replies = replies;
    const auto outcome = Engine(std::move(options)).Run(request_, {}, events_);
    ASSERT_THAT(outcome, Succeeds()) << c.what;
    EXPECT_EQ(outcome->text, "first") << c.what;
    EXPECT_EQ(outcome->usage.calls, c.calls) << c.what;
    EXPECT_EQ(outcome->usage.cached_calls, c.cached) << c.what;
  }
}

TEST_F(EngineTest, AnAnswerThatNothingShowsIsSaidToBeDoubtful) {  // REC-40, REC-41
  SetContext(std::string(100, 'x') + "\n" + std::string(200, 'y') + "\n");
  request_.profile = Profile::kSmall;
  request_.mode = Mode::kRecursive;
  request_.votes = 1;
  const Outcome invented = Run(
      "[\"```python\\nprint(context.count('x'))\\n```\", {times: always, reply: \"FINAL: 4711\"}]");
  EXPECT_EQ(invented.text, "4711");
  EXPECT_THAT(Codes(invented), Contains("answer_not_grounded"));
  const Outcome shown = Run("[\"```python\\nprint(len(context))\\n```\", \"FINAL: 302\"]");
  EXPECT_EQ(shown.text, "302");
  EXPECT_THAT(Codes(shown), Not(Contains("answer_not_grounded")));
}

TEST_F(EngineTest, ADryRunCallsNobodyAndShowsTheFirstMessages) {
  request_.mode = Mode::kRecursive;
  Engine engine(Options("[]"));
  const auto plan = engine.DryRun(request_, {});
  ASSERT_THAT(plan, Succeeds());
  EXPECT_EQ(plan->mode, Mode::kRecursive);
  EXPECT_THAT(plan->messages.turns.back().Text(), HasSubstr(request_.question));
}

TEST_F(EngineTest, EqualRequestsGiveEqualEvents) {  // REC-A30
  request_.mode = Mode::kRecursive;
  constexpr std::string_view kRules =
      "[\"```repl\\nimport random\\nFINAL(random.random())\\n```\"]";
  const Outcome first = Run(kRules);
  const std::size_t events = events_.events().size();
  const Outcome second = Run(kRules);
  EXPECT_EQ(first.text, second.text);
  ASSERT_EQ(events_.events().size(), 2 * events);
  for (std::size_t i = 0; i < events; ++i) {
    EXPECT_EQ(events_.events()[i].type, events_.events()[events + i].type);
  }
}

}  // namespace
}  // namespace dossier::ask
