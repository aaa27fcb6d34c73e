// Renders Markdown on a terminal while it arrives: paragraphs word by word, headings and code line
// by line, a table once it is complete.
//
//   MarkdownView view({.columns = 80, .color = Terminal::Color::kYes}, std::cout);
//   view.Write("# Disk\nIt is **fu");      // shows the heading and "It is"
//   view.Write("ll**.\n");                 // "full." in bold
//   view.End();
//
// Shown text is never taken back, so the cursor does not move; text with an open emphasis, code or
// link waits for its end, at most kMaxHeld bytes. Chunks may be split anywhere: the same text gives
// the same bytes. All model text passes through utf8::CleanForTerminal.
//
// markdown_line.h determines blocks, markdown_inline.h (md4c) their content. Memory: one held piece
// or one table. Thread-safety: one caller at a time.

#ifndef DOSSIER_CLI_MARKDOWN_MARKDOWN_VIEW_H_
#define DOSSIER_CLI_MARKDOWN_MARKDOWN_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/markdown/code_block.h"
#include "cli/markdown/markdown_inline.h"
#include "cli/markdown/markdown_line.h"
#include "cli/markdown/text_flow.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {

// Writes a model's reply to stdout: unchanged to a pipe, safe or rendered to a terminal.
//
//   auto view = MakeReplyView(MarkdownMode::kAuto, Terminal::Detect(), std::cout);
//   view->Write("The **disk** is");       // any chunks
//   view->Write(" full.");
//   view->End();                           // adds the final newline that is missing
//
// Pipe: exact bytes, unbuffered, no escapes. Terminal: control bytes appear as ^[, even with
// --markdown off. However chunks are split, only whole code points are written. Ownership: the
// caller keeps the stream, which must outlive the view. Thread-safety: one caller at a time.

class ReplyView {
 public:
  virtual ~ReplyView() = default;
  // Adds text and writes what can be shown.
  virtual void Write(std::string_view chunk) = 0;
  // Ends the reply; Write may start the next one.
  virtual void End() = 0;
};

enum class MarkdownMode : std::uint8_t { kAuto, kOn, kOff };  // kAuto: on a terminal

// Parses the value of --markdown. Errors: kUsage with the possible words.
Result<MarkdownMode> ParseMarkdownMode(std::string_view word);

std::unique_ptr<ReplyView> MakeReplyView(MarkdownMode mode, const Terminal& terminal,
                                         std::ostream& out);

// Rejoins code points that were split between chunks.
class CodePointJoiner {
 public:
  // Returns all whole code points so far; invalid bytes are passed on unchanged.
  std::string Take(std::string_view chunk);
  // Returns the rest: an incomplete code point.
  std::string TakeRest();

 private:
  std::string held_;
};

class MarkdownView final : public ReplyView {
 public:
  // Longest text that waits for the end of an emphasis, a link, a heading or a code line.
  static constexpr std::size_t kMaxHeld = 2048;
  // The largest table that is drawn as a table; larger ones are shown as text.
  static constexpr std::size_t kMaxTable = 64 * 1024, kMaxRows = 500, kMaxColumns = 64;

  MarkdownView(const FlowOptions& options, std::ostream& out);

  void Write(std::string_view chunk) override;
  void End() override;

 private:
  enum class Mode : std::uint8_t { kLineStart, kFlow, kWholeLine };

  void Take(std::string_view text);
  void TakeCodePoint(char32_t code_point, std::string_view bytes);

  void Decide(LineEnd end);
  void BeginText(const LinePlan& plan, LineEnd end);
  void WholeLine(const LinePlan& plan);
  void BlankLine(const LinePlan& plan);
  void StartBlock(const LinePlan& plan);

  void FlowText(std::string_view text);
  void FlowCodePoint(char32_t code_point, std::string_view bytes);
  void EndOfFlowLine();
  void ShowHeld();
  void EndParagraph();

  void Heading(std::string_view text);
  void AddTableRow(std::string_view row);
  void EndTable();
  void BeginFence(const CodeFence& fence);
  void FenceCodePoint(char32_t code_point, std::string_view bytes);
  void EndOfFenceLine();
  void EndFence();

  int RuleWidth() const;
  // The prefix of a line in the first `count` containers, with markers from `marked` on.
  std::string Prefix(std::size_t count, std::size_t marked) const;

  const FlowOptions options_;
  const Markers markers_;
  TextFlow flow_;
  std::ostream& out_;
  CodePointJoiner joiner_;
  bool return_ = false;  // a CR that may be followed by LF

  Mode mode_ = Mode::kLineStart;
  std::string line_;  // not in kFlow: the part of the line that is not shown yet
  std::vector<MarkdownContainer> containers_;

  Paragraph paragraph_ = Paragraph::kNone;
  bool space_waits_ = false;
  std::string held_;  // of the paragraph
  InlineScan scan_;   // of held_

  std::optional<CodeFence> fence_;
  std::optional<CodeColors> colors_;  // of the fence
  bool code_line_open_ = false;       // the start of line_ has been shown
  std::vector<std::string> table_;
  std::size_t table_bytes_ = 0;

  bool anything_ = false;  // whether anything was shown
  bool blank_waits_ = false;
  std::size_t blank_depth_ = 0;  // containers around the blank line
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_MARKDOWN_VIEW_H_
