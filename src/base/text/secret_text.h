// Classes of bytes that secrets are made of. Internal to base/text/redact.h.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_SECRET_TEXT_H_
#define DOSSIER_BASE_TEXT_SECRET_TEXT_H_

#include <cstddef>
#include <string_view>

#include "base/text/ascii.h"

namespace dossier::secrets {

constexpr bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
constexpr bool IsUpperOrDigit(char c) { return IsUpper(c) || IsDigit(c); }
constexpr bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }
constexpr bool IsWord(char c) { return IsAlnum(c) || c == '_'; }
constexpr bool IsUrlSafe(char c) { return IsWord(c) || c == '-'; }
constexpr bool IsUrlSafeOrDot(char c) { return IsUrlSafe(c) || c == '.'; }
constexpr bool IsBase64(char c) { return IsUrlSafe(c) || c == '+' || c == '/' || c == '='; }
// RFC 9110: what follows Bearer and Basic.
constexpr bool IsToken68(char c) { return IsBase64(c) || c == '.' || c == '~'; }
constexpr bool IsVisible(char c) { return c > ' ' && c <= '~' && c != '\'' && c != '"'; }
constexpr bool IsQuote(char c) { return c == '"' || c == '\'' || c == '`'; }

// The byte at `at`, 0 behind the end.
constexpr char At(std::string_view text, std::size_t at) {
  return at < text.size() ? text[at] : '\0';
}
// The end of the run that begins at `at`.
template <typename In>
constexpr std::size_t RunEnd(std::string_view text, std::size_t at, In in) {
  while (at < text.size() && in(text[at])) ++at;
  return at;
}
// The start of the run that ends at `at`, at most `most` bytes in front of it.
template <typename In>
constexpr std::size_t RunStart(std::string_view text, std::size_t at, std::size_t most, In in) {
  const std::size_t first = at > most ? at - most : 0;
  while (at > first && in(text[at - 1])) --at;
  return at;
}
constexpr bool StartsWithNoCase(std::string_view text, std::size_t at, std::string_view lower) {
  if (text.size() < at + lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (ToLower(text[at + i]) != lower[i]) return false;
  }
  return true;
}

}  // namespace dossier::secrets

#endif  // DOSSIER_BASE_TEXT_SECRET_TEXT_H_
