// The tokens of prompt templates, and the handling of templates that declare none.
//
//   const TokenMap tokens = PromptTokens(header, {.task = &task, .notes = notes, .now = now});
//   tokens.at("queue_md");                               // "- `fact-001` • Build src/factorial.py"
//   ReplaceTokens("{summary}: {\"a\":1}", tokens, "engineer.md").text;   // "Build …: {\"a\":1}"
//
// Thread-safety: plain data and pure functions.

#ifndef DOSSIER_SOURCES_HEADER_HEADER_TOKENS_H_
#define DOSSIER_SOURCES_HEADER_HEADER_TOKENS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/header/agent_header.h"
#include "sources/header/note.h"
#include "sources/header/task.h"

namespace dossier::sources {

// Values by name, without braces.
using TokenMap = std::map<std::string, std::string>;

// The statistics of one path in a patch.
struct FileStat {
  std::string path;
  std::optional<std::uint64_t> added, deleted;  // lines; unset: binary
};

// Input of a prompt besides the header. Pointers and views must outlive the call.
struct TokenInput {
  const Task* task = nullptr;
  std::vector<FileStat> patch_stat;
  std::span<const Note> notes;
  Clock::Wall now{};                          // the same as for the header
  std::optional<std::string> approval_token;  // for a review
  std::string patch;                          // as text
  std::string review;                         // the latest feedback
  std::string checks;                         // output of the checks
};

// Returns every token that a template may contain; {approval_token} only if it is given.
TokenMap PromptTokens(const Header& header, const TokenInput& input);

// Returns the notes for {files}: the newest ten that are ready, ten green proposals by rank, five
// feedback notes, and five scratch notes of the last 120 s.
std::vector<const Note*> FilesOfInterest(std::span<const Note> notes, Clock::Wall now);

struct Replaced {
  std::string text;
  std::vector<std::string> warnings;  // "FILE:LINE: {name} is no token …"
  bool has_header = false;            // the template says where the header goes
};

// Replaces tokens in one pass; everything else is kept byte for byte.
Replaced ReplaceTokens(std::string_view text, const TokenMap& tokens, std::string_view file);

// Returns `text` as a code span that it cannot break: one line, control characters as \xHH.
std::string CodeSpan(std::string_view text);
// Returns `text` on one line: line breaks become spaces, control characters \xHH.
std::string SingleLine(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_HEADER_TOKENS_H_
