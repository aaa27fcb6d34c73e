#include "ask/reply/reply_text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "ask/reply/fences.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::array<std::string_view, 2> kOpen = {"<think>", "<thinking>"};
constexpr std::array<std::string_view, 2> kClose = {"</think>", "</thinking>"};
constexpr std::array<std::string_view, 6> kEndTokens = {
    "<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|endoftext|>", "<|eom_id|>", "<|end|>"};
constexpr std::string_view kEndOfSequence = "</s>";

struct Tag {
  std::size_t begin = 0, end = 0;
  enum class Kind { kOpen, kClose } kind = Kind::kOpen;
};

struct Range {
  std::size_t begin = 0, end = 0;
  std::size_t open = std::string_view::npos;  // the first opening tag in it
};

// Returns the text ranges between fence lines; the last one may be unclosed.
std::vector<Range> FencedRanges(std::string_view text) {
  std::vector<Range> ranges;
  std::optional<FenceMark> open;
  std::size_t begin = 0;
  for (const TextLine& line : SplitLines(text)) {
    if (open && ClosesFence(line.text, *open)) {
      ranges.push_back({begin, line.begin});
      open.reset();
    } else if (!open) {
      open = OpeningFence(line.text);
      begin = line.end;
    }
  }
  if (open) ranges.push_back({begin, text.size()});
  return ranges;
}

class Tags {
 public:
  explicit Tags(std::string_view text)
      : text_(text), lower_(ToLowerAscii(text)), fenced_(FencedRanges(text)) {
    for (Range& range : fenced_) {
      const std::string_view inside =
          std::string_view(lower_).substr(range.begin, range.end - range.begin);
      for (const std::string_view name : kOpen) {
        const std::size_t at = inside.find(name);
        if (at != inside.npos) range.open = std::min(range.open, range.begin + at);
      }
    }
  }

  std::optional<Tag> Next(std::size_t from) const {
    for (std::size_t at = lower_.find('<', from); at != std::string::npos;
         at = lower_.find('<', at + 1)) {
      if (const auto end = EndOf(kOpen, at); end && AtLineStart(at) && !Fenced(at)) {
        return Tag{at, *end, Tag::Kind::kOpen};
      }
      // Thinking may leave a fence open, so a closing tag at a line's start or end counts anywhere,
      // except in code that also has the opening tag.
      if (const auto end = EndOf(kClose, at);
          end && !Quoted(at, *end) &&
          (!Fenced(at) || ((AtLineStart(at) || AtLineEnd(*end)) && FenceOf(at)->open > at))) {
        return Tag{at, *end, Tag::Kind::kClose};
      }
    }
    return std::nullopt;
  }

  // Returns the first opening tag inside a line in the range: it counts only if it is closed.
  std::optional<Tag> OpenBetween(std::size_t from, std::size_t to) const {
    for (std::size_t at = lower_.find('<', from); at < to; at = lower_.find('<', at + 1)) {
      const auto end = EndOf(kOpen, at);
      if (end && !Fenced(at) && !Quoted(at, *end)) return Tag{at, *end, Tag::Kind::kOpen};
    }
    return std::nullopt;
  }

  std::optional<Tag> NextClose(std::size_t from) const {
    auto tag = Next(from);
    while (tag && tag->kind == Tag::Kind::kOpen) tag = Next(tag->end);
    return tag;
  }

 private:
  std::optional<std::size_t> EndOf(const std::array<std::string_view, 2>& names,
                                   std::size_t at) const {
    for (const std::string_view name : names) {
      if (std::string_view(lower_).substr(at).starts_with(name)) return at + name.size();
    }
    return std::nullopt;
  }

  bool AtLineStart(std::size_t at) const {
    const std::size_t last = text_.substr(0, at).find_last_not_of(" \t");
    return last == std::string_view::npos || text_[last] == '\n' || text_[last] == '\r';
  }

  bool AtLineEnd(std::size_t at) const {
    const std::size_t next = text_.find_first_not_of(" \t", at);
    return next == std::string_view::npos || text_[next] == '\n' || text_[next] == '\r';
  }

  // Returns true for a quoted `<think>`, as in text about such tags.
  bool Quoted(std::size_t begin, std::size_t end) const {
    return begin > 0 && end < text_.size() && text_[begin - 1] == text_[end] &&
           std::string_view("`\"'").find(text_[end]) != std::string_view::npos;
  }

  const Range* FenceOf(std::size_t at) const {
    const auto after = std::ranges::upper_bound(fenced_, at, {}, &Range::begin);
    if (after == fenced_.begin() || at >= std::prev(after)->end) return nullptr;
    return &*std::prev(after);
  }
  bool Fenced(std::size_t at) const { return FenceOf(at) != nullptr; }

  const std::string_view text_;
  const std::string lower_;
  std::vector<Range> fenced_;
};

std::size_t EndTokenAt(std::string_view text) {
  for (const std::string_view token : kEndTokens) {
    if (text.starts_with(token)) return token.size();
  }
  return 0;
}

// A token in a line of code with more behind it belongs to the code, as one in quotes does.
bool IsInCode(std::string_view text, std::size_t behind, const std::vector<Range>& fenced) {
  const std::size_t next = text.find_first_not_of(" \t", behind);
  if (next == text.npos || text[next] == '\n' || text[next] == '\r') return false;
  const auto after = std::ranges::upper_bound(fenced, behind, {}, &Range::begin);
  return after != fenced.begin() && behind < std::prev(after)->end;
}

std::string WithoutEndTokens(std::string_view raw) {
  std::optional<std::vector<Range>> fenced;  // found when the first token is
  std::string text;
  text.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t next = std::min(raw.find('<', at), raw.size());
    text += raw.substr(at, next - at);
    const std::size_t length = EndTokenAt(raw.substr(next));
    const bool quoted = next > 0 && (raw[next - 1] == '"' || raw[next - 1] == '\'');
    if (length > 0 && !fenced) fenced = FencedRanges(raw);
    const bool stays = length == 0 || quoted || IsInCode(raw, next + length, *fenced);
    if (next < raw.size() && stays) text += raw[next];
    at = next + (stays ? 1 : length);
  }
  std::string_view rest = text;
  while (true) {
    const std::string_view trimmed = rest.substr(0, rest.find_last_not_of(" \t\r\n") + 1);
    if (!trimmed.ends_with(kEndOfSequence)) break;
    rest = trimmed.substr(0, trimmed.size() - kEndOfSequence.size());
  }
  return std::string(rest);
}

// Removes blank lines at the start, but keeps the indentation of the first remaining line.
std::string WithoutBlankStart(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  const std::size_t line_end = text.find_last_of("\r\n", first);
  return line_end == std::string::npos ? text : text.substr(line_end + 1);
}

}  // namespace

CleanReply StripThinking(std::string_view reply) {
  CleanReply clean;
  const auto think = [&clean](std::string_view part) {
    part = TrimSpace(part);
    if (part.empty()) return;
    if (!clean.thinking.empty()) clean.thinking += '\n';
    clean.thinking += part;
  };
  const Tags tags(reply);
  std::string text;
  std::size_t from = 0;
  bool cut = false;
  while (const auto tag = tags.Next(from)) {
    cut = true;
    const std::size_t begin = from;
    if (tag->kind == Tag::Kind::kClose) {
      from = tag->end;
      if (const auto open = tags.OpenBetween(begin, tag->begin)) {
        text += reply.substr(begin, open->begin - begin);
        think(reply.substr(open->end, tag->begin - open->end));
        continue;
      }
      // No opening tag: everything before it was thinking.
      think(text + std::string(reply.substr(begin, tag->begin - begin)));
      text.clear();
      continue;
    }
    text += reply.substr(begin, tag->begin - begin);
    const auto close = tags.NextClose(tag->end);
    think(reply.substr(tag->end, close ? close->begin - tag->end : std::string_view::npos));
    clean.unclosed_thinking = !close;
    from = close ? close->end : reply.size();
  }
  text += reply.substr(from);
  clean.text = WithoutEndTokens(text);
  if (cut) clean.text = WithoutBlankStart(clean.text);
  return clean;
}

std::string WithoutFenceLines(std::string_view reply) {
  std::string out;
  const CleanReply clean = StripThinking(reply);
  for (const std::string_view line : Split(clean.text, '\n')) {
    if (!TrimSpace(line).starts_with("```")) out.append(line).append("\n");
  }
  return out;
}

bool RepeatsLine(std::string_view text, int times) {
  std::string_view line;
  int seen = 0;
  while (!text.empty() && seen < times) {
    const std::size_t end = text.find_last_of("\r\n");
    const std::string_view last =
        TrimSpace(end == std::string_view::npos ? text : text.substr(end + 1));
    text = end == std::string_view::npos ? std::string_view() : text.substr(0, end);
    if (last.empty()) continue;
    if (seen > 0 && last != line) return false;
    line = last;
    ++seen;
  }
  return seen >= times;
}

}  // namespace dossier::ask
