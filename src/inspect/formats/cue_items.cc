// Subtitles: SubRip and WebVTT.

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/formats/items.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

// Thousandths of a second of 01:02:03,456, 02:03.456; *rest is behind it.
std::optional<std::int64_t> TakeCueTime(std::string_view* rest) {
  std::int64_t parts = 0, number = 0, time = 0;
  std::size_t at = 0, digits = 0;
  for (; at < rest->size() && parts < 4; ++at) {
    const char c = (*rest)[at];
    if (IsDigit(c)) {
      if (++digits > 6) return std::nullopt;
      number = number * 10 + (c - '0');
      continue;
    }
    if (c != ':' || digits == 0) break;
    time = (time + number) * 60;
    ++parts;
    number = 0;
    digits = 0;
  }
  if (parts < 1 || parts > 2 || digits == 0) return std::nullopt;
  time = (time + number) * 1000;
  if (at < rest->size() && ((*rest)[at] == ',' || (*rest)[at] == '.')) {
    std::int64_t unit = 100;
    for (++at; at < rest->size() && IsDigit((*rest)[at]); ++at, unit /= 10) {
      time += unit * ((*rest)[at] - '0');
    }
  }
  rest->remove_prefix(at);
  return time;
}

struct Timing {
  std::int64_t start = 0, end = 0;
};

std::optional<Timing> TimingOf(std::string_view line) {
  if (line.size() > 256) line = line.substr(0, 256);
  std::string_view rest = TrimSpace(line);
  if (rest.empty() || !IsDigit(rest[0])) return std::nullopt;
  const auto start = TakeCueTime(&rest);
  rest = TrimSpace(rest);
  if (!start || !rest.starts_with("-->")) return std::nullopt;
  rest = TrimSpace(rest.substr(3));
  const auto end = TakeCueTime(&rest);
  if (!end) return std::nullopt;
  return Timing{*start, *end};
}

std::string Seconds(std::int64_t thousandths) {
  const std::int64_t part = thousandths % 1000;
  if (part == 0) return fmt::format("{}", thousandths / 1000);
  std::string text = fmt::format("{}.{:03}", thousandths / 1000, part);
  text.resize(text.find_last_not_of('0') + 1);
  return text;
}

// Without tags; the voice of the first is the speaker.
std::string PlainCue(std::string_view text, std::string* speaker) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text[at] == '<' ? text.substr(at, 200).find('>') : text.npos;
    if (end == std::string_view::npos) {
      out += text[at];
      continue;
    }
    const std::string_view tag = text.substr(at + 1, end - 1);
    const std::size_t space = tag.find(' ');
    if (tag.starts_with('v') && space != tag.npos && speaker->empty()) {
      *speaker = TrimSpace(tag.substr(space));
    }
    at += end;
  }
  return out;
}

}  // namespace

ItemLine JudgeCueLine(std::string_view line, ItemState*) {
  if (TimingOf(line)) return ItemLine::kBegin;
  return IsBlankLine(line) ? ItemLine::kOutside : ItemLine::kInside;
}

TextRecord ReadCue(const Item& item) {
  const Line first = NextLine(item.record(), 0);
  const Timing timing = TimingOf(first.text).value_or(Timing{});
  std::string speaker;
  const std::string text = PlainCue(item.record().substr(first.next), &speaker);
  TextRecord record{{"start", Seconds(timing.start)},
                    {"end", Seconds(timing.end)},
                    {"seconds", Seconds(std::max<std::int64_t>(timing.end - timing.start, 0))}};
  if (!speaker.empty()) record.emplace_back("speaker", speaker);
  record.emplace_back("text", ReplaceAll(TrimSpace(text), "\r\n", "\n"));
  return record;
}

}  // namespace dossier::inspect
