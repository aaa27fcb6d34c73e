#include "cli/markdown/markdown_line.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::cli {
namespace {

using Kind = MarkdownContainer::Kind;

std::size_t Indent(std::string_view text) {
  return std::min(text.find_first_not_of(' '), text.size());
}

// A step into a line: a leaf, or a container that it opens.
struct Start {
  Leaf leaf = Leaf::kUndecided;
  bool container = false;
  MarkdownContainer opened;
  std::size_t content = 0;  // offset from the start of the step
};

class LineStart {
 public:
  LineStart(std::string_view text, LineEnd end, Paragraph paragraph)
      : indent_(Indent(text)),
        rest_(text.substr(indent_)),
        open_(end == LineEnd::kOpen),
        in_paragraph_(paragraph == Paragraph::kOpen) {}

  Start Read() const {
    if (rest_.empty()) return Is(open_ ? Leaf::kUndecided : Leaf::kBlank);
    if (indent_ >= 4 && !in_paragraph_) return {.leaf = Leaf::kIndentedCode, .content = 4};
    switch (rest_[0]) {
      case '#':
        return Heading();
      case '`':
      case '~':
        return Fence();
      case '>':
        return Quote();
      case '|':
        return Is(Leaf::kTableRow);
      case '-':
      case '+':
      case '*':
      case '_':
      case '=':
        return RuleOrBullet();
      default:
        return IsDigit(rest_[0]) ? Numbered() : Is(Leaf::kText);
    }
  }

 private:
  Start Is(Leaf leaf) const { return {.leaf = leaf, .content = indent_}; }

  std::size_t Run(char c) const { return std::min(rest_.find_first_not_of(c), rest_.size()); }

  Start Heading() const {
    const std::size_t run = Run('#');
    if (run > 6) return Is(Leaf::kText);
    if (run == rest_.size()) return Is(open_ ? Leaf::kUndecided : Leaf::kHeading);
    return Is(rest_[run] == ' ' ? Leaf::kHeading : Leaf::kText);
  }

  // Only the end of the line decides: the info of a backtick fence contains no backtick.
  Start Fence() const {
    const std::size_t run = Run(rest_[0]);
    if (run < 3) return Is(run == rest_.size() && open_ ? Leaf::kUndecided : Leaf::kText);
    if (rest_[0] == '`' && rest_.find('`', run) != std::string_view::npos) return Is(Leaf::kText);
    return Is(open_ ? Leaf::kUndecided : Leaf::kFence);
  }

  Start Quote() const {
    if (rest_.size() == 1 && open_) return Is(Leaf::kUndecided);
    const std::size_t space = rest_.size() > 1 && rest_[1] == ' ' ? 1 : 0;
    return {.container = true,
            .opened = {.kind = Kind::kQuote, .marker = {}},
            .content = indent_ + 1 + space};
  }

  Start RuleOrBullet() const {
    const char mark = rest_[0];
    const bool only_marks =
        rest_.find_first_not_of(std::string{mark, ' '}) == std::string_view::npos;
    if (only_marks && open_) return Is(Leaf::kUndecided);
    const auto count = std::ranges::count(rest_, mark);
    if (only_marks && mark == '=') return Is(in_paragraph_ ? Leaf::kUnderline : Leaf::kText);
    if (only_marks && count >= 3 && mark != '+') return Is(Leaf::kRule);
    if (mark == '_' || mark == '=') return Is(Leaf::kText);
    if (rest_.size() > 1 && rest_[1] != ' ') return Is(Leaf::kText);
    return Item(1);
  }

  Start Numbered() const {
    std::size_t digits = 0;
    while (digits < rest_.size() && IsDigit(rest_[digits])) ++digits;
    if (digits > 9) return Is(Leaf::kText);
    if (digits == rest_.size()) return Is(open_ ? Leaf::kUndecided : Leaf::kText);
    if (rest_[digits] != '.' && rest_[digits] != ')') return Is(Leaf::kText);
    if (digits + 1 == rest_.size() && open_) return Is(Leaf::kUndecided);
    if (digits + 1 < rest_.size() && rest_[digits + 1] != ' ') return Is(Leaf::kText);
    return Item(digits + 1);
  }

  Start Item(std::size_t marker) const {
    const std::string_view behind = rest_.substr(marker);
    std::size_t spaces = Indent(behind);
    if (spaces == behind.size()) {
      if (open_) return Is(Leaf::kUndecided);
      if (in_paragraph_) return Is(Leaf::kText);  // an empty item does not interrupt a paragraph
      spaces = std::min<std::size_t>(spaces, 1);
    } else if (spaces > 4) {
      spaces = 1;  // indented code in the item
    }
    return {.container = true,
            .opened = {.kind = Kind::kItem,
                       .marker_indent = indent_,
                       .content_indent = indent_ + marker + std::max<std::size_t>(spaces, 1),
                       .marker = std::string(rest_.substr(0, marker))},
            .content = indent_ + marker + spaces};
  }

  const std::size_t indent_;
  const std::string_view rest_;
  const bool open_, in_paragraph_;
};

enum class Match : std::uint8_t { kNo, kYes, kUndecided };

// Checks if `container` continues in a line with the rest `text`; `*skip` bytes then belong to it.
Match GoesOn(const MarkdownContainer& container, std::string_view text, LineEnd end,
             std::size_t* skip) {
  const std::size_t indent = Indent(text);
  *skip = 0;
  if (indent == text.size() && end == LineEnd::kOpen) return Match::kUndecided;
  if (container.kind == Kind::kQuote) {
    if (indent > 3 || indent == text.size() || text[indent] != '>') return Match::kNo;
    if (indent + 1 == text.size() && end == LineEnd::kOpen) return Match::kUndecided;
    *skip = indent + 1 + (indent + 1 < text.size() && text[indent + 1] == ' ' ? 1 : 0);
    return Match::kYes;
  }
  if (indent == text.size()) return Match::kYes;  // a blank line does not end an item
  if (indent <= container.marker_indent) return Match::kNo;
  if (indent < container.content_indent) {
    const Start start = LineStart(text, end, Paragraph::kNone).Read();
    if (!start.container && start.leaf == Leaf::kUndecided) return Match::kUndecided;
    // A bullet that is one column off is a sibling.
    if (start.container && start.opened.kind == Kind::kItem &&
        indent < container.marker_indent + 2) {
      return Match::kNo;
    }
  }
  *skip = std::min(indent, container.content_indent);
  return Match::kYes;
}

}  // namespace

LinePlan PlanLine(std::string_view line, LineEnd end,
                  const std::vector<MarkdownContainer>& containers, Paragraph paragraph) {
  LinePlan plan;
  std::size_t skip = 0;
  while (plan.matched < containers.size()) {
    const Match match = GoesOn(containers[plan.matched], line.substr(plan.content), end, &skip);
    if (match == Match::kUndecided) return plan;
    if (match == Match::kNo) break;
    plan.content += skip;
    ++plan.matched;
  }
  Paragraph open = paragraph;
  while (true) {
    const Start start = LineStart(line.substr(plan.content), end, open).Read();
    const bool too_deep = plan.matched + plan.opened.size() >= kMaxContainers;
    if (!start.container || too_deep) {
      plan.indent = start.container ? 0 : start.content;
      plan.content += plan.indent;
      plan.leaf = start.container ? Leaf::kText : start.leaf;
      break;
    }
    plan.content += start.content;
    plan.opened.push_back(start.opened);
    open = Paragraph::kNone;
  }
  // A line that only continues a paragraph needs no marks before it.
  if (plan.leaf == Leaf::kText && plan.opened.empty() && paragraph == Paragraph::kOpen) {
    plan.matched = containers.size();
  }
  return plan;
}

CodeFence ReadFence(std::string_view text, std::size_t indent) {
  const char mark = text[0];
  const std::size_t run = std::min(text.find_first_not_of(mark), text.size());
  const std::string_view info = TrimSpace(text.substr(run));
  return {.mark = mark,
          .length = run,
          .indent = indent,
          .language = std::string(info.substr(0, info.find_first_of(" {,")))};
}

bool ClosesFence(std::string_view line, const CodeFence& fence) {
  const std::string_view text = TrimSpace(line);
  return Indent(line) <= 3 && text.size() >= fence.length &&
         text.find_first_not_of(fence.mark) == std::string_view::npos;
}

bool StripInFence(std::string_view* line, const std::vector<MarkdownContainer>& containers,
                  const CodeFence& fence) {
  for (const MarkdownContainer& container : containers) {
    if (container.kind == Kind::kItem) {
      line->remove_prefix(std::min(Indent(*line), container.content_indent));
      continue;
    }
    const std::size_t indent = Indent(*line);
    if (indent > 3 || indent == line->size() || (*line)[indent] != '>') return false;
    line->remove_prefix(indent + 1);
    if (line->starts_with(' ')) line->remove_prefix(1);
  }
  line->remove_prefix(std::min(Indent(*line), fence.indent));
  return true;
}

}  // namespace dossier::cli
