#include "ask/run/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "base/cancel.h"
#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::IsEmpty;
using Kind = Replay::Taken::Kind;

model::Request Asking(std::string text, model::Purpose purpose = model::Purpose::kSubcall) {
  model::Request request{.purpose = purpose};
  request.messages.turns.push_back({assembly::Role::kUser, {{.text = std::move(text)}}});
  return request;
}

// A journal with one run, written event by event.
class ReplayTest : public ::testing::Test {
 protected:
  void Add(std::string_view type, JsonObject data, std::int64_t call = 0) {
    ASSERT_TRUE(journal_->Append(run_, call, type, std::move(data)));
  }
  static JsonObject About(const model::Request& request) {
    return {{"purpose", model::PurposeName(request.purpose)}, {"hash", RequestHash(request)}};
  }
  void AddAnswered(const model::Request& request, std::string_view reply, std::int64_t call = 0) {
    Add("request.sent", About(request), call);
    JsonObject data = About(request);
    AddReply({.text = std::string(reply)}, [&](auto text) { return *journal_->Body(text); }, &data);
    Add("reply.received", std::move(data), call);
  }
  void AddBlock(int number, std::string_view output, std::int64_t call = 0) {
    Add("block.started", {{"block", number}}, call);
    Add("block.done", Done(number, output), call);
  }
  JsonObject Done(int number, std::string_view output) {
    return {{"block", number}, {"status", "ok"}, {"output", *journal_->Body(output)}};
  }
  std::shared_ptr<Replay> Read() { return *Replay::Read(*journal_, run_); }
  // Makes a request as the engine does: its event, its answer, then the answer's event.
  std::string Ask(Replay& replay, const model::Request& request, std::int64_t call = 0) {
    const Replay::Taken taken = replay.Take(call, "request.sent", About(request));
    const auto answer = replay.TakeAnswer(request);
    if (!answer) return taken.kind == Kind::kDiverged ? "(diverged)" : "(live)";
    EXPECT_EQ(taken.kind, Kind::kRecorded);
    EXPECT_EQ(replay.Take(call, "reply.received", About(request)).kind, Kind::kRecorded);
    return answer->reply ? answer->reply->text : answer->reply.error().message;
  }

  TempFolder folder_ = *TempFolder::Make("replay");
  std::unique_ptr<store::Journal> journal_ = *store::Journal::Open(folder_.path());
  std::string run_ = *journal_->StartRun({{"question", "How many?"}});
};

// What is done live needs the time that OnLive sets.
TEST_F(ReplayTest, WhoFindsTheRecordUsedUpWaitsForWhatOnLiveDoes) {  // REC-69
  const auto replay = Read();
  std::latch begun(1), go_on(1);
  std::atomic<int> set = 0;
  replay->OnLive([&] {
    begun.count_down();
    go_on.wait();
    ++set;
  });
  std::thread first([&] { replay->Reuse(0, "bridge.reply"); });
  begun.wait();
  std::atomic<int> seen = -1;
  std::thread second([&] {
    replay->Reuse(0, "bridge.reply");
    seen = set.load();
  });
  WaitUnlessCancelled(Millis(50), {});  // enough for the second, did it not wait
  EXPECT_EQ(seen, -1);
  go_on.count_down();
  first.join();
  second.join();
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(set, 1);
}

TEST_F(ReplayTest, EqualRequestsGetTheirRepliesInOrder) {  // REC-69
  AddAnswered(Asking("a"), "first");
  AddAnswered(Asking("b"), "other");
  AddAnswered(Asking("a"), "second");
  const auto replay = Read();
  EXPECT_EQ(Ask(*replay, Asking("b")), "other");
  EXPECT_EQ(Ask(*replay, Asking("a")), "first");
  EXPECT_EQ(Ask(*replay, Asking("a")), "second");
  EXPECT_EQ(Ask(*replay, Asking("a")), "(live)") << "each is handed out once";
}

TEST_F(ReplayTest, TheLoopGetsItsRepliesInOrderWhateverTheWords) {  // REC-69, REC-70
  AddAnswered(Asking("turn 1", model::Purpose::kRoot), "one");
  AddAnswered(Asking("turn 2", model::Purpose::kRoot), "two");
  const auto replay = Read();
  EXPECT_EQ(Ask(*replay, Asking("turn 1", model::Purpose::kRoot)), "one");
  EXPECT_THAT(replay->differences(), IsEmpty());
  EXPECT_EQ(Ask(*replay, Asking("turn 2, said otherwise", model::Purpose::kRoot)), "two");
  EXPECT_EQ(replay->differences().size(), 1u);
  EXPECT_EQ(Ask(*replay, Asking("turn 3", model::Purpose::kRoot)), "(live)");
}

TEST_F(ReplayTest, ABlockThatPrintsSomethingElseMakesItsCallLive) {  // REC-69
  AddAnswered(Asking("turn 1", model::Purpose::kRoot), "one");
  AddBlock(1, "12:00");
  AddAnswered(Asking("turn 2", model::Purpose::kRoot), "two");
  AddBlock(2, "next");
  AddBlock(1, "a child's", 1);
  const auto replay = Read();
  Ask(*replay, Asking("turn 1", model::Purpose::kRoot));
  EXPECT_EQ(replay->Take(0, "block.started", {{"block", 1}}).kind, Kind::kRecorded);
  const Replay::Taken taken = replay->Take(0, "block.done", Done(1, "12:01"));
  EXPECT_EQ(taken.kind, Kind::kDiverged);
  EXPECT_EQ(taken.at, 5);
  EXPECT_EQ(taken.expected, "12:00");
  EXPECT_EQ(taken.got, "12:01");
  EXPECT_EQ(Ask(*replay, Asking("turn 2 after 12:01", model::Purpose::kRoot)), "(live)");
  EXPECT_EQ(replay->Take(0, "block.done", Done(2, "next")).kind, Kind::kNew);
  EXPECT_EQ(Ask(*replay, Asking("turn 2", model::Purpose::kRoot)), "two")
      << "what is asked just as before is not asked again even so";
}

TEST_F(ReplayTest, ABlockThatAsksForSomethingElseDiverges) {  // REC-69
  Add("block.started", {{"block", 1}});
  AddAnswered(Asking("a"), "A");
  Add("block.done", Done(1, "A"));
  const auto replay = Read();
  replay->Take(0, "block.started", {{"block", 1}});
  EXPECT_EQ(Ask(*replay, Asking("the time is 12:01")), "(diverged)");
  EXPECT_EQ(Ask(*replay, Asking("a")), "A");
}

TEST_F(ReplayTest, CallsAreRepeatedEachByItself) {  // REC-69: it nests
  Add("call.started", {{"parent", 0}, {"depth", 1}}, 1);
  Add("call.started", {{"parent", 1}, {"depth", 2}}, 2);
  AddAnswered(Asking("one", model::Purpose::kRoot), "to 1", 1);
  AddAnswered(Asking("one", model::Purpose::kRoot), "to 2", 2);
  AddBlock(1, "in 1", 1);
  AddBlock(1, "in 2", 2);
  const auto replay = Read();
  EXPECT_EQ(Ask(*replay, Asking("one", model::Purpose::kRoot), 1), "to 1");
  replay->Take(1, "block.started", {{"block", 1}});
  EXPECT_EQ(replay->Take(1, "block.done", Done(1, "otherwise")).kind, Kind::kDiverged);
  EXPECT_EQ(replay->Take(2, "block.started", {{"block", 1}}).kind, Kind::kNew)
      << "what is below it is live, too";
  EXPECT_EQ(replay->Take(0, "warning", {{"code", "x"}}).kind, Kind::kNew);
}

TEST_F(ReplayTest, WhatAnInterruptLeftIsDoneAnew) {  // REC-61, REC-69
  Add("turn.started", {{"turn", 1}});
  AddAnswered(Asking("turn 1", model::Purpose::kRoot), "one");
  Add("block.started", {{"block", 1}});
  AddAnswered(Asking("a"), "A");
  Add("request.sent", About(Asking("b")));
  JsonObject cancelled = About(Asking("b"));
  cancelled["kind"] = "cancelled";
  Add("request.failed", std::move(cancelled));
  JsonObject done = Done(1, "half");
  done["status"] = "interrupted";
  Add("block.done", std::move(done));
  Add("run.finished", {{"status", "interrupted"}});
  const auto replay = Read();
  EXPECT_EQ(replay->turn(), 1);
  EXPECT_EQ(Ask(*replay, Asking("turn 1", model::Purpose::kRoot)), "one");
  EXPECT_EQ(replay->Take(0, "block.started", {{"block", 1}}).kind, Kind::kRecorded);
  EXPECT_EQ(Ask(*replay, Asking("a")), "A");
  EXPECT_EQ(Ask(*replay, Asking("b")), "(live)");
  EXPECT_EQ(replay->Take(0, "block.done", Done(1, "whole")).kind, Kind::kNew);
}

TEST_F(ReplayTest, WhatWentAnotherWayStandsForWhatItReplaced) {  // REC-69
  AddAnswered(Asking("turn 1", model::Purpose::kRoot), "one");
  AddBlock(1, "12:00");
  AddAnswered(Asking("turn 2", model::Purpose::kRoot), "two");
  Add("run.resumed", {{"from", 7}});
  Add("replay.diverged", {{"at", 5}});
  Add("block.done", Done(1, "12:01"));
  AddAnswered(Asking("turn 2 after 12:01", model::Purpose::kRoot), "another two");
  const auto replay = Read();
  Ask(*replay, Asking("turn 1", model::Purpose::kRoot));
  replay->Take(0, "block.started", {{"block", 1}});
  EXPECT_EQ(replay->Take(0, "block.done", Done(1, "12:01")).kind, Kind::kRecorded);
  EXPECT_EQ(Ask(*replay, Asking("turn 2 after 12:01", model::Purpose::kRoot)), "another two");
  EXPECT_EQ(replay->left(), 0u);
}

TEST_F(ReplayTest, AReplyIsKeptWithAllThatTheRunReadsOfIt) {  // REC-69
  model::Reply reply{
      .text = "text",
      .thinking = "thought",
      .first_tokens = {{"yes", -0.5}},
      .tool_calls = {{"id1", "SUBMIT", JsonObject{{"answer", "x"}}, nullptr}},
      .finish = model::Finish::kToolCalls,
      .usage = {.input = 3, .output = 2, .cached = 1, .reasoning = 1, .cost_nano_usd = 9},
      .resolved_model = "m-1",
      .attempts = 2,
      .warnings = {"slow"}};
  JsonObject data;
  AddReply(reply, [&](auto text) { return *journal_->Body(text); }, &data);
  const auto again = ReadReply(data, *journal_);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text, reply.text);
  EXPECT_EQ(again->thinking, reply.thinking);
  EXPECT_EQ(again->finish, reply.finish);
  EXPECT_EQ(again->first_tokens.at(0).logprob, -0.5);
  EXPECT_EQ(again->tool_calls.at(0).arguments, reply.tool_calls[0].arguments);
  EXPECT_EQ(again->usage.cost_nano_usd, 9);
  EXPECT_EQ(again->usage.reasoning, 1);
  EXPECT_EQ(again->attempts, 2);
  EXPECT_EQ(again->warnings, reply.warnings);
  EXPECT_EQ(again->resolved_model, "m-1");
}

TEST_F(ReplayTest, ARunOfAnOlderVersionIsRefused) {  // REC-69
  Add("reply.received", {{"purpose", "root"}, {"body", *journal_->Body("one")}});
  EXPECT_THAT(Replay::Read(*journal_, run_), FailsWith(ErrorCode::kDamaged, "older version"));
}

TEST_F(ReplayTest, WhatWasSentAndNeverAnsweredIsTold) {  // REC-69
  AddAnswered(Asking("a"), "A");
  for (const auto purpose : {model::Purpose::kRoot, model::Purpose::kSubcall}) {
    JsonObject sent = About(Asking("b", purpose));
    sent["tokens"] = 40;
    Add("request.sent", std::move(sent));
  }
  const auto replay = Read();
  ASSERT_EQ(replay->unanswered().size(), 2u);
  EXPECT_EQ(replay->unanswered()[0].tokens, 40);
  EXPECT_NE(replay->unanswered()[0].by, replay->unanswered()[1].by);
  Add("run.forked", {{"from", "another"}});
  EXPECT_THAT(Read()->unanswered(), IsEmpty()) << "its parent's";
}

TEST_F(ReplayTest, AForkSharesWhatWasAskedInOtherWords) {  // REC-70
  const auto root = [](std::string text) { return Asking(std::move(text), model::Purpose::kRoot); };
  AddAnswered(root("the old question"), "A");
  Add("run.forked", {{"from", "another"}, {"question", "the new one"}, {"code", "print(1)"}});
  const auto replay = Read();
  EXPECT_TRUE(replay->is_fork() && replay->lacks_code());
  EXPECT_EQ(Ask(*replay, root("the new one")), "A");
  EXPECT_THAT(replay->differences(), IsEmpty());
  AddAnswered(root("and on"), "B");
  const auto later = Read();
  EXPECT_FALSE(later->lacks_code()) << "it was run";
  EXPECT_EQ(Ask(*later, root("the new one")), "A");
  EXPECT_EQ(Ask(*later, root("and otherwise")), "B");
  EXPECT_EQ(later->differences().size(), 1u);
}

}  // namespace
}  // namespace dossier::ask
