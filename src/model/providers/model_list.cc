#include "model/providers/model_list.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/net/http_get.h"
#include "base/net/url.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/dialects/dialect.h"

namespace dossier::model {
namespace {

constexpr std::uint64_t kMostBytes = 16u << 20;
constexpr std::size_t kMostModels = 5000, kMostNameBytes = 200;
constexpr std::int64_t kMostTokens = 1'000'000'000;

bool IsShownAsItIs(std::string_view name) {
  return !name.empty() && name.size() <= kMostNameBytes && utf8::IsValid(name) &&
         utf8::CleanForTerminal(name) == name && name.find_first_of(" *") == name.npos;
}

std::optional<std::int64_t> FirstCount(const Json& model,
                                       std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto value = FindInt(model, key);
    if (value && *value > 0 && *value <= kMostTokens) return value;
  }
  return std::nullopt;
}

// OpenRouter says dollars for one token, as a text. Steps of 0.001 of a million are kept, rounded
// up.
std::optional<double> PriceOf(const Json* pricing, std::string_view key) {
  const auto text = pricing ? FindString(*pricing, key) : std::nullopt;
  const auto dollars = text ? ParseNumber(*text) : tl::unexpected(Error{});
  if (!dollars || *dollars < 0 || *dollars > 1) return std::nullopt;
  return std::ceil(*dollars * 1e9 - 1e-6) / 1000;
}

// A provider that lists what else it has, too (Gemini), says which ones write text.
bool WritesText(const Json& model) {
  const Json* methods = Find(model, "supportedGenerationMethods");
  if (!methods || !methods->is_array()) return true;
  return std::ranges::any_of(methods->as_array(), [](const Json& method) {
    return method.is_string() && method.as_string() == "generateContent";
  });
}

std::optional<ListedModel> ReadModel(const Json& model) {
  if (!model.is_object() || !WritesText(model)) return std::nullopt;
  auto name = FindString(model, "id");
  if (!name) name = FindString(model, "name");
  if (!name) return std::nullopt;
  std::string_view shown = *name;
  if (shown.starts_with("models/")) shown.remove_prefix(7);
  if (!IsShownAsItIs(shown)) return std::nullopt;
  ListedModel out{.name = std::string(shown)};
  out.window = FirstCount(model, {"context_length", "max_model_len", "max_context_length",
                                  "inputTokenLimit", "max_input_tokens"});
  out.max_output = FirstCount(model, {"outputTokenLimit", "max_output_tokens", "max_tokens"});
  if (const Json* top = Find(model, "top_provider"); top && !out.max_output) {
    out.max_output = FirstCount(*top, {"max_completion_tokens"});
  }
  const Json* pricing = Find(model, "pricing");
  out.price_input = PriceOf(pricing, "prompt");
  out.price_output = PriceOf(pricing, "completion");
  return out;
}

// Where the list is, behind the base address and its version.
std::string ListAddress(const Provider& provider) {
  WireDialect lists = DialectOf(provider.dialect);
  lists.target = [](const Request&, Streaming) { return std::string("/models"); };
  return AddressOf(lists, provider.base_url, Request(), Streaming::kNo) +
         std::string(lists.list_query);
}

// Asks one address. The key goes in a header.
Result<std::vector<ListedModel>> Ask(HttpLoop& loop, const std::string& url,
                                     const Provider& provider, std::string_view key, Millis limit,
                                     const CancelToken& cancel) {
  HttpCall call{.url = url, .headers = DialectOf(provider.dialect).headers(key), .deadline = limit};
  call.idle_limit = limit;
  call.headers.emplace_back("Accept: application/json");
  call.headers.emplace_back("User-Agent: dossier");
  const auto body = HttpGet(loop, std::move(call), kMostBytes, cancel);
  if (!body) return MakeError(body.error().code, "{}: {}", url, body.error().message);
  auto models = ParseModelList(*body);
  if (!models) return MakeError(ErrorCode::kNetwork, "{}: the answer is no list of models", url);
  return std::move(*models);
}

}  // namespace

std::optional<std::vector<ListedModel>> ParseModelList(std::string_view body) {
  const auto value = ParseJson(TrimSpace(body));
  if (!value) return std::nullopt;
  const Json* list = Find(*value, "data");
  if (!list || !list->is_array()) list = Find(*value, "models");
  if (!list || !list->is_array()) return std::nullopt;
  std::vector<ListedModel> models;
  for (const Json& model : list->as_array()) {
    if (models.size() == kMostModels) break;
    if (auto read = ReadModel(model)) models.push_back(std::move(*read));
  }
  return models;
}

Result<std::vector<ListedModel>> FetchModelList(const Provider& provider, std::string_view key,
                                                Millis limit, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const Url url, ParseUrl(provider.base_url));
  DOSSIER_ASSIGN_OR_RETURN(const std::shared_ptr<HttpLoop> loop, HttpLoop::Make());
  auto models = Ask(*loop, ListAddress(provider), provider, key, limit, cancel);
  const bool may_be_ollama = !models && url.is_loopback() && provider.speaks_openai() &&
                             models.error().code == ErrorCode::kNotFound;
  if (!may_be_ollama) return models;
  const std::string origin = provider.base_url.substr(0, provider.base_url.find('/', 8));
  auto tags = Ask(*loop, origin + "/api/tags", provider, "", limit, cancel);
  return tags ? std::move(tags) : std::move(models);
}

Result<std::size_t> KeepModelList(const std::string& data_folder, const Provider& provider,
                                  const std::vector<ListedModel>& models, const Catalog& catalog,
                                  std::string_view today) {
  const std::vector<std::string> known = catalog.NamesOf(provider.name);
  const std::string source = ListAddress(provider);
  std::string text = "schema: dossier.models/1\nmodels:\n";
  std::size_t written = 0;
  for (const ListedModel& model : models) {
    if (std::ranges::find(known, model.name) != known.end()) continue;
    const Entry entry = catalog.EntryOf(provider.name, model.name);
    JsonObject fields{{"name", model.name},
                      {"provider", provider.name},
                      {"as_of", today},
                      {"source", source},
                      {"status", "reported"}};
    const std::int64_t window = model.window.value_or(entry.capability.window);
    const std::int64_t output = model.max_output.value_or(entry.capability.max_output);
    if (model.window || model.max_output) {
      fields["window"] = window;
      fields["max_output"] = std::min(output, window);
    }
    if (entry.image_assumed) {
      fields["image"] = JsonObject{{"tokens", *entry.capability.image_tokens}, {"assumed", true}};
    }
    if (model.price_input && model.price_output) {
      fields["prices"] = JsonObject{{"input", *model.price_input}, {"output", *model.price_output}};
    }
    text += "- " + ToJson(fields) + "\n";
    ++written;
  }
  if (written == 0) text = "schema: dossier.models/1\n";
  const std::string folder = ModelListFolder(data_folder);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(fmt::format("{}/{}.yaml", folder, provider.name), text));
  return written;
}

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
