#include "cli/markdown/text_flow.h"

#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

constexpr int kLeastColumns = 20, kLeastWidth = 8;

struct Sgr {
  Style style;
  std::string_view code;
};
constexpr Sgr kSgr[] = {
    {Style::kBold, "1"},   {Style::kDim, "2"},   {Style::kItalic, "3"},   {Style::kUnderline, "4"},
    {Style::kStrike, "9"}, {Style::kCode, "36"}, {Style::kHeading, "35"},
};
constexpr std::string_view kReset = "\x1b[0m";

std::string Sequence(Style style) {
  std::string codes;
  for (const Sgr& sgr : kSgr) {
    if (Has(style, sgr.style)) codes += fmt::format("{}{}", codes.empty() ? "" : ";", sgr.code);
  }
  return "\x1b[" + codes + "m";
}

}  // namespace

TextFlow::TextFlow(const FlowOptions& options, std::ostream& out, Narrow narrow)
    : out_(out),
      options_(options),
      least_columns_(narrow == Narrow::kAllowed ? 1 : kLeastColumns),
      least_width_(narrow == Narrow::kAllowed ? 1 : kLeastWidth) {}

void TextFlow::SetPrefix(std::string first, std::string rest) {
  first_ = std::move(first);
  rest_ = std::move(rest);
  first_waits_ = first_ != rest_;
}

int TextFlow::width() const {
  const int columns = options_.columns_now ? options_.columns_now() : options_.columns;
  return std::max(least_width_, std::max(least_columns_, columns) - StyledWidth(rest_));
}

std::string TextFlow::Styled(Style style, std::string_view text) const {
  if (options_.color == Terminal::Color::kNo || style == Style::kPlain) return std::string(text);
  return fmt::format("{}{}{}", Sequence(style), text, kReset);
}

void TextFlow::SwitchTo(Style style) {
  if (style == current_ || options_.color == Terminal::Color::kNo) return;
  if (current_ != Style::kPlain) out_ << Own(kReset);
  if (style != Style::kPlain) out_ << Own(Sequence(style));
  current_ = style;
}

void TextFlow::Put(Style style, std::string_view text) {
  SwitchTo(style);
  out_ << utf8::CleanForTerminal(text);
}

void TextFlow::BeginLine() {
  if (line_open_) return;
  out_ << Own(first_waits_ ? first_ : rest_);
  first_waits_ = false;
  line_open_ = true;
  column_ = 0;
  spaces_ = 0;
}

void TextFlow::EndLine() {
  Flush();
  if (!line_open_ && !first_waits_) return;
  if (!line_open_) {
    first_.erase(first_.find_last_not_of(' ') + 1);
    BeginLine();
  }
  SwitchTo(Style::kPlain);
  out_ << "\n";
  line_open_ = false;
  spaces_ = 0;
}

void TextFlow::Space() {
  Flush();
  spaces_ = std::max(spaces_, 1);
  space_style_ = Style::kPlain;
}

void TextFlow::Write(const std::vector<StyledText>& pieces) {
  for (const StyledText& piece : pieces) {
    std::string_view text = piece.text;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
      WriteWord(piece.style, text.substr(0, end));
      if (end == text.size()) break;
      if (text[end] == '\n') {
        EndLine();
      } else {
        Flush();
        // Runs of spaces are only significant in code.
        spaces_ = Has(piece.style, Style::kCode) ? spaces_ + 1 : std::max(spaces_, 1);
        space_style_ = piece.style;
      }
      text.remove_prefix(end + 1);
    }
  }
}

void TextFlow::WriteWord(Style style, std::string_view word) {
  if (word.empty()) return;
  // Measured as shown: "^[" takes two columns.
  std::string shown = utf8::CleanForTerminal(word);
  word_width_ += DisplayWidth(shown);
  word_.push_back({style, std::move(shown)});
}

void TextFlow::Flush() {
  if (word_.empty()) return;
  const std::vector<StyledText> word = std::exchange(word_, {});
  const int needed = std::exchange(word_width_, 0);
  BeginLine();
  const int limit = width();
  if (column_ > 0 && column_ + spaces_ + needed > limit) {
    SwitchTo(Style::kPlain);
    out_ << "\n";
    line_open_ = false;
    BeginLine();
  }
  if (column_ > 0 && spaces_ > 0) {
    Put(space_style_, std::string(static_cast<std::size_t>(spaces_), ' '));
    column_ += spaces_;
  }
  spaces_ = 0;
  for (const StyledText& piece : word) {
    std::string_view rest = piece.text;
    while (!rest.empty()) {
      std::string_view head = DisplayPrefix(rest, limit - column_);
      if (head.empty() && column_ > 0) {  // a word longer than a line
        SwitchTo(Style::kPlain);
        out_ << "\n";
        line_open_ = false;
        BeginLine();
        continue;
      }
      if (head.empty()) head = rest;
      Put(piece.style, head);
      column_ += DisplayWidth(head);
      rest.remove_prefix(head.size());
    }
  }
}

void TextFlow::RawPart(Style style, std::string_view text) {
  Flush();
  BeginLine();
  Put(style, text);
}

void TextFlow::RawLine(Style style, std::string_view text) {
  RawPart(style, text);
  EndLine();
}

void TextFlow::RawLine(const std::vector<StyledText>& pieces) {
  if (pieces.empty()) RawPart(Style::kPlain, "");
  for (const StyledText& piece : pieces) RawPart(piece.style, piece.text);
  EndLine();
}

void TextFlow::FinishedLine(std::string_view line) {
  Flush();
  BeginLine();
  out_ << Own(line);
  EndLine();
}

void TextFlow::BlankLine(std::string_view prefix) {
  EndLine();
  out_ << Own(prefix) << "\n";
}

}  // namespace dossier::cli
