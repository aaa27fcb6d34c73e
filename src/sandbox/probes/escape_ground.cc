#include "sandbox/probes/escape_ground.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text/text.h"

namespace dossier::sandbox {
namespace {

constexpr int kSocketFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;

std::string RandomHex() {
  std::uint64_t number = 0;
  while (getrandom(&number, sizeof(number), 0) != sizeof(number)) continue;
  return fmt::format("{:016x}", number);
}

Result<UniqueFd> Bind(int type, const sockaddr* address, socklen_t length) {
  UniqueFd fd(socket(address->sa_family, type | kSocketFlags, 0));
  if (!fd.valid() || bind(fd.get(), address, length) != 0 ||
      (type == SOCK_STREAM && listen(fd.get(), 8) != 0)) {
    return MakeErrnoError(errno, "a listener to escape to");
  }
  return fd;
}

Result<UniqueFd> BindLoopback(int type, int* port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  DOSSIER_ASSIGN_OR_RETURN(
      UniqueFd fd, Bind(type, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
  socklen_t length = sizeof(address);
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return MakeErrnoError(errno, "getsockname");
  }
  *port = ntohs(address.sin_port);
  return fd;
}

// A name that starts with a zero byte is abstract.
Result<UniqueFd> BindUnix(int type, std::string_view name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof(address.sun_path)) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: too long for a socket's name", name);
  }
  name.copy(address.sun_path, name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() +
                                             (name.front() == '\0' ? 0 : 1));
  return Bind(type, reinterpret_cast<const sockaddr*>(&address), length);
}

bool Accepted(const UniqueFd& listener) {
  return UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)).valid();
}

bool Received(const UniqueFd& socket) {
  char byte;
  return recv(socket.get(), &byte, 1, MSG_DONTWAIT) >= 0;
}

std::vector<std::string> Names(const std::string& folder) {
  std::vector<std::string> names;
  DIR* stream = opendir(folder.c_str());
  if (stream == nullptr) return names;
  while (const dirent* entry = readdir(stream)) names.emplace_back(entry->d_name);
  closedir(stream);
  return names;
}

constexpr std::string_view kFolderNames[] = {".", "..", "secret", "store.db", "stream", "dgram"};

}  // namespace

std::string EscapeGround::Path(std::string_view name) const {
  return fmt::format("{}/{}", folder_.path(), name);
}

EscapeGround::~EscapeGround() {
  if (folder_.path().empty()) return;  // moved from
  for (const char* suffix : {"-link", "-a", "-b", "-run", "-left"}) {
    unlink(("/tmp/" + abstract_ + suffix).c_str());
  }
}

Result<EscapeGround> EscapeGround::Make() {
  DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("dossier-escape"));
  EscapeGround ground(std::move(folder));
  DOSSIER_RETURN_IF_ERROR(ground.MakeFiles());
  DOSSIER_RETURN_IF_ERROR(ground.Listen());
  return ground;
}

Status EscapeGround::MakeFiles() {
  secret_ = "dossier-canary-" + RandomHex();
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(Path("secret"), secret_, 0666));
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(Path("store.db"), secret_, 0666));
  if (chmod(folder_.path().c_str(), 0777) != 0 || chmod(Path("secret").c_str(), 0666) != 0 ||
      chmod(Path("store.db").c_str(), 0666) != 0) {
    return MakeErrnoError(errno, folder_.path());
  }
  return {};
}

Status EscapeGround::Listen() {
  DOSSIER_ASSIGN_OR_RETURN(tcp_, BindLoopback(SOCK_STREAM, &tcp_port_));
  DOSSIER_ASSIGN_OR_RETURN(udp_, BindLoopback(SOCK_DGRAM, &udp_port_));
  DOSSIER_ASSIGN_OR_RETURN(stream_, BindUnix(SOCK_STREAM, Path("stream")));
  DOSSIER_ASSIGN_OR_RETURN(datagram_, BindUnix(SOCK_DGRAM, Path("dgram")));
  abstract_ = "dossier-escape-" + RandomHex();
  DOSSIER_ASSIGN_OR_RETURN(abstract_socket_,
                           BindUnix(SOCK_STREAM, std::string(1, '\0') + abstract_));
  if (chmod(Path("stream").c_str(), 0777) != 0 || chmod(Path("dgram").c_str(), 0777) != 0) {
    return MakeErrnoError(errno, folder_.path());
  }
  return {};
}

std::string EscapeGround::Fill(std::string_view code) const {
  const char* home = std::getenv("HOME");
  const std::pair<std::string_view, std::string> names[] = {
      {"$FOLDER$", folder_.path()},
      {"$STORE$", Path("store.db")},
      {"$STREAM$", Path("stream")},
      {"$DGRAM$", Path("dgram")},
      {"$ABSTRACT$", abstract_},
      {"$TCP$", std::to_string(tcp_port_)},
      {"$UDP$", std::to_string(udp_port_)},
      {"$HOME$", home != nullptr && *home == '/' ? home : "/home"},
  };
  std::string text(code);
  for (const auto& [name, value] : names) text = ReplaceAll(text, name, value);
  return text;
}

std::string EscapeGround::Disturbed() {
  if (Accepted(tcp_)) return "a connection to 127.0.0.1";
  if (Accepted(stream_)) return "a connection to a unix socket";
  if (Accepted(abstract_socket_)) return "a connection to an abstract unix socket";
  if (Received(udp_)) return "a datagram to 127.0.0.1";
  if (Received(datagram_)) return "a datagram to a unix socket";
  for (const char* name : {"secret", "store.db"}) {
    if (ReadFile(Path(name)) != secret_) return fmt::format("{} was changed", Path(name));
  }
  for (const std::string& name : Names(folder_.path())) {
    if (std::ranges::find(kFolderNames, name) != std::end(kFolderNames)) continue;
    return fmt::format("{} appeared", Path(name));
  }
  return "";
}

}  // namespace dossier::sandbox
