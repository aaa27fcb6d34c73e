// Whether a number is how often a text stands somewhere, and whether a passage is made of rows.
//
//   if (IsCountOf("2", "mules", texts)) AskWhetherThatIsMeant("mules");
//
// Thread-safety: pure functions. Linear in the length of the texts.

#ifndef DOSSIER_ASK_POLICY_COUNTED_TEXT_H_
#define DOSSIER_ASK_POLICY_COUNTED_TEXT_H_

#include <span>
#include <string_view>

namespace dossier::ask {

// Whether one of the numbers of `answer` is how often `part` stands in `texts` altogether, in this
// or in any case of its letters. False where all those places begin a line: headings and the like
// are what is counted then, not mentions. False, too, where it is the number of texts, of several,
// in which `part` stands: receipts are counted then, not what they mention.
bool IsCountOf(std::string_view answer, std::string_view part,
               std::span<const std::string_view> texts);

// Whether `passage` is a table: at least five lines, nearly all with the same number, two or more,
// of the same mark between cells. An answer that stands in a part of a table is one cell of many.
bool IsRows(std::string_view passage);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_COUNTED_TEXT_H_
