// Slips in a block of code that can be undone without guessing.
//
//   std::string code = WithoutCommonIndent(block);
//   if (auto plain = WithoutPrompts(code)) code = *plain;
//
// Thread-safety: pure functions. Linear in the length of the code.

#ifndef DOSSIER_ASK_REPLY_CODE_REPAIR_H_
#define DOSSIER_ASK_REPLY_CODE_REPAIR_H_

#include <optional>
#include <string>
#include <string_view>

namespace dossier::ask {

// The white space that starts every line with text is removed from all lines.
std::string WithoutCommonIndent(std::string_view code);

// A copy of an interactive session (">>> ", "... ", "In [1]: ") as a program: prompts removed, the
// lines between them, which are output, dropped. None if the first line has no prompt.
std::optional<std::string> WithoutPrompts(std::string_view code);

// HTML's &lt; &gt; &amp; &quot; &#39; and curly quotes as plain characters. None if there are none.
std::optional<std::string> WithoutEntities(std::string_view code);

// Whether some line is a call, an assignment, an import or a loop.
bool HoldsStatement(std::string_view code);
// Whether `line` starts like one.
bool StartsStatement(std::string_view line);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_CODE_REPAIR_H_
