// A text as one word of a POSIX shell, for commands that are made and for those that are suggested.
//
//   ShellQuote("a b")      // 'a b'
//   ShellQuote("src/a.cc") // src/a.cc
//
// Thread-safety: a pure function.

#ifndef DOSSIER_BASE_TEXT_SHELL_QUOTE_H_
#define DOSSIER_BASE_TEXT_SHELL_QUOTE_H_

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier {

inline std::string ShellQuote(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return IsAlnum(c) || std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  });
  if (plain && !text.empty()) return std::string(text);
  return "'" + ReplaceAll(text, "'", R"('"'"')") + "'";
}

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_SHELL_QUOTE_H_
