// Mail folders of the kind mbox: a record is a message.

#include <algorithm>
#include <optional>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/formats/items.h"
#include "inspect/formats/markup_text.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kLongestBody = 64 << 10;  // of a row
constexpr int kDeepestPart = 4;                 // parts in parts
constexpr std::size_t kMostParts = 100;

struct Mail {
  TextRecord heads;  // names in lower case
  std::string_view body;
  std::string_view Head(std::string_view name) const {
    const auto found = std::ranges::find(heads, name, &TextRecord::value_type::first);
    return found == heads.end() ? std::string_view() : std::string_view(found->second);
  }
};

Mail ParseMail(std::string_view text) {
  Mail mail;
  std::size_t at = 0;
  while (at < text.size()) {
    const Line line = NextLine(text, at);
    at = line.next;
    if (line.text.empty()) break;
    const std::size_t colon = line.text.substr(0, 80).find(':');
    if (IsBlank(line.text[0])) {
      if (!mail.heads.empty() && mail.heads.back().second.size() < kLongestBody) {
        mail.heads.back().second += fmt::format(" {}", TrimSpace(line.text));
      }
    } else if (colon != std::string_view::npos && mail.heads.size() < 200) {
      mail.heads.emplace_back(ToLowerAscii(line.text.substr(0, colon)),
                              TrimSpace(line.text.substr(colon + 1)));
    }
  }
  mail.body = text.substr(at);
  return mail;
}

// Mail breaks its lines.
std::string DecodeBase64(std::string_view text) {
  std::string bytes;
  (void)AppendBase64(text, &bytes, Strays::kSkipped);
  return bytes;
}

// =?UTF-8?Q?M=C3=BCller?= as it is meant. Encodings other than UTF-8 and ISO 8859-1 stay.
std::string DecodeWords(std::string_view text) {
  std::string out;
  bool after_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find("=?", at);
    const std::string_view word = open == text.npos ? "" : text.substr(open + 2, 1000);
    const std::size_t kind = word.find('?');
    const std::size_t end = kind == word.npos ? word.npos : word.find("?=", kind + 3);
    if (end == word.npos || word.substr(kind + 2, 1) != "?") {
      const std::size_t stop = open == text.npos ? text.size() : open + 2;
      out += text.substr(at, stop - at);
      at = stop;
      after_word = false;
      continue;
    }
    const std::string_view between = text.substr(at, open - at);
    if (!after_word || !TrimSpace(between).empty()) out += between;
    const std::string_view data = word.substr(kind + 3, end - kind - 3);
    out +=
        ToUtf8((word[kind + 1] | 0x20) == 'b' ? DecodeBase64(data)
                                              : DecodeQuotedPrintable(data, Underscores::kSpaces));
    at = open + 2 + end + 2;
    after_word = true;
  }
  return out;
}

std::string_view ParameterOf(std::string_view head, std::string_view name) {
  const std::string lower = ToLowerAscii(head);
  const std::size_t at = lower.find(name);
  if (at == std::string::npos) return {};
  std::string_view value = TrimSpace(head.substr(at + name.size()));
  if (value.starts_with('"')) return value.substr(1, value.substr(1).find('"'));
  return value.substr(0, value.find_first_of("; \t"));
}

// The first part of plain text; what has only HTML is that without its tags.
std::optional<std::string> TextOf(const Mail& mail, int depth) {
  const std::string type = ToLowerAscii(mail.Head("content-type"));
  if (type.starts_with("multipart/")) {
    const std::string_view boundary = ParameterOf(mail.Head("content-type"), "boundary=");
    if (boundary.empty() || depth == kDeepestPart) return std::nullopt;
    const std::string mark = fmt::format("--{}", boundary);
    std::optional<std::string> other;
    std::size_t at = mail.body.find(mark);
    for (std::size_t part = 0; at != mail.body.npos && part < kMostParts; ++part) {
      const std::size_t begin = NextLine(mail.body, at).next;
      at = mail.body.find(mark, begin);
      const Mail inner = ParseMail(mail.body.substr(begin, at - begin));
      const auto text = TextOf(inner, depth + 1);
      const bool html = ToLowerAscii(inner.Head("content-type")).starts_with("text/html");
      if (text && !html) return text;
      if (text && !other) other = text;
    }
    return other;
  }
  if (!type.empty() && !type.starts_with("text/")) return std::nullopt;
  const std::string coding = ToLowerAscii(mail.Head("content-transfer-encoding"));
  const std::string_view coded = mail.body.substr(0, 2 * kLongestBody);
  std::string text = coding == "base64" ? DecodeBase64(coded)
                     : coding == "quoted-printable"
                         ? DecodeQuotedPrintable(coded, Underscores::kKept)
                         : std::string(coded);
  text = ReplaceAll(ToUtf8(std::move(text)), "\r\n", "\n");
  text = ReplaceAll(text, "\n>From ", "\nFrom ");
  if (type.starts_with("text/html")) text = TextOfHtml(text);
  return text;
}

}  // namespace

ItemLine JudgeMailLine(std::string_view line, ItemState* state) {
  const bool after_blank = !state->open || state->depth == 1;
  state->depth = line.empty() ? 1 : 0;
  const bool begins = after_blank && line.starts_with("From ") && line.size() < 500 &&
                      (line.find('@') != line.npos || line.find(':') != line.npos);
  return begins ? ItemLine::kBegin : ItemLine::kInside;
}

TextRecord ReadMail(const Item& item) {
  const std::string_view message = item.record();
  const Mail mail = ParseMail(message.substr(NextLine(message, 0).next));
  TextRecord record;
  for (const std::string_view name : {"from", "to", "cc"}) {
    if (name != "cc" || !mail.Head(name).empty()) {
      record.emplace_back(name, DecodeWords(mail.Head(name)));
    }
  }
  record.emplace_back("date", IsoOfMailDate(mail.Head("date")));
  record.emplace_back("subject", DecodeWords(mail.Head("subject")));
  std::string body = TextOf(mail, 0).value_or("");
  body.resize(utf8::FloorBoundary(body, kLongestBody));
  record.emplace_back("body", TrimSpace(body));
  return record;
}

}  // namespace dossier::inspect
