#include "cli/markdown/reply_view.h"

#include <array>

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/markdown/markdown_view.h"

namespace dossier::cli {
namespace {

constexpr int kPipeColumns = 80;

// How many bytes a code point with this lead byte has; 1 for what is no lead byte.
std::size_t SequenceLength(unsigned char lead) {
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  if (lead >= 0xE0) return lead < 0xF0 ? 3 : 1;
  return lead >= 0xC2 ? 2 : 1;
}

class ExactView final : public ReplyView {
 public:
  explicit ExactView(std::ostream& out) : out_(out) {}

  void Write(std::string_view chunk) override { Put(joiner_.Take(chunk)); }
  void End() override {
    Put(joiner_.TakeRest());
    if (last_ != '\n') Put("\n");
    last_ = '\n';
  }

 private:
  void Put(std::string_view text) {
    if (text.empty()) return;
    last_ = text.back();
    out_ << text << std::flush;
  }

  std::ostream& out_;
  CodePointJoiner joiner_;
  char last_ = '\n';
};

// A terminal without Markdown: the text, with control bytes shown.
class CleanView final : public ReplyView {
 public:
  explicit CleanView(std::ostream& out) : out_(out) {}

  void Write(std::string_view chunk) override { Put(joiner_.Take(chunk)); }
  void End() override {
    Put(joiner_.TakeRest());
    if (std::exchange(return_, false)) out_ << "^M";
    if (last_ != '\n') out_ << "\n";
    out_ << std::flush;
    last_ = '\n';
  }

 private:
  void Put(const std::string& text) {
    if (text.empty()) return;
    // A CR before an LF ends a line, too; whether an LF follows may show in the next chunk only.
    std::string lines =
        ReplaceAll(std::exchange(return_, false) ? "\r" + text : text, "\r\n", "\n");
    if (lines.ends_with('\r')) {
      lines.pop_back();
      return_ = true;
    }
    if (lines.empty()) return;
    last_ = lines.back();
    out_ << utf8::CleanForTerminal(lines) << std::flush;
  }

  std::ostream& out_;
  CodePointJoiner joiner_;
  char last_ = '\n';
  bool return_ = false;
};

}  // namespace

std::string CodePointJoiner::Take(std::string_view chunk) {
  std::string text = std::exchange(held_, {}).append(chunk);
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    if (SequenceLength(byte) > back) {
      const std::size_t whole = text.size() - back;
      held_ = text.substr(whole);
      text.erase(whole);
    }
    break;
  }
  return text;
}

std::string CodePointJoiner::TakeRest() { return std::exchange(held_, {}); }

Result<MarkdownMode> ParseMarkdownMode(std::string_view word) {
  if (word == "auto") return MarkdownMode::kAuto;
  if (word == "on") return MarkdownMode::kOn;
  if (word == "off") return MarkdownMode::kOff;
  return MakeError(ErrorCode::kUsage, "--markdown {}: unknown; {}", word,
                   OneOf(word, std::array{"auto", "on", "off"}));
}

std::unique_ptr<ReplyView> MakeReplyView(MarkdownMode mode, const Terminal& terminal,
                                         std::ostream& out) {
  const bool on_terminal = terminal.out == Terminal::Kind::kTerminal;
  if (mode == MarkdownMode::kOn || (mode == MarkdownMode::kAuto && on_terminal)) {
    FlowOptions options{.columns = on_terminal ? terminal.columns : kPipeColumns,
                        .color = on_terminal ? terminal.color : Terminal::Color::kNo};
    if (on_terminal) options.columns_now = [terminal] { return ColumnsNow(terminal); };
    return std::make_unique<MarkdownView>(options, out);
  }
  if (on_terminal) return std::make_unique<CleanView>(out);
  return std::make_unique<ExactView>(out);
}

}  // namespace dossier::cli
