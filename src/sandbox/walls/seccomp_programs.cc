// The system calls of programs in a jail: everything except the following.

#include <asm/unistd_64.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "sandbox/walls/seccomp_policy.h"

// Not in the system's headers yet; numbers are the same on every architecture.
#ifndef __NR_memfd_secret
#define __NR_memfd_secret 447
#endif
#ifndef __NR_process_mrelease
#define __NR_process_mrelease 448
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif

namespace dossier::sandbox {
namespace {

using Match = FilterClause::Match;

constexpr int kRefusedToPrograms[] = {
    // mounts and roots
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_open_tree,
    __NR_open_tree_attr,
    __NR_move_mount,
    __NR_fsopen,
    __NR_fsconfig,
    __NR_fsmount,
    __NR_fspick,
    __NR_mount_setattr,
    __NR_swapon,
    __NR_swapoff,
    __NR_quotactl,
    __NR_quotactl_fd,
    // namespaces
    __NR_unshare,
    __NR_setns,
    // other processes
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_process_madvise,
    __NR_process_mrelease,
    __NR_pidfd_getfd,
    __NR_kcmp,
    __NR_migrate_pages,
    __NR_move_pages,
    // parts of the kernel with a history of vulnerabilities
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_io_uring_setup,
    __NR_io_uring_enter,
    __NR_io_uring_register,
    __NR_keyctl,
    __NR_add_key,
    __NR_request_key,
    __NR_fanotify_init,
    __NR_vhangup,
    __NR_lookup_dcookie,
    __NR_modify_ldt,
    // files by handle instead of name
    __NR_open_by_handle_at,
    // the machine
    __NR_kexec_load,
    __NR_kexec_file_load,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_reboot,
    __NR_syslog,
    __NR_acct,
    __NR_iopl,
    __NR_ioperm,
    __NR_settimeofday,
    __NR_clock_settime,
    __NR_clock_adjtime,
    __NR_adjtimex,
    __NR_sethostname,
    __NR_setdomainname,
};

constexpr int kSignals[] = {__NR_kill,
                            __NR_tkill,
                            __NR_tgkill,
                            __NR_rt_sigqueueinfo,
                            __NR_rt_tgsigqueueinfo,
                            __NR_pidfd_send_signal};

constexpr int kIpc[] = {__NR_shmget, __NR_shmat,  __NR_shmctl,     __NR_shmdt,    __NR_semget,
                        __NR_semop,  __NR_semctl, __NR_semtimedop, __NR_msgget,   __NR_msgsnd,
                        __NR_msgrcv, __NR_msgctl, __NR_mq_open,    __NR_mq_unlink};

constexpr int kIds[] = {__NR_chown,     __NR_fchown,    __NR_lchown,   __NR_fchownat,
                        __NR_setuid,    __NR_setgid,    __NR_setreuid, __NR_setregid,
                        __NR_setresuid, __NR_setresgid, __NR_setgroups};

constexpr int kFchmodat2 = 452;  // not in the headers of Debian 12

// Calls that set the mode of a file, with the index of that argument.
constexpr std::pair<int, unsigned> kModes[] = {
    {__NR_chmod, 1}, {__NR_fchmod, 1}, {__NR_fchmodat, 2}, {kFchmodat2, 2},  {__NR_creat, 1},
    {__NR_open, 2},  {__NR_openat, 3}, {__NR_mknod, 1},    {__NR_mknodat, 2}};

constexpr std::uint32_t kTypeText = 0x5412;  // TIOCSTI: text into the terminal's input
constexpr std::uint32_t kConsole = 0x541c;   // TIOCLINUX: the same by pasting
constexpr std::uint32_t kQueryPersonality = 0xffffffff;

FilterRule SocketRule(const ProgramPolicy& policy) {
  const FilterAction allow = FilterAction::Allow(), refuse = FilterAction::Errno(EPERM);
  const bool pairs_only = policy.local_sockets == ProgramPolicy::LocalSockets::kPairsOnly;
  if (policy.network == ProgramPolicy::Network::kAny) {
    std::vector<std::uint32_t> families = {AF_INET, AF_INET6};
    if (!pairs_only) families.push_back(AF_UNIX);
    return {__NR_socket, allow, {{.word = LowWord(0), .values = std::move(families)}}, refuse};
  }
  FilterRule rule{__NR_socket, allow, {{.word = LowWord(0), .values = {AF_UNIX}}}, refuse};
  // A datagram names its receiver without connect.
  if (pairs_only) {
    rule.clauses.push_back(
        {.word = LowWord(1), .mask = kSocketTypeMask, .values = {SOCK_STREAM, SOCK_SEQPACKET}});
  }
  return rule;
}

void AppendSocketRules(const ProgramPolicy& policy, std::vector<FilterRule>& rules) {
  const FilterAction allow = FilterAction::Allow(), refuse = FilterAction::Errno(EPERM);
  rules.push_back(SocketRule(policy));
  FilterRule pair{__NR_socketpair, allow, {{.word = LowWord(0), .values = {AF_UNIX}}}, refuse};
  if (policy.local_sockets == ProgramPolicy::LocalSockets::kPairsOnly) {
    pair.clauses.push_back(
        {.word = LowWord(1), .mask = kSocketTypeMask, .values = {SOCK_STREAM, SOCK_SEQPACKET}});
    if (policy.network == ProgramPolicy::Network::kNone) rules.push_back({__NR_connect, refuse});
  }
  rules.push_back(std::move(pair));
}

}  // namespace

std::vector<FilterRule> ProgramRules(const ProgramPolicy& policy) {
  const FilterAction allow = FilterAction::Allow(), refuse = FilterAction::Errno(EPERM);
  std::vector<FilterRule> rules;
  for (int number : kRefusedToPrograms) rules.push_back({number, refuse});
  if (policy.signals == ProgramPolicy::Signals::kNone) {
    for (int number : kSignals) rules.push_back({number, refuse});
  }
  if (policy.ipc == ProgramPolicy::Ipc::kNone) {
    for (int number : kIpc) rules.push_back({number, refuse});
  }
  if (policy.ids == ProgramPolicy::Ids::kPretended) {
    for (int number : kIds) rules.push_back({number, FilterAction::Errno(0)});
  }
  AppendSocketRules(policy, rules);
  rules.push_back({__NR_ioctl,
                   allow,
                   {{.word = LowWord(1), .values = {kTypeText, kConsole}, .match = Match::kNotIn}},
                   refuse});
  rules.push_back(
      {__NR_clone, allow, {{.word = LowWord(0), .mask = kNewNamespaces, .values = {0}}}, refuse});
  // Its flags are behind a pointer, which a filter cannot read; the C library then uses clone.
  rules.push_back({__NR_clone3, FilterAction::Errno(ENOSYS)});
  rules.push_back(
      {__NR_personality, allow, {{.word = LowWord(0), .values = {0, kQueryPersonality}}}, refuse});
  // A set-user-id program of root would outlive the jail. openat2's arguments are behind a pointer;
  // programs fall back to openat.
  for (const auto& [number, word] : kModes) {
    rules.push_back({number,
                     allow,
                     {{.word = LowWord(word), .mask = S_ISUID | S_ISGID, .values = {0}}},
                     refuse});
  }
  rules.push_back({__NR_openat2, FilterAction::Errno(ENOSYS)});
  for (const int number : {__NR_setxattr, __NR_lsetxattr, __NR_fsetxattr}) {
    rules.push_back({number, FilterAction::Errno(EOPNOTSUPP)});  // the same by file capabilities
  }
  // Allows only the process itself, not other processes of the user.
  rules.push_back({__NR_prlimit64, allow, {{.word = LowWord(0), .values = {0}}}, refuse});
  return rules;
}

void AppendWatchRules(const WatchPolicy& policy, std::vector<FilterRule>& rules) {
  const FilterAction allow = FilterAction::Allow(), refuse = FilterAction::Errno(EPERM);
  const auto keeper = static_cast<std::uint32_t>(policy.keeper);
  for (const int number :
       {__NR_sched_setparam, __NR_sched_setscheduler, __NR_sched_setaffinity, __NR_sched_setattr}) {
    rules.push_back({number,
                     allow,
                     {{.word = LowWord(0), .values = {keeper}, .match = Match::kNotIn}},
                     refuse});
  }
  // Only for one process; for all of the user's it would affect the keeper too.
  constexpr std::uint32_t kIoOfProcess = 1;  // IOPRIO_WHO_PROCESS: glibc has no header for it
  for (const auto& [number, process] : {std::pair(__NR_setpriority, std::uint32_t{PRIO_PROCESS}),
                                        std::pair(__NR_ioprio_set, kIoOfProcess)}) {
    rules.push_back({number,
                     allow,
                     {{.word = LowWord(0), .values = {process}},
                      {.word = LowWord(1), .values = {keeper}, .match = Match::kNotIn}},
                     refuse});
  }
  if (policy.memfds == WatchPolicy::Memfds::kAny) return;
  for (const int number : {__NR_memfd_create, __NR_memfd_secret}) {
    rules.push_back({number, FilterAction::Errno(ENOSYS)});
  }
}

}  // namespace dossier::sandbox
