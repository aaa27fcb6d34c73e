#include "ask/loop/feedback.h"

#include <algorithm>

#include "assembly/assemble.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kEchoRoom = 2000;  // code points
constexpr std::size_t kVariablesShown = 30;
constexpr std::size_t kNameRoom = 60;  // code points of a name or type

// Keeps enough of an output for RenderBlock to cut; the same rule for every block of a turn.
TruncationOptions CutOptions(const FeedbackStyle& style) {
  return {.max_chars = style.output_chars,
          .cut = style.cut,
          .sub_calls = style.depth == 0 ? SubCalls::kNotOffered : SubCalls::kOffered};
}

PrintedOutput Printed(const sandbox::BlockResult& result) {
  std::string text = result.out;
  if (!result.last.empty()) {
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += result.last;
  }
  return {std::move(text), result.out_chars + utf8::CodePoints(result.last)};
}

// Returns the placeholder for output that is not shown; there may have been none.
PrintedOutput Unshown(const sandbox::BlockResult& result, Observe observe) {
  const std::uint64_t characters = Printed(result).characters;
  if (observe == Observe::kNone) return {"(outputs are not shown in this run)", 0};
  return {fmt::format("({} characters of output, which are not shown in this run)",
                      GroupDigits(characters)),
          0};
}

// Replaces control characters and line ends of every kind by spaces.
std::string OneWord(std::string_view text) {
  std::string word(utf8::Prefix(text, kNameRoom));
  for (const std::string_view end : {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    word = ReplaceAll(word, end, " ");
  }
  for (char& c : word) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return word;
}

std::string RenderBlock(const RanBlock& block, std::string_view title, const ShownOutput& shown,
                        Feedback::Echo echo, const FeedbackStyle& style) {
  std::string body;
  if (echo == Feedback::Echo::kYes) {
    body += fmt::format("{}\n---\n", utf8::Prefix(block.code, kEchoRoom));
  }
  body += shown.text;
  if (block.result.error) {
    if (!body.empty() && body.back() != '\n') body += '\n';
    body += RenderError(*block.result.error);
  }
  std::string text;
  if (!body.empty()) text = assembly::FenceData(title, body, style.boundary);
  if (!shown.notice.empty()) text += (text.empty() ? "" : "\n") + shown.notice;
  if (!block.result.refused.empty()) text += (text.empty() ? "" : "\n") + block.result.refused;
  for (const std::string& note : block.result.notes) text += (text.empty() ? "" : "\n") + note;
  if (text.empty()) text = fmt::format("{}: No output. Print what you want to see.", title);
  return text;
}

}  // namespace

std::string VariablesLine(const std::vector<sandbox::VariableInfo>& variables, std::size_t most) {
  std::string line;
  std::size_t shown = 0;
  for (const auto& variable : variables) {
    if (variable.name.starts_with("_")) continue;
    if (shown++ == most) {
      line += ", …";
      break;
    }
    line += fmt::format("{}{} ({})", line.empty() ? "Variables: " : ", ", OneWord(variable.name),
                        OneWord(variable.type));
  }
  return line;
}

std::string RenderError(const sandbox::BlockError& error) {
  std::string text = error.type;
  if (!error.message.empty()) text += ": " + error.message;
  if (error.line > 0) {
    text += fmt::format("\n  line {}: {}", error.line, TrimSpace(error.source));
  }
  return TruncateError(text);
}

std::string SeenOutput(const sandbox::BlockResult& result, const FeedbackStyle& style) {
  if (style.observe != Observe::kFull) return {};
  TruncationOptions options = CutOptions(style);
  if (style.share == FeedbackStyle::Share::kLimited) {
    options.max_chars = std::min(options.max_chars, ShareOfCorpusLimit(style.context_chars));
  }
  const PrintedOutput printed = Printed(result);
  std::string seen = ShowCodeOutput(printed.text, options).text;
  if (seen.size() < printed.text.size() && options.cut == Cut::kMiddle) {
    const std::size_t mark = seen.find("\n[… ");  // its numbers are not the code's
    if (mark != seen.npos) seen.erase(mark, seen.find('\n', mark) - mark);
  }
  return seen;
}

std::string RenderFeedback(const Feedback& feedback, const FeedbackStyle& style) {
  std::vector<std::string> parts;
  std::vector<PrintedOutput> printed;
  for (const RanBlock& block : feedback.blocks) {
    printed.push_back(style.observe == Observe::kFull ? Printed(block.result)
                                                      : Unshown(block.result, style.observe));
  }
  std::vector<ShownOutput> outputs;
  if (style.share == FeedbackStyle::Share::kLimited) {
    outputs = TruncateTurn(printed, style.context_chars, CutOptions(style));
  } else {
    for (const PrintedOutput& output : printed) {
      TruncationOptions options = CutOptions(style);
      options.printed = output.characters;
      outputs.push_back(ShowCodeOutput(output.text, options));
    }
  }
  for (std::size_t i = 0; i < feedback.blocks.size(); ++i) {
    const bool python = style.dialect == sandbox::Dialect::kPython;
    std::string title = python ? "REPL output" : "[Execution Output]";
    if (feedback.blocks.size() > 1) title += fmt::format(" (block {})", i + 1);
    parts.push_back(RenderBlock(feedback.blocks[i], title, outputs[i], feedback.echo, style));
  }
  if (feedback.blocks_not_run > 0) {
    parts.push_back(
        feedback.blocks_not_run == 1
            ? "1 more block of your reply was not run."
            : fmt::format("{} more blocks of your reply were not run.", feedback.blocks_not_run));
  }
  if (feedback.subcalls.failed() > 0) {
    parts.push_back(fmt::format("Sub-calls: {}. {}", feedback.subcalls.ToText(),
                                style.dialect == sandbox::Dialect::kPython
                                    ? "Their replies have `.ok` False."
                                    : "Their replies begin with `[ERROR]`."));
  }
  if (!feedback.blocks.empty()) {
    const std::string line =
        VariablesLine(feedback.blocks.back().result.variables, kVariablesShown);
    if (!line.empty()) parts.push_back(line);
  }
  parts.insert(parts.end(), feedback.messages.begin(), feedback.messages.end());
  return Join(parts, "\n\n");
}

}  // namespace dossier::ask
