// A context as one Python str, made in memory of huge pages.
//
//   Ref text = MakeContextString(bytes);   // null with a Python error set
//
// Decoding by hand, because the interpreter's own decoder grows its result step by step (twice the
// memory at its peak) and its memory cannot be advised before it is touched. A fork then copies a
// page table entry for every 2 MiB instead of every 4 KiB. Needs the interpreter's lock.

#ifndef DOSSIER_WORKERS_PYTHON_CONTEXT_STRING_H_
#define DOSSIER_WORKERS_PYTHON_CONTEXT_STRING_H_

#include <string_view>

#include "python_ref.h"

namespace dossier::worker {

// Exact: `\r\n` and NUL are kept. UnicodeDecodeError if `bytes` is not valid UTF-8, MemoryError.
Ref MakeContextString(std::string_view bytes);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PYTHON_CONTEXT_STRING_H_
