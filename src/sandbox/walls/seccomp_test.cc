#include <asm/unistd_64.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/random.h"
#include "sandbox/walls/isolation.h"
#include "sandbox/walls/seccomp_policy.h"
#include "sandbox/walls/seccomp_program.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

const FilterAction kAllow = FilterAction::Allow();
const FilterAction kKill = FilterAction::Kill();
const FilterAction kRefuse = FilterAction::Errno(EPERM);

struct Call {
  int number;
  std::array<std::uint64_t, 6> arguments = {};
  std::uint32_t arch = AUDIT_ARCH_X86_64;
};

// The kernel's machine, as far as filters use it. Anything else, or a jump outside, is no action.
std::optional<FilterAction> Simulate(const FilterProgram& program, const Call& call) {
  seccomp_data data = {};
  data.nr = call.number;
  data.arch = call.arch;
  std::copy(call.arguments.begin(), call.arguments.end(), data.args);
  std::uint32_t a = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& i = program[at];
    switch (i.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (i.k % 4 != 0 || i.k + 4 > sizeof(data)) return std::nullopt;
        std::memcpy(&a, reinterpret_cast<const char*>(&data) + i.k, 4);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        a &= i.k;
        break;
      case BPF_JMP | BPF_JA:
        at += i.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += a == i.k ? i.jt : i.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += a >= i.k ? i.jt : i.jf;
        break;
      case BPF_RET | BPF_K:
        return FilterAction{i.k};
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

// Evaluates the rules without a program.
FilterAction Evaluate(const std::vector<FilterRule>& rules, FilterAction fallback,
                      const Call& call) {
  if (call.arch != AUDIT_ARCH_X86_64 || call.number < 0 || call.number >= 0x40000000) return kKill;
  for (const FilterRule& rule : rules) {
    if (rule.number != call.number) continue;
    for (const FilterClause& clause : rule.clauses) {
      const std::uint64_t argument = call.arguments[clause.word / 2];
      const auto word = static_cast<std::uint32_t>(clause.word % 2 ? argument >> 32 : argument);
      const bool found = std::find(clause.values.begin(), clause.values.end(),
                                   word & clause.mask) != clause.values.end();
      if (found != (clause.match == FilterClause::Match::kIn)) return rule.otherwise;
    }
    return rule.action;
  }
  return fallback;
}

std::string Describe(const std::optional<FilterAction>& action) {
  if (!action) return "no action";
  if (*action == kAllow) return "allow";
  if (*action == kKill) return "kill";
  return fmt::format("errno {}", action->value & SECCOMP_RET_DATA);
}

TEST(FilterProgramTest, DoesWhatItsRulesSayForEveryCallNumber) {
  Random random(/*seed=*/11);
  for (int round = 0; round < 200; ++round) {
    std::vector<FilterRule> rules;
    for (std::uint64_t count = random.Below(60); rules.size() < count;) {
      FilterRule rule{static_cast<int>(random.Below(80)),
                      FilterAction::Errno(static_cast<int>(random.Below(4)))};
      for (std::uint64_t clauses = random.Below(3); rule.clauses.size() < clauses;) {
        FilterClause clause{
            .word = static_cast<unsigned>(random.Below(12)),
            .mask = random.Below(2) ? 0xffffffff : 7,
            .match = random.Below(2) ? FilterClause::Match::kIn : FilterClause::Match::kNotIn};
        for (std::uint64_t n = random.Below(4) + 1; clause.values.size() < n;) {
          clause.values.push_back(static_cast<std::uint32_t>(random.Below(8)));
        }
        rule.clauses.push_back(clause);
      }
      rules.push_back(rule);
    }
    const FilterProgram program = AssembleFilter(rules, kKill);
    for (int number = -2; number < 90; ++number) {
      Call call{number};
      for (std::uint64_t& argument : call.arguments) {
        argument = random.Below(8) | random.Below(8) << 32;
      }
      ASSERT_EQ(Describe(Simulate(program, call)), Describe(Evaluate(rules, kKill, call)))
          << "call " << number << " in round " << round;
    }
  }
}

TEST(FilterProgramTest, OtherArchitecturesAndTheX32BitKill) {  // SBX-25
  const FilterProgram program = AssembleFilter(CommonRules({.pid = 1}), kKill);
  const FilterProgram threads = AssembleFilter(ThreadRules({5}), kAllow);
  for (const FilterProgram* p : {&program, &threads}) {
    EXPECT_EQ(Simulate(*p, {__NR_read, {0}, AUDIT_ARCH_I386}), kKill);
    EXPECT_EQ(Simulate(*p, {__NR_read, {0}, AUDIT_ARCH_AARCH64}), kKill);
    EXPECT_EQ(Simulate(*p, {0x40000000 | __NR_read}), kKill);
    EXPECT_EQ(Simulate(*p, {-1}), kKill);
    EXPECT_EQ(Simulate(*p, {__NR_read, {0}}), kAllow);
  }
}

TEST(SeccompPolicyTest, TheCommonFilterIsTheSpecsTable) {  // SBX-20, SBX-21, SBX-22, SBX-23
  const FilterProgram program =
      AssembleFilter(CommonRules({.pid = 42, .instrumentation = Instrumentation::kNone}), kKill);
  struct Case {
    Call call;
    FilterAction action;
  };
  const FilterAction missing = FilterAction::Errno(ENOSYS);
  const Case cases[] = {
      {{__NR_read}, kAllow},
      {{__NR_futex}, kAllow},
      {{__NR_openat}, kAllow},
      {{__NR_ioctl, {1, TCGETS}}, kAllow},
      {{__NR_ioctl, {1, TIOCSTI}}, FilterAction::Errno(ENOTTY)},
      {{__NR_ioctl, {1, 0xffff'ffff'0000'0000ull | TIOCSTI}}, FilterAction::Errno(ENOTTY)},
      {{__NR_mmap, {0, 4096, PROT_READ | PROT_WRITE}}, kAllow},
      {{__NR_mmap, {0, 4096, PROT_READ | PROT_EXEC}}, kRefuse},
      {{__NR_mprotect, {0, 4096, PROT_EXEC}}, kRefuse},
      {{__NR_clone, {CLONE_THREAD | CLONE_VM | CLONE_SIGHAND}}, kAllow},
      {{__NR_clone, {CLONE_THREAD | CLONE_NEWNET}}, kRefuse},
      {{__NR_clone, {SIGCHLD}}, kRefuse},
      {{__NR_clone3}, missing},
      {{__NR_socketpair, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}}, kAllow},
      {{__NR_socketpair, {AF_UNIX, SOCK_DGRAM}}, kRefuse},
      {{__NR_socketpair, {AF_INET, SOCK_STREAM}}, kRefuse},
      {{__NR_sendto, {3, 0, 0, 0, 0}}, kAllow},
      {{__NR_sendto, {3, 0, 0, 0, 0x7fff'0000'0000ull}}, kRefuse},
      {{__NR_sendto, {3, 0, 0, 0, 0x10}}, kRefuse},
      {{__NR_tgkill, {42, 42, 10}}, kAllow},
      {{__NR_tgkill, {41, 41, 9}}, kRefuse},
      {{__NR_prctl, {PR_SET_NAME}}, kAllow},
      {{__NR_prctl, {PR_SET_DUMPABLE}}, kRefuse},
      {{__NR_fcntl, {3, F_GETFL}}, kAllow},
      {{__NR_fcntl, {3, F_SETOWN}}, kRefuse},
      {{__NR_fcntl, {3, F_DUPFD}}, kRefuse},
      {{__NR_mount}, kKill},
      {{__NR_unshare}, kKill},
      {{__NR_bpf}, kKill},
      {{__NR_keyctl}, kKill},
      {{__NR_personality}, kKill},
      {{__NR_process_vm_readv}, kKill},
      {{__NR_io_uring_enter}, kKill},
      {{999}, kKill},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Describe(Simulate(program, c.call)), Describe(c.action)) << c.call.number;
  }
  for (int number : {__NR_socket,
                     __NR_connect,
                     __NR_bind,
                     __NR_execve,
                     __NR_execveat,
                     __NR_fork,
                     __NR_vfork,
                     __NR_kill,
                     __NR_ptrace,
                     __NR_dup,
                     __NR_dup2,
                     __NR_dup3,
                     __NR_close_range,
                     __NR_memfd_create,
                     __NR_setrlimit,
                     __NR_prlimit64,
                     __NR_io_uring_setup,
                     __NR_readlink,
                     __NR_unlink,
                     __NR_mkdir,
                     __NR_rename,
                     __NR_chdir,
                     __NR_sched_setaffinity,
                     __NR_sched_getaffinity}) {
    EXPECT_EQ(Describe(Simulate(program, {number})), "errno 1") << number;
  }
}

TEST(SeccompPolicyTest, WithoutAFileWallNothingIsOpenedForChange) {  // SBX-11, SBX-A2 degraded
  const FilterProgram program =
      AssembleFilter(CommonRules({.pid = 1, .files = FileAccess::kReadOnly}), kKill);
  EXPECT_EQ(Simulate(program, {__NR_openat, {0, 0, O_RDONLY | O_CLOEXEC | O_DIRECTORY}}), kAllow);
  for (unsigned flags :
       {O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_TMPFILE | O_RDWR}) {
    EXPECT_EQ(Simulate(program, {__NR_openat, {0, 0, flags}}), kRefuse) << flags;
  }
}

TEST(SeccompPolicyTest, OnlyTheInterpretersThreadsAreKeptOffThePrivateDescriptors) {  // SBX-24
  const FilterProgram threads = AssembleFilter(ThreadRules({5, 9, -1}), kAllow);
  for (int number : {__NR_read, __NR_write, __NR_readv, __NR_writev, __NR_sendto, __NR_recvfrom,
                     __NR_close, __NR_fcntl, __NR_preadv2, __NR_pwritev2, __NR_shutdown}) {
    for (std::uint64_t fd : {5ull, 9ull, 0x1234'5678'0000'0005ull}) {
      EXPECT_EQ(Simulate(threads, {number, {fd}}), kRefuse) << number;
    }
    EXPECT_EQ(Simulate(threads, {number, {4}}), kAllow) << number;
  }
  for (int number : {__NR_sendmsg, __NR_recvmsg, __NR_seccomp}) {
    EXPECT_EQ(Simulate(threads, {number, {4}}), kRefuse) << number;
  }
  EXPECT_EQ(Simulate(threads, {__NR_epoll_ctl, {4, 1, 5}}), kRefuse);
  EXPECT_EQ(Simulate(threads, {__NR_epoll_ctl, {4, 1, 6}}), kAllow);
}

TEST(SeccompPolicyTest, TheFilterOfProgramsIsTheSpecsTable) {  // SBX-80
  const FilterProgram program = AssembleFilter(ProgramRules({}), kAllow);
  for (const int number : {__NR_mount,
                           __NR_umount2,
                           __NR_pivot_root,
                           __NR_ptrace,
                           __NR_process_vm_readv,
                           __NR_process_vm_writev,
                           __NR_bpf,
                           __NR_perf_event_open,
                           __NR_userfaultfd,
                           __NR_keyctl,
                           __NR_add_key,
                           __NR_io_uring_setup,
                           __NR_io_uring_enter,
                           __NR_io_uring_register,
                           __NR_kexec_load,
                           __NR_kexec_file_load,
                           __NR_init_module,
                           __NR_finit_module,
                           __NR_setns,
                           __NR_unshare,
                           __NR_open_by_handle_at,
                           __NR_move_mount,
                           __NR_open_tree,
                           __NR_pidfd_getfd}) {
    EXPECT_EQ(Describe(Simulate(program, {number})), "errno 1") << number;
  }
  const Call refused[] = {{__NR_clone, {CLONE_NEWUSER | SIGCHLD}},
                          {__NR_clone, {CLONE_NEWNET | SIGCHLD}},
                          {__NR_ioctl, {0, TIOCSTI}},
                          {__NR_ioctl, {0, 0x7'0000'0000ull | TIOCSTI}},
                          {__NR_socket, {AF_INET, SOCK_STREAM}},
                          {__NR_socket, {AF_NETLINK, SOCK_RAW}},
                          {__NR_socketpair, {AF_INET, SOCK_STREAM}},
                          {__NR_prlimit64, {1, 7}},
                          {__NR_personality, {READ_IMPLIES_EXEC}}};
  for (const Call& call : refused) EXPECT_EQ(Simulate(program, call), kRefuse) << call.number;
  const Call allowed[] = {{__NR_execve},
                          {__NR_fork},
                          {__NR_clone, {SIGCHLD}},
                          {__NR_kill, {5, 9}},
                          {__NR_ioctl, {0, TCGETS}},
                          {__NR_socket, {AF_UNIX, SOCK_DGRAM}},
                          {__NR_connect},
                          {__NR_prlimit64, {0, 7}},
                          {__NR_setsid}};
  for (const Call& call : allowed) EXPECT_EQ(Simulate(program, call), kAllow) << call.number;
  EXPECT_EQ(Simulate(program, {__NR_clone3}), FilterAction::Errno(ENOSYS));
  EXPECT_EQ(Simulate(program, {0x40000000 | __NR_read}), kKill);
}

TEST(SeccompPolicyTest, ProgramsGetTheNetworkOrLoseSignalsByTheirPolicy) {  // SBX-80
  const FilterProgram network =
      AssembleFilter(ProgramRules({.network = ProgramPolicy::Network::kAny}), kAllow);
  EXPECT_EQ(Simulate(network, {__NR_socket, {AF_INET, SOCK_STREAM}}), kAllow);
  EXPECT_EQ(Simulate(network, {__NR_socket, {AF_INET6, SOCK_DGRAM}}), kAllow);
  EXPECT_EQ(Simulate(network, {__NR_socket, {AF_UNIX, SOCK_STREAM}}), kAllow);
  EXPECT_EQ(Simulate(network, {__NR_connect}), kAllow);
  const Call to_the_machine[] = {{__NR_socket, {AF_NETLINK, SOCK_RAW}},
                                 {__NR_socket, {AF_VSOCK, SOCK_STREAM}},
                                 {__NR_socket, {AF_PACKET, SOCK_RAW}},
                                 {__NR_socketpair, {AF_TIPC, SOCK_STREAM}}};
  for (const Call& call : to_the_machine) {  // FLT-89
    EXPECT_EQ(Simulate(network, call), kRefuse) << call.arguments[0];
  }
  const FilterProgram network_alone =
      AssembleFilter(ProgramRules({.network = ProgramPolicy::Network::kAny,
                                   .local_sockets = ProgramPolicy::LocalSockets::kPairsOnly,
                                   .ipc = ProgramPolicy::Ipc::kNone}),
                     kAllow);
  EXPECT_EQ(Simulate(network_alone, {__NR_connect}), kAllow);
  EXPECT_EQ(Simulate(network_alone, {__NR_socketpair, {AF_UNIX, SOCK_STREAM}}), kAllow);
  const Call of_the_user[] = {{__NR_socket, {AF_UNIX, SOCK_STREAM}},
                              {__NR_socketpair, {AF_UNIX, SOCK_DGRAM}},
                              {__NR_shmget},
                              {__NR_shmat},
                              {__NR_semctl},
                              {__NR_msgget},
                              {__NR_mq_open}};
  for (const Call& call : of_the_user) {  // FLT-89
    EXPECT_EQ(Simulate(network_alone, call), kRefuse) << call.number;
  }
  const FilterProgram bare =
      AssembleFilter(ProgramRules({.local_sockets = ProgramPolicy::LocalSockets::kPairsOnly,
                                   .signals = ProgramPolicy::Signals::kNone}),
                     kAllow);
  EXPECT_EQ(Simulate(bare, {__NR_socketpair, {AF_UNIX, SOCK_STREAM}}), kAllow);
  const Call refused[] = {{__NR_connect},
                          {__NR_socket, {AF_UNIX, SOCK_DGRAM}},
                          {__NR_socketpair, {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC}},
                          {__NR_kill, {1, 9}},
                          {__NR_tgkill, {1, 1, 9}},
                          {__NR_pidfd_send_signal}};
  for (const Call& call : refused) EXPECT_EQ(Simulate(bare, call), kRefuse) << call.number;
}

std::vector<std::uint32_t> Words(const FilterProgram& program) {
  std::vector<std::uint32_t> words;
  for (const sock_filter& i : program) words.insert(words.end(), {i.code, i.jt, i.jf, i.k});
  return words;
}

TEST(SessionFiltersTest, FilledInTheyAreWhatAssemblingWouldGive) {  // SBX-13
  SessionFilters filters = SessionFilters::Assemble();
  const SessionFilters::Session sessions[] = {
      {1, {9, 7, 8, 12}},  // every place is taken
      {1, {3, 4, 5, 6}},
      {4'194'303, {63, 9, 10, 1023}},
  };
  for (const SessionFilters::Session& session : sessions) {
    ASSERT_THAT(filters.Fill(session), dossier::testing::Succeeds());
    for (const FileAccess files : {FileAccess::kReadWrite, FileAccess::kReadOnly}) {
      EXPECT_EQ(Words(filters.common(files)),
                Words(AssembleFilter(CommonRules({.pid = session.pid, .files = files}), kKill)));
    }
    EXPECT_EQ(Words(filters.threads()),
              Words(AssembleFilter(ThreadRules(session.private_fds), kAllow)));
  }
}

TEST(SessionFiltersTest, PlacesThatAreLeftOverRefuseNothingElse) {  // SBX-13, SBX-24
  SessionFilters filters = SessionFilters::Assemble();
  ASSERT_THAT(filters.Fill({.pid = 1, .private_fds = {3, 4, 5, 6}}), dossier::testing::Succeeds());
  ASSERT_THAT(filters.Fill({.pid = 1, .private_fds = {-1, 9}}), dossier::testing::Succeeds());
  for (std::uint64_t fd = 0; fd < 64; ++fd) {
    EXPECT_EQ(Simulate(filters.threads(), {__NR_write, {fd}}), fd == 9 ? kRefuse : kAllow) << fd;
  }
  EXPECT_THAT(filters.Fill({.pid = 1, .private_fds = {3, 4, 5, 6, 7}}),
              dossier::testing::FailsWith(ErrorCode::kInternal, "5 private descriptors"));
}

TEST(SeccompPolicyTest, AnEngineWithAJitMayHaveExecutableMemory) {
  const FilterProgram program =
      AssembleFilter(CommonRules({.pid = 1, .executable = ExecutableMemory::kAllow}), kKill);
  EXPECT_EQ(Simulate(program, {__NR_mmap, {0, 4096, PROT_EXEC}}), kAllow);
}

}  // namespace
}  // namespace dossier::sandbox
