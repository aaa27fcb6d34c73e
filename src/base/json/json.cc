#include "base/json/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "base/text/utf8.h"

namespace dossier {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

// Returns the escape of `c` in a JSON string; empty if it needs none.
std::string EscapeOf(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20) return {};
  return {'\\', 'u', '0', '0', kHexDigits[byte >> 4], kHexDigits[byte & 0xf]};
}

bool IsPlain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

// Returns how many plain bytes `text` begins with: eight at a time, then one by one.
std::size_t PlainRun(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  // Has high bits at, or after, the first byte that is zero.
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHighs; };
  std::size_t run = 0;
  for (; run + 8 <= text.size(); run += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + run, sizeof(word));
    const std::uint64_t control = (word - kOnes * 0x20) & ~word & kHighs;
    if (control | zeros(word ^ (kOnes * '"')) | zeros(word ^ (kOnes * '\\'))) break;
  }
  while (run < text.size() && IsPlain(text[run])) ++run;
  return run;
}

void WriteString(std::string_view text, std::string& out) {
  // JSON is UTF-8: invalid bytes, as in a file name, could not be read back.
  const bool wide = std::ranges::any_of(text, [](char c) { return (c & 0x80) != 0; });
  if (wide && !utf8::IsValid(text)) return WriteString(utf8::Sanitize(text), out);
  // Allocates once for a long text, instead of growing repeatedly.
  const std::size_t room = text.size() + text.size() / 8 + 2;
  if (out.capacity() - out.size() < room) out.reserve(std::max(2 * out.size(), out.size() + room));
  out += '"';
  while (!text.empty()) {
    const std::size_t run = PlainRun(text);
    out.append(text.substr(0, run));
    if (run == text.size()) break;
    out += EscapeOf(text[run]);
    text.remove_prefix(run + 1);
  }
  out += '"';
}

// Writes numbers as people do, unlike Boost: 0, 0.05, 1e+20 for 0E0, 5E-2, 1E20. JSON has no number
// for infinity and NaN.
void WriteNumber(double number, std::string& out) {
  if (number == 0 && std::signbit(number)) {
    out += "-0.0";  // -0 would be read as an integer
  } else if (std::isfinite(number)) {
    fmt::format_to(std::back_inserter(out), "{}", number);
  } else {
    out += "null";
  }
}

// Writes values in compact or indented form.
class Writer {
 public:
  enum class Form { kCompact, kPretty };
  Writer(Form form, std::string& out) : form_(form), out_(out) {}

  void Write(const Json& value) {
    if (const auto* object = value.if_object()) {
      WriteList(*object, "{}", [this](const auto& member) {
        WriteString({member.key().data(), member.key().size()}, out_);
        out_ += form_ == Form::kPretty ? ": " : ":";
        Write(member.value());
      });
    } else if (const auto* array = value.if_array()) {
      WriteList(*array, "[]", [this](const Json& member) { Write(member); });
    } else if (const auto* text = value.if_string()) {
      WriteString({text->data(), text->size()}, out_);
    } else if (const auto* number = value.if_double()) {
      WriteNumber(*number, out_);
    } else {
      out_ += boost::json::serialize(value);
    }
  }

 private:
  template <typename List, typename WriteMember>
  void WriteList(const List& list, std::string_view brackets, const WriteMember& write) {
    out_ += brackets[0];
    ++depth_;
    bool first = true;
    for (const auto& member : list) {
      if (!first) out_ += ',';
      first = false;
      StartLine();
      write(member);
    }
    --depth_;
    if (!first) StartLine();
    out_ += brackets[1];
  }

  void StartLine() {
    if (form_ == Form::kCompact) return;
    out_ += '\n';
    out_.append(depth_ * 2, ' ');
  }

  const Form form_;
  std::string& out_;
  std::size_t depth_ = 0;
};

std::string Written(const Json& value, Writer::Form form) {
  std::string out;
  Writer(form, out).Write(value);
  return out;
}

// Builds a value from the events of Boost's parser. Boost's own builder parses fractions by a fast
// method whose last digit may be wrong.
class Builder {
 public:
  using Text = boost::json::string_view;
  using Code = boost::system::error_code;
  static constexpr std::size_t max_object_size = JsonObject::max_size();
  static constexpr std::size_t max_array_size = JsonArray::max_size();
  static constexpr std::size_t max_key_size = boost::json::string::max_size();
  static constexpr std::size_t max_string_size = boost::json::string::max_size();

  Builder() { stack_.reset(); }
  Json Release() { return stack_.release(); }

  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code&) { return true; }
  bool on_array_begin(Code&) { return true; }
  bool on_comment_part(Text, Code&) { return true; }
  bool on_comment(Text, Code&) { return true; }
  bool on_object_end(std::size_t size, Code&) { return stack_.push_object(size), true; }
  bool on_array_end(std::size_t size, Code&) { return stack_.push_array(size), true; }
  bool on_key_part(Text part, std::size_t, Code&) { return stack_.push_chars(part), true; }
  bool on_key(Text end, std::size_t, Code&) { return stack_.push_key(end), true; }
  bool on_string_part(Text part, std::size_t, Code&) { return stack_.push_chars(part), true; }
  bool on_string(Text end, std::size_t, Code&) { return stack_.push_string(end), true; }
  bool on_bool(bool flag, Code&) { return stack_.push_bool(flag), true; }
  bool on_null(Code&) { return stack_.push_null(), true; }
  bool on_number_part(Text part, Code&) { return digits_.append(part.data(), part.size()), true; }
  bool on_int64(std::int64_t number, Text, Code&) {
    return digits_.clear(), stack_.push_int64(number), true;
  }
  bool on_uint64(std::uint64_t number, Text, Code&) {
    return digits_.clear(), stack_.push_uint64(number), true;
  }
  bool on_double(double number, Text end, Code&) {
    digits_.append(end.data(), end.size());
    // Outside a double's range, Boost's result stays: 0 or infinite.
    std::from_chars(digits_.data(), digits_.data() + digits_.size(), number);
    digits_.clear();
    return stack_.push_double(number), true;
  }

 private:
  boost::json::value_stack stack_;
  std::string digits_;  // of a number that is split
};

}  // namespace

Result<Json> ParseJson(std::string_view text, std::size_t max_depth) {
  boost::json::parse_options options;
  options.max_depth = max_depth;
  boost::json::basic_parser<Builder> parser(options);
  boost::system::error_code error;
  const std::size_t used = parser.write_some(true, text.data(), text.size(), error);
  if (error) {
    return MakeError(ErrorCode::kInvalidArgument, "not JSON at byte {}: {}", used, error.message());
  }
  if (const auto rest = text.find_first_not_of(" \t\r\n", used); rest != std::string_view::npos) {
    return MakeError(ErrorCode::kInvalidArgument, "more than one JSON value: text at byte {}",
                     rest);
  }
  // A top-level number is complete only at the end of input.
  if (!error) parser.write_some(false, nullptr, 0, error);
  if (error || !parser.done()) {
    return MakeError(ErrorCode::kInvalidArgument, "JSON ends early at byte {}", text.size());
  }
  return parser.handler().Release();
}

std::string ToJson(const Json& value) { return Written(value, Writer::Form::kCompact); }

std::string ToPrettyJson(const Json& value) { return Written(value, Writer::Form::kPretty); }

const Json* Find(const JsonObject& object, std::string_view key) { return object.if_contains(key); }

const Json* Find(const Json& value, std::string_view key) {
  const auto* object = value.if_object();
  return object ? object->if_contains(key) : nullptr;
}

std::optional<std::string_view> FindString(const Json& value, std::string_view key) {
  const Json* found = Find(value, key);
  const auto* text = found ? found->if_string() : nullptr;
  if (!text) return std::nullopt;
  return std::string_view(text->data(), text->size());
}

std::string TextAt(const Json& value, std::string_view key) {
  return std::string(FindString(value, key).value_or(""));
}

std::vector<std::string> StringsOf(const Json* list) {
  std::vector<std::string> strings;
  if (!list || !list->is_array()) return strings;
  for (const Json& item : list->get_array()) {
    if (item.is_string()) strings.emplace_back(item.get_string());
  }
  return strings;
}

std::optional<std::int64_t> FindInt(const Json& value, std::string_view key) {
  const Json* found = Find(value, key);
  if (!found) return std::nullopt;
  if (const auto* n = found->if_int64()) return *n;
  if (const auto* n = found->if_uint64(); n && *n <= INT64_MAX)
    return static_cast<std::int64_t>(*n);
  return std::nullopt;
}

std::optional<double> FindNumber(const Json& value, std::string_view key) {
  const Json* found = Find(value, key);
  if (!found || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

std::optional<bool> FindBool(const Json& value, std::string_view key) {
  const Json* found = Find(value, key);
  const auto* flag = found ? found->if_bool() : nullptr;
  return flag ? std::optional<bool>(*flag) : std::nullopt;
}

JsonArray TextArray(std::span<const std::string> texts) {
  return JsonArray(texts.begin(), texts.end());
}

JsonObject CountsJson(const std::map<std::string, std::int64_t>& counts) {
  JsonObject object;
  for (const auto& [name, count] : counts) object[name] = count;
  return object;
}

}  // namespace dossier
