// A run that is killed after each event of its journal, one process after another, and resumed each
// time, ends like a run that nobody killed (RSP-T20).

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "testing/run_rig_for_test.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

enum class Ended : std::uint8_t { kDone, kKilled, kFailed };

// Events that every resume adds: killing at one of them would never end.
bool IsNews(const store::Event& event) {
  return event.type != "run.resumed" && event.type != "run.finished" && event.type != "warning";
}

// Runs in a child process that is killed after adding `events` events to the journal; 0: never.
Ended RunInChild(RunRig& rig, RunOrder::Mode mode, int events) {
  const pid_t child = fork();
  if (child == 0) {
    rig.watch = [events, seen = 0](const store::Event& event) mutable {
      if (events > 0 && IsNews(event) && ++seen == events) raise(SIGKILL);
    };
    const auto outcome = research::Run(rig.Order(mode), CancelToken());
    if (!outcome) std::fprintf(stderr, "%s\n", outcome.error().message.c_str());
    _exit(outcome && outcome->end == RunEnd::kDone ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return Ended::kKilled;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Ended::kDone : Ended::kFailed;
}

bool IsCompared(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return !path.starts_with("objects/") && name.find(".sqlite") == std::string::npos &&
         name != "lock" && !name.ends_with(".html") &&
         // Lines are added before their event, and a kill may come in between.
         !name.ends_with(".jsonl");
}

// The time for laying out memory is the only measured value in a prompt's log.
std::string WithoutDurations(const std::string& text) {
  static const std::regex kDuration(R"re(("duration_seconds": )[0-9.e-]+)re");
  return std::regex_replace(text, kDuration, "$1");
}

// Returns path and content of the files that a run wrote, including its prompts.
std::map<std::string, std::string> FilesOf(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string().substr(folder.size() + 1);
    if (entry.is_regular_file() && IsCompared(path)) {
      files[path] = WithoutDurations(ReadFile(entry.path().string()).value_or(""));
    }
  }
  return files;
}

TEST(RunKillTest, AKillAfterEachEventChangesNothingAndNothingIsPaidTwice) {  // RSP-47, RSP-T20
  RunRig first;
  ASSERT_EQ(RunInChild(first, RunOrder::Mode::kStart, 1), Ended::kKilled);
  const TempFolder whole_place = *TempFolder::Make("whole");
  const TempFolder killed_place = *TempFolder::Make("killed");
  const std::string leaf = "/" + std::string(RunRig::kName);
  for (const TempFolder* place : {&whole_place, &killed_place}) {
    fs::copy(first.folder(), place->path() + leaf, fs::copy_options::recursive);
  }

  RunRig whole(whole_place.path() + leaf);
  ASSERT_EQ(RunInChild(whole, RunOrder::Mode::kResume, 0), Ended::kDone);

  RunRig killed(killed_place.path() + leaf);
  killed.asked_file = killed_place.path() + "/asked";
  constexpr int kMostKills = 3000;
  int kills = 0;
  Ended ended = Ended::kKilled;
  while (ended == Ended::kKilled && kills < kMostKills) {
    ended = RunInChild(killed, RunOrder::Mode::kResume, 1);
    kills += ended == Ended::kKilled ? 1 : 0;
  }
  ASSERT_EQ(ended, Ended::kDone);
  EXPECT_GT(kills, 300);
  EXPECT_GE(whole.Nodes().size(), 12u);

  const auto files = FilesOf(killed.folder());
  const auto expected = FilesOf(whole.folder());
  EXPECT_EQ(files.size(), expected.size());
  for (const auto& [path, content] : expected) {
    const auto found = files.find(path);
    if (found == files.end()) {
      ADD_FAILURE() << path << " is missing";
    } else {
      EXPECT_EQ(found->second, content) << path;
    }
  }
  EXPECT_EQ(MemoryShown(killed.folder()), MemoryShown(whole.folder()));

  std::map<std::string, int> asked;
  std::ifstream file(killed.asked_file);
  for (std::string place; std::getline(file, place);) ++asked[place];
  EXPECT_FALSE(asked.empty());
  for (const auto& [place, times] : asked) EXPECT_EQ(times, 1) << place;
}

}  // namespace
}  // namespace dossier::research
