// The command line, read: values go where flags were bound, and the command that is meant comes
// back.
//
//   const Result<ParsedLine> line = ParseLine(root, {"models", "pull", "--json"});
//   if (!line) return Fail(line.error(), …);       // "unknown flag --jsn; did you mean --json?; …"
//   if (line->wish == ParsedLine::Wish::kRun) line->command->Run(context);
//
// Whatever a command does with a value, it is a number where a number is wanted and UTF-8 where
// text is wanted; a path, and a word of another program, may be any bytes. A switch and its twin
// (--json,
// --no-json) may both be given: the later one holds.
// Thread-safety: none; values are written.

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
  // What is asked for instead of running the command.
  enum class Wish : std::uint8_t {
    kRun,
    kFirstScreen,
    kShortHelp,
    kFullHelp,
    kVersion
  } wish = Wish::kRun;
  const CommandNode* command = nullptr;  // the innermost that was given
};

// `words`: all behind the program's name. Errors: kUsage, one sentence with the nearest name.
Result<ParsedLine> ParseLine(const CommandNode& root, std::span<const std::string> words);

// Errors: kUsage with `what` and the first byte that is no part of a character.
Status CheckUtf8(std::string_view text, std::string_view what);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_PARSER_H_
