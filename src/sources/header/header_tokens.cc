#include "sources/header/header_tokens.h"

#include <algorithm>

#include "assembly/sources/fence.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kMaxStatLines = 20;
constexpr std::size_t kReadyFiles = 10, kProposedFiles = 10, kFeedbackFiles = 5, kScratchFiles = 5;
constexpr std::int64_t kScratchWindowNs = 120'000'000'000;
constexpr std::string_view kNone = "- (none)";

std::string Lines(const std::vector<std::string>& lines, std::string_view empty) {
  return lines.empty() ? std::string(empty) : Join(lines, "\n");
}

// Returns a text that cannot end the block that contains it; "- (none)" if it is empty.
std::string Fenced(std::string_view text) {
  const std::string clean = utf8::Sanitize(text);
  const std::string_view body = assembly::TrimLineEnds(clean);
  if (body.empty()) return std::string(kNone);
  const std::string fence(assembly::GrowingFenceLength(body), '`');
  return fmt::format("{0}\n{1}\n{0}", fence, body);
}

std::string TaskText(const Task& task) {
  std::string text(TrimSpace(task.description));
  const auto add = [&](std::string_view title, const std::vector<std::string>& items) {
    if (items.empty()) return;
    text += fmt::format("{}{}:", text.empty() ? "" : "\n\n", title);
    for (const std::string& item : items) text += fmt::format("\n- {}", SingleLine(item));
  };
  add("Acceptance", task.acceptance);
  add("Read first", task.files);
  return text;
}

std::string QueueMarkdown(const Header& header) {
  std::vector<std::string> lines;
  for (const Header::Backlog& task : header.backlog) {
    lines.push_back(fmt::format("- {} • {}", CodeSpan(task.id), SingleLine(task.summary)));
  }
  return Lines(lines, "- (empty)");
}

std::string RecentFilesMarkdown(const Header& header) {
  std::vector<std::string> lines;
  for (const Header::Hotspot& spot : header.hotspots) {
    lines.push_back(fmt::format("- {} ({})", CodeSpan(spot.path), spot.age));
  }
  return Lines(lines, kNone);
}

std::string NextWorkMarkdown(const Header& header) {
  std::vector<std::string> lines;
  for (const std::string& entry : header.next_work) lines.push_back("- " + SingleLine(entry));
  return Lines(lines, "- noop");
}

std::string DiffstatMarkdown(std::vector<FileStat> files) {
  if (files.empty()) return "- (quiet)";
  std::sort(files.begin(), files.end(),
            [](const FileStat& a, const FileStat& b) { return a.path < b.path; });
  std::vector<std::string> lines;
  std::uint64_t added = 0, deleted = 0;
  for (const FileStat& file : files) {
    added += file.added.value_or(0);
    deleted += file.deleted.value_or(0);
    if (lines.size() == kMaxStatLines) continue;
    const std::string counts =
        file.added && file.deleted ? fmt::format("+{} -{}", *file.added, *file.deleted) : "binary";
    lines.push_back(fmt::format("- {} ({})", CodeSpan(file.path), counts));
  }
  if (files.size() > kMaxStatLines) {
    lines.push_back(fmt::format("- (+{} more files)", files.size() - kMaxStatLines));
  }
  lines.push_back(fmt::format("- total: {} files, +{} -{}", files.size(), added, deleted));
  return Join(lines, "\n");
}

std::string FilesMarkdown(const TokenInput& input) {
  std::vector<std::string> lines;
  for (const Note* note : FilesOfInterest(input.notes, input.now)) {
    lines.push_back("- " + CodeSpan(note->path()));
  }
  return Lines(lines, kNone);
}

// Returns at most `most` notes that `takes` accepts, in the order of `before`.
template <typename Takes, typename Before>
void AddNotes(std::span<const Note> notes, std::string_view queue, std::size_t most, Takes takes,
              Before before, std::vector<const Note*>* out) {
  std::vector<const Note*> found;
  for (const Note& note : notes) {
    if (note.queue == queue && takes(note)) found.push_back(&note);
  }
  std::sort(found.begin(), found.end(),
            [&](const Note* a, const Note* b) { return before(*a, *b); });
  found.resize(std::min(found.size(), most));
  out->insert(out->end(), found.begin(), found.end());
}

bool IsTokenByte(char c) { return IsLower(c) || c == '_'; }

// Returns the end of the `{name}` that begins at `open`; npos if none does.
std::size_t TokenEnd(std::string_view text, std::size_t open) {
  std::size_t at = open + 1;
  while (at < text.size() && IsTokenByte(text[at])) ++at;
  const bool closed = at > open + 1 && at < text.size() && text[at] == '}';
  return closed ? at + 1 : std::string_view::npos;
}

}  // namespace

std::string SingleLine(std::string_view text) {
  std::string out;
  const std::string clean = utf8::Sanitize(text);
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t start = at;
    const char32_t code = utf8::Next(clean, &at);
    const bool line_end =
        code == '\n' || code == '\r' || code == 0x85 || code == 0x2028 || code == 0x2029;
    if (line_end) {
      out += ' ';
      if (code == '\r' && at < clean.size() && clean[at] == '\n') ++at;
    } else if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned>(code));
    } else {
      out.append(clean, start, at - start);
    }
  }
  return out;
}

std::string CodeSpan(std::string_view text) {
  const std::string line = SingleLine(text);
  std::size_t longest = 0, run = 0;
  for (const char c : line) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string ticks(longest + 1, '`');
  // CommonMark removes one blank from each side; a backtick at an end needs it.
  const bool padded = line.starts_with('`') || line.ends_with('`');
  return fmt::format("{0}{1}{2}{1}{0}", ticks, padded ? " " : "", line);
}

std::vector<const Note*> FilesOfInterest(std::span<const Note> notes, Clock::Wall now) {
  const std::int64_t now_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  const auto any = [](const Note&) { return true; };
  const auto by_rank = [](const Note& a, const Note& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.path() < b.path();
  };
  std::vector<const Note*> out;
  AddNotes(
      notes, kReadyQueue, kReadyFiles, [](const Note& note) { return !note.red(); }, IsNewer, &out);
  AddNotes(
      notes, kProposedQueue, kProposedFiles, [](const Note& note) { return note.status == kGreen; },
      by_rank, &out);
  AddNotes(notes, kFeedbackQueue, kFeedbackFiles, any, IsNewer, &out);
  AddNotes(
      notes, kScratchQueue, kScratchFiles,
      [&](const Note& note) { return note.mtime_ns >= now_ns - kScratchWindowNs; }, IsNewer, &out);
  return out;
}

TokenMap PromptTokens(const Header& header, const TokenInput& input) {
  const Task no_task;
  const Task& task = input.task ? *input.task : no_task;
  TokenMap tokens;
  tokens["context_header"] = ToYaml(header);
  tokens["ach_yaml"] = tokens["context_header"];
  tokens["queue_md"] = QueueMarkdown(header);
  tokens["recent_files_md"] = RecentFilesMarkdown(header);
  tokens["next_work_md"] = NextWorkMarkdown(header);
  tokens["diffstat_md"] = DiffstatMarkdown(input.patch_stat);
  tokens["task_id"] = utf8::Sanitize(task.id);
  tokens["summary"] = utf8::Sanitize(task.summary);
  tokens["mode_hint"] = header.mode;
  tokens["recent_sec"] = header.recent_window.substr(0, header.recent_window.size() - 1);
  tokens["targets"] = header.targets.empty() ? "(any)" : Join(header.targets, ", ");
  tokens["files"] = FilesMarkdown(input);
  tokens["task_md"] = Fenced(TaskText(task));
  tokens["patch_md"] = Fenced(input.patch);
  tokens["review_md"] = Fenced(input.review);
  tokens["checks_md"] = Fenced(input.checks);
  if (input.approval_token) tokens["approval_token"] = *input.approval_token;
  return tokens;
}

Replaced ReplaceTokens(std::string_view text, const TokenMap& tokens, std::string_view file) {
  Replaced out;
  std::size_t copied = 0, line = 1, counted = 0;
  for (std::size_t open = text.find('{'); open != std::string_view::npos;
       open = text.find('{', open)) {
    const std::size_t end = TokenEnd(text, open);
    if (end == std::string_view::npos) {
      ++open;
      continue;
    }
    const std::string name(text.substr(open + 1, end - open - 2));
    const auto token = tokens.find(name);
    if (token == tokens.end()) {
      line += static_cast<std::size_t>(
          std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                     text.begin() + static_cast<std::ptrdiff_t>(open), '\n'));
      counted = open;
      out.warnings.push_back(
          fmt::format("{}:{}: {{{}}} is no token here and stays as it is", file, line, name));
    } else {
      out.text += text.substr(copied, open - copied);
      out.text += token->second;
      copied = end;
      out.has_header = out.has_header || name == "context_header" || name == "ach_yaml";
    }
    open = end;
  }
  out.text += text.substr(copied);
  return out;
}

}  // namespace dossier::sources
