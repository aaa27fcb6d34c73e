#include "cli/markdown/markdown_view.h"

#include <algorithm>
#include <array>

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/markdown/markdown_table.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

constexpr int kWidestRule = 80;
constexpr std::size_t kTabStop = 4;

// Scripts without spaces between words: a line may break after any of their characters.
bool BreaksAnywhere(char32_t c) {
  return (c >= 0x2E80 && c <= 0x9FFF) || (c >= 0xAC00 && c <= 0xD7AF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFFEF) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

std::string Dashes(int count) {
  std::string dashes;
  for (int i = 0; i < count; ++i) dashes += "─";
  return dashes;
}

// Removes the closing #s of "## Title ##".
std::string_view HeadingText(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('#'), text.size()));
  text = TrimSpace(text);
  const std::size_t end = text.find_last_not_of('#');
  if (end == std::string_view::npos) return {};
  return text[end] == ' ' ? TrimSpace(text.substr(0, end)) : text;
}

}  // namespace

MarkdownView::MarkdownView(const FlowOptions& options, std::ostream& out)
    : options_(options),
      markers_(options.color == Terminal::Color::kYes ? Markers::kHide : Markers::kShow),
      flow_(options, out),
      out_(out) {}

void MarkdownView::Write(std::string_view chunk) {
  Take(joiner_.Take(chunk));
  out_ << std::flush;
}

void MarkdownView::End() {
  Take(joiner_.TakeRest());
  if (std::exchange(return_, false)) TakeCodePoint(U'\r', "\r");
  if (mode_ == Mode::kFlow) {
    EndOfFlowLine();
  } else if (fence_ && (!line_.empty() || code_line_open_)) {
    EndOfFenceLine();
  } else if (!line_.empty()) {
    Decide(LineEnd::kComplete);
  }
  EndParagraph();
  EndTable();
  EndFence();
  flow_.EndLine();
  flow_.SetPrefix("", "");
  containers_.clear();
  anything_ = blank_waits_ = false;
  out_ << std::flush;
}

void MarkdownView::Take(std::string_view text) {
  const std::string clean = utf8::Sanitize(text);
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t begin = at;
    const char32_t code_point = utf8::Next(clean, &at);
    if (std::exchange(return_, false) && code_point != U'\n') TakeCodePoint(U'\r', "\r");
    if (code_point == U'\r') {
      return_ = true;
    } else {
      TakeCodePoint(code_point, std::string_view(clean).substr(begin, at - begin));
    }
  }
}

void MarkdownView::TakeCodePoint(char32_t code_point, std::string_view bytes) {
  if (fence_) return FenceCodePoint(code_point, bytes);
  if (mode_ == Mode::kFlow) {
    return code_point == U'\n' ? EndOfFlowLine() : FlowCodePoint(code_point, bytes);
  }
  if (code_point == U'\n') return Decide(LineEnd::kComplete);
  if (code_point == U'\t' && line_.find_first_not_of(' ') == std::string::npos) {
    line_.append(kTabStop - line_.size() % kTabStop, ' ');
  } else {
    line_ += code_point == U'\t' ? std::string_view(" ") : bytes;
  }
  if (mode_ == Mode::kLineStart || line_.size() > kMaxHeld) Decide(LineEnd::kOpen);
}

void MarkdownView::Decide(LineEnd end) {
  LinePlan plan = PlanLine(line_, end, containers_, paragraph_);
  const bool too_long = line_.size() > (plan.leaf == Leaf::kTableRow ? kMaxTable : kMaxHeld);
  if (end == LineEnd::kOpen && plan.leaf != Leaf::kText) {
    if (plan.leaf != Leaf::kUndecided) mode_ = Mode::kWholeLine;
    if (!too_long) return;
    plan.leaf = Leaf::kText;
  }
  if (plan.leaf == Leaf::kText) {
    BeginText(plan, end);
  } else if (plan.leaf == Leaf::kBlank) {
    BlankLine(plan);
  } else {
    WholeLine(plan);
  }
}

void MarkdownView::BeginText(const LinePlan& plan, LineEnd end) {
  const std::string line = std::exchange(line_, {});
  if (paragraph_ == Paragraph::kOpen && plan.opened.empty() && plan.matched == containers_.size()) {
    if (held_.empty()) {
      flow_.EndLine();
    } else {
      held_ += '\n';
    }
  } else {
    StartBlock(plan);
    paragraph_ = Paragraph::kOpen;
  }
  mode_ = Mode::kFlow;
  FlowText(std::string_view(line).substr(plan.content));
  if (end == LineEnd::kComplete) EndOfFlowLine();
}

void MarkdownView::BlankLine(const LinePlan& plan) {
  line_.clear();
  mode_ = Mode::kLineStart;
  if (!plan.opened.empty()) return StartBlock(plan);  // an item or quote without text yet
  EndTable();
  EndParagraph();
  if (plan.matched < containers_.size()) {
    flow_.EndLine();
    containers_.resize(plan.matched);
    flow_.SetPrefix(Prefix(plan.matched, plan.matched), Prefix(plan.matched, plan.matched));
  }
  blank_waits_ = true;
  blank_depth_ = plan.matched;
}

void MarkdownView::WholeLine(const LinePlan& plan) {
  const std::string line = std::exchange(line_, {});
  const std::string_view text = std::string_view(line).substr(plan.content);
  mode_ = Mode::kLineStart;
  const bool same_containers = plan.opened.empty() && plan.matched == containers_.size();
  if (plan.leaf == Leaf::kTableRow && same_containers && !table_.empty()) return AddTableRow(text);
  if (plan.leaf == Leaf::kHeading && containers_.empty()) blank_waits_ = true;
  StartBlock(plan);
  switch (plan.leaf) {
    case Leaf::kHeading:
      return Heading(text);
    case Leaf::kTableRow:
      return AddTableRow(text);
    case Leaf::kFence:
      return BeginFence(ReadFence(text, plan.indent));
    case Leaf::kRule:
      return flow_.RawLine(Style::kDim, Dashes(RuleWidth()));
    case Leaf::kUnderline:
      return flow_.RawLine(Style::kDim,
                           Dashes(std::min(RuleWidth(), static_cast<int>(TrimSpace(text).size()))));
    default:
      return flow_.RawLine(Style::kPlain, std::string(kTabStop, ' ').append(text));
  }
}

void MarkdownView::StartBlock(const LinePlan& plan) {
  EndTable();
  EndParagraph();
  const bool changed = plan.matched < containers_.size() || !plan.opened.empty();
  if (changed) flow_.EndLine();  // shows the marker of an empty item
  if (std::exchange(blank_waits_, false) && anything_) {
    const std::size_t depth = std::min(blank_depth_, plan.matched);
    std::string prefix = Prefix(depth, depth);
    prefix.erase(prefix.find_last_not_of(' ') + 1);
    flow_.BlankLine(prefix);
  }
  if (changed) {
    containers_.resize(plan.matched);
    containers_.insert(containers_.end(), plan.opened.begin(), plan.opened.end());
    flow_.SetPrefix(Prefix(containers_.size(), plan.matched),
                    Prefix(containers_.size(), containers_.size()));
  }
  anything_ = true;
}

void MarkdownView::FlowText(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t code_point = utf8::Next(text, &at);
    FlowCodePoint(code_point, text.substr(begin, at - begin));
  }
}

void MarkdownView::FlowCodePoint(char32_t code_point, std::string_view bytes) {
  const bool space = code_point == U' ' || code_point == U'\t';
  if (space && (held_.empty() || scan_.closed())) {
    ShowHeld();
    space_waits_ = true;
    return;
  }
  held_ += space ? std::string_view(" ") : bytes;
  scan_.Feed(space ? U' ' : code_point);
  if (held_.size() > kMaxHeld || (BreaksAnywhere(code_point) && scan_.closed())) {
    ShowHeld();
    space_waits_ = space;
  }
}

void MarkdownView::EndOfFlowLine() {
  mode_ = Mode::kLineStart;
  const std::size_t text = held_.find_last_not_of('\\') + 1;
  if ((held_.size() - text) % 2 == 1) held_.pop_back();  // a hard line break, like every line end
  scan_.Feed(U'\n');
  if (scan_.closed()) ShowHeld();
  space_waits_ = false;
}

void MarkdownView::ShowHeld() {
  if (!held_.empty()) {
    if (space_waits_) flow_.Space();
    flow_.Write(RenderInline(held_, markers_));
    flow_.Flush();
  }
  held_.clear();
  scan_ = InlineScan();
  space_waits_ = false;
}

void MarkdownView::EndParagraph() {
  if (paragraph_ == Paragraph::kNone) return;
  ShowHeld();
  flow_.EndLine();
  paragraph_ = Paragraph::kNone;
}

void MarkdownView::Heading(std::string_view text) {
  const std::size_t level = std::min(text.find_first_not_of('#'), text.size());
  const Style style = level <= 2 ? Style::kBold | Style::kHeading : Style::kBold;
  if (markers_ == Markers::kShow) flow_.Write({{style, std::string(level, '#') + " "}});
  flow_.Write(RenderInline(HeadingText(text), markers_, style));
  flow_.EndLine();
}

void MarkdownView::AddTableRow(std::string_view row) {
  table_.emplace_back(row);
  table_bytes_ += row.size();
  const bool no_table = table_.size() == 2 && !IsDelimiterRow(row);
  if (no_table || table_.size() > kMaxRows || table_bytes_ > kMaxTable) EndTable();
}

void MarkdownView::EndTable() {
  const std::vector<std::string> rows = std::exchange(table_, {});
  table_bytes_ = 0;
  if (rows.size() >= 2 && IsDelimiterRow(rows[1]) && SplitRow(rows[0]).size() <= kMaxColumns) {
    const TableOptions options{
        .width = flow_.width(), .color = options_.color, .markers = markers_};
    for (const std::string& line : DrawTable(rows, options)) flow_.FinishedLine(line);
    return;
  }
  for (const std::string& row : rows) {
    flow_.Write(RenderInline(TrimSpace(row), markers_));
    flow_.EndLine();
  }
}

void MarkdownView::BeginFence(const CodeFence& fence) {
  fence_ = fence;
  colors_.emplace(fence.language);
  const std::string label =
      fence.language.empty() ? std::string() : fmt::format("── {} ", fence.language);
  const int left = std::max(0, RuleWidth() - DisplayWidth(label));
  flow_.RawLine(Style::kDim, label + Dashes(left));
}

void MarkdownView::FenceCodePoint(char32_t code_point, std::string_view bytes) {
  if (code_point == U'\n') return EndOfFenceLine();
  line_ += bytes;
  if (line_.size() <= kMaxHeld) return;
  std::string_view text = line_;
  if (!code_line_open_ && !StripInFence(&text, containers_, *fence_)) {
    // The enclosing quote has ended, and the code with it.
    EndFence();
    return Decide(LineEnd::kOpen);
  }
  flow_.RawPart(Style::kPlain, text);
  line_.clear();
  code_line_open_ = true;
}

void MarkdownView::EndOfFenceLine() {
  std::string_view text = line_;
  if (!std::exchange(code_line_open_, false)) {
    if (!StripInFence(&text, containers_, *fence_)) {
      EndFence();
      return Decide(LineEnd::kComplete);
    }
    if (ClosesFence(text, *fence_)) {
      line_.clear();
      return EndFence();
    }
  }
  flow_.RawLine(colors_->Line(text));
  line_.clear();
}

void MarkdownView::EndFence() {
  if (!fence_) return;
  flow_.EndLine();
  flow_.RawLine(Style::kDim, Dashes(RuleWidth()));
  fence_.reset();
}

int MarkdownView::RuleWidth() const { return std::min(kWidestRule, flow_.width()); }

std::string MarkdownView::Prefix(std::size_t count, std::size_t marked) const {
  std::string prefix;
  for (std::size_t i = 0; i < count; ++i) {
    const MarkdownContainer& container = containers_[i];
    if (container.kind == MarkdownContainer::Kind::kQuote) {
      prefix += flow_.Styled(Style::kDim, "│") + " ";
    } else if (i < marked) {
      prefix += std::string(container.marker.size() + 1, ' ');
    } else {
      const bool bullet = container.marker.size() == 1;
      prefix += flow_.Styled(Style::kDim, bullet ? "•" : container.marker) + " ";
    }
  }
  return prefix;
}

namespace {

constexpr int kPipeColumns = 80;

// Returns the bytes of a code point with this lead byte; 1 for any other byte.
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

// A terminal without Markdown: shows the text with visible control bytes.
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
    // A CR before an LF also ends a line; the LF may be in the next chunk.
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
