#include "sandbox/session/session_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/cancel.h"

namespace dossier::sandbox {
namespace {

constexpr std::size_t kFdsAtOnce = 100;  // the kernel takes 253

// One sendmsg of `bytes` with `fds`; the number of bytes taken, 0 if the socket is full.
Result<std::size_t> SendOnce(int fd, std::string_view bytes, std::span<const int> fds) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kFdsAtOnce)] = {};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  }
  while (true) {
    const ssize_t sent = sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno == EPIPE || errno == ECONNRESET) {
      return MakeError(ErrorCode::kDied, "the worker has ended");
    }
    return MakeErrnoError(errno, "bridge: sendmsg");
  }
}

void TakeFds(msghdr& header, std::vector<UniqueFd>* fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      UniqueFd owned(fd);
      if (fds) fds->push_back(std::move(owned));
    }
  }
}

}  // namespace

Status WaitForSocket(int fd, short events, Clock::Steady end, const CancelToken& cancel) {
  const CancelFd stop(cancel);
  while (true) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    const std::int64_t left = std::max<std::int64_t>(
        0, std::chrono::duration_cast<Millis>(end - std::chrono::steady_clock::now()).count());
    pollfd entries[] = {{fd, events, 0}, {stop.fd(), POLLIN, 0}};
    const int ready = poll(entries, 2, static_cast<int>(std::min<std::int64_t>(left, 1'000'000)));
    if (ready < 0 && errno != EINTR) return MakeErrnoError(errno, "bridge: poll");
    if (ready > 0 && entries[0].revents != 0) return {};
    if (ready == 0 && left == 0) {
      return MakeError(ErrorCode::kTimeout, "the worker did not answer in time");
    }
  }
}

Result<SocketPair> MakeSocketPair() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
    return MakeErrnoError(errno, "socketpair");
  }
  return SocketPair{UniqueFd(pair[0]), UniqueFd(pair[1])};
}

Status SetNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    return MakeErrnoError(errno, "fcntl");
  }
  return {};
}

Status SendWithFds(int fd, std::string_view bytes, std::span<const int> fds, Millis timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!bytes.empty()) {
    const auto group = fds.first(std::min(fds.size(), kFdsAtOnce));
    // A group that is not the last takes one byte, so that every group has a byte to go with.
    const std::string_view piece = group.size() == fds.size() ? bytes : bytes.substr(0, 1);
    DOSSIER_ASSIGN_OR_RETURN(const std::size_t sent, SendOnce(fd, piece, group));
    if (sent == 0) {
      DOSSIER_RETURN_IF_ERROR(WaitForSocket(fd, POLLOUT, end));
      continue;
    }
    fds = fds.subspan(group.size());
    bytes.remove_prefix(sent);
  }
  return {};
}

Result<Message> ReceiveMessage(int fd, MessageDecoder& decoder, std::vector<UniqueFd>* fds,
                               Millis timeout, const CancelToken& cancel) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(std::optional<Message> message, decoder.Next());
    if (message) return std::move(*message);
    DOSSIER_RETURN_IF_ERROR(WaitForSocket(fd, POLLIN, end, cancel));
    const std::span<char> space = decoder.frames().Space(kReadAtLeast);
    iovec piece{space.data(), space.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kFdsAtOnce)];
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    const ssize_t got = recvmsg(fd, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return MakeError(ErrorCode::kDied, "the worker has ended");
    TakeFds(header, fds);
    decoder.frames().Commit(static_cast<std::size_t>(got));
  }
}

Result<std::size_t> ReadSome(int fd, MessageDecoder& decoder) {
  const std::span<char> space = decoder.frames().Space(kReadAtLeast);
  while (true) {
    const ssize_t got = read(fd, space.data(), space.size());
    if (got > 0) {
      decoder.frames().Commit(static_cast<std::size_t>(got));
      return static_cast<std::size_t>(got);
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    return MakeError(ErrorCode::kDied, "the worker has ended");
  }
}

}  // namespace dossier::sandbox
