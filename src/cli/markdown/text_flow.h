// Words with styles, wrapped to the width of a terminal and written as they come. Nothing is ever
// taken back: the same words give the same bytes, however they were cut into calls.
//
//   TextFlow flow({.columns = 80, .color = Terminal::Color::kYes}, out);
//   flow.SetPrefix("• ", "  ");                       // of the next line, of those after it
//   flow.Write({{Style::kBold, "Note:"}, {Style::kPlain, " the disk is full"}});
//   flow.EndLine();
//
// Every text passes CleanForTerminal: what a model wrote cannot move the cursor or change a colour;
// only this class writes escape sequences, and only SGR ones. Thread-safety: one owner.

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

// A piece of running text; "\n" in it ends a line.
struct StyledText {
  Style style = Style::kPlain;
  std::string text;

  bool operator==(const StyledText&) const = default;
};

struct FlowOptions {
  int columns = 80;  // at least 20
  Terminal::Color color = Terminal::Color::kNo;
  std::function<int()> columns_now = {};  // asked instead, where a window may change; may be empty
};

class TextFlow {
 public:
  // kAllowed: fewer columns than a terminal ever has, for the cells of a table.
  enum class Narrow : std::uint8_t { kNo, kAllowed };

  TextFlow(const FlowOptions& options, std::ostream& out, Narrow narrow = Narrow::kNo);

  // What begins the next line, and every line after it. May hold our own colour sequences.
  void SetPrefix(std::string first, std::string rest);
  // Columns between the prefix and the right edge; at least 8, however deep the prefix, unless
  // narrow.
  int width() const;

  // Words, wrapped; the last one stays open until more text, Space, Flush or EndLine.
  void Write(const std::vector<StyledText>& pieces);
  void Space();  // a place between words
  void Flush();  // writes the open word
  // Ends the line, if one is begun or a first prefix waits to be shown.
  void EndLine();
  // One line as it is, not wrapped; `text` without "\n". RawLine may follow RawPart.
  void RawPart(Style style, std::string_view text);
  void RawLine(Style style, std::string_view text);
  void RawLine(const std::vector<StyledText>& pieces);
  // One line that Styled and other flows have made: it is written as it is.
  void FinishedLine(std::string_view line);
  // An empty line; `prefix` stands in it.
  void BlankLine(std::string_view prefix);

  // `text` between the colour sequences of `style`; as it is where there are no colours.
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
  int column_ = 0;  // columns used behind the prefix
  int spaces_ = 0;  // between the last word and the next
  Style space_style_ = Style::kPlain;
  Style current_ = Style::kPlain;
  std::vector<StyledText> word_;
  int word_width_ = 0;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_TEXT_FLOW_H_
