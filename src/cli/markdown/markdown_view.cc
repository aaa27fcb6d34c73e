#include "cli/markdown/markdown_view.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

constexpr int kWidestRule = 80;
constexpr std::size_t kTabStop = 4;

// Scripts without spaces between words: a line may break behind any of their characters.
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

// Without the closing #s of "## Title ##".
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
  if (!plan.opened.empty()) return StartBlock(plan);  // an item or quote without text so far
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
  if (changed) flow_.EndLine();  // an item without content shows its marker
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
  if ((held_.size() - text) % 2 == 1) held_.pop_back();  // a hard line break, as all are
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
    // The quote around it has ended; so has the code.
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

namespace {

constexpr int kLeastColumn = 5;
constexpr std::string_view kBar = " │ ", kCross = "─┼─", kDash = "─";
constexpr int kBarWidth = 3;

enum class Align : std::uint8_t { kLeft, kCenter, kRight };

std::string Repeat(std::string_view text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

// One cell, rendered into lines of at most `width` columns.
std::vector<std::string> CellLines(std::string_view cell, int width, Style base,
                                   const TableOptions& options) {
  std::ostringstream out;
  TextFlow flow({.columns = width, .color = options.color}, out, TextFlow::Narrow::kAllowed);
  flow.Write(RenderInline(cell, options.markers, base));
  flow.EndLine();
  const std::string text = std::move(out).str();
  std::vector<std::string> lines;
  for (const std::string_view line : Split(text, '\n')) lines.emplace_back(line);
  if (lines.size() > 1) lines.pop_back();
  return lines;
}

std::string Pad(const std::string& text, int width, Align align) {
  const int missing = std::max(0, width - StyledWidth(text));
  const int left = align == Align::kLeft ? 0 : (align == Align::kRight ? missing : missing / 2);
  return Repeat(" ", left) + text + Repeat(" ", missing - left);
}

std::vector<Align> ReadAligns(const std::vector<std::string>& cells) {
  std::vector<Align> aligns;
  for (const std::string& cell : cells) {
    const bool right = cell.ends_with(':');
    aligns.push_back(!right ? Align::kLeft
                            : (cell.starts_with(':') ? Align::kCenter : Align::kRight));
  }
  return aligns;
}

// The widest columns give way first: all above a common cap are cut to it.
std::vector<int> FitColumns(std::vector<int> natural, int available) {
  if (std::accumulate(natural.begin(), natural.end(), 0) <= available) return natural;
  const auto total = [&](int cap) {
    int sum = 0;
    for (const int width : natural) sum += std::min(width, cap);
    return sum;
  };
  int cap = 1;
  while (total(cap + 1) <= available) ++cap;
  int spare = available - total(cap);
  for (int& width : natural) {
    const bool cut = width > cap;
    width = std::min(width, cap + (cut && spare > 0 ? 1 : 0));
    if (cut && spare > 0) --spare;
  }
  return natural;
}

class Table {
 public:
  Table(const std::vector<std::string>& lines, const TableOptions& options) : options_(options) {
    header_ = SplitRow(lines[0]);
    aligns_ = ReadAligns(SplitRow(lines[1]));
    aligns_.resize(header_.size(), Align::kLeft);
    for (std::size_t i = 2; i < lines.size(); ++i) {
      rows_.push_back(SplitRow(lines[i]));
      rows_.back().resize(header_.size());
    }
  }

  std::vector<std::string> Draw() {
    const int columns = static_cast<int>(header_.size());
    const int available = options_.width - kBarWidth * (columns - 1);
    const std::vector<int> natural = NaturalWidths();
    const int needed = std::accumulate(natural.begin(), natural.end(), 0);
    if (needed > available && available < columns * kLeastColumn) return DrawAsList();
    widths_ = FitColumns(natural, available);
    DrawRow(header_, Style::kBold);
    std::string rule;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) rule += kCross;
      rule += Repeat(kDash, widths_[i]);
    }
    lines_.push_back(Dim(rule));
    for (const auto& row : rows_) DrawRow(row, Style::kPlain);
    return std::move(lines_);
  }

 private:
  std::vector<int> NaturalWidths() const {
    std::vector<int> widths(header_.size(), 1);
    const auto measure = [&](const std::vector<std::string>& row, Style base) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        for (const std::string& line : CellLines(row[i], options_.width, base, options_)) {
          widths[i] = std::max(widths[i], StyledWidth(line));
        }
      }
    };
    measure(header_, Style::kBold);
    for (const auto& row : rows_) measure(row, Style::kPlain);
    return widths;
  }

  std::string Dim(std::string_view text) const {
    std::ostringstream none;
    return TextFlow({.color = options_.color}, none).Styled(Style::kDim, text);
  }

  void DrawRow(const std::vector<std::string>& row, Style base) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(CellLines(row[i], widths_[i], base, options_));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t at = 0; at < height; ++at) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) line += Dim(kBar);
        line += Pad(at < cells[i].size() ? cells[i][at] : std::string(), widths_[i], aligns_[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      lines_.push_back(std::move(line));
    }
  }

  std::vector<std::string> DrawAsList() {
    for (std::size_t n = 0; n < rows_.size(); ++n) {
      if (n > 0) lines_.push_back(Dim(Repeat(kDash, std::min(options_.width, 20))));
      for (std::size_t i = 0; i < header_.size(); ++i) {
        const std::string text = fmt::format("{}: {}", header_[i], rows_[n][i]);
        for (std::string& line : CellLines(text, options_.width, Style::kPlain, options_)) {
          lines_.push_back(std::move(line));
        }
      }
    }
    return std::move(lines_);
  }

  const TableOptions options_;
  std::vector<std::string> header_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> widths_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> SplitRow(std::string_view line) {
  line = TrimSpace(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += '|';
      ++i;
    } else if (line[i] == '|') {
      cells.emplace_back(TrimSpace(cell));
      cell.clear();
    } else {
      cell += line[i] == '\t' ? ' ' : line[i];
    }
  }
  if (!TrimSpace(cell).empty()) cells.emplace_back(TrimSpace(cell));
  return cells;
}

bool IsDelimiterRow(std::string_view line) {
  const std::vector<std::string> cells = SplitRow(line);
  return !cells.empty() && std::ranges::all_of(cells, [](std::string_view cell) {
    if (cell.starts_with(':')) cell.remove_prefix(1);
    if (cell.ends_with(':')) cell.remove_suffix(1);
    return !cell.empty() && cell.find_first_not_of('-') == std::string_view::npos;
  });
}

std::vector<std::string> DrawTable(const std::vector<std::string>& lines,
                                   const TableOptions& options) {
  return Table(lines, options).Draw();
}

}  // namespace dossier::cli
