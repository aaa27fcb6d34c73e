// System call filters: assembles a table of rules into the kernel's BPF.
//
//   FilterProgram program = AssembleFilter({{__NR_read, FilterAction::Allow()},
//                                           {__NR_mmap, FilterAction::Allow(),
//                                            {{.word = LowWord(2), .mask = PROT_EXEC,
//                                              .values = {0}}},
//                                            FilterAction::Errno(EPERM)}},
//                                          FilterAction::Kill());
//   DOSSIER_RETURN_IF_ERROR(LoadFilter(program, FilterScope::kAllThreads));
//
// Other architectures, the x32 bit and negative numbers always kill. The program is a binary tree
// over call numbers, so a call costs about eight comparisons. Filters are assembled once, before
// sessions are forked (isolation.h).
//
// Thread-safety: values are plain data; LoadFilter changes the calling thread or process.

#ifndef DOSSIER_SANDBOX_WALLS_SECCOMP_PROGRAM_H_
#define DOSSIER_SANDBOX_WALLS_SECCOMP_PROGRAM_H_

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace dossier::sandbox {

// The kernel's action for a call: a SECCOMP_RET_* value.
struct FilterAction {
  std::uint32_t value;

  static FilterAction Allow();
  static FilterAction Kill();
  static FilterAction Errno(int number);
  bool operator==(const FilterAction&) const = default;
};

// The 32-bit words of argument `index` (0 to 5). For descriptors, flags and commands, which are
// ints to the kernel, only the low word counts; pointers need both.
constexpr unsigned LowWord(unsigned index) { return index * 2; }
constexpr unsigned HighWord(unsigned index) { return index * 2 + 1; }

// True if (word & mask) is, or is not, among `values`.
struct FilterClause {
  enum class Match { kIn, kNotIn };
  unsigned word = 0;
  std::uint32_t mask = 0xffffffff;
  std::vector<std::uint32_t> values;  // at most 200
  Match match = Match::kIn;
};

// The action is `action` if every clause holds, else `otherwise`.
struct FilterRule {
  int number;
  FilterAction action;
  std::vector<FilterClause> clauses;
  FilterAction otherwise = FilterAction::Kill();
};

using FilterProgram = std::vector<sock_filter>;

// Uses one rule per number: the first one.
FilterProgram AssembleFilter(std::vector<FilterRule> rules, FilterAction fallback);

enum class FilterScope { kThisThread, kAllThreads };

// Sets no_new_privs, without which the kernel refuses a filter, and installs the program. Errors:
// kUnavailable with the reason ("kernel built without it").
Status LoadFilter(const FilterProgram& program, FilterScope scope);

// Checks that the kernel has filters, errno actions and killing a process. Errors: kUnavailable.
Status ProbeSeccomp();

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_SECCOMP_PROGRAM_H_
