#include "assembly/sources/data_text.h"

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::assembly {
namespace {

// A longer key needs a `?` before it (YAML 1.2.2, 7.4.3: 1,024 characters).
constexpr std::size_t kLongestKey = 1000;

// Words that some reader interprets as a flag, null or a number.
constexpr std::array<std::string_view, 13> kWords = {
    "true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan", "nil", "none"};

// Line ends of YAML 1.1 and the byte order mark: they must be escaped.
struct Special {
  std::string_view bytes, escaped;
};
constexpr std::array<Special, 5> kSpecials = {{{"\x7f", "\\u007f"},
                                               {"\xc2\x85", "\\u0085"},
                                               {"\xe2\x80\xa8", "\\u2028"},
                                               {"\xe2\x80\xa9", "\\u2029"},
                                               {"\xef\xbb\xbf", "\\ufeff"}}};

bool IsWord(std::string_view text) {
  const std::string lower = ToLowerAscii(text);
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

// Returns true if every reader takes the unquoted text for a string.
bool IsPlain(std::string_view text) {
  if (text.empty() || !(IsLetter(text.front()) || text.front() == '_')) return false;
  if (text.back() == ' ' || IsWord(text)) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return IsLetter(c) || IsDigit(c) ||
           std::string_view(" _-./()+,;'").find(c) != std::string_view::npos;
  });
}

// JSON's string syntax is valid YAML.
std::string Quoted(std::string_view text) {
  std::string out = ToJson(Json(text));
  for (const Special& special : kSpecials) {
    for (std::size_t at = 0; (at = out.find(special.bytes, at)) != std::string::npos;) {
      out.replace(at, special.bytes.size(), special.escaped);
    }
  }
  return out;
}

bool HasSpecial(std::string_view text) {
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n';
  });
  return control || std::any_of(kSpecials.begin(), kSpecials.end(), [text](const Special& special) {
           return text.find(special.bytes) != std::string_view::npos;
         });
}

// Returns true if lines are better written below each other, and are read back unchanged.
bool IsBlock(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || text.ends_with("\n\n") || HasSpecial(text)) return false;
  if (text.front() == ' ' || text.front() == '\n') return false;
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.empty() && TrimSpace(line).empty()) return false;
  }
  return true;
}

std::string BlockText(std::string_view text, std::size_t depth) {
  const bool ended = text.ends_with('\n');
  if (ended) text.remove_suffix(1);
  std::string out = ended ? "|" : "|-";
  for (const std::string_view line : Split(text, '\n')) {
    out += '\n';
    if (!line.empty()) out.append(depth * 2, ' ').append(line);
  }
  return out;
}

// Writes a non-integer so that it stays one: 5.0, 1.0e+300.
std::string Fraction(double number) {
  std::string text = fmt::format("{}", number);
  const std::size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos) {
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  }
  return text;
}

// `depth` is that of the value's lines.
std::string Scalar(const Json& value, std::size_t depth) {
  if (value.is_double()) return Fraction(value.get_double());
  if (!value.is_string()) return ToJson(value);  // numbers, flags, null, {} and []
  const std::string_view text(value.get_string());
  if (IsPlain(text)) return std::string(text);
  return IsBlock(text) ? BlockText(text, std::max<std::size_t>(depth, 1)) : Quoted(text);
}

bool IsNested(const Json& value) {
  return (value.is_object() && !value.get_object().empty()) ||
         (value.is_array() && !value.get_array().empty());
}

std::string Lines(const Json& value, std::size_t depth);

std::string Entry(std::string_view name, const Json& value, std::size_t depth) {
  const std::string indent(depth * 2, ' ');
  std::string key = IsPlain(name) ? std::string(name) : Quoted(name);
  if (key.size() > kLongestKey) key = fmt::format("? {}\n{}", key, indent);
  if (IsNested(value)) return fmt::format("{}:\n{}", key, Lines(value, depth + 1));
  return fmt::format("{}: {}\n", key, Scalar(value, depth + 1));
}

// Writes non-empty maps and lists, each line indented.
std::string Lines(const Json& value, std::size_t depth) {
  const std::string indent(depth * 2, ' ');
  std::string out;
  if (value.is_object()) {
    for (const auto& [name, inner] : value.get_object()) out += indent + Entry(name, inner, depth);
    return out;
  }
  for (const Json& item : value.get_array()) {
    // The first line of a map or list in a list is on the same line as the dash.
    out += fmt::format("{}- {}", indent,
                       IsNested(item) ? Lines(item, depth + 1).substr(indent.size() + 2)
                                      : Scalar(item, depth + 1) + "\n");
  }
  return out;
}

}  // namespace

std::string RenderYaml(const Json& data) {
  return IsNested(data) ? Lines(data, 0) : Scalar(data, 0) + "\n";
}

namespace {

constexpr std::size_t kDeepestHeading = 6;

class Renderer {
 public:
  explicit Renderer(std::vector<std::string>* left_out) : left_out_(left_out) {}

  std::string Value(const Json& value, std::size_t depth, const std::string& path) {
    if (value.is_object()) return Map(value.get_object(), depth, path);
    if (value.is_array()) return List(value.get_array(), path);
    if (value.is_string()) {
      const std::string_view text = TrimSpace(std::string_view(value.get_string()));
      return text.empty() ? LeaveOut(path) : std::string(text) + "\n";
    }
    return value.is_null() ? LeaveOut(path) : ToJson(value) + "\n";
  }

 private:
  std::string Map(const JsonObject& map, std::size_t depth, const std::string& path) {
    std::string out;
    for (const auto& [key, value] : map) {
      const std::string name(key);
      const std::string text = Value(value, depth + 1, path.empty() ? name : path + "." + name);
      if (text.empty()) continue;
      if (!out.empty()) out += '\n';
      out += std::string(std::min(depth, kDeepestHeading), '#') + " " + name + "\n\n" + text;
    }
    return out.empty() ? LeaveOut(path) : out;
  }

  std::string List(const JsonArray& list, const std::string& path) {
    std::string out;
    for (const Json& item : list) {
      const std::string text =
          item.is_structured() ? ToJson(item) + "\n" : Value(item, 1, path + "[]");
      if (!text.empty()) out += "- " + text;
    }
    return out.empty() ? LeaveOut(path) : out;
  }

  std::string LeaveOut(const std::string& path) {
    if (left_out_ && !path.empty()) left_out_->push_back(path);
    return {};
  }

  std::vector<std::string>* left_out_;
};

}  // namespace

std::string RenderData(const Json& data, std::vector<std::string>* left_out) {
  return Renderer(left_out).Value(data, 1, "");
}

}  // namespace dossier::assembly
