// Repairs slips in a code block that can be undone without guessing.
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

// Removes the white space that all lines with text start with from all lines.
std::string WithoutCommonIndent(std::string_view code);

// Turns a copy of an interactive session (">>> ", "... ", "In [1]: ") into a program: removes
// prompts and drops the lines between them, which are output. None if the first line has no prompt.
std::optional<std::string> WithoutPrompts(std::string_view code);

// Replaces HTML's &lt; &gt; &amp; &quot; &#39; and curly quotes. None if there are none.
std::optional<std::string> WithoutEntities(std::string_view code);

// Returns true if some line is a call, an assignment, an import or a loop.
bool HoldsStatement(std::string_view code);
// Returns true if `line` starts like one.
bool StartsStatement(std::string_view line);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_CODE_REPAIR_H_
