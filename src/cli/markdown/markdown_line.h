// Determines the block structure that a line of Markdown begins, as early as its first characters
// allow.
//
//   const LinePlan plan = PlanLine("  - [docs](", LineEnd::kOpen, containers, Paragraph::kNone);
//   if (plan.leaf == Leaf::kUndecided) return;     // "  -" may still become a rule
//   // plan.opened: one list item; plan.content: offset of "[docs]("
//
// Follows CommonMark, except where models differ from it: a list item indented by two columns is
// nested, whatever the width of its parent's number; a line in an open code fence may be indented
// less than its item; a line break in a paragraph is kept. Setext headings and HTML blocks are
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

// A quote or list item that is open at a line.
struct MarkdownContainer {
  enum class Kind : std::uint8_t { kQuote, kItem } kind = Kind::kQuote;
  std::size_t marker_indent = 0, content_indent = 0;  // kItem: from the enclosing block's start
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

// kOpen: more of the line may come.
enum class LineEnd : std::uint8_t { kOpen, kComplete };
enum class Paragraph : std::uint8_t { kNone, kOpen };

struct LinePlan {
  Leaf leaf = Leaf::kUndecided;
  std::size_t matched = 0;  // containers, from the outermost, that continue
  std::vector<MarkdownContainer> opened;
  std::size_t content = 0;  // offset of the leaf's content
  std::size_t indent = 0;   // spaces before it, after the containers' markers
};

struct CodeFence {
  char mark = '`';
  std::size_t length = 3, indent = 0;
  std::string language;  // the first word after the fence; may be empty
};

// The deepest nesting supported; deeper markers are text.
inline constexpr std::size_t kMaxContainers = 12;

// `line` must not include its line end.
LinePlan PlanLine(std::string_view line, LineEnd end,
                  const std::vector<MarkdownContainer>& containers, Paragraph paragraph);

// Reads the fence of a kFence line; `text` starts at `content`.
CodeFence ReadFence(std::string_view text, std::size_t indent);
bool ClosesFence(std::string_view line, const CodeFence& fence);

// Removes the markers and indents of the containers and of the fence from a `line` in a code fence.
// Returns false if a quote around the fence has ended, and the fence with it.
bool StripInFence(std::string_view* line, const std::vector<MarkdownContainer>& containers,
                  const CodeFence& fence);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_MARKDOWN_LINE_H_
