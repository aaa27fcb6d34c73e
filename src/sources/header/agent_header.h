// The header of a prompt: the current state of the repository in a few lines.
//
//   HeaderInput input{.repo = watch.Get(), .notes = notes.notes, .tasks = tasks.tasks};
//   input.policy = &policy;
//   input.now = SystemClock()->WallNow();
//   std::string text = ToYaml(BuildHeader(input));      // "---  # agent_context\nrepo:\n…"
//
// The caller takes `now` once for all ages, so the same input gives the same bytes.
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
inline constexpr std::size_t kHeaderFiles = 3;  // files of a pending note
inline constexpr std::size_t kHeaderNextWork = 5;

enum class AgentMode : std::uint8_t { kPropose, kReview };
// Accepts exactly "propose" or "review"; anything else is kPropose, with a sentence in `problem`.
AgentMode ReadMode(std::string_view text, std::string* problem);
std::string_view ModeName(AgentMode mode);

// Facts about the machine, for `--with environment`.
struct HeaderEnvironment {
  std::string os, sandbox, network;
  std::vector<std::string> tools;
};

// A changed file of the work tree, for `header.hotspots: [files]`.
struct ChangedFile {
  std::string path;
  std::int64_t mtime_ns = 0;  // since 1970
};

// The additions of `--with` to the header, in display order.
struct HeaderExtras {
  bool dirty = false, upstream = false, commits = false, date = false;
  std::optional<HeaderEnvironment> environment;
};

// All input of a header. Views and pointers must outlive the call of BuildHeader.
struct HeaderInput {
  RepoFacts repo;
  std::span<const Note> notes;
  std::span<const Task> tasks;
  const ChangePolicy* policy = nullptr;  // null: shows only the fixed rules
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

// All texts are valid UTF-8 and cut to their maximum lengths.
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
  // From `repo`, at the end; unset members are not shown.
  std::optional<bool> dirty;                        // also unset if git could not tell
  std::optional<std::optional<Upstream>> upstream;  // shown as null if there is no upstream
  std::optional<std::vector<std::string>> commits;
  std::optional<std::string> date;
  std::optional<HeaderEnvironment> environment;

  std::vector<Pending> pending;
  std::vector<Backlog> backlog;
  std::vector<Hotspot> hotspots;
  std::vector<std::string> targets, policy, next_work;
  std::string mode;

  // Not shown; used in the report.
  std::size_t cuts = 0;  // number of texts that were shortened
  std::vector<std::string> warnings;
};

Header BuildHeader(const HeaderInput& input);

// Returns a YAML document that ends in "...\n".
std::string ToYaml(const Header& header);
// Returns {"schema":"dossier.header/1", …} with the same keys in the same order.
Json ToJsonValue(const Header& header);
std::string ToMarkdown(const Header& header);

// Returns "just now" below 15 s and for future times, then "59s ago", "5m ago", "3h ago", "2d ago".
std::string FormatAgo(Clock::Wall time, Clock::Wall now);
// Returns `now` rounded down to a multiple of `step` since 1970.
Clock::Wall RoundDown(Clock::Wall now, Millis step);

// Parses the window and age_step of a command line: "90", "90s", "3m", "2h", "1d", 0 to 365 d.
// Errors: kUsage, naming `flag`.
Result<Millis> ParseHeaderTime(std::string_view flag, std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_AGENT_HEADER_H_
