// Detects the kind of a binary file by its first bytes; its content is not read.
//
//   BinaryKind("\x89PNG\r\n\x1A\n…") == "png";
//
// `head` is the first 64 KiB. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_CONTAINERS_BINARY_MARKS_H_
#define DOSSIER_INSPECT_CONTAINERS_BINARY_MARKS_H_

#include <string_view>

namespace dossier::inspect {

// Returns "png", "zip", …; empty if no mark is known.
std::string_view BinaryKind(std::string_view head);
// Returns true if the mark decides: it proves the kind by itself, or `head` is not text.
bool HasBinaryMark(std::string_view head);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_CONTAINERS_BINARY_MARKS_H_
