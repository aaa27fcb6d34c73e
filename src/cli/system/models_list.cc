#include "cli/system/models_list.h"

#include <cstdlib>

#include "base/files/file.h"
#include "base/files/user_folders.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "cli/wiring/model_flags.h"
#include "model/catalog/catalog.h"
#include "model/local/local_weights.h"
#include "model/providers/probe.h"

namespace dossier::cli {
namespace {

using model::Catalog;
using model::Entry;
using model::Provider;

// Dollars for a million tokens from nano-dollars for one: 250 is 0.25.
std::string Dollars(const std::optional<std::int64_t>& nano) {
  return nano ? fmt::format("{:g}", static_cast<double>(*nano) / 1000) : "?";
}

Json DollarsJson(const std::optional<std::int64_t>& nano) {
  return nano ? Json(static_cast<double>(*nano) / 1000) : Json(nullptr);
}

Json EntryJson(const Entry& entry) {
  const auto& capability = entry.capability;
  return JsonObject{
      {"name", entry.name},
      {"provider", entry.provider},
      {"window", capability.window},
      {"max_output", capability.max_output},
      {"profile", capability.profile},
      {"tokenizer", entry.tokenizer},
      {"price_input", DollarsJson(entry.price_input)},
      {"price_cached", DollarsJson(entry.price_cached)},
      {"price_output", DollarsJson(entry.price_output)},
      {"tools", entry.tools},
      {"json_schema", entry.json_schema},
      {"grammar", entry.grammar},
      {"logprobs", entry.logprobs},
      {"vision", entry.vision},
      {"image_tokens", capability.image_tokens ? Json(*capability.image_tokens) : Json(nullptr)},
      {"thinking", entry.thinking},
      {"as_of", entry.as_of},
      {"source", entry.source}};
}

// Why a provider's models can be used now, or what is missing. Never a key's value.
struct Readiness {
  bool ready = false;
  std::string why;
};

Readiness LookAt(const Provider& provider) {
  if (provider.name == "scripted") return {true, "needs --script FILE"};
  if (provider.name == "local") {
    const auto data = DataFolder();
    const auto weights =
        data ? model::FindWeights(*data, provider.default_model) : tl::unexpected(data.error());
    if (weights) return {true, "weights are here"};
    return {true, "`dossier models pull` fetches it (1.1 GB)"};
  }
  for (const std::string& name : provider.key_variables) {
    if (Environment(name)) return {true, name + " is set"};
  }
  return {false, Join(provider.key_variables, ", ") + " not set"};
}

Status CheckProvider(const Catalog& catalog, const std::string& name) {
  if (name.empty()) return {};
  std::vector<std::string> names;
  for (const Provider& provider : catalog.providers()) {
    if (provider.name == name) return {};
    names.push_back(provider.name);
  }
  return MakeError(ErrorCode::kConfig, "there is no provider {}; there are {}", name,
                   Join(names, ", "));
}

std::string Line(const Entry& entry, std::string_view note) {
  return fmt::format("{:<40} {:>9}  {:<5}  {}\n", entry.provider + "/" + entry.name,
                     GroupDigits(static_cast<std::uint64_t>(entry.capability.window)),
                     entry.capability.profile, note);
}

void PrintServers(const std::vector<model::LocalServer>& servers, std::ostream& out) {
  for (const model::LocalServer& server : servers) {
    std::vector<std::string> names = server.models;
    if (names.size() > 3) names.resize(3), names.emplace_back("…");
    out << fmt::format("\nA server answers at {} ({}): --base-url {} uses it\n", server.base_url,
                       server.needs_key ? "wants a key" : Join(names, ", "), server.base_url);
  }
}

// The user's own GGUF files: in no catalog.
std::vector<model::Weights> OwnWeights(const Catalog& catalog) {
  std::vector<model::Weights> own;
  const auto data = DataFolder();
  if (!data) return own;
  for (model::Weights& weights : model::ListWeights(*data)) {
    const bool known =
        std::any_of(catalog.entries().begin(), catalog.entries().end(), [&](const Entry& entry) {
          return entry.provider == "local" && entry.name == weights.name;
        });
    if (!known) own.push_back(std::move(weights));
  }
  return own;
}

Json ServersJson(const std::vector<model::LocalServer>& servers) {
  JsonArray list;
  for (const model::LocalServer& server : servers) {
    JsonArray names(server.models.begin(), server.models.end());
    list.push_back(JsonObject{{"base_url", server.base_url},
                              {"models", std::move(names)},
                              {"needs_key", server.needs_key}});
  }
  return list;
}

}  // namespace

Status ListModels(const ModelsArguments& arguments, std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData());
  const Catalog& catalog = data.catalog;
  DOSSIER_RETURN_IF_ERROR(CheckProvider(catalog, arguments.provider));
  const auto servers = model::ProbeLocalServers(arguments.probe_ports, Millis(200));
  JsonArray list;
  std::size_t hidden = 0;
  if (!arguments.json) out << fmt::format("{:<40} {:>9}  {:<5}\n", "model", "window", "kind");
  for (const Provider& provider : catalog.providers()) {
    if (!arguments.provider.empty() && provider.name != arguments.provider) continue;
    const Readiness ready = LookAt(provider);
    for (const Entry& entry : catalog.entries()) {
      if (entry.provider != provider.name) continue;
      if (arguments.json) {
        Json json = EntryJson(entry);
        json.as_object()["ready"] = ready.ready;
        json.as_object()["why"] = ready.why;
        list.push_back(std::move(json));
      } else if (ready.ready || arguments.all || !arguments.provider.empty()) {
        out << Line(entry, ready.why);
      } else {
        ++hidden;
      }
    }
    if (provider.name != "local") continue;
    for (const model::Weights& weights : OwnWeights(catalog)) {
      if (arguments.json) {
        list.push_back(JsonObject{{"name", weights.name},
                                  {"provider", "local"},
                                  {"path", weights.path},
                                  {"bytes", weights.bytes},
                                  {"ready", true},
                                  {"why", "a GGUF file of yours"}});
      } else {
        out << fmt::format("{:<40} {:>9}  {:<5}  a GGUF file of yours, {}\n",
                           "local/" + weights.name, "", "", FormatSize(weights.bytes));
      }
    }
  }
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.models-list/1"},
                             {"models", std::move(list)},
                             {"servers", ServersJson(servers)}})
        << "\n";
    return {};
  }
  if (hidden > 0) {
    out << fmt::format("\n{} more need a key; `dossier models list --all` shows them\n", hidden);
  }
  PrintServers(servers, out);
  return {};
}

namespace {

// What one image costs, and how sure that is.
std::string ImageText(const Entry& entry, std::int64_t tokens) {
  const Json* fact = Find(entry.capability.entry, "image");
  const std::string_view as_of = fact ? FindString(*fact, "as_of").value_or("") : "";
  const std::string_view status = fact ? FindString(*fact, "status").value_or("") : "";
  if (as_of.empty()) return fmt::format("{} at most", tokens);
  return fmt::format("{} at most ({}{}{})", tokens, as_of, status.empty() ? "" : ", ", status);
}

// A fact of EntryJson as a line of `models show`; empty: not shown.
std::string FactText(const Entry& entry, std::string_view key, const Json& value) {
  if (value.is_null()) return key == "image_tokens" && !entry.vision ? "" : "unknown";
  if (value.is_string()) return std::string(value.as_string());
  if (key == "image_tokens") return ImageText(entry, value.as_int64());
  if (key.starts_with("price_"))
    return fmt::format("${:g} for a million tokens", value.as_double());
  return ToJson(value);
}

}  // namespace

Status ShowModel(const ModelsArguments& arguments, std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData());
  const Catalog& catalog = data.catalog;
  std::vector<std::string> names;
  for (const Entry& entry : catalog.entries()) {
    const std::string full = entry.provider + "/" + entry.name;
    names.push_back(full);
    const bool by_provider =
        entry.provider == arguments.name &&
        std::any_of(
            catalog.providers().begin(), catalog.providers().end(), [&](const Provider& provider) {
              return provider.name == entry.provider && provider.default_model == entry.name;
            });
    if (arguments.name != entry.name && arguments.name != full && !by_provider) continue;
    const Json json = EntryJson(entry);
    if (arguments.json) {
      out << ToJson(json) << "\n";
      return {};
    }
    for (const auto& [key, value] : json.as_object()) {
      const std::string text = FactText(entry, key, value);
      if (!text.empty()) out << fmt::format("{:<14} {}\n", std::string_view(key), text);
    }
    return {};
  }
  // A bare name is compared with bare names.
  if (arguments.name.find('/') == std::string::npos) {
    for (std::string& name : names) name.erase(0, name.find('/') + 1);
  }
  const auto near = NearestNames(arguments.name, names);
  return MakeError(
      ErrorCode::kConfig, "there is no model {}{}", arguments.name,
      near.empty() ? "; `dossier models list --all` shows all" : "; near: " + Join(near, ", "));
}

Status ShowPrices(const ModelsArguments& arguments, std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData());
  const Catalog& catalog = data.catalog;
  DOSSIER_RETURN_IF_ERROR(CheckProvider(catalog, arguments.provider));
  JsonArray list;
  if (!arguments.json) {
    out << fmt::format("{:<40} {:>7} {:>7} {:>7}  {}\n", "dollars for a million tokens", "input",
                       "cached", "output", "as of");
  }
  for (const Entry& entry : catalog.entries()) {
    if (!arguments.provider.empty() && entry.provider != arguments.provider) continue;
    if (arguments.json) {
      list.push_back(EntryJson(entry));
    } else if (entry.provider != "scripted") {
      out << fmt::format("{:<40} {:>7} {:>7} {:>7}  {}\n", entry.provider + "/" + entry.name,
                         Dollars(entry.price_input), Dollars(entry.price_cached),
                         Dollars(entry.price_output), entry.as_of);
    }
  }
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.models-prices/1"},
                             {"unit", "USD for a million tokens"},
                             {"models", std::move(list)}})
        << "\n";
  }
  return {};
}

}  // namespace dossier::cli
