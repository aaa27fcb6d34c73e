// Makes the error message for a file or folder that a person named and that does not exist.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadNamedFile("order.csv", 1 << 20));
//   // "order.csv: no such file or folder; did you mean orders.csv?"
//   // "old/order.csv: there is no folder old"
//
// It lists the folder, so do not use it for files that a program looks for. Thread-safety:
// functions over files that are only read.

#ifndef DOSSIER_BASE_FILES_MISSING_FILE_H_
#define DOSSIER_BASE_FILES_MISSING_FILE_H_

#include <cstdint>
#include <string>

#include "base/result.h"

namespace dossier {

// `error` comes from opening or writing `path`; returned unchanged unless the path is missing.
Error ExplainMissing(Error error, const std::string& path);

// As ReadFile.
Result<std::string> ReadNamedFile(const std::string& path, std::uint64_t max_bytes = 1ull << 32);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_MISSING_FILE_H_
