#include "model/providers/probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/files/file.h"
#include "base/net/url.h"
#include "base/text/shell_quote.h"
#include "base/text/text.h"
#include "model/providers/model_list.h"

namespace dossier::model {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::size_t kMostProbeBytes = 1 << 20;
constexpr std::size_t kMostProbed = 100, kShownModels = 3;

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

// The whole answer to one GET of `path`; empty if it does not come in time. HTTP/1.0, so that the
// end of the connection is the end of the body and nothing comes in chunks.
std::string Fetch(int port, std::string_view path, SteadyClock::time_point until) {
  const UniqueFd fd = Dial(port, until);
  if (!fd.valid()) return {};
  const std::string request =
      fmt::format("GET {} HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n", path);
  if (send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return {};
  }
  std::string answer;
  char block[16 << 10];
  while (answer.size() < kMostProbeBytes && WaitFor(fd.get(), POLLIN, until)) {
    const ssize_t got = recv(fd.get(), block, sizeof(block), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return answer;
    answer.append(block, static_cast<std::size_t>(got));
  }
  return answer;  // what came: a server that keeps the connection open has said all it has
}

struct Answer {
  std::string_view status, body;  // "200"; both empty: no HTTP
};

Answer ReadAnswer(std::string_view text) {
  const std::size_t head_end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.") || head_end == text.npos) return {};
  return {text.substr(9, 3), text.substr(head_end + 4)};
}

std::optional<LocalServer> Probe(const ServerPlace& place, Millis limit) {
  const auto until = SteadyClock::now() + limit;
  LocalServer server{.provider = place.provider,
                     .port = place.port,
                     .base_url = fmt::format("http://127.0.0.1:{}/v1", place.port)};
  std::string text = Fetch(place.port, "/v1/models", until);
  Answer answer = ReadAnswer(text);
  if (answer.status == "401" || answer.status == "403") {
    server.needs_key = true;
    return server;
  }
  if (answer.status == "404") {
    text = Fetch(place.port, "/api/tags", until);
    answer = ReadAnswer(text);
  }
  const auto models = answer.status == "200" ? ParseModelList(answer.body) : std::nullopt;
  if (!models) return std::nullopt;
  for (const ListedModel& model : *models) {
    if (server.models.size() < kMostProbed) server.models.push_back(model.name);
  }
  return server;
}

}  // namespace

std::vector<ServerPlace> UsualPlaces(const Catalog& catalog, const Environment& environment) {
  std::vector<ServerPlace> places;
  for (const Provider& provider : catalog.providers()) {
    if (!provider.key_variables.empty() || provider.base_url.empty()) continue;
    std::string address = provider.base_url;
    for (const std::string& name : provider.base_url_variables) {
      if (const auto moved = Variable(environment, name)) {
        address = WholeAddress(*moved);
        break;
      }
    }
    const auto url = ParseUrl(address);
    if (!url || !url->is_loopback() || url->scheme != "http") continue;
    const bool twice = std::ranges::any_of(
        places, [&](const ServerPlace& place) { return place.port == url->port; });
    if (!twice) places.push_back({provider.name, url->port});
  }
  return places;
}

std::vector<LocalServer> ProbeLocalServers(std::span<const ServerPlace> places, Millis limit) {
  std::vector<std::optional<LocalServer>> answers(places.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < places.size(); ++i) {
    threads.emplace_back([&, i] { answers[i] = Probe(places[i], limit); });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<LocalServer> found;
  for (auto& answer : answers) {
    if (answer) found.push_back(std::move(*answer));
  }
  return found;
}

std::string Describe(const LocalServer& server) {
  std::string text = fmt::format("{} answers at {}", server.provider, server.base_url);
  if (server.needs_key) return text + " and wants a key: --base-url with --key-env";
  if (server.models.empty()) return text + " and lists no model";
  std::vector<std::string> names = server.models;
  if (names.size() > kShownModels) names.resize(kShownModels), names.emplace_back("…");
  return fmt::format("{} ({}): -m {}", text, Join(names, ", "),
                     ShellQuote(server.provider + "/" + server.models[0]));
}

}  // namespace dossier::model
