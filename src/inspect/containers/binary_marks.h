// Which kind of binary file the first bytes say; nothing inside is read.
//
//   BinaryKind("\x89PNG\r\n\x1A\n…") == "png";
//
// `head`: the first 64 KiB. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_CONTAINERS_BINARY_MARKS_H_
#define DOSSIER_INSPECT_CONTAINERS_BINARY_MARKS_H_

#include <string_view>

namespace dossier::inspect {

// "png", "zip", …; empty if no mark is known.
std::string_view BinaryKind(std::string_view head);
// Whether the mark decides: it proves the kind alone, or `head` is no text.
bool HasBinaryMark(std::string_view head);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_CONTAINERS_BINARY_MARKS_H_
