// Wraps styled words to the width of a terminal and writes them as they come. Nothing is taken
// back: the same words give the same bytes, however they are split into calls.
//
//   TextFlow flow({.columns = 80, .color = Terminal::Color::kYes}, out);
//   flow.SetPrefix("• ", "  ");                       // of the next line, of those after it
//   flow.Write({{Style::kBold, "Note:"}, {Style::kPlain, " the disk is full"}});
//   flow.EndLine();
//
// Every text passes through CleanForTerminal, so model text cannot move the cursor or change
// colours; only this class writes escape sequences, and only SGR ones. Thread-safety: one owner.

#ifndef DOSSIER_CLI_MARKDOWN_TEXT_FLOW_H_
#define DOSSIER_CLI_MARKDOWN_TEXT_FLOW_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/terminal.h"

namespace dossier::cli {

enum class Style : std::uint8_t {
  kPlain = 0,
  kBold = 1,
  kDim = 2,
  kItalic = 4,
  kUnderline = 8,
  kStrike = 16,
  kCode = 32,
  kHeading = 64,
};
constexpr Style operator|(Style a, Style b) {
  return static_cast<Style>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool Has(Style set, Style one) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(one)) != 0;
}

// A piece of running text; "\n" ends a line.
struct StyledText {
  Style style = Style::kPlain;
  std::string text;

  bool operator==(const StyledText&) const = default;
};

struct FlowOptions {
  int columns = 80;  // at least 20
  Terminal::Color color = Terminal::Color::kNo;
  std::function<int()> columns_now = {};  // if set, replaces `columns`: the window may change
};

class TextFlow {
 public:
  // kAllowed: fewer columns than any real terminal, for the cells of a table.
  enum class Narrow : std::uint8_t { kNo, kAllowed };

  TextFlow(const FlowOptions& options, std::ostream& out, Narrow narrow = Narrow::kNo);

  // Sets the prefix of the next line and of all later ones. May contain our own colour sequences.
  void SetPrefix(std::string first, std::string rest);
  // Columns between the prefix and the right edge; at least 8, however long the prefix, unless
  // kAllowed.
  int width() const;

  // Writes words, wrapped; the last one stays open until more text, Space, Flush or EndLine.
  void Write(const std::vector<StyledText>& pieces);
  void Space();  // a space between words
  void Flush();  // writes the open word
  // Ends the line if one was begun or a first prefix is pending.
  void EndLine();
  // Writes one line unwrapped; `text` must not contain "\n". RawLine may follow RawPart.
  void RawPart(Style style, std::string_view text);
  void RawLine(Style style, std::string_view text);
  void RawLine(const std::vector<StyledText>& pieces);
  // Writes one line, made by Styled and other flows, unchanged.
  void FinishedLine(std::string_view line);
  // Writes an empty line with `prefix`.
  void BlankLine(std::string_view prefix);

  // Returns `text` in the colour sequences of `style`, or unchanged if colour is off.
  std::string Styled(Style style, std::string_view text) const;

 private:
  void BeginLine();
  void Put(Style style, std::string_view text);
  void SwitchTo(Style style);
  void WriteWord(Style style, std::string_view word);

  std::ostream& out_;
  const FlowOptions options_;
  const int least_columns_, least_width_;
  std::string first_, rest_;
  bool first_waits_ = false, line_open_ = false;
  int column_ = 0;  // columns used after the prefix
  int spaces_ = 0;  // pending, between the last word and the next
  Style space_style_ = Style::kPlain;
  Style current_ = Style::kPlain;
  std::vector<StyledText> word_;
  int word_width_ = 0;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_TEXT_FLOW_H_
