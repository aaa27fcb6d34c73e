// Times of files as numbers.
//
//   note.mtime_ns = NanosSinceEpoch(info.st_mtim);       // info of fstat
//
// Thread-safety: pure function.

#ifndef DOSSIER_BASE_FILES_FILE_TIME_H_
#define DOSSIER_BASE_FILES_FILE_TIME_H_

#include <cstdint>
#include <ctime>

namespace dossier {

// Nanoseconds since 1970. A file may carry any time; one that 64 bits cannot hold (before 1677,
// after 2262) becomes the nearest time that they can.
std::int64_t NanosSinceEpoch(const timespec& time);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_FILE_TIME_H_
