// System call filters: a table of rules, assembled into the kernel's BPF.
//
//   FilterProgram program = AssembleFilter({{__NR_read, FilterAction::Allow()},
//                                           {__NR_mmap, FilterAction::Allow(),
//                                            {{.word = LowWord(2), .mask = PROT_EXEC,
//                                              .values = {0}}},
//                                            FilterAction::Errno(EPERM)}},
//                                          FilterAction::Kill());
//   DOSSIER_RETURN_IF_ERROR(LoadFilter(program, FilterScope::kAllThreads));
//
// Another architecture, the x32 bit and negative numbers always kill. The program is a binary tree
// over call numbers, so a call costs about eight comparisons. Assembling is
// done once, before sessions are forked (isolation.h).
//
// Thread-safety: values are plain data; LoadFilter changes the calling thread or process.

#ifndef DOSSIER_SANDBOX_WALLS_SECCOMP_PROGRAM_H_
#define DOSSIER_SANDBOX_WALLS_SECCOMP_PROGRAM_H_

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace dossier::sandbox {

// What the kernel does with a call: a SECCOMP_RET_* value.
struct FilterAction {
  std::uint32_t value;

  static FilterAction Allow();
  static FilterAction Kill();
  static FilterAction Errno(int number);
  bool operator==(const FilterAction&) const = default;
};

// The 32-bit words of argument `index` (0 to 5). Descriptors, flags and commands are ints to the
// kernel, so the low word alone decides; pointers need both.
constexpr unsigned LowWord(unsigned index) { return index * 2; }
constexpr unsigned HighWord(unsigned index) { return index * 2 + 1; }

// Holds if (word & mask) is, or is not, among `values`.
struct FilterClause {
  enum class Match { kIn, kNotIn };
  unsigned word = 0;
  std::uint32_t mask = 0xffffffff;
  std::vector<std::uint32_t> values;  // at most 200
  Match match = Match::kIn;
};

// `action` if every clause holds, else `otherwise`.
struct FilterRule {
  int number;
  FilterAction action;
  std::vector<FilterClause> clauses;
  FilterAction otherwise = FilterAction::Kill();
};

using FilterProgram = std::vector<sock_filter>;

// One rule a number; of several the first counts.
FilterProgram AssembleFilter(std::vector<FilterRule> rules, FilterAction fallback);

enum class FilterScope { kThisThread, kAllThreads };

// Sets no_new_privs, without which the kernel refuses a filter, and installs the program.
// Errors: kUnavailable with the reason ("kernel built without it").
Status LoadFilter(const FilterProgram& program, FilterScope scope);

// Whether the kernel knows filters, errno actions and killing a process. Errors: kUnavailable.
Status ProbeSeccomp();

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_SECCOMP_PROGRAM_H_
