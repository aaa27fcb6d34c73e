// Helpers for cancelling running work; CancelToken itself is in the public header.

#ifndef DOSSIER_BASE_CANCEL_H_
#define DOSSIER_BASE_CANCEL_H_

#include <dossier/cancel.h>

#include <cstdint>

#include "base/clock.h"

namespace dossier {

// Waits until `time` is over; returns false if `cancel` came first.
bool WaitUnlessCancelled(Millis time, const CancelToken& cancel);

// A descriptor that becomes readable when a token is cancelled, for a wait in poll().
//
//   const CancelFd stop(cancel);
//   pollfd entries[] = {{socket, POLLIN, 0}, {stop.fd(), POLLIN, 0}};
//   poll(entries, 2, timeout);
//   if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
//
// Thread-safety: one owner; the token may be cancelled from any thread.
class CancelFd {
 public:
  explicit CancelFd(CancelToken cancel);
  ~CancelFd();
  CancelFd(const CancelFd&) = delete;
  CancelFd& operator=(const CancelFd&) = delete;

  // -1, which poll() ignores, for a token that can never be cancelled, or when the process has no
  // descriptor left.
  int fd() const { return fd_; }

 private:
  const CancelToken cancel_;
  int fd_ = -1;
  std::uint64_t id_ = 0;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_CANCEL_H_
