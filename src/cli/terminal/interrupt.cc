#include "cli/terminal/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

namespace dossier::cli {
namespace {

// timeout(1) and shells signal a process and then its group: the second signal repeats the first. A
// user who presses Ctrl-C again is slower.
constexpr std::chrono::milliseconds kSameWish{150};

bool IsIgnored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t Watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (!IsIgnored(SIGHUP)) sigaddset(&set, SIGHUP);  // sigwait also takes ignored signals
  sigaddset(&set, SIGUSR2);                         // ends the watching thread
  return set;
}

const char* Sentence(int signal) {
  if (signal == SIGTERM) return "terminated";
  return signal == SIGHUP ? "the terminal was closed" : "interrupted";
}

}  // namespace

Interrupt::Interrupt() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file-size limit also appears as a failed write
  const sigset_t set = Watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this, set] {
    std::chrono::steady_clock::time_point first;
    while (true) {
      int caught = 0;
      sigwait(&set, &caught);
      if (done_) return;
      if (caught == SIGUSR2) continue;
      if (caught == SIGINT) {
        std::lock_guard lock(mutex_);
        if (handler_) {
          handler_();
          continue;
        }
      }
      const int code = 128 + caught;
      const auto now = std::chrono::steady_clock::now();
      if (exit_code_.exchange(code) != 0) {
        if (now - first < kSameWish) continue;
        _exit(code);
      }
      first = now;
      source_.Cancel(Sentence(caught));
    }
  });
}

void Interrupt::Divert(std::function<void()> handler) {
  std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

Interrupt::~Interrupt() {
  done_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
}

}  // namespace dossier::cli
