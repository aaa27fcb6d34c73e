#include "sources/header/note.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/files/file.h"
#include "base/files/replace_file.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/header/front_matter.h"

namespace dossier::sources {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::uint64_t kMaxMarkedBytes = 256ull << 20;

// "DATE__ID__SLUG.md": the text between the first two pairs of underscores.
std::string_view IdOfFileName(std::string_view file) {
  const std::size_t first = file.find("__");
  if (first == std::string_view::npos) return {};
  const std::size_t second = file.find("__", first + 2);
  if (second == std::string_view::npos) return {};
  return file.substr(first + 2, second - first - 2);
}

bool LeavesTheRoot(std::string_view path) {
  if (path.starts_with('/')) return true;
  const auto parts = Split(path, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

// Takes the front matter over into the note.
class NoteReader {
 public:
  explicit NoteReader(Note* note) : note_(*note) {}

  void Read(FrontMatter matter) {
    note_.problems = std::move(matter.problems);
    std::set<std::string_view> seen;
    for (FrontMatterEntry& entry : matter.entries) {
      if (!seen.insert(entry.key).second) Problem(fmt::format("duplicate key {}", entry.key));
      Take(entry);
    }
    if (red_) note_.status = kRed;
    if (note_.id.empty()) note_.id = IdOfFileName(note_.file);
    if (note_.id.empty()) {
      note_.id = note_.file;
      Problem("no id, neither in the front matter nor in the name (DATE__ID__SLUG.md)");
    }
  }

 private:
  void Problem(std::string text) { note_.problems.push_back(std::move(text)); }

  void Take(FrontMatterEntry& entry) {
    static const std::string kNothing;
    const std::string& value = entry.values.empty() ? kNothing : entry.values.front();
    if (entry.key == "id") {
      note_.id = value;
    } else if (entry.key == "status") {
      TakeStatus(value);
    } else if (entry.key == "rank") {
      TakeRank(value);
    } else if (entry.key == "targets") {
      TakeTargets(std::move(entry.values));
    }
  }

  void TakeStatus(const std::string& value) {
    note_.status = value.empty() ? std::string(kGreen) : ToLowerAscii(value);
    red_ = red_ || note_.red();
    if (note_.status != kRed && note_.status != kGreen) {
      Problem(fmt::format("unknown status {} (green, red)", value));
    }
  }

  void TakeRank(const std::string& value) {
    note_.rank = kNoRank;
    if (value.empty()) return;
    std::int64_t rank = 0;
    const char* end = value.data() + value.size();
    const auto [at, error] = std::from_chars(value.data(), end, rank);
    if (error == std::errc() && at == end) {
      note_.rank = rank;
    } else {
      Problem(fmt::format("rank {} is no whole number", value));
    }
  }

  void TakeTargets(std::vector<std::string> targets) {
    std::erase(targets, "");
    for (const std::string& target : targets) {
      if (LeavesTheRoot(target)) Problem(fmt::format("target {} leaves the repository", target));
    }
    note_.targets = std::move(targets);
  }

  Note& note_;
  bool red_ = false;  // one red line is enough
};

// "## Title ##" -> "Title"; nothing for other lines.
std::string_view HeadingOf(std::string_view line) {
  const std::size_t signs = line.find_first_not_of('#');
  if (signs == std::string_view::npos || signs == 0 || signs > 6 || line[signs] != ' ') return {};
  std::string_view text = TrimSpace(line.substr(signs));
  const std::size_t last = text.find_last_not_of('#');
  if (last != std::string_view::npos && last + 1 < text.size() && text[last] == ' ') {
    text = TrimSpace(text.substr(0, last));
  }
  return text;
}

}  // namespace

Note ParseNote(std::string_view path, std::string_view text) {
  Note note;
  const std::size_t slash = path.find('/');
  if (slash != std::string_view::npos) note.queue = path.substr(0, slash);
  note.file = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  NoteReader(&note).Read(ReadFrontMatter(text.substr(0, kMaxNoteBytes)));
  return note;
}

std::string_view NoteBody(std::string_view text) {
  const FrontMatter matter = ReadFrontMatter(text);
  std::string_view body = text.substr(matter.end);
  if (matter.end == 0 && body.starts_with(kByteOrderMark)) body.remove_prefix(3);
  return body;
}

std::string FirstHeading(std::string_view body) {
  bool in_code = false;
  for (const std::string_view line : Split(body, '\n')) {
    const std::string_view text = TrimSpace(line);
    if (text.starts_with("```") || text.starts_with("~~~")) in_code = !in_code;
    if (in_code) continue;
    if (const std::string_view heading = HeadingOf(text); !heading.empty()) {
      return std::string(heading);
    }
  }
  return {};
}

std::string WithStatusRed(std::string_view text) {
  // No further than a note is read: what ends behind that is no front matter.
  const FrontMatter matter = ReadFrontMatter(text.substr(0, kMaxNoteBytes));
  const std::string_view end = text.substr(0, text.find('\n')).ends_with('\r') ? "\r\n" : "\n";
  std::string out(text);
  if (matter.state != FrontMatter::State::kRead) {
    const std::size_t start = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    return out.insert(start, fmt::format("---{0}status: red{0}---{0}", end));
  }
  const auto last = std::find_if(matter.entries.rbegin(), matter.entries.rend(),
                                 [](const auto& entry) { return entry.key == "status"; });
  if (last == matter.entries.rend()) {
    return out.insert(matter.first_line_end, fmt::format("status: red{}", end));
  }
  const auto place = static_cast<std::size_t>(last->raw.data() - text.data());
  const std::size_t behind = place + last->raw.size();
  const bool blank_before = place > 0 && text[place - 1] == ':';
  const bool blank_behind = behind < text.size() && text[behind] == '#';  // a comment needs one
  return out.replace(place, last->raw.size(),
                     fmt::format("{}red{}", blank_before ? " " : "", blank_behind ? " " : ""));
}

Status MarkNoteRed(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxMarkedBytes));
  if (ParseNote(path, text).red()) return {};
  const std::string marked = WithStatusRed(text);
  return ReplaceFile(path, {marked}, {.attributes = Attributes::kOfTheOldFile});
}

}  // namespace dossier::sources
