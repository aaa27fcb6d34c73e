#include "config/edit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <vector>

#include "assembly/layout/yaml_table.h"
#include "base/files/file.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "base/yaml/yaml.h"

namespace dossier::config {
namespace {

// Splits a text into lines that keep their line endings.
std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

bool IsBlankOrComment(std::string_view line) {
  const std::string_view trimmed = TrimSpace(line);
  return trimmed.empty() || trimmed.starts_with('#');
}

std::size_t IndentOf(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

const YamlEntry* FindYamlEntry(const YamlNode& map, std::string_view key) {
  for (const YamlEntry& entry : map.entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

// Returns the start of the comment after a value, or the end of the line. Quotes hide '#'.
std::size_t CommentStart(std::string_view line, std::size_t from) {
  char quote = '\0';
  for (std::size_t i = from; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = '\0';
    } else if ((c == '"' || c == '\'') && (i == from || line[i - 1] == ' ' || line[i - 1] == '[' ||
                                           line[i - 1] == '{' || line[i - 1] == ',')) {
      quote = c;
    } else if (c == '#' && i > 0 && line[i - 1] == ' ') {
      return i;
    }
  }
  return line.size();
}

// The text after "key:" on its line, without the comment, and the comment with the blanks before
// it.
struct Tail {
  std::size_t colon = 0;    // offset of ':'
  std::string value, rest;  // rest: blanks, comment, line end
};

std::optional<Tail> TailOf(const std::string& line, const YamlEntry& entry) {
  Tail tail;
  std::size_t at = static_cast<std::size_t>(entry.column - 1) + entry.key.size();
  if (at < line.size() && (line[at] == '"' || line[at] == '\'')) return std::nullopt;
  if (at >= line.size() || line[at] != ':') return std::nullopt;
  tail.colon = at;
  const std::size_t comment = CommentStart(line, at + 1);
  std::size_t end = comment;
  while (end > at + 1 && TrimSpace(line.substr(end - 1, 1)).empty()) --end;
  tail.value = std::string(TrimSpace(std::string_view(line).substr(at + 1, end - at - 1)));
  tail.rest = line.substr(end);
  return tail;
}

class Editor {
 public:
  Editor(std::string_view text, const YamlNode& root) : lines_(LinesOf(text)), root_(root) {}

  // Returns false if the form is not one that a line edit can change.
  bool Set(std::string_view key, std::string_view value) {
    const auto dot = key.find('.');
    const std::string_view head = key.substr(0, dot);
    const YamlEntry* entry = FindYamlEntry(root_, head);
    if (dot == std::string_view::npos) {
      if (!entry) return Append(fmt::format("{}: {}\n", head, value));
      return Replace(*entry, value);
    }
    const std::string_view inner = key.substr(dot + 1);
    if (!entry) return Append(fmt::format("{}:\n  {}: {}\n", head, inner, value));
    if (entry->value.kind == YamlNode::Kind::kMap) {
      if (const YamlEntry* found = FindYamlEntry(entry->value, inner))
        return Replace(*found, value);
      return InsertInto(*entry, inner, value);
    }
    if (entry->value.kind != YamlNode::Kind::kNull) return false;
    return Replace(*entry, fmt::format("{{{}: {}}}", inner, value));
  }

  std::string Text() const { return Join(lines_, ""); }

 private:
  std::string& LineOf(const YamlEntry& entry) {
    return lines_[static_cast<std::size_t>(entry.line - 1)];
  }

  bool Append(std::string line) {
    if (!lines_.empty() && !lines_.back().ends_with('\n')) lines_.back() += '\n';
    lines_.push_back(std::move(line));
    return true;
  }

  // Returns the end of the lines after that of `entry` that belong to its value.
  std::size_t EndOf(const YamlEntry& entry) const {
    const auto indent = static_cast<std::size_t>(entry.column - 1);
    const auto first = static_cast<std::size_t>(entry.line);
    std::size_t end = first;
    for (std::size_t at = first; at < lines_.size(); ++at) {
      if (IsBlankOrComment(lines_[at])) continue;
      const std::size_t deep = IndentOf(lines_[at]);
      // A list may be indented no deeper than its key.
      const bool item = deep == indent && lines_[at].substr(deep).starts_with("-");
      if (deep <= indent && !item) break;
      end = at + 1;
    }
    return end;
  }

  bool Replace(const YamlEntry& entry, std::string_view value) {
    std::string& line = LineOf(entry);
    const auto tail = TailOf(line, entry);
    if (!tail) return false;
    const std::size_t end = EndOf(entry);
    // An entry inside `{…}` shares its line with others.
    if (IndentOf(line) + 1 != static_cast<std::size_t>(entry.column)) {
      return ReplaceInFlow(entry, value);
    }
    line = fmt::format("{}: {}{}", line.substr(0, tail->colon), value, tail->rest);
    lines_.erase(lines_.begin() + entry.line, lines_.begin() + static_cast<std::ptrdiff_t>(end));
    return true;
  }

  bool ReplaceInFlow(const YamlEntry& entry, std::string_view value) {
    const YamlNode& old = entry.value;
    const bool simple = old.kind == YamlNode::Kind::kScalar &&
                        old.style == YamlNode::Style::kPlain && old.line == entry.line;
    if (!simple) return false;
    LineOf(entry).replace(static_cast<std::size_t>(old.column - 1), old.scalar.size(), value);
    return true;
  }

  bool InsertInto(const YamlEntry& map, std::string_view inner, std::string_view value) {
    std::string& line = LineOf(map);
    const auto tail = TailOf(line, map);
    if (!tail) return false;
    if (tail->value.starts_with('{')) {
      if (!tail->value.ends_with('}')) return false;
      const bool empty = map.value.entries.empty();
      const std::string body = tail->value.substr(0, tail->value.size() - 1);
      line = fmt::format("{}: {}{}{}: {}}}{}", line.substr(0, tail->colon), body, empty ? "" : ", ",
                         inner, value, tail->rest);
      return true;
    }
    if (map.value.entries.empty()) return false;
    const std::size_t end = EndOf(map);
    if (!lines_[end - 1].ends_with('\n')) lines_[end - 1] += '\n';
    const std::string indent(static_cast<std::size_t>(map.value.entries[0].column - 1), ' ');
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(end),
                  fmt::format("{}{}: {}\n", indent, inner, value));
    return true;
  }

  std::vector<std::string> lines_;
  const YamlNode& root_;
};

bool SameTree(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.style != b.style || a.scalar != b.scalar ||
      a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!SameTree(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key || !SameTree(a.entries[i].value, b.entries[i].value)) {
      return false;
    }
  }
  return true;
}

// Makes the same change in the tree: what the file must parse to afterwards.
void SetInTree(std::string_view key, const YamlNode& value, YamlNode* map) {
  map->kind = YamlNode::Kind::kMap;
  const auto dot = key.find('.');
  const std::string_view head = key.substr(0, dot);
  YamlEntry* found = nullptr;
  for (YamlEntry& entry : map->entries) {
    if (entry.key == head) found = &entry;
  }
  if (!found) found = &map->entries.emplace_back(YamlEntry{.key = std::string(head)});
  if (dot == std::string_view::npos) {
    found->value = value;
  } else {
    SetInTree(key.substr(dot + 1), value, &found->value);
  }
}

}  // namespace

std::string QuoteScalar(std::string_view text) {
  const auto node = assembly::ReadYaml(text, "value");
  const bool plain = node && node->kind == YamlNode::Kind::kScalar && node->scalar == text &&
                     node->style == YamlNode::Style::kPlain &&
                     text.find_first_of("\n#{}[],&*!|>'\"%@`") == std::string_view::npos &&
                     text.find(": ") == std::string_view::npos && !text.ends_with(':');
  if (plain) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

Result<std::string> SetKey(std::string_view text, std::string_view key, std::string_view value,
                           std::string_view file) {
  const YamlOptions options{.max_bytes = kMaxConfigBytes};
  DOSSIER_ASSIGN_OR_RETURN(YamlNode root, assembly::ReadYaml(text, file, options));
  if (value.find('\n') != std::string_view::npos) {
    return MakeError(ErrorCode::kConfig, "{}: a value of one line is wanted", key);
  }
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode wanted, assembly::ReadYaml(value, key));
  Editor editor(text, root);
  const bool edited = (root.kind == YamlNode::Kind::kMap || root.kind == YamlNode::Kind::kNull) &&
                      editor.Set(key, value);
  if (edited) {
    SetInTree(key, wanted, &root);
    const auto after = assembly::ReadYaml(editor.Text(), file, options);
    if (after && SameTree(*after, root)) return editor.Text();
  }
  return MakeError(ErrorCode::kConfig,
                   "{}: {} is written in a way that can't be changed line by line; run: dossier "
                   "config edit",
                   file, key);
}

namespace {

Result<std::string> RealPathOf(int fd, const std::string& path) {
  std::string real(PATH_MAX, '\0');
  const ssize_t length =
      readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), real.data(), real.size());
  if (length > 0) {
    real.resize(static_cast<std::size_t>(length));
    return real;
  }
  char* resolved = realpath(path.c_str(), real.data());
  if (!resolved) return MakeErrnoError(errno, path);
  real.resize(real.find('\0'));
  return real;
}

Result<std::string> ReadBytes(int fd, const std::string& path) {
  std::string bytes(kMaxConfigBytes + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = read(fd, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kMaxConfigBytes) {
    return tl::unexpected(PlaceError(path, 1, 1, "the file is larger than 1.0 MiB"));
  }
  bytes.resize(size);
  bytes.shrink_to_fit();
  return bytes;
}

}  // namespace

Result<std::optional<ConfigFile>> ReadConfigFile(const std::string& path) {
  // Non-blocking: a pipe with that name must not hang every command.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return MakeErrnoError(errno, path);
  }
  struct stat info{};
  if (fstat(fd.get(), &info) != 0) return MakeErrnoError(errno, path);
  DOSSIER_RETURN_IF_ERROR(CheckFileOwner(info, path));
  ConfigFile file{.path = path};
  DOSSIER_ASSIGN_OR_RETURN(file.real_path, RealPathOf(fd.get(), path));
  DOSSIER_ASSIGN_OR_RETURN(file.bytes, ReadBytes(fd.get(), path));
  return file;
}

bool LeadsOut(const ConfigFile& file, const std::string& top) {
  std::error_code error;
  const auto folder = std::filesystem::weakly_canonical(top, error);
  const std::string below = std::filesystem::path(file.real_path).lexically_relative(folder);
  return !file.real_path.empty() && (error || below.empty() || below.starts_with(".."));
}

Result<Value> ParseConfigFile(const ConfigFile& file) {
  if (!utf8::IsValid(file.bytes)) {
    return tl::unexpected(PlaceError(file.path, 1, 1, "the file is not UTF-8"));
  }
  DOSSIER_ASSIGN_OR_RETURN(
      YamlNode root, assembly::ReadYaml(file.bytes, file.path, {.max_bytes = kMaxConfigBytes}));
  if (root.kind == YamlNode::Kind::kNull) root.kind = YamlNode::Kind::kMap;
  if (root.kind != YamlNode::Kind::kMap) {
    return tl::unexpected(
        PlaceError(file.path, root.line, root.column, "must contain a dictionary"));
  }
  return FromYaml(std::move(root), file.path);
}

}  // namespace dossier::config
