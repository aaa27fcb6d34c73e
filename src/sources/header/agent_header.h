// The header of a prompt: the true state of the repository in a few lines.
//
//   HeaderInput input{.repo = watch.Get(), .notes = notes.notes, .tasks = tasks.tasks};
//   input.policy = &policy;
//   input.now = SystemClock()->WallNow();
//   std::string text = ToYaml(BuildHeader(input));      // "---  # agent_context\nrepo:\n…"
//
// One `now`, taken by the caller, serves all ages: same input, same bytes.
// Thread-safety: plain data and pure functions.

#ifndef DOSSIER_SOURCES_HEADER_AGENT_HEADER_H_
#define DOSSIER_SOURCES_HEADER_AGENT_HEADER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json/json.h"
#include "sources/header/agents_config.h"
#include "sources/header/note.h"
#include "sources/header/task.h"
#include "sources/repository/repo_facts.h"

namespace dossier::sources {

inline constexpr std::size_t kHeaderItems = 7;  // pending, backlog, hotspots
inline constexpr std::size_t kHeaderFiles = 3;  // of a pending note
inline constexpr std::size_t kHeaderNextWork = 5;

enum class AgentMode : std::uint8_t { kPropose, kReview };
// Exactly "propose" or "review"; all else is kPropose, with a sentence in `problem`.
AgentMode ReadMode(std::string_view text, std::string* problem);
std::string_view ModeName(AgentMode mode);

// The machine, of `--with environment`.
struct HeaderEnvironment {
  std::string os, sandbox, network;
  std::vector<std::string> tools;
};

// A file of the work tree that changed, of `header.hotspots: [files]`.
struct ChangedFile {
  std::string path;
  std::int64_t mtime_ns = 0;  // since 1970
};

// What `--with` adds to the header, in the order in which it is shown.
struct HeaderExtras {
  bool dirty = false, upstream = false, commits = false, date = false;
  std::optional<HeaderEnvironment> environment;
};

// Everything a header is made of. Views and pointers must outlive the call of BuildHeader.
struct HeaderInput {
  RepoFacts repo;
  std::span<const Note> notes;
  std::span<const Task> tasks;
  const ChangePolicy* policy = nullptr;  // null: only the fixed rules are shown
  AgentEngine::Output output = AgentEngine::Output::kPatchFile;
  std::vector<std::string> targets;
  AgentMode mode = AgentMode::kPropose;
  Millis window{180'000};
  Millis age_step{1'000};  // 0 counts as 1 ms
  Clock::Wall now{};
  bool hotspot_notes = true;
  std::vector<ChangedFile> changed_files;  // for hotspots
  HeaderExtras extras;
};

// All texts are valid UTF-8 and cut to their lengths.
struct Header {
  struct Pending {
    std::string id, age;
    std::vector<std::string> files;
  };
  struct Backlog {
    std::string id, summary;
  };
  struct Hotspot {
    std::string path, age;
  };
  std::string branch, head, recent_window;
  // Of `repo`, last; unset ones are not shown.
  std::optional<bool> dirty;                        // none also if git could not say
  std::optional<std::optional<Upstream>> upstream;  // shown as null without one
  std::optional<std::vector<std::string>> commits;
  std::optional<std::string> date;
  std::optional<HeaderEnvironment> environment;

  std::vector<Pending> pending;
  std::vector<Backlog> backlog;
  std::vector<Hotspot> hotspots;
  std::vector<std::string> targets, policy, next_work;
  std::string mode;

  // Not shown: for the report.
  std::size_t cuts = 0;  // texts that were shortened
  std::vector<std::string> warnings;
};

Header BuildHeader(const HeaderInput& input);

// A YAML document; ends in "...\n".
std::string ToYaml(const Header& header);
// {"schema":"dossier.header/1", …}, the same keys in the same order.
Json ToJsonValue(const Header& header);
std::string ToMarkdown(const Header& header);

// "just now" below 15 s and for the future, then "59s ago", "5m ago", "3h ago", "2d ago".
std::string FormatAgo(Clock::Wall time, Clock::Wall now);
// `now` rounded down to a multiple of `step` since 1970.
Clock::Wall RoundDown(Clock::Wall now, Millis step);

// The window and age_step of a command line: "90", "90s", "3m", "2h", "1d", 0 to 365 d.
// Errors: kUsage, naming `flag`.
Result<Millis> ParseHeaderTime(std::string_view flag, std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_AGENT_HEADER_H_
