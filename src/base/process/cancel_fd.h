// A descriptor that becomes readable when a token is cancelled, for a wait in poll().
//
//   const CancelFd stop(cancel);
//   pollfd entries[] = {{socket, POLLIN, 0}, {stop.fd(), POLLIN, 0}};
//   poll(entries, 2, timeout);
//   if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
//
// Thread-safety: one owner; the token may be cancelled from any thread.

#ifndef DOSSIER_BASE_PROCESS_CANCEL_FD_H_
#define DOSSIER_BASE_PROCESS_CANCEL_FD_H_

#include <cstdint>

#include "base/cancel.h"
#include "base/files/file.h"

namespace dossier {

class CancelFd {
 public:
  explicit CancelFd(CancelToken cancel);
  ~CancelFd() { cancel_.Forget(id_); }
  CancelFd(const CancelFd&) = delete;
  CancelFd& operator=(const CancelFd&) = delete;

  // -1, which poll() passes over, for a token that can never be cancelled, or when the process has
  // no descriptor left.
  int fd() const { return fd_.get(); }

 private:
  const CancelToken cancel_;
  UniqueFd fd_;
  std::uint64_t id_ = 0;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_CANCEL_FD_H_
