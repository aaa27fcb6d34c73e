#include "base/process/cancel_fd.h"

#include <sys/eventfd.h>

namespace dossier {

CancelFd::CancelFd(CancelToken cancel) : cancel_(std::move(cancel)) {
  fd_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd_.valid()) return;
  id_ = cancel_.OnCancel([fd = fd_.get()] { (void)eventfd_write(fd, 1); });
  if (id_ == 0 && !cancel_.cancelled()) fd_.Reset();  // it never will be
}

}  // namespace dossier
