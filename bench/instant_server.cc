#include "instant_server.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <unordered_map>

namespace dossier::bench {
namespace {

constexpr std::string_view kBody =
    R"({"id":"1","model":"instant","choices":[{"index":0,"message":{"role":"assistant",)"
    R"("content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":150,)"
    R"("completion_tokens":1}})";

std::string WholeAnswer() {
  return fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      kBody.size(), kBody);
}

// Bytes of the first request in `text`; 0: not whole yet.
std::size_t RequestBytes(std::string_view text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == text.npos) return 0;
  for (const char* name : {"Content-Length: ", "content-length: "}) {
    const std::size_t at = text.substr(0, end).find(name);
    if (at == text.npos) continue;
    const std::size_t body = std::strtoul(text.data() + at + 16, nullptr, 10);
    return text.size() >= end + 4 + body ? end + 4 + body : 0;
  }
  return end + 4;
}

class Server {
 public:
  Server(int listener, std::atomic<std::uint64_t>* requests)
      : listener_(listener), epoll_(epoll_create1(EPOLL_CLOEXEC)), requests_(requests) {
    Watch(listener_);
  }

  [[noreturn]] void Run() {
    while (true) {
      epoll_event events[256];
      const int count = epoll_wait(epoll_, events, 256, -1);
      for (int i = 0; i < count; ++i) {
        events[i].data.fd == listener_ ? Accept() : Read(events[i].data.fd);
      }
    }
  }

 private:
  void Watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  void Accept() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Watch(fd);
  }
  void Read(int fd) {
    char block[16384];
    const ssize_t got = read(fd, block, sizeof block);
    std::string& text = waiting_[fd];
    if (got <= 0) {
      waiting_.erase(fd);
      close(fd);
      return;
    }
    text.append(block, static_cast<std::size_t>(got));
    while (const std::size_t bytes = RequestBytes(text)) {
      const bool hold = text.substr(0, text.find('\r')).find("/hold") != text.npos;
      text.erase(0, bytes);
      requests_->fetch_add(1);
      if (!hold && write(fd, answer_.data(), answer_.size()) < 0) return;
    }
  }

  const int listener_, epoll_;
  std::atomic<std::uint64_t>* const requests_;
  const std::string answer_ = WholeAnswer();
  std::unordered_map<int, std::string> waiting_;
};

}  // namespace

Result<InstantServer> InstantServer::Start() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return MakeErrnoError(errno, "mmap");
  auto* requests = new (page) std::atomic<std::uint64_t>(0);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener, 4096) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return MakeErrnoError(errno, "the instant server");
  }
  const pid_t pid = fork();
  if (pid < 0) return MakeErrnoError(errno, "fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Server(listener, requests).Run();
  }
  close(listener);
  return InstantServer(pid, ntohs(address.sin_port), requests);
}

InstantServer::~InstantServer() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace dossier::bench
