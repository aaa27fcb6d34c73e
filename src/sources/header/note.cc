#include "sources/header/note.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

// Reads the front matter of notes line by line: a bad line loses only itself.
//
//   const FrontMatter matter = ReadFrontMatter(text);
//   for (const FrontMatterEntry& entry : matter.entries) Use(entry.key, entry.values);
//
// Private to this file. Thread-safety: pure functions; the views refer to the given text.

struct FrontMatterEntry {
  enum class Kind { kScalar, kList };
  std::string_view key;
  Kind kind = Kind::kScalar;
  std::vector<std::string> values;  // exactly one for a scalar
  std::string_view raw;             // the value as written, without a comment
};

struct FrontMatter {
  enum class State { kAbsent, kUnclosed, kRead };
  State state = State::kAbsent;
  std::vector<FrontMatterEntry> entries;  // in file order, including duplicates
  std::vector<std::string> problems;
  std::size_t first_line_end = 0;  // after the opening line
  std::size_t end = 0;             // after the closing line: the start of the body
};

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

constexpr bool IsKeyByte(char c) { return IsWordByte(c) || c == '-'; }

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Returns the line at `at` without its end and trailing blanks; moves `at` past it.
std::string_view TakeLine(std::string_view text, std::size_t* at) {
  const std::size_t end = std::min(text.find('\n', *at), text.size());
  std::string_view line = text.substr(*at, end - *at);
  *at = std::min(end + 1, text.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (!line.empty() && IsBlank(line.back())) line.remove_suffix(1);
  return line;
}

// The escapes of YAML's double quotes, by letter.
constexpr std::pair<char, char32_t> kEscapes[] = {
    {'0', 0},   {'a', 7},     {'b', 8},    {'t', '\t'}, {'\t', '\t'},  {'n', '\n'},
    {'v', 11},  {'f', 12},    {'r', '\r'}, {'e', 27},   {' ', ' '},    {'"', '"'},
    {'/', '/'}, {'\\', '\\'}, {'N', 0x85}, {'_', 0xA0}, {'L', 0x2028}, {'P', 0x2029},
};

// Reads the escape after the backslash at `*at` and moves past it.
std::optional<char32_t> TakeEscape(std::string_view text, std::size_t* at) {
  if (*at >= text.size()) return std::nullopt;
  const char letter = text[(*at)++];
  for (const auto& [known, code] : kEscapes) {
    if (known == letter) return code;
  }
  const std::size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (digits == 0 || *at + digits > text.size()) return std::nullopt;
  const auto code = ExactNumber<std::uint32_t>(text.substr(*at, digits), 16);
  if (!code || *code > 0x10FFFF || (*code >= 0xD800 && *code <= 0xDFFF)) return std::nullopt;
  *at += digits;
  return code;
}

// Reads the quoted text that begins at `*at` and moves past its closing quote.
std::optional<std::string> TakeQuoted(std::string_view text, std::size_t* at) {
  const char quote = text[(*at)++];
  std::string value;
  while (*at < text.size()) {
    const char c = text[(*at)++];
    if (c == quote) {
      if (quote == '"' || *at >= text.size() || text[*at] != '\'') return value;
      ++*at;  // '' is one quote
      value += '\'';
    } else if (quote == '"' && c == '\\') {
      const auto code = TakeEscape(text, at);
      if (!code) return std::nullopt;
      utf8::Append(*code, &value);
    } else {
      value += c;
    }
  }
  return std::nullopt;
}

void SkipBlanks(std::string_view text, std::size_t* at) {
  while (*at < text.size() && IsBlank(text[*at])) ++*at;
}

// Returns the end of the plain text that begins at `at`: at ` #`, or before one of `stops`.
std::size_t PlainEnd(std::string_view text, std::size_t at, std::string_view stops) {
  for (std::size_t i = at; i < text.size(); ++i) {
    if (stops.find(text[i]) != std::string_view::npos) return i;
    if (text[i] == '#' && (i == 0 || IsBlank(text[i - 1]))) return i;
  }
  return text.size();
}

bool OnlyCommentFollows(std::string_view text, std::size_t at) {
  const std::size_t before = at;
  SkipBlanks(text, &at);
  return at >= text.size() || (text[at] == '#' && at > before);
}

struct Scalar {
  std::string value;
  std::string_view raw;
};

// Reads a quoted or plain value that fills `text` except for a comment; nullopt on a bad quote.
std::optional<Scalar> ReadScalar(std::string_view text) {
  if (!text.empty() && (text[0] == '"' || text[0] == '\'')) {
    std::size_t at = 0;
    auto value = TakeQuoted(text, &at);
    if (!value || !OnlyCommentFollows(text, at)) return std::nullopt;
    return Scalar{std::move(*value), text.substr(0, at)};
  }
  const std::string_view plain = TrimBlanks(text.substr(0, PlainEnd(text, 0, "")));
  return Scalar{std::string(plain), plain};
}

struct FlowList {
  std::vector<std::string> values;
  std::string_view raw;
};

// Reads `[a, "b"]` on one line; nullopt if it is malformed.
std::optional<FlowList> ReadFlowList(std::string_view text) {
  FlowList list;
  std::size_t at = 1;
  while (true) {
    SkipBlanks(text, &at);
    if (at >= text.size()) return std::nullopt;
    if (text[at] == ']') break;
    if (text[at] == '"' || text[at] == '\'') {
      auto value = TakeQuoted(text, &at);
      if (!value) return std::nullopt;
      list.values.push_back(std::move(*value));
    } else {
      const std::size_t end = PlainEnd(text, at, ",]");
      const std::string_view plain = TrimBlanks(text.substr(at, end - at));
      if (plain.empty()) return std::nullopt;
      list.values.emplace_back(plain);
      at = end;
    }
    SkipBlanks(text, &at);
    if (at < text.size() && text[at] == ',') {
      ++at;
    } else if (at >= text.size() || text[at] != ']') {
      return std::nullopt;
    }
  }
  ++at;
  if (!OnlyCommentFollows(text, at)) return std::nullopt;
  list.raw = text.substr(0, at);
  return list;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  FrontMatter Read() {
    std::size_t at = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    if (TakeLine(text_, &at) != "---") return {};
    FrontMatter out;
    out.entries.reserve(8);
    out.first_line_end = at;
    while (at < text_.size()) {
      ++line_;
      const std::string_view line = TakeLine(text_, &at);
      if (line == "---" || line == "...") {
        out.state = FrontMatter::State::kRead;
        out.end = at;
        break;
      }
      ReadLine(line, &out);
    }
    if (out.state == FrontMatter::State::kRead) return out;
    return {.state = FrontMatter::State::kUnclosed,
            .problems = {"the front matter is never closed"}};
  }

 private:
  void ReadLine(std::string_view line, FrontMatter* out) {
    const std::string_view text = TrimBlanks(line);
    if (text.empty() || text[0] == '#') return;
    if (text[0] == '-' && (text.size() == 1 || IsBlank(text[1])) && ReadItem(text, out)) return;
    std::size_t at = 0;
    while (at < text.size() && IsKeyByte(text[at])) ++at;
    const std::string_view key = text.substr(0, at);
    SkipBlanks(text, &at);
    if (key.empty() || at >= text.size() || text[at] != ':') {
      return Lose("is no `key: value`", out);
    }
    ReadValue(key, TrimBlanks(text.substr(at + 1)), text.substr(at + 1), out);
  }

  // Reads "- x" below a key without a value.
  bool ReadItem(std::string_view text, FrontMatter* out) {
    if (!may_list_ || out->entries.empty()) return false;
    FrontMatterEntry& entry = out->entries.back();
    const auto scalar = ReadScalar(TrimBlanks(text.substr(1)));
    if (!scalar) {
      Lose("has a quoted value that is malformed", out);
      return true;
    }
    if (entry.kind == FrontMatterEntry::Kind::kScalar) {
      entry.kind = FrontMatterEntry::Kind::kList;
      entry.values.clear();
    }
    entry.values.push_back(scalar->value);
    return true;
  }

  void ReadValue(std::string_view key, std::string_view value, std::string_view place,
                 FrontMatter* out) {
    may_list_ = false;
    if (value.starts_with('[')) {
      auto list = ReadFlowList(value);
      if (!list) return Lose("has a list that is malformed", out);
      out->entries.push_back(
          {key, FrontMatterEntry::Kind::kList, std::move(list->values), list->raw});
      return;
    }
    auto scalar = ReadScalar(value);
    if (!scalar) return Lose("has a quoted value that is malformed", out);
    may_list_ = scalar->raw.empty();
    // An empty value has a place, too: where a value would be written.
    const std::string_view raw = scalar->raw.empty() ? place.substr(0, 0) : scalar->raw;
    out->entries.push_back({key, FrontMatterEntry::Kind::kScalar, {std::move(scalar->value)}, raw});
  }

  void Lose(std::string_view why, FrontMatter* out) {
    out->problems.push_back(fmt::format("line {} {}", line_, why));
  }

  std::string_view text_;
  int line_ = 1;
  bool may_list_ = false;  // the last key had no value
};

FrontMatter ReadFrontMatter(std::string_view text) { return Reader(text).Read(); }

constexpr std::uint64_t kMaxMarkedBytes = 256ull << 20;

// Returns the ID of "DATE__ID__SLUG.md": the text between the first two pairs of underscores.
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

// Copies the front matter into the note.
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
    if (const auto rank = ExactNumber<std::int64_t>(value)) {
      note_.rank = *rank;
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

// Returns "Title" for "## Title ##"; nothing for other lines.
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
  // Reads no further than notes are read: front matter must end within that.
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

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::string ShownPath(std::string_view path) { return utf8::CleanForTerminal(path); }

// Scans one queue; the folder stays open, so that names are looked up in it and nowhere else.
class QueueScanner {
 public:
  // `buffer` has space for kMaxNoteBytes.
  QueueScanner(std::string_view queue, Folder folder, NoteScanOptions::Texts texts, char* buffer,
               NoteScan* scan)
      : queue_(queue), folder_(std::move(folder)), texts_(texts), buffer_(buffer), scan_(*scan) {}

  void Scan() {
    ListNames();
    scan_.notes.reserve(scan_.notes.size() + starts_.size());
    for (const std::uint32_t start : starts_) ReadNote(names_.data() + start);
  }

 private:
  // Keeps all names in one NUL-separated text: sorting numbers is cheaper than moving notes.
  void ListNames() {
    while (const dirent* entry = readdir(folder_.get())) {
      const std::string_view name = entry->d_name;
      const bool may_be_file = entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN;
      if (name.starts_with('.') || !may_be_file) continue;
      starts_.push_back(static_cast<std::uint32_t>(names_.size()));
      names_.append(name).push_back('\0');
    }
    std::sort(starts_.begin(), starts_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::strcmp(names_.data() + a, names_.data() + b) < 0;
    });
  }

  void ReadNote(const char* name) {
    UniqueFd fd(openat(dirfd(folder_.get()), name,
                       O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd.valid()) return Skip(name, errno);
    struct stat info{};
    if (fstat(fd.get(), &info) != 0) return Skip(name, errno);
    if (!S_ISREG(info.st_mode)) return;
    std::size_t size = 0;
    while (size < kMaxNoteBytes) {
      const ssize_t count = read(fd.get(), buffer_ + size, kMaxNoteBytes - size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Skip(name, errno);
      size += static_cast<std::size_t>(count);
      // A regular file whose size has been read is at its end.
      if (count == 0 || size == static_cast<std::size_t>(info.st_size)) break;
    }
    path_.assign(queue_).append("/").append(name);
    const std::string_view text(buffer_, size);
    Note& note = scan_.notes.emplace_back(ParseNote(path_, text));
    note.mtime_ns = NanosSinceEpoch(info.st_mtim);
    if (texts_ == NoteScanOptions::Texts::kKept) note.text = text;
  }

  void Skip(std::string_view name, int error) {
    if (error == ELOOP) return;  // a link
    ++scan_.skipped;
    if (error == ENOENT) return;  // it vanished
    scan_.unreadable.push_back(
        fmt::format("{}/{}: cannot be read: {}", queue_, ShownPath(name), std::strerror(error)));
  }

  std::string_view queue_;
  Folder folder_;
  NoteScanOptions::Texts texts_;
  char* buffer_;
  NoteScan& scan_;
  std::string path_;
  std::string names_;
  std::vector<std::uint32_t> starts_;  // start of each name in names_
};

void FindTwins(const NoteScan& scan, std::vector<std::string>* lines) {
  std::map<std::pair<std::string_view, std::string_view>, const Note*> first;
  for (const Note& note : scan.notes) {
    const auto [known, added] = first.try_emplace({note.queue, note.id}, &note);
    if (added) continue;
    lines->push_back(fmt::format("{}: id {} is that of {}, too", ShownPath(note.path()),
                                 ShownPath(note.id), ShownPath(known->second->path())));
  }
}

}  // namespace

Result<NoteScan> ScanNotes(const std::string& root, const NoteScanOptions& options) {
  NoteScan scan;
  // Not zeroed: most notes fill only one page of it.
  const auto buffer = std::make_unique_for_overwrite<char[]>(kMaxNoteBytes);
  for (const std::string_view queue : options.queues) {
    const std::string path =
        (std::filesystem::path(root) / options.folder / std::string(queue)).string();
    Folder folder(opendir(path.c_str()));
    if (!folder) {
      if (errno == ENOENT) continue;
      if (errno == ENOTDIR) {
        return MakeError(ErrorCode::kConfig, "{}/{}: notes stand in a folder, and this is none",
                         options.folder, queue);
      }
      ++scan.skipped;
      scan.unreadable.push_back(fmt::format("{}: cannot be read: {}", queue, std::strerror(errno)));
      continue;
    }
    QueueScanner(queue, std::move(folder), options.texts, buffer.get(), &scan).Scan();
  }
  return scan;
}

bool IsNewer(const Note& a, const Note& b) {
  if (a.mtime_ns != b.mtime_ns) return a.mtime_ns > b.mtime_ns;
  return a.path() < b.path();
}

std::vector<std::string> LintNotes(const NoteScan& scan) {
  std::vector<std::string> lines = scan.unreadable;
  for (const Note& note : scan.notes) {
    for (const std::string& problem : note.problems) {
      lines.push_back(fmt::format("{}: {}", ShownPath(note.path()), ShownPath(problem)));
    }
  }
  FindTwins(scan, &lines);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace dossier::sources
