#include "sources/header/agent_header.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

using std::chrono::duration_cast;
using std::chrono::floor;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::size_t kMaxNameChars = 200;  // ids and paths
constexpr std::size_t kMaxSummaryChars = 300;
constexpr std::size_t kMaxGlobChars = 400;  // of one list
constexpr Millis kLongestTime = std::chrono::hours(24 * 365);
constexpr std::string_view kCutMark = "…";

Clock::Wall TimeOf(std::int64_t nanos) {
  return Clock::Wall(duration_cast<Clock::Wall::duration>(nanoseconds(nanos)));
}

bool IsNewerFile(const ChangedFile& a, const ChangedFile& b) {
  return a.mtime_ns != b.mtime_ns ? a.mtime_ns > b.mtime_ns : a.path < b.path;
}

class Builder {
 public:
  explicit Builder(const HeaderInput& input)
      : input_(input), now_(RoundDown(input.now, input.age_step)) {}

  Header Build() {
    AddRepo();
    AddPending();
    AddBacklog();
    AddHotspots();
    for (const std::string& target : input_.targets) out_.targets.push_back(Name(target));
    AddPolicy();
    AddNextWork();
    out_.mode = ModeName(input_.mode);
    return std::move(out_);
  }

 private:
  // Valid UTF-8 of at most `most` code points.
  std::string Cut(std::string_view text, std::size_t most) {
    // Bytes are never fewer than code points.
    std::string clean = utf8::IsValid(text) ? std::string(text) : utf8::Sanitize(text);
    if (clean.size() <= most || utf8::CodePoints(clean) <= most) return clean;
    ++out_.cuts;
    return fmt::format("{}{}", utf8::Prefix(clean, most - 1), kCutMark);
  }
  std::string Name(std::string_view text) { return Cut(text, kMaxNameChars); }
  std::string Age(std::int64_t mtime_ns) const { return FormatAgo(TimeOf(mtime_ns), now_); }

  void AddRepo() {
    const RepoFacts& repo = input_.repo;
    out_.branch = Name(repo.branch);
    out_.head = Name(repo.head);
    out_.recent_window = fmt::format("{}s", duration_cast<seconds>(input_.window).count());
    const HeaderExtras& extras = input_.extras;
    if (extras.dirty) out_.dirty = repo.dirty;  // none: git could not say, and the problem says so
    if (extras.upstream) out_.upstream = repo.upstream;
    if (extras.commits) {
      out_.commits.emplace();
      for (const std::string& subject : repo.commits) {
        out_.commits->push_back(Cut(subject, kMaxSummaryChars));
      }
    }
    if (extras.date) out_.date = FormatTime(input_.now).substr(0, 10);
    if (extras.environment) AddEnvironment(*extras.environment);
  }

  void AddEnvironment(const HeaderEnvironment& environment) {
    HeaderEnvironment& out = out_.environment.emplace();
    out.os = Name(environment.os);
    out.sandbox = Name(environment.sandbox);
    out.network = Name(environment.network);
    for (const std::string& tool : environment.tools) out.tools.push_back(Name(tool));
  }

  void AddPending() {
    std::vector<const Note*> ready;
    for (const Note& note : input_.notes) {
      if (note.queue == kReadyQueue && !note.red()) ready.push_back(&note);
    }
    for (const Note* note : Newest(ready)) {
      Header::Pending& pending = out_.pending.emplace_back();
      pending.id = Name(note->id);
      pending.age = Age(note->mtime_ns);
      for (const std::string& target : note->targets) {
        if (pending.files.size() < kHeaderFiles) pending.files.push_back(Name(target));
      }
      if (pending.files.empty()) pending.files.push_back(Name(note->path()));
    }
  }

  static std::vector<const Note*> Newest(std::vector<const Note*> notes) {
    const std::size_t count = std::min(notes.size(), kHeaderItems);
    std::partial_sort(notes.begin(), notes.begin() + static_cast<std::ptrdiff_t>(count),
                      notes.end(), [](const Note* a, const Note* b) { return IsNewer(*a, *b); });
    notes.resize(count);
    return notes;
  }

  void AddBacklog() {
    std::vector<const Task*> tasks;
    for (const Task& task : input_.tasks) {
      if (!task.id.empty()) tasks.push_back(&task);
    }
    if (const std::size_t nameless = input_.tasks.size() - tasks.size(); nameless > 0) {
      out_.warnings.push_back(fmt::format("{} {} no id and {} left out", nameless,
                                          nameless == 1 ? "task has" : "tasks have",
                                          nameless == 1 ? "is" : "are"));
    }
    const std::size_t count = std::min(tasks.size(), kHeaderItems);
    std::partial_sort(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(count),
                      tasks.end(), [](const Task* a, const Task* b) {
                        if (StartsBefore(*a, *b)) return true;
                        return !StartsBefore(*b, *a) && a < b;  // as they stand in the input
                      });
    for (std::size_t i = 0; i < count; ++i) {
      out_.backlog.push_back({Name(tasks[i]->id), Cut(tasks[i]->summary, kMaxSummaryChars)});
    }
  }

  void AddHotspots() {
    std::vector<ChangedFile> files;
    const Clock::Wall oldest = now_ - input_.window;
    const auto add = [&](std::string path, std::int64_t mtime_ns) {
      if (TimeOf(mtime_ns) >= oldest) files.push_back({std::move(path), mtime_ns});
    };
    for (const Note& note : input_.notes) {
      if (input_.hotspot_notes && note.queue != kProposedQueue) add(note.path(), note.mtime_ns);
    }
    for (const ChangedFile& file : input_.changed_files) add(file.path, file.mtime_ns);
    std::sort(files.begin(), files.end(), IsNewerFile);
    std::set<std::string_view> seen;
    for (const ChangedFile& file : files) {
      if (out_.hotspots.size() == kHeaderItems) break;
      if (!seen.insert(file.path).second) continue;
      out_.hotspots.push_back({Name(file.path), Age(file.mtime_ns)});
    }
  }

  void AddRule(std::string rule) {
    const auto known = std::find(out_.policy.begin(), out_.policy.end(), rule);
    if (known == out_.policy.end()) out_.policy.push_back(std::move(rule));
  }

  // "allow:a,b", or its start and ",(+N more)".
  void AddGlobs(std::string_view name, const std::vector<std::string>& globs) {
    if (globs.empty()) return;
    std::string list = Cut(globs.front(), kMaxGlobChars);
    std::size_t shown = 1;
    for (std::uint64_t chars = utf8::CodePoints(list); shown < globs.size(); ++shown) {
      chars += 1 + utf8::CodePoints(globs[shown]);
      if (chars > kMaxGlobChars) break;
      list += "," + utf8::Sanitize(globs[shown]);
    }
    if (shown < globs.size()) {
      ++out_.cuts;
      list += fmt::format(",(+{} more)", globs.size() - shown);
    }
    AddRule(fmt::format("{}:{}", name, list));
  }

  void AddPolicy() {
    const bool worktree = input_.output == AgentEngine::Output::kWorktree;
    AddRule("patch-only");
    AddRule(worktree ? "worktree only" : ".agent/* only");
    AddRule("minimal diff");
    AddRule("respect targets");
    if (!input_.policy) return;
    const ChangePolicy& policy = *input_.policy;
    AddGlobs("allow", policy.allow);
    AddGlobs("deny", policy.deny);
    if (policy.max_lines_added) AddRule(fmt::format("+≤{} lines", *policy.max_lines_added));
    if (policy.max_lines_deleted) AddRule(fmt::format("-≤{} lines", *policy.max_lines_deleted));
    if (policy.max_files) AddRule(fmt::format("files≤{}", *policy.max_files));
    if (!policy.allow_binary) AddRule("no binary");
  }

  void AddNextWork() {
    const auto add = [&](std::string entry) {
      if (out_.next_work.size() < kHeaderNextWork) out_.next_work.push_back(std::move(entry));
    };
    if (!out_.pending.empty()) {
      const Header::Pending& first = out_.pending.front();
      add(fmt::format("CTO: review {} ({})", first.id, first.age));
    }
    if (!out_.backlog.empty()) {
      const Header::Backlog& first = out_.backlog.front();
      add(first.summary.empty() ? fmt::format("Engineer: pick {}", first.id)
                                : fmt::format("Engineer: pick {} — {}", first.id, first.summary));
    }
    if (!out_.hotspots.empty()) {
      add(fmt::format("CTO: investigate {}", out_.hotspots.front().path));
    }
    if (out_.next_work.empty()) add("noop");
  }

  const HeaderInput& input_;
  const Clock::Wall now_;
  Header out_;
};

}  // namespace

AgentMode ReadMode(std::string_view text, std::string* problem) {
  if (text == ModeName(AgentMode::kReview)) return AgentMode::kReview;
  if (text != ModeName(AgentMode::kPropose)) {
    *problem = fmt::format("mode \"{}\" is neither propose nor review: it counts as propose",
                           utf8::CleanForTerminal(utf8::Prefix(text, 40)));
  }
  return AgentMode::kPropose;
}

std::string_view ModeName(AgentMode mode) {
  return mode == AgentMode::kReview ? "review" : "propose";
}

Header BuildHeader(const HeaderInput& input) { return Builder(input).Build(); }

std::string FormatAgo(Clock::Wall time, Clock::Wall now) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  // Six centuries are more than a signed count of nanoseconds holds.
  const auto nanos = static_cast<std::uint64_t>(now.time_since_epoch().count()) -
                     static_cast<std::uint64_t>(time.time_since_epoch().count());
  const auto age = now <= time ? 0 : static_cast<std::int64_t>(nanos / 1'000'000'000);
  if (age < 15) return "just now";
  if (age < kMinute) return fmt::format("{}s ago", age);
  if (age < kHour) return fmt::format("{}m ago", age / kMinute);
  if (age < kDay) return fmt::format("{}h ago", age / kHour);
  return fmt::format("{}d ago", age / kDay);
}

Clock::Wall RoundDown(Clock::Wall now, Millis step) {
  const Millis unit = std::max(step, Millis(1));
  const auto since = floor<Millis>(now.time_since_epoch());
  const auto rest = ((since % unit) + unit) % unit;  // also before 1970
  return Clock::Wall(duration_cast<Clock::Wall::duration>(since - rest));
}

Result<Millis> ParseHeaderTime(std::string_view flag, std::string_view text) {
  constexpr std::pair<char, std::int64_t> kUnits[] = {
      {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}};
  std::int64_t count = 0, unit = 1;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, count);
  bool good = error == std::errc() && count >= 0;
  if (good && at != end) {
    const auto known = std::find_if(std::begin(kUnits), std::end(kUnits),
                                    [&](const auto& row) { return row.first == *at; });
    good = known != std::end(kUnits) && at + 1 == end;
    if (good) unit = known->second;
  }
  good = good && count <= duration_cast<seconds>(kLongestTime).count() / unit;
  if (good) return Millis(seconds(count * unit));
  return MakeError(ErrorCode::kUsage, "{} {}: must be a time from 0 to 365d, such as 90, 3m or 2h",
                   flag, utf8::CleanForTerminal(utf8::Prefix(text, 40)));
}

}  // namespace dossier::sources
