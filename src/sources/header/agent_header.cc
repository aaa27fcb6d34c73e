#include "sources/header/agent_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/header/header_tokens.h"

namespace dossier::sources {
namespace {

using std::chrono::duration_cast;
using std::chrono::floor;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::size_t kMaxNameChars = 200;  // ids and paths
constexpr std::size_t kMaxSummaryChars = 300;
constexpr std::size_t kMaxGlobChars = 400;  // per list
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
  // Returns valid UTF-8 of at most `most` code points.
  std::string Cut(std::string_view text, std::size_t most) {
    // A text has at least as many bytes as code points.
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
    if (extras.dirty) out_.dirty = repo.dirty;  // unset: git could not tell; see the problem
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
    for (const Task& task : input_.tasks) tasks.push_back(&task);
    const std::size_t count = std::min(tasks.size(), kHeaderItems);
    std::partial_sort(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(count),
                      tasks.end(), [](const Task* a, const Task* b) {
                        if (StartsBefore(*a, *b)) return true;
                        return !StartsBefore(*b, *a) && a < b;  // in input order
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

  // Returns "allow:a,b", or the start of the list and ",(+N more)".
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
  // Six centuries exceed a signed count of nanoseconds.
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
  const auto rest = ((since % unit) + unit) % unit;  // also works before 1970
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

namespace {

// Code points that must be escaped: controls, YAML 1.1 line ends, marks that change the text
// direction, non-characters.
bool NeedsEscape(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

void AppendEscape(char32_t code, std::string* out) {
  constexpr std::pair<char32_t, std::string_view> kShort[] = {
      {'\n', "\\n"}, {'\t', "\\t"}, {'\r', "\\r"}};
  for (const auto& [known, escape] : kShort) {
    if (known == code) {
      *out += escape;
      return;
    }
  }
  const auto number = static_cast<unsigned>(code);
  *out += code < 0x100 ? fmt::format("\\x{:02X}", number) : fmt::format("\\u{:04X}", number);
}

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  std::size_t at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte < 0x7F) {
      if (byte == '"' || byte == '\\') *out += '\\';
      *out += static_cast<char>(byte);
      ++at;
      continue;
    }
    const char32_t code = utf8::Next(text, &at);
    if (NeedsEscape(code)) {
      AppendEscape(code, out);
    } else {
      utf8::Append(code, out);
    }
  }
  *out += '"';
}

// Writes the YAML block of a header, key by key.
class YamlWriter {
 public:
  std::string Write(const Header& header) {
    out_.reserve(2048);
    out_ = "---  # agent_context\n";
    WriteRepo(header);
    Each("pending", header.pending, [&](const Header::Pending& note) {
      Text("id: ", note.id).Text("\n    age: ", note.age).List("\n    files: ", note.files);
    });
    Each("backlog", header.backlog, [&](const Header::Backlog& task) {
      Text("{id: ", task.id).Text(", summary: ", task.summary).Raw("}");
    });
    Each("hotspots", header.hotspots, [&](const Header::Hotspot& spot) {
      Text("{path: ", spot.path).Text(", age: ", spot.age).Raw("}");
    });
    List("targets: ", header.targets).List("\npolicy: ", header.policy).Raw("\n");
    Each("next_work", header.next_work, [&](const std::string& entry) { Text("", entry); });
    Text("mode: ", header.mode).Raw("\n...\n");
    return std::move(out_);
  }

 private:
  YamlWriter& Raw(std::string_view text) {
    out_ += text;
    return *this;
  }
  YamlWriter& Text(std::string_view lead, std::string_view text) {
    out_ += lead;
    AppendQuoted(text, &out_);
    return *this;
  }
  YamlWriter& List(std::string_view lead, const std::vector<std::string>& list) {
    out_ += lead;
    out_ += '[';
    for (std::size_t i = 0; i < list.size(); ++i) Text(i == 0 ? "" : ", ", list[i]);
    out_ += ']';
    return *this;
  }

  template <typename T, typename Item>
  void Each(std::string_view key, const std::vector<T>& items, Item item) {
    Raw(key).Raw(items.empty() ? ": []\n" : ":\n");
    for (const T& one : items) {
      out_ += "  - ";
      item(one);
      out_ += '\n';
    }
  }

  void WriteRepo(const Header& header) {
    Text("repo:\n  branch: ", header.branch).Text("\n  head: ", header.head);
    Text("\n  recent_window: ", header.recent_window).Raw("\n");
    if (header.dirty) Raw("  dirty: ").Raw(*header.dirty ? "true\n" : "false\n");
    if (header.upstream) {
      const auto& upstream = *header.upstream;
      Raw("  upstream: ");
      Raw(upstream ? fmt::format("{{ahead: {}, behind: {}}}\n", upstream->ahead, upstream->behind)
                   : "null\n");
    }
    if (header.commits) List("  commits: ", *header.commits).Raw("\n");
    if (header.date) Text("  date: ", *header.date).Raw("\n");
    if (header.environment) {
      const HeaderEnvironment& environment = *header.environment;
      Text("  environment: {os: ", environment.os).Text(", sandbox: ", environment.sandbox);
      Text(", network: ", environment.network).List(", tools: ", environment.tools).Raw("}\n");
    }
  }

  std::string out_;
};

JsonObject RepoJson(const Header& header) {
  JsonObject repo{
      {"branch", header.branch}, {"head", header.head}, {"recent_window", header.recent_window}};
  if (header.dirty) repo["dirty"] = *header.dirty;
  if (header.upstream) {
    repo["upstream"] = nullptr;
    if (const auto& upstream = *header.upstream) {
      repo["upstream"] = JsonObject{{"ahead", upstream->ahead}, {"behind", upstream->behind}};
    }
  }
  if (header.commits) repo["commits"] = TextArray(*header.commits);
  if (header.date) repo["date"] = *header.date;
  if (header.environment) {
    repo["environment"] = JsonObject{{"os", header.environment->os},
                                     {"sandbox", header.environment->sandbox},
                                     {"network", header.environment->network},
                                     {"tools", TextArray(header.environment->tools)}};
  }
  return repo;
}

// Writes sections of bullets; an empty section says so.
class MarkdownWriter {
 public:
  void Section(std::string_view key, std::string_view empty) {
    if (!out_.empty()) out_ += "\n";
    out_ += fmt::format("### {}\n", key);
    empty_ = empty;
    start_ = out_.size();
  }
  void Bullet(std::string_view text) { out_ += fmt::format("- {}\n", text); }
  void End() {
    if (out_.size() == start_) Bullet(empty_);
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_, empty_;
  std::size_t start_ = 0;
};

std::string CodeSpans(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + CodeSpan(text);
  return out;
}

void WriteRepo(const Header& header, MarkdownWriter* out) {
  out->Section("repo", "");
  out->Bullet("branch: " + CodeSpan(header.branch));
  out->Bullet("head: " + CodeSpan(header.head));
  out->Bullet("recent_window: " + header.recent_window);
  if (header.dirty) out->Bullet(*header.dirty ? "dirty: true" : "dirty: false");
  if (header.upstream) {
    const auto& upstream = *header.upstream;
    out->Bullet(
        upstream ? fmt::format("upstream: {} ahead, {} behind", upstream->ahead, upstream->behind)
                 : "upstream: (none)");
  }
  if (header.commits) {
    for (const std::string& subject : *header.commits)
      out->Bullet("commit: " + SingleLine(subject));
  }
  if (header.date) out->Bullet("date: " + *header.date);
  if (header.environment) {
    const HeaderEnvironment& environment = *header.environment;
    out->Bullet("os: " + SingleLine(environment.os));
    out->Bullet("sandbox: " + SingleLine(environment.sandbox));
    out->Bullet("network: " + SingleLine(environment.network));
    out->Bullet("tools: " + CodeSpans(environment.tools));
  }
}

}  // namespace

std::string ToYaml(const Header& header) { return YamlWriter().Write(header); }

Json ToJsonValue(const Header& header) {
  JsonArray pending, backlog, hotspots;
  for (const Header::Pending& note : header.pending) {
    pending.push_back(
        JsonObject{{"id", note.id}, {"age", note.age}, {"files", TextArray(note.files)}});
  }
  for (const Header::Backlog& task : header.backlog) {
    backlog.push_back(JsonObject{{"id", task.id}, {"summary", task.summary}});
  }
  for (const Header::Hotspot& spot : header.hotspots) {
    hotspots.push_back(JsonObject{{"path", spot.path}, {"age", spot.age}});
  }
  return JsonObject{{"schema", "dossier.header/1"},
                    {"repo", RepoJson(header)},
                    {"pending", std::move(pending)},
                    {"backlog", std::move(backlog)},
                    {"hotspots", std::move(hotspots)},
                    {"targets", TextArray(header.targets)},
                    {"policy", TextArray(header.policy)},
                    {"next_work", TextArray(header.next_work)},
                    {"mode", header.mode}};
}

std::string ToMarkdown(const Header& header) {
  MarkdownWriter out;
  WriteRepo(header, &out);
  out.Section("pending", "(none)");
  for (const Header::Pending& note : header.pending) {
    out.Bullet(fmt::format("{} ({}): {}", CodeSpan(note.id), note.age, CodeSpans(note.files)));
  }
  out.End();
  out.Section("backlog", "(empty)");
  for (const Header::Backlog& task : header.backlog) {
    out.Bullet(fmt::format("{} • {}", CodeSpan(task.id), SingleLine(task.summary)));
  }
  out.End();
  out.Section("hotspots", "(none)");
  for (const Header::Hotspot& spot : header.hotspots) {
    out.Bullet(fmt::format("{} ({})", CodeSpan(spot.path), spot.age));
  }
  out.End();
  out.Section("targets", "(any)");
  for (const std::string& target : header.targets) out.Bullet(CodeSpan(target));
  out.End();
  out.Section("policy", "(none)");
  for (const std::string& rule : header.policy) out.Bullet(SingleLine(rule));
  out.End();
  out.Section("next_work", "noop");
  for (const std::string& entry : header.next_work) out.Bullet(SingleLine(entry));
  out.End();
  out.Section("mode", "");
  out.Bullet(header.mode);
  return out.Take();
}

}  // namespace dossier::sources
