// What a line of Markdown begins: the block structure, decided as early as the first characters
// allow.
//
//   const LinePlan plan = PlanLine("  - [docs](", LineEnd::kOpen, containers, Paragraph::kNone);
//   if (plan.leaf == Leaf::kUndecided) return;     // "  -" may still become a rule
//   // plan.opened: one list item; plan.content: offset of "[docs]("
//
// CommonMark's rules, but where models differ from them: a list item nested by two columns is
// nested whatever the width of its parent's number; a line in an open code fence may be indented
// less than its item; a line break in a paragraph is meant. Setext headings and HTML blocks are
// text.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_CLI_MARKDOWN_MARKDOWN_LINE_H_
#define DOSSIER_CLI_MARKDOWN_MARKDOWN_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::cli {

// A quote or a list item that is open around a line.
struct MarkdownContainer {
  enum class Kind : std::uint8_t { kQuote, kItem } kind = Kind::kQuote;
  std::size_t marker_indent = 0, content_indent = 0;  // kItem: from the start of what is around it
  std::string marker;                                 // kItem: "-" or "12."
};

enum class Leaf : std::uint8_t {
  kUndecided,  // more of the line is needed
  kBlank,
  kText,
  kHeading,
  kFence,
  kRule,
  kUnderline,  // "====" below a paragraph
  kTableRow,
  kIndentedCode,
};

// kOpen: more of it may come.
enum class LineEnd : std::uint8_t { kOpen, kComplete };
enum class Paragraph : std::uint8_t { kNone, kOpen };

struct LinePlan {
  Leaf leaf = Leaf::kUndecided;
  std::size_t matched = 0;  // containers, from the outermost, that go on
  std::vector<MarkdownContainer> opened;
  std::size_t content = 0;  // offset of what the leaf holds
  std::size_t indent = 0;   // spaces before it, behind the containers' marks
};

struct CodeFence {
  char mark = '`';
  std::size_t length = 3, indent = 0;
  std::string language;  // the first word behind the fence; may be empty
};

// The deepest nesting that is followed; deeper marks are text.
inline constexpr std::size_t kMaxContainers = 12;

// `line` without its line end.
LinePlan PlanLine(std::string_view line, LineEnd end,
                  const std::vector<MarkdownContainer>& containers, Paragraph paragraph);

// For a kFence line: from `content` on.
CodeFence ReadFence(std::string_view text, std::size_t indent);
bool ClosesFence(std::string_view line, const CodeFence& fence);

// `line` in a code fence without the marks and indents of the containers around it and of the
// fence. False: a quote around the fence has ended, and the fence with it.
bool StripInFence(std::string_view* line, const std::vector<MarkdownContainer>& containers,
                  const CodeFence& fence);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_MARKDOWN_LINE_H_
