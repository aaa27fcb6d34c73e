// Sends bytes and descriptors over a socketpair(AF_UNIX, SOCK_STREAM).
//
//   DOSSIER_ASSIGN_OR_RETURN(SocketPair pair, MakeSocketPair());
//   DOSSIER_RETURN_IF_ERROR(SendWithFds(pair.ours.get(), bytes, fds));
//   DOSSIER_ASSIGN_OR_RETURN(Message message, ReceiveMessage(fd, decoder, &received_fds));
//
// Descriptors are sent in groups of 100, each attached to one byte of the message. Thread-safety:
// functions; one thread at a time per socket.

#ifndef DOSSIER_SANDBOX_SESSION_SESSION_SOCKET_H_
#define DOSSIER_SANDBOX_SESSION_SESSION_SOCKET_H_

#include <span>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/result.h"
#include "sandbox/session/message.h"

namespace dossier::sandbox {

struct SocketPair {
  UniqueFd ours, theirs;  // both close on exec
};
Result<SocketPair> MakeSocketPair();

Status SetNonBlocking(int fd);

// Waits while the socket is full. `bytes` must be longer than fds.size() / 100. Errors: kDied if
// the other side has closed, kTimeout.
Status SendWithFds(int fd, std::string_view bytes, std::span<const int> fds,
                   Millis timeout = Millis(10'000));

// Reads until `decoder` has a whole message. Received descriptors are appended to `fds`,
// close-on-exec. Errors: kDied at end of file, kTimeout, kProtocol; kCancelled with the token's
// reason, after which the next call continues where this one stopped.
Result<Message> ReceiveMessage(int fd, MessageDecoder& decoder, std::vector<UniqueFd>* fds,
                               Millis timeout, const CancelToken& cancel = {});

// Waits for `events` of poll(). Errors: kTimeout at `end`, kCancelled.
Status WaitForSocket(int fd, short events, Clock::Steady end, const CancelToken& cancel = {});

// Reads once into `decoder` from a non-blocking socket. Returns the bytes read, or 0 if there are
// none now; fewer than kReadAtLeast means that nothing was left. Errors: kDied at end of file.
inline constexpr std::size_t kReadAtLeast = 256u << 10;
Result<std::size_t> ReadSome(int fd, MessageDecoder& decoder);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_SESSION_SOCKET_H_
