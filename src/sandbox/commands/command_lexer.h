// A command line as words, without a shell: quotes and backslashes, and nothing else.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Argv argv, LexCommand("git log -n 2 'two words'"));
//   LexCommand("cat x; rm y").error().message;   // "`;` at byte 5 is a shell operator: …"
//
// Words are parted by spaces and tabs. Between single quotes every byte stands for itself; between
// double quotes, too, but a backslash before `"` or `\`. A backslash outside of quotes takes the
// next byte as it is. What a shell would expand or act on is refused, never passed on as text.
//
// Thread-safety: pure function.

#ifndef DOSSIER_SANDBOX_COMMANDS_COMMAND_LEXER_H_
#define DOSSIER_SANDBOX_COMMANDS_COMMAND_LEXER_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier::sandbox {

using Argv = std::vector<std::string>;

inline constexpr std::size_t kMaxCommandBytes = 64 << 10;

// At least one word. Errors: kRefused naming the operator and where it stands: ; & | < > ( ) $ { }
// * ? [ ~ # ! backtick and line ends outside of quotes (`$` and backtick also between double
// quotes, where a shell expands them), an open quote, a backslash at the end, NUL, bytes that are
// no UTF-8, an empty or too long command.
Result<Argv> LexCommand(std::string_view command);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_COMMANDS_COMMAND_LEXER_H_
