// Records of logs: detects the shape of a text, counts its records, and reads them.

#include <algorithm>
#include <array>

#include "inspect/formats/log_shape.h"
#include "inspect/json/text_records.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kSampledLines = 100;
constexpr std::size_t kReadLines = 1000;  // sampled lines and the traces between them

// Returns the first non-blank lines. A last line without an end may be cut, so it is left out if
// there are others.
std::vector<std::string_view> SampleLines(std::string_view head) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < head.size() && lines.size() < kReadLines;) {
    const Line line = NextLine(head, at);
    const bool unterminated = at + line.text.size() == head.size();
    if (!IsBlankLine(line.text) && !(unterminated && !lines.empty())) lines.push_back(line.text);
    at = line.next;
  }
  return lines;
}

// Indented, starting with a bracket or quote, or with a frame's number (`#0 /srv/app.php(81)`): no
// program or sentence starts a message like that.
bool IsTraceLine(std::string_view line) {
  if (std::string_view(" \t[]{}()\"").find(line.front()) != std::string_view::npos) return true;
  return line.size() > 1 && line[0] == '#' && line[1] >= '0' && line[1] <= '9';
}

// These shapes fit too many texts to ignore lines that do not fit.
bool IsWeak(LogShape shape) { return shape == LogShape::kLogfmt || shape == LogShape::kTimed; }

// How well a shape fits the lines. Traces after a fitting line are neutral.
struct LogFit {
  std::size_t fitting = 0, judged = 0;
  std::size_t leading = 0;  // of the judged lines, those before the first fitting one
};

LogFit FitOf(LogShape shape, const std::vector<std::string_view>& lines) {
  LogFit fit;
  std::size_t odd = 0;  // lines since the last fitting one
  bool trace = false;   // whether they look like a trace
  const auto end_run = [&] {
    if (fit.fitting == 0) fit.leading = odd;
    if (!trace || fit.fitting == 0) fit.judged += odd;
    odd = 0;
    trace = false;
  };
  for (const std::string_view line : lines) {
    if (fit.judged + odd >= kSampledLines && !trace) break;
    if (!FitsLogShape(shape, line)) {
      ++odd;
      trace = trace || (!IsWeak(shape) && IsTraceLine(line));
      continue;
    }
    end_run();
    ++fit.fitting;
    ++fit.judged;
  }
  end_run();
  return fit;
}

// Returns true for a grammar so narrow that no other text has matching lines.
bool IsDistinctive(LogShape shape) {
  return shape == LogShape::kContainer || shape == LogShape::kPostgres ||
         shape == LogShape::kChannelLevel || shape == LogShape::kGlog;
}

bool Explains(LogShape shape, LogFit fit) {
  // glog first writes its machine and its format.
  constexpr std::size_t kPreamble = 8;
  if (IsDistinctive(shape) && fit.fitting >= 3 && fit.leading <= kPreamble) {
    fit.judged -= fit.leading;
  }
  // One line of pairs is more likely a setting than a log; one that begins with a time is a note.
  if (IsWeak(shape) && fit.fitting < 2) return false;
  return fit.fitting > 0 && fit.fitting * 10 >= fit.judged * 8;
}

std::vector<std::string> LogfmtKeys(const std::vector<std::string_view>& lines) {
  std::vector<std::string> names;
  LogFields fields;
  for (const std::string_view line : lines) {
    if (!ParseLogLine(LogShape::kLogfmt, line, &fields)) continue;
    for (auto& [name, value] : fields) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

// Counts lines that begin a record. Other lines begin none, so each line counts separately.
class LogCounter final : public RecordCounter {
 public:
  explicit LogCounter(std::optional<LogShape> shape) : shape_(shape) {}
  void Feed(std::string_view bytes) override {
    lines_.Feed(bytes, [this](std::string_view line) { Add(line); });
  }
  bool at_record_start() const override { return lines_.at_line_start(); }
  std::uint64_t Finish() override {
    lines_.Finish([this](std::string_view line) { Add(line); });
    return records_;
  }

 private:
  void Add(std::string_view line) { records_ += shape_ && FitsLogShape(*shape_, line) ? 1 : 0; }

  std::optional<LogShape> shape_;
  LineAssembler lines_;
  std::uint64_t records_ = 0;
};

// Returns the field for the lines after the first one.
std::string& TextOf(LogFields& fields) {
  for (auto& [name, value] : fields) {
    if (name == "message" || name == "msg") return value;
  }
  return fields.emplace_back("continuation", "").second;
}

}  // namespace

ShapeScan DetectLog(std::string_view head) {
  const std::vector<std::string_view> lines = SampleLines(head);
  std::size_t best = 0;
  std::optional<LogShape> shape;
  for (const LogShape candidate : LogShapes()) {
    // It is the least specific and fits wherever another one does.
    if (candidate == LogShape::kTimed && shape) continue;
    const LogFit fit = FitOf(candidate, lines);
    if (!Explains(candidate, fit) || fit.fitting <= best) continue;
    best = fit.fitting;
    shape = candidate;
  }
  if (!shape) return {};
  return {.fits = true,
          .shape = std::string(LogShapeName(*shape)),
          .field_names = *shape == LogShape::kLogfmt ? LogfmtKeys(lines) : LogShapeFields(*shape)};
}

std::unique_ptr<RecordCounter> MakeLogCounter(std::string_view shape, CountFrom /*from*/) {
  return std::make_unique<LogCounter>(LogShapeNamed(shape));
}

bool NextLogRecord(LogShape shape, std::string_view text, std::size_t* position,
                   ByteRange* record) {
  bool inside = false;
  while (*position < text.size()) {
    const std::size_t start = *position;
    const Line line = NextLine(text, start);
    if (FitsLogShape(shape, line.text)) {
      if (inside) return true;  // *position stays at the record that starts here
      record->begin = start;
      inside = true;
    }
    *position = line.next;
    if (inside && !IsBlankLine(line.text)) record->end = start + line.text.size();
  }
  return inside;
}

LogFields ParseLogRecord(LogShape shape, std::string_view record) {
  LogFields fields;
  const Line first = record.empty() ? Line{{}, 0} : NextLine(record, 0);
  if (!ParseLogLine(shape, first.text, &fields) || first.next >= record.size()) return fields;
  std::string& text = TextOf(fields);
  for (std::size_t at = first.next; at < record.size();) {
    const Line line = NextLine(record, at);
    if (!text.empty()) text.push_back('\n');
    text.append(line.text);
    at = line.next;
  }
  return fields;
}

std::vector<TextRecord> ParseLogHead(std::string_view head, std::string_view shape,
                                     std::size_t limit) {
  std::vector<TextRecord> records;
  const std::optional<LogShape> known = LogShapeNamed(shape);
  std::size_t position = 0;
  for (ByteRange range;
       known && records.size() < limit && NextLogRecord(*known, head, &position, &range);) {
    records.push_back(ParseLogRecord(*known, Slice(head, range)));
  }
  return records;
}

}  // namespace dossier::inspect
