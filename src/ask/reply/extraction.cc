#include "ask/reply/extraction.h"

#include <algorithm>
#include <array>
#include <span>

#include "ask/reply/code_repair.h"
#include "ask/reply/fences.h"
#include "base/json/json.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::array<std::string_view, 7> kPythonTags = {"repl", "python",  "py",       "python3",
                                                         "py3",  "ipython", "tool_code"};
constexpr std::array<std::string_view, 7> kJavaScriptTags = {"js", "javascript", "node", "mjs",
                                                             "ts", "typescript", "repl"};
// Tags of fences that are certainly not code of the dialect. A small model's other tags are
// accepted as code if it compiles (small-models.md 11).
constexpr std::array<std::string_view, 23> kDataTags = {
    "json", "jsonl", "text", "txt", "plaintext", "output", "console", "bash",
    "sh",   "shell", "zsh",  "csv", "tsv",       "xml",    "html",    "yaml",
    "yml",  "toml",  "sql",  "log", "markdown",  "md",     "diff"};

constexpr std::string_view kCutFeedback = "Your reply was cut; write shorter blocks.";
constexpr std::string_view kThinkingFeedback =
    "Your reply ended inside <think>, so no code of it was run. Close it with </think>, think "
    "less, "
    "and write one block of code.";

constexpr int kProseTries = 6;  // ends tried for unfenced code in prose

// Code that a reply wraps in tags instead of a fence, as models trained on other tools do.

struct WrappedCode {
  std::string code;
  std::string repair;  // "code in <python>"
  // <code> also marks words in prose, so its code must compile to run.
  enum class Trust { kRuns, kMustCompile } trust = Trust::kRuns;
  bool closed = true;
};

struct WrapperScan {
  std::vector<WrappedCode> found;  // of the first kind that occurs, in order
  std::string outside;             // the text without them
};

enum class ToolCallShape {
  kAny,    // {"code": …} is enough
  kNamed,  // needs a name and arguments: other JSON with "code" is data
};

std::optional<std::string> CodeIn(const Json& value) {
  const auto code = FindString(value, "code");
  return code ? std::optional<std::string>(*code) : std::nullopt;
}

// Returns the string `code` of a tool call in JSON, at the top or in its arguments.
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

// Removes the line ends next to the tags, but keeps the indentation.
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

WrapperScan ScanWrappers(std::string_view text, Dialect dialect) {
  const std::string lower = ToLowerAscii(text);
  for (const Wrapper& wrapper : kWrappers) {
    if (!Suits(wrapper, dialect)) continue;
    WrapperScan scan = ScanOne(text, lower, wrapper);
    if (!scan.found.empty()) return scan;
  }
  return {.outside = std::string(text)};
}

class Extractor {
 public:
  explicit Extractor(const ExtractionOptions& options) : options_(options) {}

  Extraction Extract(std::string_view reply) {
    CleanReply clean = StripThinking(reply);
    result_.thinking = std::move(clean.thinking);
    result_.text = clean.text;
    if (clean.unclosed_thinking) {
      result_.feedback = kThinkingFeedback;
      result_.text_outside = std::move(clean.text);
      return std::move(result_);
    }
    FenceScan scan = ScanFences(
        clean.text, {.runs = [this](std::string_view tag) { return RunsTag(tag); },
                     .compiles = [this](std::string_view code) { return CompilesRepaired(code); }});
    result_.text_outside = std::move(scan.outside);
    DropCut(scan.fences);
    if (!TakeFences(scan.fences) && !result_.half_block && !TakeWrappers() &&
        !TakeToolCallFence(scan.fences) && scan.fences.empty()) {
      TakeUnfenced(clean.text);
    }
    NameIgnored(scan.fences);
    if (result_.half_block) {
      result_.feedback = kCutFeedback;
    } else if (result_.blocks.empty()) {
      result_.feedback = WhyNothing(scan.fences);
    }
    return std::move(result_);
  }

 private:
  std::span<const std::string_view> Tags() const {
    if (options_.dialect == Dialect::kPython) return kPythonTags;
    return kJavaScriptTags;
  }
  bool RunsTag(std::string_view tag) const {
    return std::ranges::find(Tags(), tag) != Tags().end();
  }

  bool Compiles(std::string_view code) {
    if (!options_.compiles) return HoldsStatement(code);
    return compiles_++ < kMaxCompiles && options_.compiles(code);
  }
  bool CompilesRepaired(std::string_view code) {
    const std::string plain = WithoutCommonIndent(code);
    return Compiles(WithoutPrompts(plain).value_or(plain));
  }

  void Repair(std::string_view what) {
    if (std::ranges::find(result_.repairs, what) == result_.repairs.end()) {
      result_.repairs.emplace_back(what);
    }
  }

  // In a cut-off reply a block without closing fence is half a program; in another reply it is a
  // program, except a last fence with nothing after it, which was meant to close a block.
  void DropCut(std::vector<Fence>& fences) {
    if (fences.empty() || fences.back().closed) return;
    const Fence& last = fences.back();
    if (!last.tag.empty() && !RunsTag(last.tag)) return;
    if (options_.finish == ReplyFinish::kLength) {
      result_.half_block = true;
      fences.pop_back();
    } else if (fences.size() > 1 && TrimSpace(last.code).empty()) {
      Repair("closing fence with a tag");
      fences.pop_back();
    }
  }

  bool TakeFences(std::vector<Fence>& fences) {
    const auto take = [&](const auto& wanted) {
      for (Fence& fence : fences) {
        if (wanted(fence)) Take(fence);
      }
      return !result_.blocks.empty();
    };
    if (take([](const Fence& f) { return f.tag == "repl"; })) return true;
    if (take([this](const Fence& f) { return RunsTag(f.tag); })) return true;
    if (take([this](const Fence& f) {
          return f.tag.empty() && !TrimSpace(f.code).empty() && CompilesRepaired(f.code);
        })) {
      return true;
    }
    if (options_.model != ModelSize::kSmall) return false;
    return take([this](const Fence& f) {
      const bool data = std::ranges::find(kDataTags, f.tag) != kDataTags.end();
      if (f.tag.empty() || data || !HoldsStatement(f.code) || !CompilesRepaired(f.code))
        return false;
      Repair(fmt::format("tag {} taken as code", f.tag));
      return true;
    });
  }

  void Take(Fence& fence) {
    for (const std::string& repair : fence.repairs) Repair(repair);
    if (!fence.closed) Repair("closing fence missing");
    fence.used = true;
    Add(fence.code, fence.tag);
  }

  void Add(std::string_view raw, std::string tag) {
    std::string code = WithoutCommonIndent(raw);
    if (code.size() != raw.size() && HasIndent(raw)) Repair("common indent removed");
    if (auto plain = WithoutPrompts(code); plain && options_.dialect == Dialect::kPython) {
      code = std::move(*plain);
      Repair("prompts of an interactive session removed");
    }
    if (auto plain = WithoutEntities(code);
        plain && options_.compiles && !Compiles(code) && Compiles(*plain)) {
      code = std::move(*plain);
      Repair("HTML entities and curly quotes undone");
    }
    result_.blocks.push_back({.code = std::move(code), .tag = std::move(tag)});
  }

  // Line ends also change the length; only an indent is worth reporting.
  static bool HasIndent(std::string_view raw) {
    for (const TextLine& line : SplitLines(raw)) {
      if (!TrimSpace(line.text).empty()) return line.text[0] == ' ' || line.text[0] == '\t';
    }
    return false;
  }

  bool TakeWrappers() {
    WrapperScan scan = ScanWrappers(result_.text_outside, options_.dialect);
    for (const WrappedCode& wrapped : scan.found) {
      if (!wrapped.closed && options_.finish == ReplyFinish::kLength) {
        result_.half_block = true;
        continue;
      }
      if (wrapped.trust == WrappedCode::Trust::kMustCompile &&
          !(HoldsStatement(wrapped.code) && CompilesRepaired(wrapped.code))) {
        continue;
      }
      Repair(wrapped.repair);
      Add(wrapped.code, "");
    }
    if (result_.blocks.empty()) return result_.half_block;
    result_.text_outside = std::move(scan.outside);
    return true;
  }

  // ```json {"name": "python", "arguments": {"code": …}} is a call, whatever the fence's tag.
  bool TakeToolCallFence(std::vector<Fence>& fences) {
    for (Fence& fence : fences) {
      if (fence.tag != "json" && !fence.tag.empty() && fence.tag != "tool_call") continue;
      const auto code = CodeOfToolCall(fence.code, ToolCallShape::kNamed);
      if (!code) continue;
      fence.used = true;
      Repair("tool call in JSON");
      Add(*code, "");
    }
    return !result_.blocks.empty();
  }

  void TakeUnfenced(std::string_view text) {
    if (const auto code = CodeOfToolCall(text, ToolCallShape::kAny);
        code && HoldsStatement(*code) && CompilesRepaired(*code)) {
      return TakeWhole(*code, "tool call in JSON");
    }
    if (const std::size_t end = text.find('\n');
        end != text.npos && RunsTag(ToLowerAscii(TrimSpace(text.substr(0, end))))) {
      text.remove_prefix(end + 1);  // the tag of a removed fence
    }
    // A lone FINAL(x) is an answer as text, not a program.
    const BareStart start = StartOf(text);
    if (options_.dialect == Dialect::kJavaScript && TrimSpace(text).starts_with("SUBMIT(")) return;
    if (start == BareStart::kFinal || TrimSpace(text).empty()) return;
    if (options_.finish != ReplyFinish::kLength && start == BareStart::kOther &&
        HoldsStatement(text) && FirstLineMayBeCode(text) && CompilesRepaired(text)) {
      return TakeWhole(text, "reply without a fence taken as code");
    }
    if (options_.model == ModelSize::kSmall && options_.compiles && !TakeInline(text)) {
      TakeBetweenProse(text);
    }
  }

  void TakeWhole(std::string_view code, std::string_view repair) {
    Repair(repair);
    Add(code, "");
    result_.text_outside.clear();
  }

  enum class BareStart { kFinal, kOther };
  static BareStart StartOf(std::string_view text) {
    text = TrimSpace(text);
    const bool final = text.starts_with("FINAL") || text.starts_with("PARTIAL(");
    return final ? BareStart::kFinal : BareStart::kOther;
  }

  // Without a compile check, prose that mentions a call must not be taken for code.
  bool FirstLineMayBeCode(std::string_view text) const {
    if (options_.compiles) return true;
    text = TrimSpace(text);
    return StartsStatement(text.substr(0, text.find_first_of("\r\n")));
  }

  // Takes `print(len(records))` if there is nothing else.
  bool TakeInline(std::string_view text) {
    text = TrimSpace(text);
    if (text.size() < 3 || text.front() != '`' || text.find('`', 1) != text.size() - 1)
      return false;
    const std::string_view code = text.substr(1, text.size() - 2);
    if (!HoldsStatement(code) || !CompilesRepaired(code)) return false;
    if (StartOf(code) == BareStart::kFinal) return false;
    TakeWhole(code, "inline code taken as a block");
    return true;
  }

  // Takes unmarked lines of code between lines of prose: the longest stretch that compiles, from
  // the first line that starts like a statement.
  void TakeBetweenProse(std::string_view text) {
    const std::vector<TextLine> lines = SplitLines(text);
    const auto first = std::ranges::find_if(
        lines, [](const TextLine& line) { return StartsStatement(line.text); });
    if (first == lines.end() || StartOf(first->text) == BareStart::kFinal) return;
    auto last = lines.end();
    for (int tries = 0; tries < kProseTries && last != first; ++tries) {
      const std::string_view code = text.substr(first->begin, std::prev(last)->end - first->begin);
      if (CompilesRepaired(code)) {
        Repair("code between prose without a fence");
        Add(code, "");
        result_.text_outside = std::string(text.substr(0, first->begin)) +
                               std::string(text.substr(std::prev(last)->end));
        return;
      }
      do {  // skip one paragraph of prose
        --last;
      } while (last != first && !StartsStatement(std::prev(last)->text) &&
               !TrimSpace(last->text).empty());
    }
  }

  void NameIgnored(const std::vector<Fence>& fences) {
    for (const Fence& fence : fences) {
      if (fence.used || fence.tag.empty()) continue;
      if (std::ranges::find(result_.ignored_tags, fence.tag) == result_.ignored_tags.end()) {
        result_.ignored_tags.push_back(fence.tag);
      }
    }
  }

  std::string WhyNothing(const std::vector<Fence>& fences) const {
    const std::string_view language =
        options_.dialect == Dialect::kPython ? "Python" : "JavaScript";
    const std::string_view tag = options_.dialect == Dialect::kPython ? "repl" : "js";
    if (!result_.ignored_tags.empty()) {
      return fmt::format(
          "A block with the tag `{}` is not run. Write {} in a block that starts with ```{}.",
          Join(result_.ignored_tags, "`, `"), language, tag);
    }
    if (fences.empty()) return {};
    return fmt::format(
        "The block without a tag is not {0}. Write {0} in a block that starts with ```{1}.",
        language, tag);
  }

  const ExtractionOptions& options_;
  Extraction result_;
  int compiles_ = 0;
};

}  // namespace

Extraction ExtractCode(std::string_view reply, const ExtractionOptions& options) {
  return Extractor(options).Extract(reply);
}

std::string CodeKey(std::string_view code) {
  std::string key;
  for (const TextLine& line : SplitLines(code)) {
    const std::size_t size = line.text.find_last_not_of(" \t") + 1;
    if (size == 0) continue;
    key += line.text.substr(0, size);
    key += '\n';
  }
  return key;
}

}  // namespace dossier::ask
