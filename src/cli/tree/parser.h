// Parses the command line: stores values where flags are bound, and returns the selected command.
//
//   const Result<ParsedLine> line = ParseLine(root, {"models", "pull", "--json"});
//   if (!line) return Fail(line.error(), …);       // "unknown flag --jsn; did you mean --json?; …"
//   if (line->wish == ParsedLine::Wish::kRun) line->command->Run(context);
//
// Values are checked before a command sees them: numbers where numbers are expected, UTF-8 where
// text is; a path, and a word for another program, may be any bytes. A switch and its opposite
// (--json, --no-json) may both be given: the later one wins. Thread-safety: not thread-safe; values
// are written.

#ifndef DOSSIER_CLI_TREE_PARSER_H_
#define DOSSIER_CLI_TREE_PARSER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/tree/command.h"

namespace dossier::cli {

struct ParsedLine {
  // The request of the command line: to run the command, or something else.
  enum class Wish : std::uint8_t {
    kRun,
    kFirstScreen,
    kShortHelp,
    kFullHelp,
    kVersion
  } wish = Wish::kRun;
  const CommandNode* command = nullptr;  // the innermost command given
};

// `words` are those after the program's name. Errors: kUsage, one sentence with the nearest name.
Result<ParsedLine> ParseLine(const CommandNode& root, std::span<const std::string> words);

// Errors: kUsage with `what` and the first byte that is not part of a character.
Status CheckUtf8(std::string_view text, std::string_view what);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_PARSER_H_
