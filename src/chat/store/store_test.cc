#include "chat/store/store.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "base/hash.h"
#include "base/random.h"
#include "testing/talk_rig_for_test.h"

namespace dossier::chat {
namespace {

using dossier::testing::FailsWith;
using dossier::testing::Succeeds;

class StoreTest : public ::testing::Test {
 protected:
  // A turn as a plan would save it.
  static TurnSave SaveOf(const Loaded* seen, const std::string& prompt) {
    TurnSave save{.kind = seen ? TurnSave::Kind::kAppend : TurnSave::Kind::kCreate,
                  .model = "gpt-4",
                  .title = TitleOf(prompt),
                  .user = prompt,
                  .tokens = 1};
    if (seen) {
      save.base = static_cast<std::int64_t>(seen->stored.messages.size());
    } else {
      save.system = "S";
      save.context = ContextRecord();
    }
    return save;
  }

  static FinishedTurn Reply(const std::string& text) {
    return {.messages = {JsonObject{{"role", "assistant"}, {"content", text}}},
            .tokens = 1,
            .now = "2026-11-21T12:47:14.000000Z"};
  }

  // One whole turn, whether the conversation is there or not.
  static Result<Saved> Turn(const ConversationStore& store, const std::string& id,
                            const std::string& prompt) {
    DOSSIER_ASSIGN_OR_RETURN(Begun begun, store.BeginCreate(id, {}));
    if (begun.creation) {
      return store.Create(*std::move(begun.creation), SaveOf(nullptr, prompt),
                          Reply("to " + prompt));
    }
    return store.Append(*begun.existing, SaveOf(&*begun.existing, prompt), Reply("to " + prompt),
                        {});
  }

  std::string File(const std::string& id) const { return PathOf(folder_, id); }

  TempFolder temp_ = *TempFolder::Make();
  std::string folder_ = temp_.path() + "/conversations";
  ConversationStore store_{folder_};
};

mode_t ModeOf(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

// CON-28, CON-29, CON-16
TEST_F(StoreTest, CreatesAndContinues) {
  ASSERT_THAT(Turn(store_, "bug-12", "Hello"), Succeeds());
  const auto saved = Turn(store_, "bug-12", "Again");
  ASSERT_THAT(saved, Succeeds());
  EXPECT_EQ(saved->turn, 2);
  EXPECT_TRUE(saved->warnings.empty());
  const auto loaded = store_.Load("bug-12");
  ASSERT_THAT(loaded, Succeeds());
  EXPECT_EQ(loaded->stored.messages.size(), 5u);
  EXPECT_EQ(loaded->stored.turns[1].base, 3);
  EXPECT_EQ(ModeOf(File("bug-12")), 0600u);
  EXPECT_EQ(ModeOf(folder_), 0700u);
  EXPECT_NE(ReadFile(File("bug-12"))->back(), '\n');
}

// CON-28, section 6
TEST_F(StoreTest, RefusesIdsThatAreNoNames) {
  for (const std::string& id : {std::string("../../x"), std::string(), std::string("a b"),
                                std::string("a/b"), std::string("."), std::string("ä")}) {
    const std::string text = "invalid conversation id '" + id + "': use letters, digits, - and _";
    EXPECT_THAT(store_.Load(id), FailsWith(ErrorCode::kNotFound, text));
    EXPECT_THAT(store_.BeginCreate(id, {}), FailsWith(ErrorCode::kNotFound, text));
    EXPECT_THAT(store_.Delete(id, {}), FailsWith(ErrorCode::kNotFound, text));
    EXPECT_THAT(store_.Resolve(id), FailsWith(ErrorCode::kNotFound, text));
    EXPECT_THAT(store_.Update(id, {}, {}), FailsWith(ErrorCode::kNotFound, text));
  }
  EXPECT_THAT(
      store_.Load(std::string(129, 'a')),
      FailsWith(ErrorCode::kNotFound, "it has 129 characters, and at most 128 are possible"));
  EXPECT_THAT(CheckId(MakeId()), Succeeds());
  EXPECT_THAT(CheckId(std::string(128, 'a')), Succeeds());
  EXPECT_THAT(CheckId(RecoveredId(std::string(128, 'a'))), Succeeds());
}

// Section 6
TEST_F(StoreTest, NamesNearestIdsForAnUnknownOne) {
  ASSERT_THAT(Turn(store_, "bug-12", "Hello"), Succeeds());
  EXPECT_THAT(store_.Load("bug-13"),
              FailsWith(ErrorCode::kNotFound, "no conversation 'bug-13' in "));
  EXPECT_THAT(store_.Load("bug-13"), FailsWith(ErrorCode::kNotFound, "bug-12"));
}

// CON-28
TEST_F(StoreTest, FollowsNoSymbolicLink) {
  ASSERT_THAT(Turn(store_, "real", "Hello"), Succeeds());
  ASSERT_EQ(::symlink(File("real").c_str(), File("link").c_str()), 0);
  EXPECT_THAT(store_.Load("link"), FailsWith(ErrorCode::kDamaged, "symbolic link"));
  ASSERT_EQ(::symlink("/etc/passwd", (folder_ + "/.other.lock").c_str()), 0);
  EXPECT_FALSE(store_.BeginCreate("other", {}));
}

// CON-B14
TEST_F(StoreTest, LeavesAMalformedFileAlone) {
  ASSERT_THAT(Turn(store_, "good", "Hello"), Succeeds());
  for (const char* text : {"[]", "{", "", R"({"messages": 1})"}) {
    ASSERT_THAT(WriteFileAtomic(File("bad"), text), Succeeds());
    EXPECT_THAT(Turn(store_, "bad", "x"),
                FailsWith(ErrorCode::kDamaged, "conversation bad is malformed: "));
    EXPECT_EQ(*ReadFile(File("bad")), text);
  }
}

// CON-29, CON-B19
TEST_F(StoreTest, MergesTurnsOfOthers) {
  ASSERT_THAT(Turn(store_, "x", "1"), Succeeds());
  const auto seen = store_.Load("x");
  ASSERT_THAT(Turn(store_, "x", "2"), Succeeds());
  const auto saved = store_.Append(*seen, SaveOf(&*seen, "3"), Reply("late"), {});
  ASSERT_THAT(saved, Succeeds());
  EXPECT_EQ(saved->turn, 3);
  ASSERT_EQ(saved->warnings.size(), 1u);
  EXPECT_EQ(saved->warnings[0],
            "2 messages were added by another process; this answer did not see them");
  const auto loaded = store_.Load("x");
  EXPECT_EQ(loaded->stored.messages[5].Text(), "3");
  EXPECT_EQ(loaded->stored.turns[2].base, 3);
}

// CON-29
TEST_F(StoreTest, SavesADeletedConversationUnderAnotherName) {
  ASSERT_THAT(Turn(store_, "x", "1"), Succeeds());
  const auto seen = store_.Load("x");
  ASSERT_THAT(store_.Delete("x", {}), Succeeds());
  const auto saved = store_.Append(*seen, SaveOf(&*seen, "2"), Reply("r"), {});
  ASSERT_THAT(saved, Succeeds());
  EXPECT_TRUE(saved->id.starts_with("x-recovered-"));
  EXPECT_EQ(saved->warnings.size(), 1u);
  const auto loaded = store_.Load(saved->id);
  ASSERT_THAT(loaded, Succeeds());
  EXPECT_EQ(loaded->stored.messages.size(), 5u);
  EXPECT_EQ(loaded->document.id(), saved->id);
  EXPECT_FALSE(Exists(File("x")));
}

// CON-30, CON-A4
TEST_F(StoreTest, LetsASecondCreatorWait) {
  auto first = store_.BeginCreate("x", {});
  ASSERT_THAT(first, Succeeds());
  ASSERT_TRUE(first->creation);
  const ConversationStore impatient(folder_, SystemClock(), Millis(0));
  EXPECT_THAT(impatient.BeginCreate("x", {}), FailsWith(ErrorCode::kLocked, "in use"));
  std::thread second([this] {
    const auto saved = Turn(store_, "x", "second");
    ASSERT_THAT(saved, Succeeds());
    EXPECT_EQ(saved->turn, 2);
  });
  ASSERT_THAT(store_.Create(*std::move(first->creation), SaveOf(nullptr, "first"), Reply("r")),
              Succeeds());
  first->creation.reset();
  second.join();
  EXPECT_EQ(store_.Load("x")->stored.messages[1].Text(), "first");
}

TEST_F(StoreTest, WaitingEndsWhenItIsCancelled) {
  const auto first = store_.BeginCreate("x", {});
  ASSERT_THAT(first, Succeeds());
  CancelSource source;
  source.Cancel("interrupted");
  EXPECT_THAT(store_.BeginCreate("x", source.token()), FailsWith(ErrorCode::kCancelled, ""));
}

// Runs `work` in a process of its own, which ends with 0 if it returns true.
pid_t Fork(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  return child;
}

int StatusOf(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

// CON-29, CON-A4: every reply follows its question.
void ExpectPairs(const Stored& stored, std::size_t turns) {
  ASSERT_EQ(stored.messages.size(), 1 + 2 * turns);
  std::set<std::string> prompts;
  for (std::size_t i = 1; i < stored.messages.size(); i += 2) {
    EXPECT_EQ(stored.messages[i].role, "user");
    EXPECT_EQ(stored.messages[i + 1].Text(), "to " + stored.messages[i].Text());
    prompts.insert(stored.messages[i].Text());
  }
  EXPECT_EQ(prompts.size(), turns);
  ASSERT_EQ(stored.turns.size(), turns);
  for (std::size_t i = 0; i < turns; ++i) {
    EXPECT_EQ(stored.turns[i].n, static_cast<std::int64_t>(i + 1));
  }
}

// CON-29, CON-A4
TEST_F(StoreTest, LosesNoTurnOfParallelThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back(
        [this, i] { EXPECT_THAT(Turn(store_, "x", "turn " + std::to_string(i)), Succeeds()); });
  }
  for (std::thread& thread : threads) thread.join();
  ExpectPairs(store_.Load("x")->stored, 32);
}

// CON-A4
TEST_F(StoreTest, LosesNoTurnOfParallelProcesses) {
  std::vector<pid_t> children;
  for (int i = 0; i < 20; ++i) {
    children.push_back(
        Fork([this, i] { return Turn(store_, "x", "turn " + std::to_string(i)).has_value(); }));
  }
  for (const pid_t child : children) EXPECT_EQ(StatusOf(child), 0);
  ExpectPairs(store_.Load("x")->stored, 20);
}

// CON-A5, CON-29: at whatever point a process dies, the file is the old one or the new one.
TEST_F(StoreTest, SurvivesDeathAtAnyPoint) {
  ASSERT_THAT(Turn(store_, "x", "first"), Succeeds());
  Random random(5);
  std::size_t least = 3;
  for (int i = 0; i < 500; ++i) {
    const pid_t child = Fork([this, i] {
      for (int k = 0;; ++k) {
        if (!Turn(store_, "x", fmt::format("turn {} {}", i, k))) return false;
        if (k % 4 == 3 && !store_.Update("x",
                                         [](Document* document) -> Status {
                                           while (document->message_count() > 5) {
                                             auto gone = RemoveLastTurn(
                                                 document, "2026-11-21T12:47:14.000000Z");
                                             if (!gone) return tl::unexpected(gone.error());
                                           }
                                           return {};
                                         },
                                         {})) {
          return false;
        }
      }
    });
    ::usleep(static_cast<useconds_t>(random.Below(3000)));
    ::kill(child, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(StatusOf(child))) << i;
    const auto loaded = store_.Load("x");
    ASSERT_THAT(loaded, Succeeds()) << i;
    const Stored& stored = loaded->stored;
    EXPECT_GE(stored.messages.size(), least);
    EXPECT_EQ(stored.messages.size(), 1 + 2 * stored.turns.size()) << i;
  }
}

// Section 6, CON-29: a full disk leaves the old file and no other.
TEST_F(StoreTest, FailsWholeWhenTheDiskIsFull) {
  ASSERT_THAT(Turn(store_, "x", "first"), Succeeds());
  const std::string before = *ReadFile(File("x"));
  const pid_t child = Fork([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{before.size() + 20, before.size() + 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto saved = Turn(store_, "x", std::string(500, 'y'));
    return !saved && saved.error().message.find(folder_) != std::string::npos;
  });
  EXPECT_EQ(StatusOf(child), 0);
  EXPECT_EQ(*ReadFile(File("x")), before);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".tmp");
  }
}

// CON-A11
TEST_F(StoreTest, ForksWithTheSameSystemMessage) {
  for (const char* prompt : {"1", "2", "3"}) ASSERT_THAT(Turn(store_, "x", prompt), Succeeds());
  const auto id = store_.Fork("x", 2, "y", {});
  ASSERT_THAT(id, Succeeds());
  const auto source = store_.Load("x"), fork = store_.Load("y");
  EXPECT_EQ(fork->stored.messages.size(), 5u);
  EXPECT_EQ(fork->stored.turns.size(), 2u);
  EXPECT_EQ(fork->document.RawMessage(0), source->document.RawMessage(0));
  const Json from = fork->document.ReadMetadata()->at("dossier").at("forked_from");
  EXPECT_EQ(FindString(from, "id"), "x");
  EXPECT_EQ(FindInt(from, "turn"), 2);
  EXPECT_EQ(FindString(from, "sha256"), Sha256Hex(*ReadFile(File("x"))));
  EXPECT_THAT(store_.Fork("x", {}, "y", {}),
              FailsWith(ErrorCode::kNotFound, "conversation 'y' exists"));
  EXPECT_THAT(store_.Fork("x", 9, "z", {}), FailsWith(ErrorCode::kNotFound, "no turn 9"));
  ASSERT_THAT(store_.Delete("x", {}), Succeeds());
  ASSERT_THAT(Turn(store_, "y", "on"), Succeeds());
  EXPECT_EQ(*store_.Ids(), std::vector<std::string>{"y"});
}

TEST_F(StoreTest, ResolvesPrefixesOfFourCharacters) {
  for (const char* id : {"alpha-1", "alpha-2", "beta", "betablocker"}) {
    ASSERT_THAT(Turn(store_, id, "x"), Succeeds());
  }
  EXPECT_EQ(*store_.Resolve("beta"), "beta");
  EXPECT_EQ(*store_.Resolve("betab"), "betablocker");
  EXPECT_THAT(store_.Resolve("alph"), FailsWith(ErrorCode::kNotFound, "alpha-1, alpha-2"));
  EXPECT_THAT(store_.Resolve("bet"), FailsWith(ErrorCode::kNotFound, "no conversation 'bet'"));
}

// CON-A10, CON-B9
TEST_F(StoreTest, KeepsWhatOtherProgramsWrote) {
  const std::string text =
      "{\n  \"id\": \"x\",\n  \"model\": \"m\",\n  \"messages\": [\n    {\n      \"role\": "
      "\"user\",\n"
      "      \"content\": \"\\u00fc\",\n      \"n\": 1e400\n    }\n  ],\n  \"created_at\": \"\",\n"
      "  \"updated_at\": \"\",\n  \"metadata\": {\n    \"own\": 12345678901234567890123\n  },\n"
      "  \"seventh\": null\n}";
  ASSERT_THAT(MakeFolders(folder_), Succeeds());
  ASSERT_THAT(WriteFileAtomic(File("x"), text), Succeeds());
  ASSERT_THAT(Turn(store_, "x", "ä"), Succeeds());
  const std::string after = *ReadFile(File("x"));
  for (const char* kept :
       {"\"content\": \"\\u00fc\",\n      \"n\": 1e400", "12345678901234567890123",
        "\"seventh\": null", "\"content\": \"\\u00e4\""}) {
    EXPECT_NE(after.find(kept), std::string::npos) << kept << after;
  }
}

// FLT-136
TEST_F(StoreTest, RenamesAConversationAndRemembersItsOldName) {
  ASSERT_THAT(Turn(store_, "old", "x"), Succeeds());
  ASSERT_THAT(Turn(store_, "taken", "x"), Succeeds());
  EXPECT_THAT(store_.Rename("old", "taken", {}), FailsWith(ErrorCode::kNotFound, "exists"));
  EXPECT_THAT(store_.Rename("old", "a b", {}), FailsWith(ErrorCode::kNotFound, "invalid"));
  EXPECT_THAT(store_.Rename("none", "new", {}), FailsWith(ErrorCode::kNotFound, "no conversation"));
  ASSERT_THAT(store_.Rename("old", "new", {}), Succeeds());
  EXPECT_EQ(*store_.Ids(), (std::vector<std::string>{"new", "taken"}));
  const auto loaded = store_.Load("new");
  ASSERT_THAT(loaded, Succeeds());
  EXPECT_EQ(loaded->document.id(), "new");
  EXPECT_EQ(loaded->stored.former_ids, std::vector<std::string>{"old"});
}

// FLT-136, FLT-140
TEST_F(StoreTest, TakesAConversationFromElsewhereIfItLosesNothing) {
  using Added = ConversationStore::Added;
  ASSERT_THAT(Turn(store_, "talk", "one"), Succeeds());
  const Document shorter = store_.Load("talk")->document;
  ASSERT_THAT(Turn(store_, "talk", "two"), Succeeds());
  const Document longer = store_.Load("talk")->document;
  const auto done = ConversationStore::Adding::kDone, planned = ConversationStore::Adding::kPlanned;
  EXPECT_EQ(*store_.Add(shorter, done, {}), Added::kThere);
  EXPECT_EQ(store_.Load("talk")->document.message_count(), 5u);
  ASSERT_THAT(store_.Delete("talk", {}), Succeeds());
  EXPECT_EQ(*store_.Add(shorter, planned, {}), Added::kNew);
  EXPECT_EQ(store_.Ids()->size(), 0u);
  EXPECT_EQ(*store_.Add(shorter, done, {}), Added::kNew);
  const auto entitle = [](Document* document) {
    return document->metadata().Set({"dossier", "title"}, Json("mine"));
  };
  ASSERT_THAT(store_.Update("talk", entitle, {}), Succeeds());
  EXPECT_EQ(*store_.Add(longer, planned, {}), Added::kLonger);
  EXPECT_EQ(store_.Load("talk")->document.message_count(), 3u);
  EXPECT_EQ(*store_.Add(longer, done, {}), Added::kLonger);
  EXPECT_EQ(store_.Load("talk")->document.message_count(), 5u);
  EXPECT_EQ(store_.Load("talk")->stored.title, "mine");
  ASSERT_THAT(store_.Delete("talk", {}), Succeeds());
  ASSERT_THAT(Turn(store_, "talk", "another"), Succeeds());
  EXPECT_EQ(*store_.Add(longer, done, {}), Added::kOther);
  EXPECT_EQ(store_.Load("talk")->document.message_count(), 3u);
}

// FLT-140: no error, so that a turn can be answered; its conversation goes elsewhere.
TEST_F(StoreTest, AFolderThatTakesNoFileIsNoError) {
  ASSERT_THAT(WriteFileAtomic(temp_.path() + "/file", "x"), Succeeds());
  const ConversationStore closed(temp_.path() + "/file/conversations");
  const auto begun = closed.BeginCreate("talk", {});
  ASSERT_THAT(begun, Succeeds());
  EXPECT_FALSE(begun->creation);
  ASSERT_TRUE(begun->unwritable);
  ASSERT_THAT(Turn(store_, "talk", "one"), Succeeds());
  const Document document = store_.Load("talk")->document;
  const std::string rescue = temp_.path() + "/rescue";
  EXPECT_EQ(*KeepElsewhere(rescue, "talk", document), rescue + "/talk.json");
  const auto second = KeepElsewhere(rescue, "talk", document);
  ASSERT_THAT(second, Succeeds());
  EXPECT_NE(*second, rescue + "/talk.json");
  const auto last = KeepElsewhere(temp_.path() + "/file/rescue", "talk", document);
  ASSERT_THAT(last, Succeeds());
  EXPECT_EQ(*ReadFile(*last), document.Render().Joined());
  EXPECT_THAT(RemoveAll(last->substr(0, last->rfind('/'))), Succeeds());
}

}  // namespace
}  // namespace dossier::chat
