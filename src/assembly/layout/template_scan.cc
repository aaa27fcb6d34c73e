#include "assembly/layout/template_scan.h"

#include "base/text/ascii.h"

namespace dossier::assembly {
namespace {

constexpr std::size_t kMaxPlaceholderBytes = 100;

bool IsNameStart(char c) { return IsLetter(c) || c == '_'; }

// Returns the placeholder that opens at the `{` at `at`; length 0 if it is only text.
TemplatePiece ReadPlaceholder(std::string_view body, std::size_t at) {
  TemplatePiece piece{.kind = TemplatePiece::Kind::kPlaceholder, .offset = at};
  const std::size_t end = ScanName(body, at + 1);
  if (end == at + 1 || end >= body.size()) return piece;
  piece.name = body.substr(at + 1, end - at - 1);
  if (body[end] == '}') {
    piece.length = end + 1 - at;
  } else if (body[end] == ':') {
    const std::size_t close = body.find_first_of("}\n{", end + 1);
    if (close == std::string_view::npos || body[close] != '}') return piece;
    piece.spec = body.substr(end + 1, close - end - 1);
    piece.length = close + 1 - at;
  }
  return piece;
}

}  // namespace

std::size_t ScanName(std::string_view text, std::size_t at) {
  if (at >= text.size() || !IsNameStart(text[at])) return at;
  std::size_t end = at + 1;
  while (end < text.size() && end - at < kMaxPlaceholderBytes && IsWordByte(text[end])) ++end;
  return end;
}

void ScanTemplate(std::string_view body, Template::Braces braces,
                  const std::function<void(const TemplatePiece&)>& visit) {
  const bool doubled = braces == Template::Braces::kDouble;
  std::size_t text_begin = 0, at = 0;
  const auto flush = [&](std::size_t end) {
    if (end == text_begin) return;
    visit({.name = body.substr(text_begin, end - text_begin),
           .offset = text_begin,
           .length = end - text_begin});
  };
  while ((at = body.find_first_of("{}", at)) != std::string_view::npos) {
    const bool pair = at + 1 < body.size() && body[at + 1] == body[at];
    if (pair) {
      // Of a doubled brace the first is copied and the second skipped; `literal` copies both.
      flush(doubled ? at + 1 : at + 2);
      at += 2;
      text_begin = at;
      continue;
    }
    const TemplatePiece piece =
        body[at] == '{' ? ReadPlaceholder(body, at) : TemplatePiece{.offset = at};
    if (piece.length == 0) {
      ++at;
      continue;
    }
    flush(at);
    visit(piece);
    at += piece.length;
    text_begin = at;
  }
  flush(body.size());
}

}  // namespace dossier::assembly
