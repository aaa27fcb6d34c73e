// Finds declarations in languages that put bodies into braces: C, C++, JavaScript, TypeScript, Go,
// Rust, Java. Used only by code_facts.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_REPOSITORY_BRACE_CODE_H_
#define DOSSIER_SOURCES_REPOSITORY_BRACE_CODE_H_

#include <string>
#include <string_view>

#include "sources/repository/code_facts.h"

namespace dossier::sources {

void ReadBraceCode(Language language, std::string_view text, CodeFacts* facts);

// Collapses each run of white space to one space; cuts to at most 160 bytes at a code point.
std::string OneLine(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_REPOSITORY_BRACE_CODE_H_
