// Other programs as peers of a benchmark: started and waited for, with their CPU.
//
//   const double before = CpuSecondsWithChildren();
//   DOSSIER_RETURN_IF_ERROR(Spawn({"/bin/true"}));
//   cpu.Add(CpuSecondsWithChildren() - before);
//
// Thread-safety: one thread at a time.

#ifndef DOSSIER_BENCH_PROCESSES_H_
#define DOSSIER_BENCH_PROCESSES_H_

#include <vector>

#include "base/result.h"

namespace dossier::bench {

// Runs it to its end. Errors: kFailed if it does not end with 0.
Status Spawn(std::vector<const char*> argv);

// Of this process and of its children that have been waited for, theirs included.
double CpuSecondsWithChildren();

}  // namespace dossier::bench

#endif  // DOSSIER_BENCH_PROCESSES_H_
