// models: lists models, tries one briefly, and manages the local model's weights and server.

#include <cstdlib>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/json/json.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/commands.h"
#include "cli/system/models_commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"
#include "model/catalog/catalog.h"
#include "model/catalog/keys.h"
#include "model/client/gate.h"
#include "model/local/local_weights.h"
#include "model/providers/model_list.h"

namespace dossier::cli {
namespace {

struct ModelsArguments {
  std::string name;      // model name
  std::string provider;  // --provider
  std::string base_url, key_env, script;
  bool json = false, all = false;
};

using model::Catalog;
using model::Entry;
using model::Provider;

// Converts nano-dollars per token to dollars per million tokens: 250 is 0.25.
std::string Dollars(const std::optional<std::int64_t>& nano) {
  return nano ? fmt::format("{:g}", static_cast<double>(*nano) / 1000) : "?";
}

Json DollarsJson(const std::optional<std::int64_t>& nano) {
  return nano ? Json(static_cast<double>(*nano) / 1000) : Json(nullptr);
}

// Names the origin of a price for cached tokens.
std::string_view NameOf(model::CachedPrice::From from) {
  constexpr std::string_view kNames[] = {"table", "cache_rules", "input"};
  return kNames[static_cast<int>(from)];
}

// Returns "0.25", or "2.5*" if cached tokens cost the same as other input.
std::string CachedDollars(const Entry& entry) {
  const auto price = model::CachedPriceOf(entry);
  if (!price) return "?";
  const bool as_input = price->from == model::CachedPrice::From::kInput && price->nano_usd > 0;
  return fmt::format("{:g}{}", price->nano_usd / 1000, as_input ? "*" : "");
}

Json EntryJson(const Entry& entry) {
  const auto& capability = entry.capability;
  const auto cached = model::CachedPriceOf(entry);
  return JsonObject{
      {"name", entry.name},
      {"provider", entry.provider},
      {"window", capability.window},
      {"max_output", capability.max_output},
      {"profile", capability.profile},
      {"tokenizer", entry.tokenizer},
      {"price_input", DollarsJson(entry.price_input)},
      {"price_cached", cached ? Json(cached->nano_usd / 1000) : Json(nullptr)},
      {"price_cached_from", cached ? Json(NameOf(cached->from)) : Json(nullptr)},
      {"price_output", DollarsJson(entry.price_output)},
      {"tools", entry.tools},
      {"json_schema", entry.json_schema},
      {"grammar", entry.grammar},
      {"logprobs", entry.logprobs},
      {"vision", entry.vision || capability.image_tokens > 0},
      {"image_tokens", capability.image_tokens ? Json(*capability.image_tokens) : Json(nullptr)},
      {"thinking", entry.thinking},
      {"family", entry.family},
      {"as_of", entry.as_of},
      {"source", entry.source}};
}

// Why a provider's models can be used now, or what is missing. It never contains a key.
struct Readiness {
  bool ready = false;
  std::string why;
};

Readiness LookAt(const Provider& provider, const model::UserConfig& config,
                 const std::vector<model::LocalServer>& servers) {
  if (provider.name == "scripted") return {true, "needs --script FILE"};
  if (provider.name == "local") {
    const auto data = DataFolder();
    const auto weights =
        data ? model::FindWeights(*data, provider.default_model) : tl::unexpected(data.error());
    if (weights) return {true, "weights are here"};
    return {true, "`dossier models pull` fetches it (1.1 GB)"};
  }
  for (const auto places : {model::KeyPlaces::kVariables, model::KeyPlaces::kFiles}) {
    if (auto place = model::KeyPlace(provider, places, Environment, config)) return {true, *place};
  }
  for (const model::LocalServer& server : servers) {
    if (server.provider != provider.name) continue;
    return {!server.needs_key, server.needs_key ? "its server wants a key" : "its server answers"};
  }
  if (provider.key_variables.empty()) return {false, "if its server runs"};
  return {false, Join(provider.key_variables, ", ") + " not set"};
}

// Models and their providers as configured for the working folder.
struct Configured {
  ModelFlags flags;  // completed from the configuration
  ModelData data;
};
Result<Configured> LoadConfigured(ModelFlags flags, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  Configured out;
  DOSSIER_ASSIGN_OR_RETURN(out.flags, WithConfig(std::move(flags), config, context.flags));
  DOSSIER_ASSIGN_OR_RETURN(out.data, LoadModelData(*out.flags.config));
  return out;
}

Status CheckProvider(const Catalog& catalog, const std::string& name) {
  if (name.empty()) return {};
  std::vector<std::string> names;
  for (const Provider& provider : catalog.providers()) {
    if (provider.name == name) return {};
    names.push_back(provider.name);
  }
  return MakeError(ErrorCode::kConfig, "there is no provider {}; there are {}{}", name,
                   Join(names, ", "), DidYouMean(name, names));
}

std::string Line(const Entry& entry, std::string_view note) {
  return fmt::format("{:<40} {:>9}  {:<5}  {}\n", entry.provider + "/" + entry.name,
                     GroupDigits(static_cast<std::uint64_t>(entry.capability.window)),
                     entry.capability.profile, note);
}

void PrintServers(const std::vector<model::LocalServer>& servers, std::ostream& out) {
  if (!servers.empty()) out << "\n";
  for (const model::LocalServer& server : servers) out << Describe(server) << "\n";
}

// Returns the user's own GGUF files, which are in no catalog.
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

// Returns the provider's models in the data files, and those that only its server lists.
std::vector<Entry> EntriesOf(const Provider& provider, const Catalog& catalog,
                             const std::vector<model::LocalServer>& servers) {
  std::vector<Entry> entries;
  for (const Entry& entry : catalog.entries()) {
    if (entry.provider == provider.name) entries.push_back(entry);
  }
  for (const model::LocalServer& server : servers) {
    if (server.provider != provider.name) continue;
    for (const std::string& name : server.models) {
      const bool known =
          std::ranges::any_of(entries, [&](const Entry& entry) { return entry.name == name; });
      if (!known) entries.push_back(catalog.EntryOf(provider.name, name));
    }
  }
  return entries;
}

Json ServersJson(const std::vector<model::LocalServer>& servers) {
  JsonArray list;
  for (const model::LocalServer& server : servers) {
    JsonArray names(server.models.begin(), server.models.end());
    list.push_back(JsonObject{{"provider", server.provider},
                              {"base_url", server.base_url},
                              {"models", std::move(names)},
                              {"needs_key", server.needs_key}});
  }
  return list;
}

// The list of models, as text or JSON, grouped by provider.
struct ModelList {
  const ModelsArguments& arguments;
  std::ostream& out;
  JsonArray list;
  std::size_t hidden = 0;

  void Add(const Entry& entry, const Readiness& ready) {
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

  void Add(const model::Weights& weights) {
    if (arguments.json) {
      list.push_back(JsonObject{{"name", weights.name},
                                {"provider", "local"},
                                {"path", weights.path},
                                {"bytes", weights.bytes},
                                {"ready", true},
                                {"why", "a GGUF file of yours"}});
    } else {
      out << fmt::format("{:<40} {:>9}  {:<5}  a GGUF file of yours, {}\n", "local/" + weights.name,
                         "", "", FormatSize(weights.bytes));
    }
  }
};

Status ListModels(const ModelsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const Configured configured, LoadConfigured({}, context));
  const Catalog& catalog = configured.data.catalog;
  DOSSIER_RETURN_IF_ERROR(CheckProvider(catalog, arguments.provider));
  const auto servers = model::ProbeLocalServers(model::UsualPlaces(catalog, Environment));
  ModelList models{.arguments = arguments, .out = context.out, .list = {}};
  if (!arguments.json)
    context.out << fmt::format("{:<40} {:>9}  {:<5}\n", "model", "window", "kind");
  for (const Provider& provider : catalog.providers()) {
    if (!arguments.provider.empty() && provider.name != arguments.provider) continue;
    const Readiness ready = LookAt(provider, configured.data.config, servers);
    for (const Entry& entry : EntriesOf(provider, catalog, servers)) models.Add(entry, ready);
    if (provider.name != "local") continue;
    for (const model::Weights& weights : OwnWeights(catalog)) models.Add(weights);
  }
  if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.models-list/1"},
                                     {"models", std::move(models.list)},
                                     {"api_base", configured.flags.base_url},
                                     {"servers", ServersJson(servers)}})
                << "\n";
    return {};
  }
  if (const std::string& address = configured.flags.base_url; !address.empty()) {
    context.out << fmt::format(
        "\n{} is asked for {} (api_base of your configuration)\n",
        Safe(model::WholeAddress(address)),
        configured.flags.model.empty() ? "any model" : Safe(configured.flags.model));
  } else if (const auto choice = catalog.Choose({.config = configured.data.config}, Environment);
             choice && choice->ask_server == model::Choice::AskServer::kYes) {
    context.out << fmt::format("\n{} is asked where no model is named ({})\n",
                               Safe(choice->provider.base_url), choice->why);
  }
  if (models.hidden > 0) {
    context.out << fmt::format(
        "\n{} more need a key or a server; `dossier models list --all` shows them\n",
        models.hidden);
  }
  PrintServers(servers, context.out);
  return {};
}

// Returns the cost of one image, and how certain it is.
std::string ImageText(const Entry& entry, std::int64_t tokens) {
  const Json* fact = Find(entry.capability.entry, "image");
  const std::string_view as_of = fact ? FindString(*fact, "as_of").value_or("") : "";
  const std::string_view status = fact ? FindString(*fact, "status").value_or("") : "";
  if (entry.image_assumed) return fmt::format("{} assumed, if it sees", tokens);
  if (as_of.empty()) return fmt::format("{} at most", tokens);
  return fmt::format("{} at most ({}{}{})", tokens, as_of, status.empty() ? "" : ", ", status);
}

// Returns a fact of EntryJson as a line of `models show`; empty: not shown.
std::string FactText(const Entry& entry, std::string_view key, const Json& value) {
  if (key == "price_cached_from") return "";  // shown with the price
  if (value.is_null()) return key == "image_tokens" && !entry.vision ? "" : "unknown";
  if (value.is_string()) return std::string(value.as_string());
  if (key == "image_tokens") return ImageText(entry, value.as_int64());
  if (key.starts_with("price_")) {
    const auto cached = model::CachedPriceOf(entry);
    const bool as_input = key == "price_cached" && cached->from == model::CachedPrice::From::kInput;
    return fmt::format("${:g} for a million tokens{}", value.as_double(),
                       as_input ? " (none of its own is known: charged as input)" : "");
  }
  return ToJson(value);
}

// Returns the entry that -m NAME would use; unset if no provider or family matches.
std::optional<Entry> FindEntry(const Catalog& catalog, const std::string& name) {
  for (const Entry& entry : catalog.entries()) {
    if (name == entry.name || name == entry.provider + "/" + entry.name) return entry;
  }
  for (const Entry& family : catalog.families()) {
    if (name == family.name || name == family.provider + "/" + family.name) return family;
  }
  if (const Provider* provider = catalog.FindProvider(name)) {
    if (provider->default_model.empty()) return std::nullopt;
    return catalog.EntryOf(name, provider->default_model);
  }
  if (const auto split = catalog.SplitName(name)) {
    return catalog.EntryOf(split->provider->name, split->model);
  }
  const Provider* family = catalog.ProviderByFamily(name);
  return family ? std::optional(catalog.EntryOf(family->name, name)) : std::nullopt;
}

Status ShowModel(const ModelsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData());
  if (const auto entry = FindEntry(data.catalog, arguments.name)) {
    const Json json = EntryJson(*entry);
    if (arguments.json) {
      context.out << ToJson(json) << "\n";
      return {};
    }
    for (const auto& [key, value] : json.as_object()) {
      const std::string text = FactText(*entry, key, value);
      if (!text.empty()) context.out << fmt::format("{:<14} {}\n", std::string_view(key), text);
    }
    return {};
  }
  std::vector<std::string> names;
  // Compares a bare name with bare names.
  const bool bare = arguments.name.find('/') == std::string::npos;
  for (const Entry& entry : data.catalog.entries()) {
    names.push_back(bare ? entry.name : entry.provider + "/" + entry.name);
  }
  const std::string near = DidYouMean(arguments.name, names, 3);
  return MakeError(ErrorCode::kConfig, "there is no model {}{}", arguments.name,
                   near.empty() ? "; `dossier models list --all` shows all" : near);
}

Status ShowPrices(const ModelsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData());
  const Catalog& catalog = data.catalog;
  DOSSIER_RETURN_IF_ERROR(CheckProvider(catalog, arguments.provider));
  JsonArray list;
  if (!arguments.json) {
    context.out << fmt::format("{:<40} {:>7} {:>7} {:>7}  {}\n", "dollars for a million tokens",
                               "input", "cached", "output", "as of");
  }
  for (const Entry& entry : catalog.entries()) {
    if (!arguments.provider.empty() && entry.provider != arguments.provider) continue;
    if (arguments.json) {
      list.push_back(EntryJson(entry));
    } else if (entry.provider != "scripted") {
      context.out << fmt::format("{:<40} {:>7} {:>7} {:>7}  {}\n",
                                 entry.provider + "/" + entry.name, Dollars(entry.price_input),
                                 CachedDollars(entry), Dollars(entry.price_output), entry.as_of);
    }
  }
  if (!arguments.json) {
    context.out << "* no price of its own is known: cached tokens are charged as input\n";
  }
  if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.models-prices/1"},
                                     {"unit", "USD for a million tokens"},
                                     {"models", std::move(list)}})
                << "\n";
  }
  return {};
}

struct Measured {
  model::Reply reply;
  double first = 0, total = 0;  // seconds to the first text and to the end
  int deltas = 0;               // more than one: it streams
};

class Trial {
 public:
  Trial(const driver::BoundModel& model, const CancelToken& cancel)
      : model_(model), cancel_(cancel), ledger_({.calls = 4}, SystemClock()) {}

  Result<Measured> Ask(std::string_view question, std::optional<Json> schema) {
    model::Request request{.model = model_.name, .purpose = model::Purpose::kTest};
    request.messages.turns.push_back(
        {.role = assembly::Role::kUser, .blocks = {{.text = std::string(question)}}});
    request.sampling.max_output = 64;
    if (model_.entry.Takes("temperature")) request.sampling.temperature = 0;
    request.schema = std::move(schema);
    Measured measured;
    const auto begin = SystemClock()->Now();
    const auto seconds = [begin] {
      return std::chrono::duration<double>(SystemClock()->Now() - begin).count();
    };
    DOSSIER_ASSIGN_OR_RETURN(
        measured.reply, model_.gate->Complete(std::move(request), ledger_, model::Stage::kNormal,
                                              cancel_, [&](std::string_view) {
                                                if (measured.deltas++ == 0) {
                                                  measured.first = seconds();
                                                }
                                              }));
    measured.total = seconds();
    return measured;
  }

 private:
  const driver::BoundModel& model_;
  const CancelToken& cancel_;
  model::Ledger ledger_;
};

Json NumberSchema() {
  return JsonObject{{"type", "object"},
                    {"properties", JsonObject{{"number", JsonObject{{"type", "integer"}}}}},
                    {"required", JsonArray{"number"}},
                    {"additionalProperties", false}};
}

double Rate(const Measured& measured) {
  const double writing = measured.total - measured.first;
  const auto tokens = static_cast<double>(measured.reply.usage.output - 1);
  return writing > 0.001 && tokens > 0 ? tokens / writing : 0;
}

Status TryModel(const ModelsArguments& arguments, Context& context) {
  ModelFlags flags;
  flags.model = arguments.name;
  flags.base_url = arguments.base_url;
  flags.key_env = arguments.key_env;
  flags.script = arguments.script;
  flags.concurrency = 1;
  flags.retries = 1;
  DOSSIER_ASSIGN_OR_RETURN(const Configured configured, LoadConfigured(flags, context));
  DOSSIER_ASSIGN_OR_RETURN(const OpenedModel opened,
                           OpenModel(configured.flags, SayTo(context.err), context.cancel));
  const std::string& description = opened.description;
  const bool schema = opened.root.entry.json_schema;
  Trial trial(opened.root, context.cancel);
  DOSSIER_ASSIGN_OR_RETURN(const Measured plain,
                           trial.Ask("Count from one to ten in words.", std::nullopt));
  JsonObject report{{"schema", "dossier.models-test/1"},
                    {"model", description},
                    {"why", opened.why},
                    {"first_seconds", plain.first},
                    {"seconds", plain.total},
                    {"tokens_input", plain.reply.usage.input},
                    {"tokens_output", plain.reply.usage.output},
                    {"tokens_per_second", Rate(plain)},
                    {"streaming", plain.deltas > 1},
                    {"reply", plain.reply.text}};
  std::string json_words = "not offered";
  if (schema) {
    const auto structured =
        trial.Ask("Which number comes after four? Reply as JSON.", NumberSchema());
    const auto value =
        structured ? ParseJson(structured->reply.text) : tl::unexpected(structured.error());
    const bool good = value && FindInt(*value, "number").has_value();
    report["json_schema"] = good;
    json_words = good ? "kept"
                 : !structured
                     ? "failed: " + structured.error().message
                     : fmt::format("not kept: {}", utf8::Prefix(structured->reply.text, 100));
  }
  if (arguments.json) {
    context.out << ToJson(report) << "\n";
    return {};
  }
  context.out << fmt::format("model        {} ({})\n", Safe(description), Safe(opened.why))
              << fmt::format("first text   {:.2f} s\n", plain.first)
              << fmt::format("whole reply  {:.2f} s, {} tokens in, {} out, {:.1f} tokens/s\n",
                             plain.total, plain.reply.usage.input, plain.reply.usage.output,
                             Rate(plain))
              << fmt::format("streaming    {}\n", plain.deltas > 1 ? "yes" : "no")
              << fmt::format("JSON schema  {}\n", Safe(json_words))
              << fmt::format(
                     "reply        {}\n",
                     Safe(ReplaceAll(utf8::Prefix(TrimSpace(plain.reply.text), 100), "\n", " ")));
  return {};
}

void DeclareList(Flags& flags, ModelsArguments& to) {
  flags.Add("--json", &to.json, "one object");
  flags.Add("--provider", &to.provider, "only of this provider");
  flags.Add("--all", &to.all, "also those that need a key or a server");
}

void DeclareModelShow(Flags& flags, ModelsArguments& to) {
  flags.Add("name", &to.name, "[PROVIDER/]NAME").Required().Kind(kModel);
  flags.Add("--json", &to.json, "one object");
}

void DeclarePrices(Flags& flags, ModelsArguments& to) {
  flags.Add("--provider", &to.provider, "only of this provider");
  flags.Add("--json", &to.json, "one object");
}

void DeclareModelTest(Flags& flags, ModelsArguments& to) {
  flags.Add("name", &to.name, "[PROVIDER/]NAME (default: as `ask` would choose)").Kind(kModel);
  AddEndpointFlags(flags, &to.base_url, &to.key_env);
  AddScriptFlag(flags, &to.script);
  flags.Add("--json", &to.json, "one object");
}

}  // namespace

Command ModelsCommand() {
  Command models{.name = "models",
                 .summary = "the models that can be asked: list, test, and run the local one",
                 .examples =
                     "dossier models list\n"
                     "    what can be named with -m\n"
                     "dossier models pull\n"
                     "    fetch the local model\n"
                     "dossier models refresh\n"
                     "    ask providers and servers which models they have now",
                 .commands = {{.name = "list",
                               .summary = "what can be used here, and what answers on this machine",
                               .binding = Bind(DeclareList, ListModels)},
                              {.name = "show",
                               .summary = "what is known about one model",
                               .binding = Bind(DeclareModelShow, ShowModel)},
                              {.name = "prices",
                               .summary = "dollars for a million tokens",
                               .binding = Bind(DeclarePrices, ShowPrices)}}};
  for (Command& command : LocalModelCommands()) models.commands.push_back(std::move(command));
  models.commands.push_back({.name = "test",
                             .summary = "one short real request: latency, speed, streaming, JSON",
                             .binding = Bind(DeclareModelTest, TryModel)});
  models.commands.push_back(RefreshModelsCommand());
  models.commands.push_back(ServeScriptCommand());
  return models;
}

}  // namespace dossier::cli
