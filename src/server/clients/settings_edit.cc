#include "server/clients/settings_edit.h"

#include <algorithm>

#include "base/json/json_lexer.h"
#include "base/text/text.h"

namespace dossier::clients {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr int kMostDepth = 100;

Error At(std::string_view file, std::string_view text, std::size_t at, std::string_view why) {
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return {ErrorCode::kDamaged, fmt::format("{}:{}: {}; it is left as it is", file, line, why)};
}

// --- JSON ---

// A member of an object or an element of a list, by its bytes.
struct Item {
  std::string name;                           // "" of an element
  std::size_t begin = 0, value = 0, end = 0;  // offsets of the name (or value), the value, the end
};
struct Container {
  std::size_t open = 0, close = 0;  // the brackets
  std::vector<Item> items;
  bool trailing_comma = false;
};

class JsonReader {
 public:
  JsonReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  // Skips white space and comments. Returns false for a comment that does not end.
  bool Skip() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (IsJsonSpace(rest[0])) {
        ++at_;
      } else if (rest.starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == text_.npos) return false;
        at_ = end + 2;
      } else {
        break;
      }
    }
    return true;
  }

  Result<std::size_t> Root() {
    at_ = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    if (!Skip()) return Fail("a comment does not end");
    const std::size_t root = at_;
    if (at_ == text_.size()) return root;
    DOSSIER_RETURN_IF_ERROR(Value(0));
    if (!Skip() || at_ != text_.size()) return Fail("something stands behind the value");
    return root;
  }

  Result<Container> ReadContainer(std::size_t at) {
    at_ = at;
    Container out;
    DOSSIER_RETURN_IF_ERROR(List(0, &out));
    return out;
  }

 private:
  tl::unexpected<Error> Fail(std::string_view why) const {
    return tl::unexpected(At(file_, text_, at_, why));
  }

  Status Value(int depth) {
    if (depth > kMostDepth) return Fail("it is nested too deeply");
    if (at_ >= text_.size()) return Fail("a value is missing");
    const char c = text_[at_];
    if (c == '{' || c == '[') return List(depth, nullptr);
    JsonLexer lexer(text_, at_);
    const bool read = c == '"'   ? lexer.String()
                      : c == 't' ? lexer.Word("true")
                      : c == 'f' ? lexer.Word("false")
                      : c == 'n' ? lexer.Word("null")
                                 : lexer.Number();
    at_ = lexer.at();
    return read ? Status() : Fail("no value of JSON stands here");
  }

  // Reads an object or a list; `out`, if given, gets its items.
  Status List(int depth, Container* out) {
    const bool object = text_[at_] == '{';
    const char close = object ? '}' : ']';
    if (out) out->open = at_;
    ++at_;
    bool comma = true;
    while (true) {
      if (!Skip()) return Fail("a comment does not end");
      if (at_ >= text_.size()) return Fail(fmt::format("a {} is missing", close));
      if (text_[at_] == close) {
        if (out) out->close = at_;
        if (out) out->trailing_comma = comma && !out->items.empty();
        ++at_;
        return {};
      }
      if (!comma) return Fail("a comma is missing");
      Item item{.begin = at_};
      if (object) DOSSIER_RETURN_IF_ERROR(Name(&item));
      item.value = at_;
      DOSSIER_RETURN_IF_ERROR(Value(depth + 1));
      item.end = at_;
      if (out) out->items.push_back(std::move(item));
      if (!Skip()) return Fail("a comment does not end");
      comma = at_ < text_.size() && text_[at_] == ',';
      if (comma) ++at_;
    }
  }

  Status Name(Item* item) {
    JsonLexer lexer(text_, at_);
    const bool read = lexer.String();
    at_ = lexer.at();
    if (!read) return Fail("a name in quotation marks should stand here");
    const auto name = ParseJson(text_.substr(item->begin, at_ - item->begin));
    if (!name) return Fail(name.error().message);
    item->name = name->get_string();
    if (!Skip() || at_ >= text_.size() || text_[at_] != ':') return Fail("a colon is missing");
    ++at_;
    return Skip() ? Status() : Fail("a comment does not end");
  }

  const std::string_view text_, file_;
  std::size_t at_ = 0;
};

// The existing part of a path.
struct Reached {
  std::size_t steps = 0;     // of the path
  std::size_t at = 0;        // the value that they lead to; the end of an empty text
  std::optional<Item> item;  // the item of the last step, which holds the value
  Container within;          // the container of `item`
};

Result<Reached> Reach(std::string_view text, const Path& path, std::string_view file) {
  JsonReader reader(text, file);
  Reached out;
  DOSSIER_ASSIGN_OR_RETURN(out.at, reader.Root());
  while (out.steps < path.size() && out.at < text.size()) {
    if (text[out.at] != '{') {
      return tl::unexpected(At(file, text, out.at, "an object should stand here"));
    }
    DOSSIER_ASSIGN_OR_RETURN(Container object, reader.ReadContainer(out.at));
    const auto found = std::ranges::find(object.items, path[out.steps], &Item::name);
    if (found == object.items.end()) break;
    out.item = *found;
    out.at = found->value;
    out.within = std::move(object);
    ++out.steps;
  }
  return out;
}

// Removes comments and trailing commas, for the normal JSON parser.
Result<Json> Plain(std::string_view text, std::string_view file) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest[0] == '"') {
      JsonLexer lexer(text, at);
      lexer.String();
      plain += text.substr(at, lexer.at() - at);
      at = lexer.at();
    } else if (rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (rest.starts_with("/*")) {
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    } else {
      const bool closes = rest[0] == '}' || rest[0] == ']';
      if (closes) {
        while (!plain.empty() && IsJsonSpace(plain.back())) plain.pop_back();
        if (plain.ends_with(',')) plain.pop_back();
      }
      plain += rest[0];
      ++at;
    }
  }
  auto value = ParseJson(plain, kMostDepth + 1);
  if (!value) return tl::unexpected(At(file, text, 0, value.error().message));
  return value;
}

std::string_view LineEnd(std::string_view text) {
  return text.find("\r\n") != text.npos ? "\r\n" : "\n";
}

// Returns the white space before `at` on its line, if there is nothing else.
std::optional<std::string_view> IndentAt(std::string_view text, std::size_t at) {
  const std::size_t line = at == 0 ? text.npos : text.rfind('\n', at - 1);
  const std::size_t begin = line == text.npos ? 0 : line + 1;
  const std::string_view indent = text.substr(begin, at - begin);
  if (line == text.npos || indent.find_first_not_of(" \t") != indent.npos) return std::nullopt;
  return indent;
}

std::string Layout(const Json& value, std::string_view indent, std::string_view unit,
                   std::string_view end) {
  std::string out;
  const std::string deeper = std::string(indent) + std::string(unit);
  if (value.is_object() && !value.get_object().empty()) {
    out = "{";
    for (const auto& [name, one] : value.get_object()) {
      out += fmt::format("{}{}{}{}: {}", out.size() > 1 ? "," : "", end, deeper, ToJson(Json(name)),
                         Layout(one, deeper, unit, end));
    }
    return out + fmt::format("{}{}}}", end, indent);
  }
  if (value.is_array()) {
    for (const Json& one : value.get_array()) {
      out += (out.empty() ? "" : ", ") + Layout(one, indent, unit, end);
    }
    return "[" + out + "]";
  }
  return ToJson(value);
}

// Returns the end of the last content before the closing bracket, including a comment on its line.
std::size_t EndOfContent(std::string_view text, const Container& container) {
  std::size_t at = container.close;
  while (at > container.open + 1 && IsJsonSpace(text[at - 1])) --at;
  return at;
}

// Returns `text` with a new item at the end of a container. `name` "": an element.
std::string Insert(std::string_view text, const Container& container, std::string_view name,
                   const Json& value) {
  const std::string_view end = LineEnd(text);
  const auto outer = IndentAt(text, container.open);
  std::string_view own = outer.value_or("");
  if (!outer) {  // for {"name": {, the line's own indent
    const std::size_t line = text.rfind('\n', container.open);
    const std::size_t begin = line == text.npos ? 0 : line + 1;
    const std::size_t stop = text.find_first_not_of(" \t", begin);
    own = text.substr(begin, std::min(stop, container.open) - begin);
  }
  std::string indent(own);
  std::string unit = "  ";
  bool lines = true;
  if (!container.items.empty()) {
    const auto first = IndentAt(text, container.items[0].begin);
    lines = first.has_value();
    if (first) {
      indent = *first;
      if (first->starts_with(own) && first->size() > own.size()) unit = first->substr(own.size());
    }
  } else {
    if (own.find('\t') != own.npos || text.find("\n\t") != text.npos) unit = "\t";
    indent += unit;
  }
  const std::string head = name.empty() ? "" : ToJson(Json(name)) + ": ";
  std::string out(text);
  const std::size_t at = EndOfContent(text, container);
  const bool comma = !container.items.empty() && !container.trailing_comma;
  if (!lines) {
    out.insert(container.items.back().end, fmt::format(", {}{}", head, ToJson(value)));
    return out;
  }
  std::string item = fmt::format("{}{}{}{}", end, indent, head, Layout(value, indent, unit, end));
  if (container.trailing_comma) item += ",";
  // A closing bracket on the line of the opening one, or of the last item, moves to its own line.
  const std::string_view behind = text.substr(at, container.close - at);
  if (behind.find('\n') == behind.npos) item += fmt::format("{}{}", end, own);
  out.insert(at, item);
  if (comma) out.insert(container.items.back().end, ",");
  return out;
}

std::string RemoveItem(std::string_view text, const Container& container, std::size_t index) {
  const Item& item = container.items[index];
  std::size_t from = item.begin, to = item.end;
  while (from > container.open + 1 && IsJsonSpace(text[from - 1])) --from;
  std::string out(text);
  const bool last = index + 1 == container.items.size();
  if (!last || container.trailing_comma) {
    const std::size_t comma = text.find(',', item.end);
    out.erase(from, (comma == text.npos ? to : comma + 1) - from);
    return out;
  }
  out.erase(from, to - from);
  // Removes the comma before it, after the previous item.
  if (index > 0) {
    const std::size_t comma = out.find(',', container.items[index - 1].end);
    if (comma != out.npos && comma <= from) out.erase(comma, 1);
  } else if (TrimSpace(std::string_view(out).substr(
                           container.open + 1, container.close - (to - from) - container.open - 1))
                 .empty()) {
    out.erase(container.open + 1, container.close - (to - from) - container.open - 1);
  }
  return out;
}

Json Nested(const Path& path, std::size_t from, Json value) {
  for (std::size_t i = path.size(); i > from; --i) {
    JsonObject object;
    object[path[i - 1]] = std::move(value);
    value = std::move(object);
  }
  return value;
}

Result<std::string> SetJson(std::string_view text, const Path& path, const Json& value,
                            std::string_view file) {
  DOSSIER_ASSIGN_OR_RETURN(const Reached reached, Reach(text, path, file));
  const std::string_view end = LineEnd(text);
  if (reached.at >= text.size()) {
    return std::string(text) + Layout(Nested(path, 0, value), "", "  ", end) + std::string(end);
  }
  JsonReader reader(text, file);
  if (reached.steps == path.size()) {
    std::string out(text);
    const auto indent = IndentAt(text, reached.item->begin);
    out.replace(reached.item->value, reached.item->end - reached.item->value,
                Layout(value, indent.value_or(""), "  ", end));
    return out;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Container object, reader.ReadContainer(reached.at));
  return Insert(text, object, path[reached.steps], Nested(path, reached.steps + 1, value));
}

// --- TOML ---

struct TomlTable {
  Path name;
  std::size_t begin = 0, body = 0, end = 0;  // of the header, behind its line, of the last key line
};

class TomlReader {
 public:
  TomlReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  // The tables in order; the first has no name and no header.
  Result<std::vector<TomlTable>> Tables() {
    std::vector<TomlTable> tables(1);
    at_ = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    while (at_ < text_.size()) {
      const std::size_t line = at_;
      Spaces();
      if (Ends() || text_[at_] == '#') {
        Line();
        continue;
      }
      if (text_[at_] == '[') {
        TomlTable table{.begin = line};
        while (at_ < text_.size() && text_[at_] == '[') ++at_;
        DOSSIER_ASSIGN_OR_RETURN(table.name, Key("]"));
        while (at_ < text_.size() && text_[at_] == ']') ++at_;
        Line();
        table.body = table.end = at_;
        tables.push_back(std::move(table));
        continue;
      }
      DOSSIER_ASSIGN_OR_RETURN(const Path key, Key("="));
      ++at_;
      if (tables.size() == 1) root_keys_.push_back(key);
      DOSSIER_RETURN_IF_ERROR(Value());
      Line();
      tables.back().end = at_;
    }
    return tables;
  }
  const std::vector<Path>& root_keys() const { return root_keys_; }

 private:
  tl::unexpected<Error> Fail(std::string_view why) const {
    return tl::unexpected(At(file_, text_, std::min(at_, text_.size()), why));
  }
  bool Ends() const { return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '\r'; }
  void Spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  void Line() { at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1; }

  // Reads a dotted key up to `end`.
  Result<Path> Key(std::string_view end) {
    Path key;
    while (true) {
      Spaces();
      if (Ends()) return Fail("a key is not complete");
      if (text_[at_] == '"' || text_[at_] == '\'') {
        const std::size_t close = text_.find(text_[at_], at_ + 1);
        if (close == text_.npos) return Fail("a quotation mark is missing");
        key.emplace_back(text_.substr(at_ + 1, close - at_ - 1));
        at_ = close + 1;
      } else {
        const std::size_t stop = text_.find_first_of(" \t.=]\r\n#", at_);
        if (stop == at_ || stop == text_.npos) return Fail("no key stands here");
        key.emplace_back(text_.substr(at_, stop - at_));
        at_ = stop;
      }
      Spaces();
      if (Ends()) return Fail("a key is not complete");
      if (end.find(text_[at_]) != end.npos) return key;
      if (text_[at_] != '.') return Fail("a key is not complete");
      ++at_;
    }
  }

  // Skips a value: texts of one and of several lines, and brackets that may contain line ends.
  Status Value() {
    int open = 0;
    bool any = false;
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
        const std::size_t close = text_.find(rest.substr(0, 3), at_ + 3);
        if (close == text_.npos) return Fail("a text does not end");
        at_ = close + 3;
        any = true;
      } else if (rest[0] == '"' || rest[0] == '\'') {
        DOSSIER_RETURN_IF_ERROR(Quoted(rest[0]));
        any = true;
      } else if (rest[0] == '\n' || rest[0] == '\r' || rest[0] == '#') {
        if (open == 0) break;
        Line();
      } else {
        open += rest[0] == '[' || rest[0] == '{' ? 1 : 0;
        open -= rest[0] == ']' || rest[0] == '}' ? 1 : 0;
        if (open < 0) return Fail("a bracket too many");
        any = any || rest[0] != ' ';
        ++at_;
      }
    }
    if (open > 0) return Fail("a bracket is missing");
    return any ? Status() : Fail("a value is missing");
  }

  Status Quoted(char mark) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && mark == '"') {
        ++at_;
      } else if (text_[at_] == mark) {
        ++at_;
        return {};
      }
    }
    return Fail("a quotation mark is missing");
  }

  const std::string_view text_, file_;
  std::size_t at_ = 0;
  std::vector<Path> root_keys_;
};

bool BeginsWith(const Path& name, const Path& with) {
  return name.size() >= with.size() && std::equal(with.begin(), with.end(), name.begin());
}

// The bytes of the table and of its subtables, whole lines.
struct TomlPlace {
  std::size_t begin = 0, end = 0, body = 0;
};
Result<std::optional<TomlPlace>> FindTable(std::string_view text, const Path& path,
                                           std::string_view file) {
  TomlReader reader(text, file);
  DOSSIER_ASSIGN_OR_RETURN(const auto tables, reader.Tables());
  for (const Path& key : reader.root_keys()) {
    if (key[0] != path[0]) continue;
    return tl::unexpected(At(file, text, 0,
                             fmt::format("{} is no table of its own here; change it "
                                         "by hand",
                                         Join(path, "."))));
  }
  std::optional<TomlPlace> place;
  for (const TomlTable& table : tables) {
    if (table.name.empty() || !BeginsWith(table.name, path)) {
      if (place) break;
      continue;
    }
    if (!place) place = TomlPlace{.begin = table.begin, .body = table.body};
    place->end = table.end;
  }
  return place;
}

std::string TomlText(const Json& value) {
  if (!value.is_array()) return ToJson(value);  // TOML reads JSON's escapes the same way
  std::string out;
  for (const Json& one : value.get_array()) out += (out.empty() ? "" : ", ") + ToJson(one);
  return "[" + out + "]";
}

Result<std::string> SetToml(std::string_view text, const Path& path, const Json& value,
                            std::string_view file) {
  DOSSIER_ASSIGN_OR_RETURN(const auto place, FindTable(text, path, file));
  const std::string_view end = LineEnd(text);
  std::string table = fmt::format("[{}]{}", Join(path, "."), end);
  for (const auto& [name, one] : value.get_object()) {
    table += fmt::format("{} = {}{}", std::string_view(name), TomlText(one), end);
  }
  std::string out(text);
  if (place) return out.replace(place->begin, place->end - place->begin, table);
  if (!out.empty() && !out.ends_with('\n')) out += end;
  if (!TrimSpace(out).empty()) out += end;
  return out + table;
}

}  // namespace

Result<std::optional<Json>> FindEntry(std::string_view text, SettingsForm form, const Path& path,
                                      std::string_view file) {
  if (form == SettingsForm::kJson) {
    DOSSIER_ASSIGN_OR_RETURN(const Reached reached, Reach(text, path, file));
    if (reached.steps < path.size() || reached.at >= text.size()) return std::optional<Json>();
    DOSSIER_ASSIGN_OR_RETURN(
        Json value,
        Plain(text.substr(reached.item->value, reached.item->end - reached.item->value), file));
    return std::optional(std::move(value));
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto place, FindTable(text, path, file));
  if (!place) return std::optional<Json>();
  if (path.size() == 1) {  // the subtables, by name
    JsonObject all;
    TomlReader reader(text, file);
    DOSSIER_ASSIGN_OR_RETURN(const auto tables, reader.Tables());
    for (const TomlTable& table : tables) {
      if (table.name.size() != 2 || table.name[0] != path[0]) continue;
      DOSSIER_ASSIGN_OR_RETURN(const auto one, FindEntry(text, form, table.name, file));
      if (one) all[table.name[1]] = *one;
    }
    return std::optional<Json>(std::move(all));
  }
  // Reads only what identifies an entry: texts and lists of texts, one line each.
  JsonObject found;
  for (const std::string_view line :
       Split(text.substr(place->body, place->end - place->body), '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == line.npos) continue;
    const auto value = ParseJson(TrimSpace(line.substr(equals + 1)));
    if (value) found[TrimSpace(line.substr(0, equals))] = *value;
  }
  return std::optional<Json>(std::move(found));
}

Result<std::string> SetEntry(std::string_view text, SettingsForm form, const Path& path,
                             const Json& value, std::string_view file) {
  return form == SettingsForm::kJson ? SetJson(text, path, value, file)
                                     : SetToml(text, path, value, file);
}

Result<std::string> RemoveEntry(std::string_view text, SettingsForm form, const Path& path,
                                std::string_view file) {
  if (form == SettingsForm::kToml) {
    DOSSIER_ASSIGN_OR_RETURN(const auto place, FindTable(text, path, file));
    std::string out(text);
    if (!place) return out;
    out.erase(place->begin, place->end - place->begin);
    // Also removes the empty line before it.
    const std::string_view head = std::string_view(out).substr(0, place->begin);
    const std::string_view end = LineEnd(text);
    if (place->begin == out.size() && head.ends_with(std::string(end) + std::string(end))) {
      out.erase(out.size() - end.size());
    }
    return out;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Reached reached, Reach(text, path, file));
  if (reached.steps < path.size() || reached.at >= text.size()) return std::string(text);
  const auto& items = reached.within.items;
  const auto found = std::ranges::find(items, reached.item->begin, &Item::begin);
  return RemoveItem(text, reached.within, static_cast<std::size_t>(found - items.begin()));
}

Result<std::string> AppendElement(std::string_view text, const Path& path, const Json& value,
                                  std::string_view file) {
  DOSSIER_ASSIGN_OR_RETURN(const Reached reached, Reach(text, path, file));
  if (reached.steps < path.size() || reached.at >= text.size()) {
    return SetJson(text, path, JsonArray{value}, file);
  }
  if (text[reached.at] != '[') {
    return tl::unexpected(At(file, text, reached.at, "a list should stand here"));
  }
  JsonReader reader(text, file);
  DOSSIER_ASSIGN_OR_RETURN(const Container list, reader.ReadContainer(reached.at));
  return Insert(text, list, "", value);
}

Result<std::string> RemoveElements(std::string_view text, const Path& path, std::string_view mark,
                                   std::string_view file) {
  std::string out(text);
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const Reached reached, Reach(out, path, file));
    if (reached.steps < path.size() || reached.at >= out.size() || out[reached.at] != '[')
      return out;
    JsonReader reader(out, file);
    DOSSIER_ASSIGN_OR_RETURN(const Container list, reader.ReadContainer(reached.at));
    const auto holds = [&](const Item& item) {
      return std::string_view(out).substr(item.value, item.end - item.value).find(mark) !=
             std::string_view::npos;
    };
    const auto found = std::ranges::find_if(list.items, holds);
    if (found == list.items.end()) return out;
    out = RemoveItem(out, list, static_cast<std::size_t>(found - list.items.begin()));
  }
}

}  // namespace dossier::clients
