#include "sandbox/walls/seccomp_policy.h"

#include <asm/unistd_64.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>

namespace dossier::sandbox {
namespace {

using Match = FilterClause::Match;

// No argument of these calls reaches beyond the process and its open descriptors.
constexpr int kAllowed[] = {
    // descriptors that are open
    __NR_read,
    __NR_write,
    __NR_readv,
    __NR_writev,
    __NR_pread64,
    __NR_pwrite64,
    __NR_preadv,
    __NR_pwritev,
    __NR_preadv2,
    __NR_pwritev2,
    __NR_lseek,
    __NR_close,
    __NR_fstat,
    __NR_getdents64,
    __NR_ftruncate,
    __NR_fsync,
    __NR_fdatasync,
    __NR_newfstatat,
    __NR_getcwd,
    __NR_umask,
    // memory
    __NR_munmap,
    __NR_mremap,
    __NR_madvise,
    __NR_brk,
    __NR_msync,
    __NR_mincore,
    __NR_membarrier,
    // threads and signals of its own
    __NR_futex,
    __NR_set_robust_list,
    __NR_get_robust_list,
    __NR_set_tid_address,
    __NR_rseq,
    __NR_sched_yield,
    __NR_gettid,
    __NR_getpid,
    __NR_exit,
    __NR_exit_group,
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_rt_sigpending,
    __NR_rt_sigtimedwait,
    __NR_rt_sigsuspend,
    __NR_sigaltstack,
    __NR_pause,
    __NR_alarm,
    __NR_setitimer,
    __NR_getitimer,
    __NR_restart_syscall,
    __NR_getcpu,
    // time
    __NR_clock_gettime,
    __NR_clock_getres,
    __NR_clock_nanosleep,
    __NR_nanosleep,
    __NR_gettimeofday,
    __NR_time,
    __NR_times,
    __NR_getrusage,
    // waiting, and what asyncio does with its pair of sockets
    __NR_poll,
    __NR_ppoll,
    __NR_select,
    __NR_pselect6,
    __NR_epoll_create,
    __NR_epoll_create1,
    __NR_epoll_ctl,
    __NR_epoll_wait,
    __NR_epoll_pwait,
    __NR_epoll_pwait2,
    __NR_recvfrom,
    __NR_sendmsg,
    __NR_recvmsg,
    __NR_shutdown,
    __NR_getsockopt,
    __NR_getsockname,
    __NR_getpeername,
    // facts
    __NR_getrandom,
    __NR_sysinfo,
    __NR_uname,
    __NR_getuid,
    __NR_geteuid,
    __NR_getgid,
    __NR_getegid,
    __NR_getresuid,
    __NR_getresgid,
    __NR_getgroups,
    __NR_getppid,
    __NR_getpgrp,
    __NR_getpgid,
    __NR_getsid,
    __NR_getpriority,
    __NR_getrlimit,
    // the second filter is installed under the first one
    __NR_seccomp,
};

// Called by libraries, or reachable from Python's standard library: they return an errno instead of
// killing.
constexpr int kRefusedToCode[] = {
    // sockets
    __NR_socket,
    __NR_connect,
    __NR_bind,
    __NR_listen,
    __NR_accept,
    __NR_accept4,
    __NR_setsockopt,
    __NR_sendmmsg,
    __NR_recvmmsg,
    // processes
    __NR_execve,
    __NR_execveat,
    __NR_fork,
    __NR_vfork,
    __NR_kill,
    __NR_tkill,
    __NR_ptrace,
    __NR_rt_sigqueueinfo,
    __NR_rt_tgsigqueueinfo,
    __NR_pidfd_open,
    __NR_pidfd_send_signal,
    __NR_wait4,
    __NR_waitid,
    __NR_setsid,
    __NR_setpgid,
    // descriptors
    __NR_dup,
    __NR_dup2,
    __NR_dup3,
    __NR_close_range,
    __NR_memfd_create,
    __NR_pipe,
    __NR_pipe2,
    __NR_eventfd,
    __NR_eventfd2,
    __NR_signalfd4,
    __NR_timerfd_create,
    __NR_inotify_init1,
    __NR_sendfile,
    __NR_splice,
    __NR_tee,
    __NR_copy_file_range,
    __NR_flock,
    __NR_fallocate,
    __NR_fadvise64,
    // rights and limits
    __NR_setrlimit,
    __NR_prlimit64,
    __NR_setpriority,
    __NR_ioprio_set,
    __NR_setuid,
    __NR_setgid,
    __NR_setreuid,
    __NR_setregid,
    __NR_setresuid,
    __NR_setresgid,
    __NR_setgroups,
    __NR_capset,
    __NR_capget,
    __NR_chroot,
    __NR_sethostname,
    __NR_clock_settime,
    __NR_settimeofday,
    __NR_io_uring_setup,
    __NR_mlock,
    __NR_mlock2,
    __NR_munlock,
    __NR_mlockall,
    // scheduling
    __NR_sched_setparam,
    __NR_sched_getparam,
    __NR_sched_setscheduler,
    __NR_sched_getscheduler,
    __NR_sched_get_priority_max,
    __NR_sched_get_priority_min,
    __NR_sched_rr_get_interval,
    __NR_sched_setaffinity,
    __NR_sched_getaffinity,
    __NR_sched_setattr,
    __NR_sched_getattr,
    // paths
    __NR_open,
    __NR_creat,
    __NR_stat,
    __NR_lstat,
    __NR_access,
    __NR_faccessat,
    __NR_faccessat2,
    __NR_statfs,
    __NR_fstatfs,
    __NR_readlink,
    __NR_readlinkat,
    __NR_unlink,
    __NR_unlinkat,
    __NR_mkdir,
    __NR_mkdirat,
    __NR_rmdir,
    __NR_rename,
    __NR_renameat,
    __NR_renameat2,
    __NR_link,
    __NR_linkat,
    __NR_symlink,
    __NR_symlinkat,
    __NR_chdir,
    __NR_fchdir,
    __NR_chmod,
    __NR_fchmod,
    __NR_fchmodat,
    __NR_chown,
    __NR_fchown,
    __NR_lchown,
    __NR_fchownat,
    __NR_truncate,
    __NR_mknod,
    __NR_mknodat,
    __NR_utime,
    __NR_utimes,
    __NR_utimensat,
    __NR_futimesat,
    __NR_sync,
    __NR_syncfs,
};

// The standard library accepts "not supported" here, but not "not permitted".
constexpr int kUnsupported[] = {
    __NR_setxattr,   __NR_lsetxattr,   __NR_fsetxattr,    __NR_getxattr,
    __NR_lgetxattr,  __NR_fgetxattr,   __NR_listxattr,    __NR_llistxattr,
    __NR_flistxattr, __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr,
};

constexpr std::uint32_t kOpenForChange = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);

FilterRule OpenRule(FileAccess files) {
  const FilterAction refuse = FilterAction::Errno(EPERM);
  switch (files) {
    case FileAccess::kNone:
      return {__NR_openat, refuse};
    case FileAccess::kReadOnly:
      return {__NR_openat,
              FilterAction::Allow(),
              {{.word = LowWord(2), .mask = kOpenForChange, .values = {0}}},
              refuse};
    case FileAccess::kReadWrite:
      break;
  }
  return {__NR_openat, FilterAction::Allow()};
}

void AppendMemoryRules(ExecutableMemory executable, std::vector<FilterRule>& rules) {
  std::vector<FilterClause> clauses;
  if (executable == ExecutableMemory::kRefuse) {
    clauses.push_back({.word = LowWord(2), .mask = PROT_EXEC, .values = {0}});
  }
  for (int number : {__NR_mmap, __NR_mprotect}) {
    rules.push_back({number, FilterAction::Allow(), clauses, FilterAction::Errno(EPERM)});
  }
}

void AppendArgumentRules(const PolicyOptions& options, std::vector<FilterRule>& rules) {
  const FilterAction allow = FilterAction::Allow();
  const FilterAction refuse = FilterAction::Errno(EPERM);
  // ENOTTY is how isatty recognises a non-terminal. FIONBIO makes sockets non-blocking.
  rules.push_back({__NR_ioctl,
                   allow,
                   {{.word = LowWord(1), .values = {TCGETS, FIONBIO}}},
                   FilterAction::Errno(ENOTTY)});
  // Not F_SETOWN, F_SETSIG: they send signals to other processes. Not F_DUPFD: refused like dup.
  rules.push_back({__NR_fcntl,
                   allow,
                   {{.word = LowWord(1), .values = {F_GETFD, F_SETFD, F_GETFL, F_SETFL}}},
                   refuse});
  rules.push_back(
      {__NR_prctl, allow, {{.word = LowWord(0), .values = {PR_SET_NAME, PR_GET_NAME}}}, refuse});
  rules.push_back({__NR_tgkill,
                   allow,
                   {{.word = LowWord(0), .values = {static_cast<std::uint32_t>(options.pid)}}},
                   refuse});
  rules.push_back(
      {__NR_clone,
       allow,
       {{.word = LowWord(0), .mask = CLONE_THREAD | kNewNamespaces, .values = {CLONE_THREAD}}},
       refuse});
  rules.push_back({__NR_clone3, FilterAction::Errno(ENOSYS)});
  rules.push_back({__NR_statx, FilterAction::Errno(ENOSYS)});
  // Only streams: a datagram socket can send to any address without connect.
  rules.push_back({__NR_socketpair,
                   allow,
                   {{.word = LowWord(0), .values = {AF_UNIX}},
                    {.word = LowWord(1), .mask = kSocketTypeMask, .values = {SOCK_STREAM}}},
                   refuse});
  rules.push_back({__NR_sendto,
                   allow,
                   {{.word = LowWord(4), .values = {0}}, {.word = HighWord(4), .values = {0}}},
                   refuse});
}

}  // namespace

std::vector<FilterRule> CommonRules(const PolicyOptions& options) {
  std::vector<FilterRule> rules;
  rules.reserve(std::size(kAllowed) + std::size(kRefusedToCode) + std::size(kUnsupported) + 16);
  AppendArgumentRules(options, rules);
  AppendMemoryRules(options.executable, rules);
  rules.push_back(OpenRule(options.files));
  for (int number : kAllowed) rules.push_back({number, FilterAction::Allow()});
  const bool sanitizer = options.instrumentation == Instrumentation::kSanitizer;
  for (int number : kRefusedToCode) {
    const bool wanted = sanitizer && number == __NR_sched_getaffinity;
    rules.push_back({number, wanted ? FilterAction::Allow() : FilterAction::Errno(EPERM)});
  }
  for (int number : kUnsupported) rules.push_back({number, FilterAction::Errno(EOPNOTSUPP)});
  return rules;
}

std::vector<FilterRule> ThreadRules(const std::vector<int>& private_fds) {
  const FilterAction refuse = FilterAction::Errno(EPERM);
  std::vector<std::uint32_t> fds;
  for (int fd : private_fds) {
    if (fd >= 0) fds.push_back(static_cast<std::uint32_t>(fd));
  }
  std::vector<FilterRule> rules = {
      {__NR_sendmsg, refuse}, {__NR_recvmsg, refuse}, {__NR_seccomp, refuse}};
  if (fds.empty()) return rules;
  constexpr int kFirstArgument[] = {
      __NR_read,        __NR_write,      __NR_readv,       __NR_writev,       __NR_pread64,
      __NR_pwrite64,    __NR_preadv,     __NR_pwritev,     __NR_preadv2,      __NR_pwritev2,
      __NR_sendto,      __NR_recvfrom,   __NR_close,       __NR_fcntl,        __NR_ioctl,
      __NR_fstat,       __NR_lseek,      __NR_shutdown,    __NR_getsockopt,   __NR_getsockname,
      __NR_getpeername, __NR_ftruncate,  __NR_fsync,       __NR_fdatasync,    __NR_getdents64,
      __NR_epoll_ctl,   __NR_epoll_wait, __NR_epoll_pwait, __NR_epoll_pwait2, __NR_openat,
      __NR_newfstatat};
  for (int number : kFirstArgument) {
    rules.push_back({number,
                     FilterAction::Allow(),
                     {{.word = LowWord(0), .values = fds, .match = Match::kNotIn}},
                     refuse});
  }
  // epoll_ctl has a second descriptor: the one to watch.
  for (FilterRule& rule : rules) {
    if (rule.number != __NR_epoll_ctl) continue;
    rule.clauses.push_back({.word = LowWord(2), .values = fds, .match = Match::kNotIn});
  }
  return rules;
}

}  // namespace dossier::sandbox
