#include "sources/header/data_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "assembly/layout/yaml_table.h"
#include "base/files/file.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "base/yaml/yaml.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kMaxBytes = kMaxEdnBytes;
// Enough for 10,000 tasks with ten keys and a few items each.
constexpr std::size_t kMaxNodes = 1'000'000;

Status NormalizeKeys(std::string_view file, Json* value) {
  if (auto* list = value->if_array()) {
    for (Json& item : *list) DOSSIER_RETURN_IF_ERROR(NormalizeKeys(file, &item));
  }
  auto* map = value->if_object();
  if (!map) return {};
  JsonObject out;
  for (auto& [key, inner] : *map) {
    DOSSIER_RETURN_IF_ERROR(NormalizeKeys(file, &inner));
    if (!out.emplace(NormalKey(key), std::move(inner)).second) {
      return MakeError(ErrorCode::kConfig, "{}: duplicate key {}", file, std::string_view(key));
    }
  }
  *value = std::move(out);
  return {};
}

// ParseJson reports a byte offset, but people look for lines.
Result<Json> ParseJsonFile(std::string_view text, std::string_view file) {
  auto parsed = ParseJson(text);
  if (parsed) return parsed;
  const std::string& message = parsed.error().message;
  constexpr std::string_view kByte = "at byte ";
  const std::size_t mark = message.find(kByte);
  std::size_t offset = 0;
  if (mark != std::string::npos) {
    std::from_chars(message.data() + mark + kByte.size(), message.data() + message.size(), offset);
  }
  return MakeError(ErrorCode::kConfig, "{}: {}",
                   PlaceInText(file, text, std::min(offset, text.size())), message);
}

Result<YamlNode> ReadYamlFile(std::string_view text, std::string_view file) {
  return assembly::ReadYaml(text, file, {.max_bytes = kMaxBytes, .max_nodes = kMaxNodes});
}

// Returns the child of `node` for one step of a path, and its place.
const YamlNode* StepInto(const YamlNode& node, std::string_view step, int* line, int* column) {
  for (const YamlEntry& entry : node.entries) {
    if (NormalKey(entry.key) != step) continue;
    *line = entry.line, *column = entry.column;
    return &entry.value;
  }
  const auto index = ExactNumber<std::size_t>(step);
  if (node.kind != YamlNode::Kind::kList || !index || *index >= node.items.size()) return nullptr;
  *line = node.items[*index].line, *column = node.items[*index].column;
  return &node.items[*index];
}

}  // namespace

std::string DataFile::PlaceOf(std::string_view path) const {
  if (file.ends_with(".edn")) return PlaceInText(file, text, FindInEdn(text, path));
  const auto root = ReadYamlFile(text, file);  // JSON is YAML, except for tabs
  if (!root) return file;
  int line = root->line, column = root->column;
  const YamlNode* node = &*root;
  for (const std::string_view step : Split(path, '/')) {
    if (step.empty()) continue;
    node = StepInto(*node, step, &line, &column);
    if (!node) break;
  }
  return fmt::format("{}:{}:{}", file, line, column);
}

bool HasDataEnding(std::string_view file) {
  for (const std::string_view ending : kDataEndings) {
    if (file.ends_with(ending)) return true;
  }
  return false;
}

Result<DataFile> ParseData(std::string text, std::string_view file) {
  DataFile data;
  if (file.ends_with(".edn")) {
    DOSSIER_ASSIGN_OR_RETURN(EdnDocument document, ParseEdn(text, file));
    data.value = std::move(document.value);
    data.warnings = std::move(document.warnings);
  } else if (file.ends_with(".json")) {
    DOSSIER_ASSIGN_OR_RETURN(data.value, ParseJsonFile(text, file));
    DOSSIER_RETURN_IF_ERROR(NormalizeKeys(file, &data.value));
  } else if (HasDataEnding(file)) {
    DOSSIER_ASSIGN_OR_RETURN(const YamlNode node, ReadYamlFile(text, file));
    data.value = ToJsonValue(node);
    DOSSIER_RETURN_IF_ERROR(NormalizeKeys(file, &data.value));
  } else {
    return MakeError(ErrorCode::kConfig, "{}: the name must end in .edn, .yaml, .yml or .json",
                     file);
  }
  data.text = std::move(text);
  data.file = file;
  return data;
}

Result<DataFile> ReadDataFile(const std::string& root, const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(root) / file;
  // Reading a pipe would block.
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  using std::filesystem::file_type;
  if (kind != file_type::regular && kind != file_type::not_found && kind != file_type::none) {
    return MakeError(ErrorCode::kConfig, "{}: is no regular file", file);
  }
  auto text = ReadFile(path.string(), kMaxBytes);
  if (!text) {
    if (text.error().code == ErrorCode::kNotFound) {
      return MakeError(ErrorCode::kConfig, "{}: there is no such file", file);
    }
    return MakeError(ErrorCode::kConfig, "{}: {}", file, text.error().message);
  }
  return ParseData(std::move(*text), file);
}

Result<std::optional<std::string>> FindDataFile(const std::string& root, std::string_view stem) {
  std::optional<std::string> found;
  for (const std::string_view ending : kDataEndings) {
    const std::string file = fmt::format("{}{}", stem, ending);
    if (!Exists((std::filesystem::path(root) / file).string())) continue;
    if (found) {
      return MakeError(ErrorCode::kConfig, "{} and {} are both there: keep one of them", *found,
                       file);
    }
    found = file;
  }
  return found;
}

namespace {

constexpr bool IsEdnSpace(char c) { return IsJsonSpace(c) || c == ',' || c == '\f' || c == '\v'; }
constexpr bool IsOneOf(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

// One table per character class: every byte of files of megabytes is tested.
using ByteTable = std::array<bool, 256>;

constexpr ByteTable MakeTable(bool (*holds)(char)) {
  ByteTable table{};
  for (int byte = 0; byte < 256; ++byte) {
    table[static_cast<std::size_t>(byte)] = holds(static_cast<char>(byte));
  }
  return table;
}
constexpr bool Holds(const ByteTable& table, char c) {
  return table[static_cast<unsigned char>(c)];
}
constexpr ByteTable kSymbolBytes = MakeTable([](char c) {
  return IsLetter(c) || IsDigit(c) || static_cast<unsigned char>(c) >= 0x80 ||
         IsOneOf(c, ".*+!-_?$%&=<>/:#'|");
});
constexpr ByteTable kEndsToken =
    MakeTable([](char c) { return IsEdnSpace(c) || IsOneOf(c, "()[]{}\";\\"); });
constexpr ByteTable kEndsRun = MakeTable([](char c) { return c == '"' || c == '\\'; });

// Returns the first byte from `at` on that is in `table`, or the end.
std::size_t FindByte(std::string_view text, std::size_t at, const ByteTable& table) {
  while (at < text.size() && !Holds(table, text[at])) ++at;
  return at;
}

constexpr std::pair<std::string_view, char32_t> kNamedCharacters[] = {
    {"newline", '\n'}, {"return", '\r'},   {"space", ' '},
    {"tab", '\t'},     {"formfeed", '\f'}, {"backspace", '\b'},
};

std::optional<char32_t> HexCode(std::string_view digits) {
  return digits.size() == 4 ? ExactNumber<std::uint32_t>(digits, 16) : std::nullopt;
}

bool IsSurrogate(char32_t code) { return code >= 0xD800 && code <= 0xDFFF; }

// A key that is no text may have this many bytes as JSON. A map as a key of a map as a key …
// doubles its text with each level, as each escapes the quotes of the one inside it.
constexpr std::size_t kMaxFormKey = 1024;

// Returns the text for a key that is not a text: `{[1 2] "x"}` has the key "[1,2]".
std::string KeyText(const Json& key) {
  return key.is_string() ? std::string(key.get_string()) : ToJson(key);
}

class EdnReader {
 public:
  EdnReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  // Returns where the form at that path begins; for a value in a map, its key; without such a path,
  // the nearest enclosing form. `text` must be valid EDN.
  std::size_t Find(std::string_view path) {
    wanted_ = path;
    (void)Read();
    return found_;
  }

  Result<EdnDocument> Read() {
    if (text_.size() > kMaxEdnBytes) {
      return MakeError(ErrorCode::kConfig, "{}: larger than 16 MiB", file_);
    }
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    DOSSIER_RETURN_IF_ERROR(SkipBlanks(0));
    if (at_ < text_.size()) {
      found_ = at_;
      DOSSIER_ASSIGN_OR_RETURN(document_.value, ReadForm(0));
      DOSSIER_RETURN_IF_ERROR(SkipBlanks(0));
      if (at_ < text_.size()) Warn(at_, "a second form is ignored");
    }
    if (warnings_ > kMaxEdnWarnings) {
      document_.warnings.push_back(
          fmt::format("{}: {} more warnings", file_, warnings_ - kMaxEdnWarnings));
    }
    return std::move(document_);
  }

 private:
  tl::unexpected<Error> Fail(std::size_t offset, std::string_view what) const {
    return MakeError(ErrorCode::kConfig, "{}: {}", PlaceInText(file_, text_, offset), what);
  }
  // Limits warnings: counting lines up to each of a million places would take hours.
  void Warn(std::size_t offset, std::string_view what) {
    if (++warnings_ > kMaxEdnWarnings) return;
    document_.warnings.push_back(fmt::format("{}: {}", PlaceInText(file_, text_, offset), what));
  }

  // Skips blanks, comments and discarded forms.
  Status SkipBlanks(int depth) {
    if (depth > kMaxEdnDepth) return Fail(at_, "nested deeper than 64");
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (IsEdnSpace(c)) {
        ++at_;
      } else if (c == ';') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '#' && text_.substr(at_, 2) == "#_") {
        const std::size_t start = at_;
        at_ += 2;
        DOSSIER_RETURN_IF_ERROR(SkipBlanks(depth + 1));
        if (at_ >= text_.size() || IsCloser(text_[at_])) return Fail(start, "#_ discards nothing");
        const std::size_t found = found_;  // a discarded form has no path
        DOSSIER_RETURN_IF_ERROR(ReadForm(depth + 1));
        found_ = found;
      } else {
        break;
      }
    }
    return {};
  }

  static bool IsCloser(char c) { return c == ')' || c == ']' || c == '}'; }

  // Reads the form that starts at `at_`.
  Result<Json> ReadForm(int depth) {
    if (depth > kMaxEdnDepth) return Fail(at_, "nested deeper than 64");
    const char c = text_[at_];
    if (c == '"') return ReadString();
    if (c == '{') return ReadMap(depth);
    if (c == '[') return ReadList(depth, 1, ']');
    if (c == '(') return ReadList(depth, 1, ')');
    if (c == '\\') return ReadCharacter();
    if (c == '#') return ReadDispatch(depth);
    if (IsCloser(c)) return Fail(at_, fmt::format("{} closes nothing", c));
    return ReadToken();
  }

  // Reads the value at the step `name` of the path; Find would return `offset` for it.
  Result<Json> ReadStep(std::string_view name, std::size_t offset, int depth) {
    if (wanted_.empty()) return ReadForm(depth);
    const std::size_t size = path_.size();
    path_.append("/").append(name);
    const std::string_view rest = wanted_.substr(std::min(path_.size(), wanted_.size()));
    if (wanted_.starts_with(path_) && (rest.empty() || rest.front() == '/')) found_ = offset;
    auto form = ReadForm(depth);
    path_.resize(size);
    return form;
  }

  // Moves past the closing character, or to the next form; returns false at the end.
  Result<bool> NextInside(std::size_t open, char closer, int depth) {
    DOSSIER_RETURN_IF_ERROR(SkipBlanks(depth));
    if (at_ >= text_.size()) {
      return Fail(
          open, fmt::format("{} is never closed", text_.substr(open, text_[open] == '#' ? 2 : 1)));
    }
    if (text_[at_] == closer) {
      ++at_;
      return false;
    }
    if (IsCloser(text_[at_])) {
      return Fail(at_, fmt::format("{} where {} was expected", text_[at_], closer));
    }
    return true;
  }

  Result<Json> ReadList(int depth, std::size_t opener_size, char closer) {
    const std::size_t open = at_;
    at_ += opener_size;
    JsonArray list;
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool more, NextInside(open, closer, depth));
      if (!more) return Json(std::move(list));
      auto item = ReadStep(wanted_.empty() ? "" : std::to_string(list.size()), at_, depth + 1);
      if (!item) return item;
      list.push_back(std::move(*item));
    }
  }

  Result<Json> ReadSet(int depth) {
    const std::size_t open = at_;
    auto set = ReadList(depth, 2, '}');
    if (!set) return set;
    std::set<std::string> seen;
    for (const Json& item : set->get_array()) {
      const std::string text = ToJson(item);
      if (!seen.insert(text).second)
        return Fail(open, fmt::format("{} stands twice in a set", text));
    }
    return set;
  }

  Result<Json> ReadMap(int depth) {
    const std::size_t open = at_++;
    JsonObject map;
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool more, NextInside(open, '}', depth));
      if (!more) return Json(std::move(map));
      const std::size_t key_at = at_;
      auto key = ReadForm(depth + 1);
      if (!key) return key;
      const std::string text = KeyText(*key);
      if (!key->is_string() && text.size() > kMaxFormKey) {
        return Fail(key_at, fmt::format("a key that is no text has more than {} bytes as JSON",
                                        GroupDigits(kMaxFormKey)));
      }
      const std::string name = NormalKey(text);
      DOSSIER_ASSIGN_OR_RETURN(const bool value_follows, NextInside(open, '}', depth));
      if (!value_follows) return Fail(key_at, fmt::format("key {} has no value", name));
      auto value = ReadStep(name, key_at, depth + 1);
      if (!value) return value;
      if (!map.emplace(name, std::move(*value)).second) {
        return Fail(key_at, fmt::format("duplicate key {}", name));
      }
    }
  }

  Result<Json> ReadString() {
    const std::size_t open = at_++;
    std::string value;
    while (true) {
      const std::size_t stop = FindByte(text_, at_, kEndsRun);
      if (stop == text_.size()) return Fail(open, "\" is never closed");
      value.append(text_.substr(at_, stop - at_));
      at_ = stop + 1;
      if (text_[stop] == '"') return Json(value);
      DOSSIER_RETURN_IF_ERROR(ReadEscape(stop, &value));
    }
  }

  // `at_` is after the backslash.
  Status ReadEscape(std::size_t start, std::string* out) {
    constexpr std::string_view kLetters = "tnrbf\"\\/", kMeanings = "\t\n\r\b\f\"\\/";
    if (at_ >= text_.size()) return Fail(start, "\" is never closed");
    const char letter = text_[at_++];
    if (letter == 'u') {
      auto code = HexCode(text_.substr(at_, 4));
      if (!code) return Fail(start, "\\u needs four hex digits");
      at_ += 4;
      const bool high = *code >= 0xD800 && *code < 0xDC00;
      if (high && text_.substr(at_, 2) == "\\u") {  // a surrogate pair, as in JSON
        const auto low = HexCode(text_.substr(at_ + 2, 4));
        if (low && *low >= 0xDC00 && *low <= 0xDFFF) {
          code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
          at_ += 6;
        }
      }
      utf8::Append(IsSurrogate(*code) ? U'\uFFFD' : *code, out);
      return {};
    }
    const std::size_t meaning = kLetters.find(letter);
    if (meaning == std::string_view::npos) return Fail(start, "unknown escape in a string");
    *out += kMeanings[meaning];
    return {};
  }

  std::string_view TakeToken() {
    const std::size_t start = at_;
    at_ = FindByte(text_, at_, kEndsToken);
    return text_.substr(start, at_ - start);
  }

  Result<Json> ReadCharacter() {
    const std::size_t start = at_++;
    std::size_t next = at_;
    if (next >= text_.size() || IsEdnSpace(text_[next]))
      return Fail(start, "\\ names no character");
    const char32_t first = utf8::Next(text_, &next);
    at_ = next;
    TakeToken();
    const std::string_view name = text_.substr(start + 1, at_ - start - 1);
    std::string value;
    if (name.size() == next - start - 1) {
      utf8::Append(first, &value);
      return Json(value);
    }
    for (const auto& [word, code] : kNamedCharacters) {
      if (name == word) return Json(std::string(1, static_cast<char>(code)));
    }
    const auto code = name.starts_with('u') ? HexCode(name.substr(1)) : std::nullopt;
    if (!code || IsSurrogate(*code))
      return Fail(start, fmt::format("unknown character \\{}", name));
    utf8::Append(*code, &value);
    return Json(value);
  }

  Result<Json> ReadDispatch(int depth) {
    const std::size_t start = at_;
    if (text_.substr(at_, 2) == "#{") return ReadSet(depth);
    ++at_;
    const std::string_view tag = TakeToken();
    if (tag.empty() || !IsSymbol(tag)) return Fail(start, "# begins no form");
    if (tag != "inst" && tag != "uuid") Warn(start, fmt::format("the tag #{} is ignored", tag));
    DOSSIER_RETURN_IF_ERROR(SkipBlanks(depth));
    if (at_ >= text_.size() || IsCloser(text_[at_])) {
      return Fail(start, fmt::format("#{} tags nothing", tag));
    }
    return ReadForm(depth + 1);
  }

  static bool IsSymbol(std::string_view token) {
    return !IsDigit(token.front()) && token.front() != ':' && token.front() != '#' &&
           std::all_of(token.begin(), token.end(), [](char c) { return Holds(kSymbolBytes, c); });
  }

  Result<Json> ReadToken() {
    const std::size_t start = at_;
    const std::string_view token = TakeToken();
    if (token == "nil") return Json(nullptr);
    if (token == "true" || token == "false") return Json(token == "true");
    const bool sign = token.front() == '-' || token.front() == '+';
    if (IsDigit(token.front()) || (sign && token.size() > 1 && IsDigit(token[1]))) {
      return ReadNumber(start, token);
    }
    const std::string_view name = token.front() == ':' ? token.substr(1) : token;
    if (name.empty() || !IsSymbol(name)) {
      const std::string_view shown = utf8::Prefix(token, 40);
      return Fail(start, fmt::format("{} is no form of EDN", utf8::CleanForTerminal(shown)));
    }
    return Json(name);
  }

  Result<Json> ReadNumber(std::size_t start, std::string_view token) {
    std::string_view digits = token;
    if (digits.front() == '+') digits.remove_prefix(1);
    const bool exact_integer = digits.ends_with('N'), decimal = digits.ends_with('M');
    if (exact_integer || decimal) digits.remove_suffix(1);
    const std::string_view bare = digits.substr(digits.starts_with('-') ? 1 : 0);
    const auto wrong = [&] { return Fail(start, fmt::format("{} is no number", token)); };
    if (bare.size() > 1 && bare[0] == '0' && IsDigit(bare[1])) return wrong();
    if (bare.find_first_not_of("0123456789") == std::string_view::npos && !decimal) {
      if (const auto number = ExactNumber<std::int64_t>(digits)) return Json(*number);
      return Json(digits);  // too large for a numeric field, but exact
    }
    const auto number = ExactNumber<double>(digits);
    return exact_integer || !number ? Result<Json>(wrong()) : Result<Json>(Json(*number));
  }

  std::string_view text_, file_;
  std::size_t at_ = 0, warnings_ = 0;
  EdnDocument document_;
  std::string_view wanted_;  // set by Find
  std::string path_;
  std::size_t found_ = 0;
};

}  // namespace

std::string NormalKey(std::string_view key) {
  while (key.starts_with(':')) key.remove_prefix(1);
  while (key.ends_with('?')) key.remove_suffix(1);
  std::string name(key);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string PlaceInText(std::string_view file, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}:{}", file, 1 + std::count(before.begin(), before.end(), '\n'),
                     1 + utf8::CodePoints(before.substr(start)));
}

Result<EdnDocument> ParseEdn(std::string_view text, std::string_view file) {
  return EdnReader(text, file).Read();
}

std::size_t FindInEdn(std::string_view text, std::string_view path) {
  return EdnReader(text, "").Find(path);
}

}  // namespace dossier::sources
