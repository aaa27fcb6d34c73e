// The action of each filter for each system call, as a table that is checked in beside this test. A
// change of a filter shows as a change of the table.
//
//   export DOSSIER_WRITE_TABLE=src/sandbox/walls/system_calls.txt
//   build/release/tests/sandbox_test --gtest_filter='SystemCallsTest.*'
//
// writes it anew. The filters' programs are read by a machine that follows both ways of each
// comparison of an argument, so the table says under which condition what happens.

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "base/files/file.h"
#include "base/text/text.h"
#include "sandbox/walls/seccomp_policy.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

// Ids of a process and of descriptors that differ between sessions, as they are named in the table.
constexpr int kPid = 0x7055'1e00, kKeeper = 0x7055'1e01, kBridge = 0x7055'1e02;

std::string Name(std::uint32_t value) {
  switch (value) {
    case kPid:
      return "itself";
    case kKeeper:
      return "keeper";
    case kBridge:
      return "bridge";
    default:
      return fmt::format("{:#x}", value);
  }
}

std::string ActionName(std::uint32_t action) {
  static const std::map<int, std::string> kErrors = {{0, "nothing"},
                                                     {EPERM, "EPERM"},
                                                     {ENOSYS, "ENOSYS"},
                                                     {ENOTTY, "ENOTTY"},
                                                     {EOPNOTSUPP, "EOPNOTSUPP"}};
  if (action == SECCOMP_RET_ALLOW) return "allow";
  if (action == SECCOMP_RET_KILL_PROCESS) return "kill";
  const int number = static_cast<int>(action & SECCOMP_RET_DATA);
  const auto found = kErrors.find(number);
  return found != kErrors.end() ? found->second : fmt::format("errno {}", number);
}

// Runs a program for one call number with arguments that are not known: where the program compares
// one, both ways are taken. "arg1 in 0x5401 0x5421 ? allow : ENOTTY".
class Machine {
 public:
  Machine(const FilterProgram& program, std::uint32_t number, std::uint32_t arch)
      : program_(program), number_(number), arch_(arch) {}

  std::string Run() { return From(0, {}); }

 private:
  struct Accumulator {
    enum class Kind { kKnown, kArgument } kind = Kind::kKnown;
    std::uint32_t value = 0;  // known
    unsigned word = 0;        // of the arguments
    std::uint32_t mask = 0xffffffff;
  };

  std::string From(std::size_t at, Accumulator a) {
    while (at < program_.size()) {
      const sock_filter& i = program_[at];
      switch (i.code) {
        case BPF_LD | BPF_W | BPF_ABS:
          a = Load(i.k);
          break;
        case BPF_ALU | BPF_AND | BPF_K:
          a.value &= i.k;
          a.mask &= i.k;
          break;
        case BPF_JMP | BPF_JA:
          at += i.k;
          break;
        case BPF_JMP | BPF_JEQ | BPF_K:
        case BPF_JMP | BPF_JGE | BPF_K: {
          if (a.kind == Accumulator::Kind::kArgument) return Compare(at, a);
          const bool is = i.code == (BPF_JMP | BPF_JEQ | BPF_K) ? a.value == i.k : a.value >= i.k;
          at += is ? i.jt : i.jf;
          break;
        }
        case BPF_RET | BPF_K:
          return ActionName(i.k);
        default:
          return fmt::format("unknown instruction {:#x}", i.code);
      }
      ++at;
    }
    return "runs out of the program";
  }

  Accumulator Load(std::uint32_t offset) const {
    if (offset == offsetof(seccomp_data, nr)) return {.value = number_};
    if (offset == offsetof(seccomp_data, arch)) return {.value = arch_};
    const auto arguments = static_cast<std::uint32_t>(offsetof(seccomp_data, args));
    return {.kind = Accumulator::Kind::kArgument, .word = (offset - arguments) / 4};
  }

  // Comparisons of one argument that lead to one place are one condition.
  std::string Compare(std::size_t at, const Accumulator& a) {
    std::vector<std::string> values;
    const std::size_t target = at + 1 + program_[at].jt;
    while (program_[at].code == (BPF_JMP | BPF_JEQ | BPF_K) && program_[at].jf == 0 &&
           at + 1 + program_[at].jt == target) {
      values.push_back(Name(program_[at].k));
      ++at;
    }
    if (values.empty()) return "a comparison that no rule makes";
    std::string what = fmt::format("arg{}{}", a.word / 2, a.word % 2 == 0 ? "" : ".high");
    if (a.mask != 0xffffffff) what += fmt::format("&{:#x}", a.mask);
    const std::string yes = From(target, a), no = From(at, a);
    if (yes == no) return yes;
    const auto part = [](const std::string& text) {
      return text.find('?') == std::string::npos ? text : "(" + text + ")";
    };
    return fmt::format("{} in {} ? {} : {}", what, fmt::join(values, " "), part(yes), part(no));
  }

  const FilterProgram& program_;
  std::uint32_t number_, arch_;
};

struct Filter {
  const char* name;
  const char* what;
  FilterProgram program;
};

FilterProgram ForPrograms(const ProgramPolicy& policy,
                          WatchPolicy::Memfds memfds = WatchPolicy::Memfds::kNone) {
  std::vector<FilterRule> rules = ProgramRules(policy);
  AppendWatchRules({.keeper = kKeeper, .memfds = memfds}, rules);
  return AssembleFilter(std::move(rules), FilterAction::Allow());
}

std::vector<Filter> Filters() {
  const ProgramPolicy bare = {.local_sockets = ProgramPolicy::LocalSockets::kPairsOnly,
                              .ipc = ProgramPolicy::Ipc::kNone,
                              .signals = ProgramPolicy::Signals::kNone};
  std::vector<Filter> filters;
  filters.push_back(
      {"worker", "every thread of a worker",
       AssembleFilter(CommonRules({.pid = kPid, .instrumentation = Instrumentation::kNone}),
                      FilterAction::Kill())});
  filters.push_back({"worker-read", "the same where nothing but the filter keeps files as they are",
                     AssembleFilter(CommonRules({.pid = kPid,
                                                 .files = FileAccess::kReadOnly,
                                                 .instrumentation = Instrumentation::kNone}),
                                    FilterAction::Kill())});
  filters.push_back({"code", "on top, the threads of a worker that run code",
                     AssembleFilter(ThreadRules({kBridge}), FilterAction::Allow())});
  filters.push_back({"jail", "a program in a jail", ForPrograms({})});
  filters.push_back({"jail-network", "a program in a jail with network",
                     ForPrograms({.network = ProgramPolicy::Network::kAny})});
  filters.push_back({"jail-bare", "a program in a jail without namespaces and landlock's scopes",
                     ForPrograms(bare)});
  filters.push_back({"jail-root", "a program in a jail that is called root",
                     ForPrograms({.ids = ProgramPolicy::Ids::kPretended})});
  filters.push_back({"jail-root-network", "the same with network",
                     ForPrograms({.network = ProgramPolicy::Network::kAny,
                                  .local_sockets = ProgramPolicy::LocalSockets::kPairsOnly,
                                  .ids = ProgramPolicy::Ids::kPretended})});
  ProgramPolicy bare_network = bare;
  bare_network.network = ProgramPolicy::Network::kAny;
  filters.push_back({"jail-bare-network", "jail-bare with network", ForPrograms(bare_network)});
  ProgramPolicy scoped = bare;
  scoped.signals = ProgramPolicy::Signals::kAny;
  filters.push_back({"jail-scoped",
                     "a program in a jail with landlock's scopes, without namespaces",
                     ForPrograms(scoped)});
  filters.push_back({"jail-cgroup", "a program in a jail whose memory a cgroup counts",
                     ForPrograms({}, WatchPolicy::Memfds::kAny)});
  return filters;
}

// Number and name of the calls that the system's header knows.
std::map<std::uint32_t, std::string> CallsOfTheHeader() {
  std::map<std::uint32_t, std::string> calls;
  for (const char* path :
       {"/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"}) {
    std::istringstream text(ReadFile(path).value_or(""));
    for (std::string line; std::getline(text, line);) {
      char name[64];
      unsigned number = 0;
      if (std::sscanf(line.c_str(), "#define __NR_%63s %u", name, &number) == 2) {
        calls.emplace(number, name);
      }
    }
  }
  return calls;
}

std::string Row(std::string_view number, std::string_view name, const std::vector<Filter>& filters,
                std::uint32_t call) {
  std::string row = fmt::format("{} {}", number, name);
  for (const Filter& filter : filters) {
    row += fmt::format(" | {}", Machine(filter.program, call, AUDIT_ARCH_X86_64).Run());
  }
  return row + "\n";
}

constexpr std::uint32_t kAbove = 1000;  // no call has a number from here on

std::string Table(const std::map<std::uint32_t, std::string>& calls) {
  const std::vector<Filter> filters = Filters();
  std::string text =
      "# What each filter does with each system call of x86-64 (system_calls_test.cc writes and "
      "checks this).\n#\n";
  for (const Filter& filter : filters) text += fmt::format("# {}: {}\n", filter.name, filter.what);
  text +=
      "#\n# allow; kill: the process ends; EPERM and others: the call fails with it; nothing: it "
      "succeeds and does nothing.\n# argN: the low 32 bits of an argument, &M: those of them that "
      "count.\n#\n# number name";
  for (const Filter& filter : filters) text += fmt::format(" | {}", filter.name);
  text += "\n";
  for (const auto& [number, name] : calls) {
    text += Row(std::to_string(number), name, filters, number);
  }
  return text + Row("-", "any other", filters, kAbove);
}

const std::string kPath = DOSSIER_SOURCE_DIR "/src/sandbox/walls/system_calls.txt";

// Number and name of the rows of the table.
std::map<std::uint32_t, std::string> CallsOfTheTable(const std::string& table) {
  std::map<std::uint32_t, std::string> calls;
  std::istringstream text(table);
  for (std::string line; std::getline(text, line);) {
    char name[64];
    unsigned number = 0;
    if (std::sscanf(line.c_str(), "%u %63s |", &number, name) == 2) calls.emplace(number, name);
  }
  return calls;
}

TEST(SystemCallsTest, TheFiltersAreTheTable) {
  if (const char* path = std::getenv("DOSSIER_WRITE_TABLE")) {
    auto calls = CallsOfTheTable(ReadFile(kPath).value_or(""));
    for (const auto& [number, name] : CallsOfTheHeader()) calls.emplace(number, name);
    ASSERT_THAT(WriteFileAtomic(path, Table(calls)), dossier::testing::Succeeds());
  }
  const std::string table = ReadFile(kPath).value_or("");
  const auto calls = CallsOfTheTable(table);
  EXPECT_GE(calls.size(), 350u);
  std::istringstream expected(table), found(Table(calls));
  std::string before, now;
  int differences = 0;
  while (std::getline(found, now)) {
    if (!std::getline(expected, before)) before = "(the table ends)";
    if (before == now || ++differences > 20) continue;
    ADD_FAILURE() << "in the table: " << before << "\nof the filters: " << now;
  }
  EXPECT_FALSE(std::getline(expected, before)) << before;
}

// Numbers are those of the kernel's header, and what a newer header has is treated as any other.
TEST(SystemCallsTest, TheTableHasTheCallsOfTheKernel) {
  const auto calls = CallsOfTheTable(ReadFile(kPath).value_or(""));
  const std::vector<Filter> filters = Filters();
  const auto other = Row("", "", filters, kAbove);
  for (const auto& [number, name] : CallsOfTheHeader()) {
    const auto row = calls.find(number);
    if (row != calls.end()) {
      EXPECT_EQ(row->second, name);
    } else {
      EXPECT_EQ(Row("", "", filters, number), other) << name << " is not in the table";
    }
  }
  for (std::uint32_t number = 0; number < kAbove; ++number) {
    if (calls.contains(number)) continue;
    EXPECT_EQ(Row("", "", filters, number), other) << number;
  }
}

TEST(SystemCallsTest, NothingElseThanThisMachinesCallsRuns) {  // SBX-25
  for (const Filter& filter : Filters()) {
    EXPECT_EQ(Machine(filter.program, 0, AUDIT_ARCH_I386).Run(), "kill") << filter.name;
    EXPECT_EQ(Machine(filter.program, 0x40000000, AUDIT_ARCH_X86_64).Run(), "kill") << filter.name;
    EXPECT_EQ(Machine(filter.program, 0xffffffff, AUDIT_ARCH_X86_64).Run(), "kill") << filter.name;
  }
}

// The kernel's answer to a child under `filter` for a call whose verdict needs no argument: the
// errno (0: none), or -1 if the call killed it.
std::vector<int> KernelSays(const Filter& filter, const std::vector<std::uint32_t>& calls) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!LoadFilter(filter.program, FilterScope::kThisThread)) _exit(1);
    for (const std::uint32_t call : calls) {
      errno = 0;
      const int got = syscall(call, 0, 0, 0, 0, 0, 0) < 0 ? errno : 0;
      if (write(ends[1], &got, sizeof(got)) != sizeof(got)) break;
    }
    _exit(0);
  }
  close(ends[1]);
  std::vector<int> said;
  for (int got; read(ends[0], &got, sizeof(got)) == sizeof(got);) said.push_back(got);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) said.push_back(-1);
  return said;
}

// The machine of this test and the kernel read a program alike: each call that no argument lets
// through is made, under each filter. Those that may pass are not made.
TEST(SystemCallsTest, TheKernelDoesAsTheTableSays) {
  const std::map<std::string, int> verdicts = {{"EPERM", EPERM},           {"ENOSYS", ENOSYS},
                                               {"ENOTTY", ENOTTY},         {"nothing", 0},
                                               {"EOPNOTSUPP", EOPNOTSUPP}, {"kill", -1}};
  const auto calls = CallsOfTheTable(ReadFile(kPath).value_or(""));
  std::size_t made = 0;
  for (const Filter& filter : Filters()) {
    std::vector<std::uint32_t> refused;
    std::vector<int> expected;
    for (const auto& [number, name] : calls) {
      const auto verdict = verdicts.find(Machine(filter.program, number, AUDIT_ARCH_X86_64).Run());
      if (verdict == verdicts.end()) continue;
      ++made;
      if (verdict->second == -1) {
        EXPECT_EQ(KernelSays(filter, {number}), std::vector<int>{-1}) << filter.name << " " << name;
        continue;
      }
      refused.push_back(number);
      expected.push_back(verdict->second);
    }
    EXPECT_EQ(KernelSays(filter, refused), expected) << filter.name;
  }
  EXPECT_GT(made, 700u);
}

TEST(SystemCallsTest, TheMachineSeesEveryWay) {
  const FilterProgram program =
      AssembleFilter({{7,
                       FilterAction::Allow(),
                       {{.word = LowWord(0), .mask = 0xf, .values = {1, 2}},
                        {.word = HighWord(3), .values = {9}, .match = FilterClause::Match::kNotIn}},
                       FilterAction::Errno(EPERM)}},
                     FilterAction::Kill());
  EXPECT_EQ(Machine(program, 7, AUDIT_ARCH_X86_64).Run(),
            "arg0&0xf in 0x1 0x2 ? (arg3.high in 0x9 ? EPERM : allow) : EPERM");
  EXPECT_EQ(Machine(program, 8, AUDIT_ARCH_X86_64).Run(), "kill");
}

}  // namespace
}  // namespace dossier::sandbox
