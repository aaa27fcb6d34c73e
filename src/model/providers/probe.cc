#include "model/providers/probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <thread>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::model {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::size_t kMostModels = 100;

// Waits until `fd` is ready for `events`; false when the time is up.
bool WaitFor(int fd, short events, SteadyClock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now()).count();
    if (left <= 0) return false;
    pollfd wait{fd, events, 0};
    const int ready = poll(&wait, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

UniqueFd Dial(int port, SteadyClock::time_point until) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return fd;
  if (errno != EINPROGRESS || !WaitFor(fd.get(), POLLOUT, until)) return {};
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return {};
  return fd;
}

// The whole answer to one GET; empty if it does not come in time. HTTP/1.0, so that the end of the
// connection is the end of the body and nothing comes in chunks.
std::string Fetch(int port, SteadyClock::time_point until) {
  const UniqueFd fd = Dial(port, until);
  if (!fd.valid()) return {};
  const std::string request =
      "GET /v1/models HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n";
  if (send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return {};
  }
  std::string answer;
  char block[16 << 10];
  while (answer.size() < kMostBytes && WaitFor(fd.get(), POLLIN, until)) {
    const ssize_t got = recv(fd.get(), block, sizeof(block), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return answer;
    answer.append(block, static_cast<std::size_t>(got));
  }
  return answer;  // what came: a server that keeps the connection open has said all it has
}

std::optional<LocalServer> Probe(int port, Millis limit) {
  const std::string answer = Fetch(port, SteadyClock::now() + limit);
  const std::size_t head_end = answer.find("\r\n\r\n");
  if (answer.substr(0, 7) != "HTTP/1." || head_end == std::string::npos) return std::nullopt;
  LocalServer server{.port = port, .base_url = fmt::format("http://127.0.0.1:{}/v1", port)};
  const std::string_view status = std::string_view(answer).substr(9, 3);
  if (status == "401" || status == "403") {
    server.needs_key = true;
    return server;
  }
  const auto body = ParseJson(TrimSpace(std::string_view(answer).substr(head_end + 4)));
  const Json* list = status == "200" && body ? Find(*body, "data") : nullptr;
  if (!list || !list->is_array()) return std::nullopt;
  for (const Json& model : list->as_array()) {
    const auto name = FindString(model, "id");
    if (!name || server.models.size() == kMostModels) continue;
    server.models.push_back(utf8::CleanForTerminal(utf8::Prefix(*name, 200)));
  }
  return server;
}

}  // namespace

std::vector<LocalServer> ProbeLocalServers(std::span<const int> ports, Millis limit) {
  std::vector<std::optional<LocalServer>> answers(ports.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    threads.emplace_back([&, i] { answers[i] = Probe(ports[i], limit); });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<LocalServer> found;
  for (auto& answer : answers) {
    if (answer) found.push_back(std::move(*answer));
  }
  return found;
}

}  // namespace dossier::model
