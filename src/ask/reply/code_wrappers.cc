#include "ask/reply/code_wrappers.h"

#include <array>

#include "base/json/json.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

struct Wrapper {
  std::string_view open, close;  // lower case
  enum class Use { kBoth, kPython, kJavaScript } use;
  enum class Content { kCode, kUnsureCode, kToolCall } content;
};

constexpr std::array<Wrapper, 8> kWrappers = {{
    {"<tool_call>", "</tool_call>", Wrapper::Use::kBoth, Wrapper::Content::kToolCall},
    {"<python>", "</python>", Wrapper::Use::kPython, Wrapper::Content::kCode},
    {"[python]", "[/python]", Wrapper::Use::kPython, Wrapper::Content::kCode},
    {"<|python_tag|>", "<|eom_id|>", Wrapper::Use::kPython, Wrapper::Content::kCode},
    {"<javascript>", "</javascript>", Wrapper::Use::kJavaScript, Wrapper::Content::kCode},
    {"<js>", "</js>", Wrapper::Use::kJavaScript, Wrapper::Content::kCode},
    {"[javascript]", "[/javascript]", Wrapper::Use::kJavaScript, Wrapper::Content::kCode},
    {"<code>", "</code>", Wrapper::Use::kBoth, Wrapper::Content::kUnsureCode},
}};

bool Suits(const Wrapper& wrapper, Dialect dialect) {
  return wrapper.use == Wrapper::Use::kBoth ||
         (wrapper.use == Wrapper::Use::kPython) == (dialect == Dialect::kPython);
}

// Without the line ends next to the tags; the indentation stays.
std::string_view WithoutOuterLineEnds(std::string_view text) {
  if (text.starts_with('\r')) text.remove_prefix(1);
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

std::optional<WrappedCode> Unwrap(const Wrapper& wrapper, std::string_view content) {
  WrappedCode found{.code = std::string(WithoutOuterLineEnds(content)),
                    .repair = fmt::format("code in {}", wrapper.open)};
  if (wrapper.content == Wrapper::Content::kUnsureCode) {
    found.trust = WrappedCode::Trust::kMustCompile;
  } else if (wrapper.content == Wrapper::Content::kToolCall) {
    auto code = CodeOfToolCall(content, ToolCallShape::kAny);
    if (!code) return std::nullopt;
    found.code = std::move(*code);
  } else if (auto code = CodeOfToolCall(content, ToolCallShape::kNamed)) {
    found.code = std::move(*code);  // <|python_tag|>{"name": "python", "arguments": {"code": …}}
  }
  return found;
}

WrapperScan ScanOne(std::string_view text, const std::string& lower, const Wrapper& wrapper) {
  WrapperScan scan;
  std::size_t from = 0;
  while (true) {
    const std::size_t open = lower.find(wrapper.open, from);
    if (open == std::string::npos) break;
    const std::size_t begin = open + wrapper.open.size();
    const std::size_t close = lower.find(wrapper.close, begin);
    const bool closed = close != std::string::npos;
    if (auto found = Unwrap(wrapper, text.substr(begin, closed ? close - begin : close))) {
      found->closed = closed || wrapper.open == "<|python_tag|>";
      scan.found.push_back(std::move(*found));
      scan.outside += text.substr(from, open - from);
    } else {
      scan.outside += text.substr(from, closed ? close - from : close);
    }
    from = closed ? close + wrapper.close.size() : text.size();
  }
  scan.outside += text.substr(from);
  return scan;
}

std::optional<std::string> CodeIn(const Json& value) {
  const auto code = FindString(value, "code");
  return code ? std::optional<std::string>(*code) : std::nullopt;
}

}  // namespace

WrapperScan ScanWrappers(std::string_view text, Dialect dialect) {
  const std::string lower = ToLowerAscii(text);
  for (const Wrapper& wrapper : kWrappers) {
    if (!Suits(wrapper, dialect)) continue;
    WrapperScan scan = ScanOne(text, lower, wrapper);
    if (!scan.found.empty()) return scan;
  }
  return {.outside = std::string(text)};
}

std::optional<std::string> CodeOfToolCall(std::string_view json, ToolCallShape shape) {
  json = TrimSpace(json);
  if (!json.starts_with('{')) return std::nullopt;
  const auto call = ParseJson(json);
  if (!call) return std::nullopt;
  const Json* function = Find(*call, "function");
  const Json& named = function && function->is_object() ? *function : *call;
  for (const char* key : {"arguments", "parameters", "input"}) {
    const Json* arguments = Find(named, key);
    if (!arguments) continue;
    if (const auto* text = arguments->if_string()) {  // as JSON in a string
      const auto inner = ParseJson({text->data(), text->size()});
      if (inner) return CodeIn(*inner);
    }
    return CodeIn(*arguments);
  }
  return shape == ToolCallShape::kAny ? CodeIn(*call) : std::nullopt;
}

}  // namespace dossier::ask
