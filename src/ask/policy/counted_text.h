// Tells whether a number counts the occurrences of a text, and whether a passage is a table.
//
//   if (IsCountOf("2", "mules", texts)) AskWhetherThatIsMeant("mules");
//
// Thread-safety: pure functions. Linear in the length of the texts.

#ifndef DOSSIER_ASK_POLICY_COUNTED_TEXT_H_
#define DOSSIER_ASK_POLICY_COUNTED_TEXT_H_

#include <span>
#include <string_view>

namespace dossier::ask {

// Returns true if a number in `answer` is how often `part` occurs in all `texts` together, with or
// without regard to case. False if all occurrences begin a line: then headings and the like are
// counted, not mentions. Also false if it is the number of texts (of several) that contain `part`:
// then receipts are counted, not what they mention.
bool IsCountOf(std::string_view answer, std::string_view part,
               std::span<const std::string_view> texts);

// Returns true if `passage` is a table: at least five lines, nearly all with the same number (two
// or more) of the same cell separator. An answer in a part of a table is one cell of many.
bool IsRows(std::string_view passage);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_COUNTED_TEXT_H_
