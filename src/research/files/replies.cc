#include "research/files/replies.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "ask/reply/fences.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::research {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// Returns the text from the first { to the last }; nothing if one is missing.
std::string_view BetweenBraces(std::string_view text) {
  const std::size_t begin = text.find('{'), end = text.rfind('}');
  return begin == kNone || end == kNone || end < begin ? std::string_view()
                                                       : text.substr(begin, end - begin + 1);
}

Result<JsonReply> ReadObject(std::string_view json) {
  if (json.find_first_of("{[") == kNone) {
    return MakeError(ErrorCode::kInvalidArgument, "the reply holds no JSON object");
  }
  auto read = ParseRelaxedJson(json);
  if (!read) {
    return MakeError(ErrorCode::kInvalidArgument, "the JSON of the reply is wrong at {}",
                     read.error().message);
  }
  // A list of one element is treated as that element.
  if (auto* list = read->value.if_array(); list && list->size() == 1) {
    Json only = std::move(list->front());
    read->value = std::move(only);
  }
  if (!read->value.is_object()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the reply is JSON, but no object: begin it with '{{'");
  }
  JsonReply reply{.value = std::move(read->value)};
  if (read->repaired == RelaxedJson::Repaired::kYes) {
    reply.warnings.emplace_back("payload_repaired: the reply was no JSON; read as Python literals");
  }
  return reply;
}

// Returns the only fence with one of `tags`; one without a tag counts if it is the only fence.
Result<FencedCode> OnlyFence(std::string_view payload, std::span<const std::string_view> tags) {
  std::vector<FencedCode> fences = CodeFences(payload);
  if (fences.size() != 1 || !fences[0].tag.empty()) {
    std::erase_if(fences, [&](const FencedCode& fence) { return !IsOneOf(fence.tag, tags); });
  }
  if (fences.size() != 1) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the reply holds {} fences of {}; write exactly one, around everything",
                     fences.empty() ? "no" : std::to_string(fences.size()), tags.front());
  }
  if (TrimSpace(fences[0].code).empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "the fence of {} is empty", tags.front());
  }
  return std::move(fences[0]);
}

// Returns the text after "PREFIX:" at the start of `line`; Markdown around the prefix is skipped.
std::optional<std::string_view> Behind(std::string_view line, std::string_view prefix) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t*#_-"), line.size()));
  if (line.size() <= prefix.size()) return std::nullopt;
  if (ToLowerAscii(line.substr(0, prefix.size())) != ToLowerAscii(prefix)) return std::nullopt;
  line.remove_prefix(prefix.size());
  const std::size_t colon = line.find_first_not_of(" \t*_");
  if (colon == kNone || line[colon] != ':') return std::nullopt;
  line.remove_prefix(colon + 1);
  line.remove_prefix(std::min(line.find_first_not_of('*'), line.size()));
  return TrimSpace(line);
}

}  // namespace

std::vector<FencedCode> CodeFences(std::string_view text) {
  std::vector<FencedCode> fences;
  std::optional<ask::FenceMark> open;
  for (const ask::TextLine& line : ask::SplitLines(text)) {
    if (open && ask::ClosesFence(line.text, *open)) {
      open.reset();
    } else if (open) {
      fences.back().code += std::string(line.text) + "\n";
    } else {
      open = ask::OpeningFence(line.text);
      if (open) fences.push_back({.tag = ask::FenceTag(open->info), .begin = line.begin});
    }
  }
  return fences;
}

Result<JsonReply> ReadJsonReply(std::string_view payload) {
  return ReadObject(CodeFences(payload).empty() ? TrimSpace(payload) : BetweenBraces(payload));
}

Result<JsonReply> ReadThoughtAndJson(std::string_view payload) {
  const std::vector<FencedCode> fences = CodeFences(payload);
  return fences.empty() ? ReadObject(BetweenBraces(payload)) : ReadObject(fences.back().code);
}

std::vector<std::optional<std::string>> ReadKeywords(std::string_view payload,
                                                     std::span<const std::string_view> prefixes) {
  std::vector<std::optional<std::string>> values(prefixes.size());
  std::optional<std::size_t> current;
  const auto add = [&](std::string_view text) {
    text = TrimSpace(text);
    if (!current || text.empty()) return;
    std::string& value = *values[*current];
    if (!value.empty()) value += ' ';
    value += text;
  };
  for (const ask::TextLine& line : ask::SplitLines(payload)) {
    std::optional<std::string_view> rest;
    for (std::size_t i = 0; i < prefixes.size() && !rest; ++i) {
      rest = Behind(line.text, prefixes[i]);
      if (rest) current = i;
    }
    if (!rest) {
      add(line.text);
    } else if (values[*current]) {
      current.reset();  // repeated: the first one counts
    } else {
      values[*current].emplace();
      add(*rest);
    }
  }
  return values;
}

std::vector<std::string_view> KeywordsOf(std::string_view joined) { return Split(joined, '|'); }

Result<PlanAndScript> ReadPython(std::string_view payload) {
  constexpr std::string_view kTags[] = {"python", "py", "python3"};
  DOSSIER_ASSIGN_OR_RETURN(FencedCode fence, OnlyFence(payload, kTags));
  return PlanAndScript{.plan = std::string(TrimSpace(payload.substr(0, fence.begin))),
                       .script = std::move(fence.code)};
}

Result<std::string> ReadLatex(std::string_view payload) {
  constexpr std::string_view kTags[] = {"latex", "tex"};
  DOSSIER_ASSIGN_OR_RETURN(FencedCode fence, OnlyFence(payload, kTags));
  if (fence.code.find("\\begin{document}") == kNone) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the fence of latex holds no \\begin{{document}}; write the whole file");
  }
  return std::move(fence.code);
}

bool SaysDone(std::string_view payload) {
  return ToLowerAscii(payload).find("i am done") != kNone && CodeFences(payload).empty();
}

namespace {

constexpr int kMaxDepth = 64;

// Reads one value from the start; on an error `at` is its position.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Json> Whole() {
    DOSSIER_ASSIGN_OR_RETURN(Json value, Value(1));
    DOSSIER_RETURN_IF_ERROR(SkipBlanks());
    if (at_ < text_.size()) return Expected("the end of the text");
    return value;
  }

 private:
  tl::unexpected<Error> Expected(std::string_view what) const {
    const std::string_view before = text_.substr(0, std::min(at_, text_.size()));
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t start =
        before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return MakeError(ErrorCode::kInvalidArgument, "line {}, column {}: expected {}", line,
                     utf8::CodePoints(before.substr(start)) + 1, what);
  }

  bool Take(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  Status SkipBlanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
      } else if (c == '#' || text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return Expected("a comment that ends in */");
        at_ = end + 2;
      } else {
        break;
      }
    }
    return {};
  }

  Result<Json> Value(int depth) {
    if (depth > kMaxDepth) return Expected(fmt::format("at most {} levels", kMaxDepth));
    DOSSIER_RETURN_IF_ERROR(SkipBlanks());
    if (at_ >= text_.size()) return Expected("a value");
    switch (text_[at_]) {
      case '{':
        return Map(depth);
      case '[':
        return List(depth, ']');
      case '(':
        return List(depth, ')');
      case '"':
      case '\'': {
        DOSSIER_ASSIGN_OR_RETURN(std::string text, Text());
        return Json(text);
      }
      default:
        return IsWordByte(text_[at_]) && !(text_[at_] >= '0' && text_[at_] <= '9') ? Name()
                                                                                   : Number();
    }
  }

  Result<Json> Map(int depth) {
    JsonObject map;
    ++at_;
    while (true) {
      DOSSIER_RETURN_IF_ERROR(SkipBlanks());
      if (Take("}")) return Json(std::move(map));
      if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) {
        return Expected("a name in quotes or '}'");
      }
      DOSSIER_ASSIGN_OR_RETURN(const std::string key, Text());
      DOSSIER_RETURN_IF_ERROR(SkipBlanks());
      if (!Take(":")) return Expected("':'");
      DOSSIER_ASSIGN_OR_RETURN(map[key], Value(depth + 1));
      DOSSIER_RETURN_IF_ERROR(SkipBlanks());
      if (Take(",")) continue;
      if (at_ >= text_.size() || text_[at_] != '}') return Expected("',' or '}'");
    }
  }

  Result<Json> List(int depth, char close) {
    JsonArray list;
    ++at_;
    while (true) {
      DOSSIER_RETURN_IF_ERROR(SkipBlanks());
      if (Take(std::string_view(&close, 1))) return Json(std::move(list));
      DOSSIER_ASSIGN_OR_RETURN(Json value, Value(depth + 1));
      list.push_back(std::move(value));
      DOSSIER_RETURN_IF_ERROR(SkipBlanks());
      if (Take(",")) continue;
      if (at_ >= text_.size() || text_[at_] != close) {
        return Expected(fmt::format("',' or '{}'", close));
      }
    }
  }

  Result<Json> Name() {
    std::size_t end = at_;
    while (end < text_.size() && IsWordByte(text_[end])) ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    std::optional<Json> value;
    if (name == "true" || name == "True") value = Json(true);
    if (name == "false" || name == "False") value = Json(false);
    if (name == "null" || name == "None") value = Json(nullptr);
    if (!value) return Expected("a value; text stands in quotes");
    at_ = end;
    return *std::move(value);
  }

  Result<Json> Number() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    std::int64_t whole = 0;
    const auto as_whole = std::from_chars(begin, end, whole);
    double number = 0;
    const auto as_number = std::from_chars(begin, end, number);
    if (as_number.ec != std::errc() || !std::isfinite(number)) return Expected("a value");
    const bool is_whole = as_whole.ec == std::errc() && as_whole.ptr == as_number.ptr;
    if (as_number.ptr != end && IsWordByte(*as_number.ptr)) return Expected("a number");
    at_ += static_cast<std::size_t>(as_number.ptr - begin);
    return is_whole ? Json(whole) : Json(number);
  }

  Result<std::string> Text() {
    const char quote = text_[at_];
    const std::string triple(3, quote);
    const bool is_triple = Take(triple);
    if (!is_triple) ++at_;
    const std::string_view close =
        is_triple ? std::string_view(triple) : std::string_view(triple).substr(0, 1);
    std::string out;
    while (at_ < text_.size()) {
      if (Take(close)) return out;
      if (text_[at_] == '\\') {
        DOSSIER_RETURN_IF_ERROR(Escape(&out));
      } else {
        out += text_[at_++];
      }
    }
    return Expected(fmt::format("the closing {}", close));
  }

  Status Escape(std::string* out) {
    constexpr std::string_view kFrom = "\"'\\/bfnrtav";
    constexpr std::string_view kTo = "\"'\\/\b\f\n\r\t\a\v";
    ++at_;
    if (at_ >= text_.size()) return Expected("the rest of an escape");
    const char c = text_[at_++];
    if (c == '\n') return {};  // a continued line
    if (c == 'u') return CodePoint(4, out);
    if (c == 'x') return CodePoint(2, out);
    if (c == 'U') return CodePoint(8, out);
    if (const std::size_t found = kFrom.find(c); found != std::string_view::npos) {
      *out += kTo[found];
    } else {
      *out += '\\';  // Python does the same with an unknown escape
      *out += c;
    }
    return {};
  }

  Result<std::uint32_t> Hex(std::size_t digits) {
    std::uint32_t number = 0;
    const std::string_view hex = text_.substr(at_, digits);
    const auto read = std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
    if (hex.size() != digits || read.ec != std::errc() || read.ptr != hex.data() + digits) {
      return Expected(fmt::format("{} hex digits", digits));
    }
    at_ += digits;
    return number;
  }

  // Half of a surrogate pair becomes U+FFFD.
  Status CodePoint(std::size_t digits, std::string* out) {
    constexpr std::uint32_t kReplacement = 0xFFFD;
    DOSSIER_ASSIGN_OR_RETURN(std::uint32_t code, Hex(digits));
    if (code >= 0xD800 && code < 0xDC00 && Take("\\u")) {
      DOSSIER_ASSIGN_OR_RETURN(const std::uint32_t low, Hex(4));
      const bool pair = low >= 0xDC00 && low < 0xE000;
      code = pair ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : kReplacement;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = kReplacement;
    utf8::Append(static_cast<char32_t>(code), out);
    return {};
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<RelaxedJson> ParseRelaxedJson(std::string_view text) {
  if (auto strict = ParseJson(text)) return RelaxedJson{.value = *std::move(strict)};
  DOSSIER_ASSIGN_OR_RETURN(Json value, Reader(text).Whole());
  return RelaxedJson{.value = std::move(value), .repaired = RelaxedJson::Repaired::kYes};
}

}  // namespace dossier::research
