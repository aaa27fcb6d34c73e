#include "model/providers/probe.h"

#include <algorithm>
#include <thread>

#include "base/net/http_get.h"
#include "base/net/url.h"
#include "base/text/text.h"
#include "model/providers/model_list.h"

namespace dossier::model {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::size_t kMostProbeBytes = 1 << 20;
constexpr std::size_t kMostProbed = 100, kShownModels = 3;

std::optional<LocalServer> Probe(HttpLoop& loop, const ServerPlace& place, Millis limit) {
  const auto until = SteadyClock::now() + limit;
  const auto get = [&](std::string_view path) {
    const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now());
    return HttpGet(loop,
                   {.url = fmt::format("http://127.0.0.1:{}{}", place.port, path),
                    .headers = {"Accept: application/json"},
                    .deadline = std::max(left, Millis(1))},
                   kMostProbeBytes, {});
  };
  LocalServer server{.provider = place.provider,
                     .port = place.port,
                     .base_url = fmt::format("http://127.0.0.1:{}/v1", place.port)};
  Result<std::string> list = get("/v1/models");
  if (!list && list.error().code == ErrorCode::kAuth) {
    server.needs_key = true;
    return server;
  }
  if (!list && list.error().code == ErrorCode::kNotFound) list = get("/api/tags");
  const auto models = list ? ParseModelList(*list) : std::nullopt;
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
  const auto loop = HttpLoop::Make();
  if (!loop || places.empty()) return {};
  std::vector<std::optional<LocalServer>> answers(places.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < places.size(); ++i) {
    threads.emplace_back([&, i] { answers[i] = Probe(**loop, places[i], limit); });
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
