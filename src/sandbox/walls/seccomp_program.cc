#include "sandbox/walls/seccomp_program.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace dossier::sandbox {
namespace {

constexpr std::uint32_t kX32Bit = 0x40000000;

sock_filter Load(std::size_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
}
sock_filter Return(FilterAction action) { return {BPF_RET | BPF_K, 0, 0, action.value}; }
sock_filter Jump(std::uint32_t distance) { return {BPF_JMP | BPF_JA, 0, 0, distance}; }
sock_filter JumpIf(std::uint16_t comparison, std::uint32_t value, std::size_t if_true,
                   std::size_t if_false) {
  return {static_cast<std::uint16_t>(BPF_JMP | comparison | BPF_K),
          static_cast<std::uint8_t>(if_true), static_cast<std::uint8_t>(if_false), value};
}

void AppendClause(const FilterClause& clause, FilterAction otherwise, FilterProgram& out) {
  out.push_back(Load(offsetof(seccomp_data, args) + clause.word * 4));
  if (clause.mask != 0xffffffff) out.push_back({BPF_ALU | BPF_AND | BPF_K, 0, 0, clause.mask});
  // A match jumps over the other comparisons and the instruction after them.
  for (std::size_t i = 0; i < clause.values.size(); ++i) {
    out.push_back(JumpIf(BPF_JEQ, clause.values[i], clause.values.size() - i, 0));
  }
  if (clause.match == FilterClause::Match::kNotIn) out.push_back(Jump(1));
  out.push_back(Return(otherwise));
}

FilterProgram Body(const FilterRule& rule) {
  FilterProgram body;
  for (const FilterClause& clause : rule.clauses) AppendClause(clause, rule.otherwise, body);
  body.push_back(Return(rule.action));
  return body;
}

// Calls from `first` up to the next branch's `first` run `body`.
struct Branch {
  std::uint32_t first;
  FilterProgram body;
};

bool SameBody(const FilterProgram& a, const FilterProgram& b) {
  return a.size() == 1 && b.size() == 1 && a[0].k == b[0].k;
}

void Add(std::vector<Branch>& branches, std::uint32_t first, FilterProgram body) {
  if (!branches.empty() && SameBody(branches.back().body, body)) return;
  branches.push_back({first, std::move(body)});
}

std::vector<Branch> Branches(const std::vector<FilterRule>& rules, FilterAction fallback) {
  std::vector<Branch> branches;
  std::uint32_t next = 0;
  for (const FilterRule& rule : rules) {
    const auto number = static_cast<std::uint32_t>(rule.number);
    if (number > next) Add(branches, next, {Return(fallback)});
    Add(branches, number, Body(rule));
    next = number + 1;
  }
  Add(branches, next, {Return(fallback)});
  return branches;
}

FilterProgram Tree(const std::vector<Branch>& branches, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return branches[begin].body;
  const std::size_t middle = begin + (end - begin) / 2;
  FilterProgram lower = Tree(branches, begin, middle);
  FilterProgram upper = Tree(branches, middle, end);
  // Conditional jumps reach only 255 instructions; the plain jump has no such limit.
  FilterProgram out = {JumpIf(BPF_JGE, branches[middle].first, 0, 1),
                       Jump(static_cast<std::uint32_t>(lower.size()))};
  out.insert(out.end(), lower.begin(), lower.end());
  out.insert(out.end(), upper.begin(), upper.end());
  return out;
}

long Seccomp(unsigned operation, unsigned flags, const void* argument) {
  return syscall(__NR_seccomp, operation, flags, argument);
}

}  // namespace

FilterAction FilterAction::Allow() { return {SECCOMP_RET_ALLOW}; }
FilterAction FilterAction::Kill() { return {SECCOMP_RET_KILL_PROCESS}; }
FilterAction FilterAction::Errno(int number) {
  return {SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(number) & SECCOMP_RET_DATA)};
}

FilterProgram AssembleFilter(std::vector<FilterRule> rules, FilterAction fallback) {
  std::stable_sort(rules.begin(), rules.end(),
                   [](const FilterRule& a, const FilterRule& b) { return a.number < b.number; });
  rules.erase(
      std::unique(rules.begin(), rules.end(),
                  [](const FilterRule& a, const FilterRule& b) { return a.number == b.number; }),
      rules.end());
  const std::vector<Branch> branches = Branches(rules, fallback);
  FilterProgram program = {
      Load(offsetof(seccomp_data, arch)), JumpIf(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0),
      Return(FilterAction::Kill()),       Load(offsetof(seccomp_data, nr)),
      JumpIf(BPF_JGE, kX32Bit, 0, 1),     Return(FilterAction::Kill()),
  };
  const FilterProgram tree = Tree(branches, 0, branches.size());
  program.insert(program.end(), tree.begin(), tree.end());
  return program;
}

Status LoadFilter(const FilterProgram& program, FilterScope scope) {
  // An installed filter may refuse this; then it was set before.
  (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const sock_fprog raw = {static_cast<unsigned short>(program.size()),
                          const_cast<sock_filter*>(program.data())};
  const unsigned flags = scope == FilterScope::kAllThreads ? SECCOMP_FILTER_FLAG_TSYNC : 0;
  const long result = Seccomp(SECCOMP_SET_MODE_FILTER, flags, &raw);
  if (result == 0) return {};
  if (result > 0) {
    return MakeError(ErrorCode::kUnavailable, "thread {} has a filter of its own", result);
  }
  if (errno == ENOSYS) return MakeError(ErrorCode::kUnavailable, "kernel built without it");
  return MakeErrnoError(errno, "seccomp");
}

Status ProbeSeccomp() {
  for (std::uint32_t action : {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO}) {
    if (Seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0) continue;
    return MakeError(ErrorCode::kUnavailable, "kernel {}",
                     errno == ENOSYS ? "built without it" : "too old to kill a process by filter");
  }
  return {};
}

}  // namespace dossier::sandbox
