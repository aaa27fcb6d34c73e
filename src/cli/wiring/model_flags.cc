#include "cli/wiring/model_flags.h"

#include <cmath>
#include <cstdlib>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/user_folders.h"
#include "base/hash.h"
#include "base/text/parse_number.h"
#include "base/text/text.h"
#include "cli/wiring/quantity_flags.h"

namespace dossier::cli {
namespace {

// Two scripts are two models: the path alone would let the replies of an edited one stand.
std::string OriginOf(const model::Choice& choice) {
  if (choice.script.empty()) {
    return fmt::format("{} {}", choice.provider.name, choice.provider.base_url);
  }
  const auto script = ReadFile(choice.script);
  return script ? fmt::format("script {}", Sha256Hex(*script)) : std::string();
}

constexpr double kNanoPerMillionth = 1000;  // nano-dollars a token for a dollar a million tokens
constexpr double kHighestPrice = 1e6;       // dollars for a million tokens

std::optional<std::int64_t> ReadPrice(std::string_view text) {
  const auto dollars = ParseNumber(text);
  if (!dollars || *dollars < 0 || *dollars > kHighestPrice) return std::nullopt;
  // 0.0011 times 1000 is a little above 1.1, and no price of its own.
  return static_cast<std::int64_t>(std::ceil(*dollars * kNanoPerMillionth - 1e-6));
}

// What --price says of a model: [NAME=]IN/OUT, in dollars for a million tokens. The last that means
// it counts.
Status TakePrice(const std::vector<std::string>& prices, model::Choice* choice) {
  model::Entry& entry = choice->entry;
  for (const std::string& price : prices) {
    const std::size_t equals = price.rfind('=');
    const bool named = equals != std::string::npos;
    const std::string_view numbers = std::string_view(price).substr(named ? equals + 1 : 0);
    const std::size_t slash = numbers.find('/');
    const auto input = ReadPrice(numbers.substr(0, slash));
    const auto output = slash == numbers.npos ? std::nullopt : ReadPrice(numbers.substr(slash + 1));
    if (!input || !output) {
      return MakeError(ErrorCode::kUsage,
                       "--price {}: write it as IN/OUT or NAME=IN/OUT, in US dollars for a million "
                       "tokens, as in 0.25/2",
                       price);
    }
    const std::string_view name = std::string_view(price).substr(0, named ? equals : 0);
    if (named && name != choice->model && name != choice->provider.name + "/" + choice->model) {
      continue;
    }
    entry.price_input = input;
    entry.price_output = output;
    entry.price_cached.reset();  // a share of it, where the provider's rules say which
    if (entry.capability.cache.read >= 1) entry.price_cached = input;
  }
  return {};
}

Status RefuseUnknownPrice(const model::Choice& choice) {
  if (choice.entry.price_input && choice.entry.price_output) return {};
  return MakeError(
      ErrorCode::kUsage,
      "a limit of cost is set, but the price of {} is unknown: give it by --price "
      "IN/OUT (US dollars for a million tokens of input and of output; 0/0 if it costs "
      "nothing); `dossier models prices` shows what is known",
      choice.model);
}

// The choice and what it is opened with; one for root and sub-calls.
constexpr std::int64_t kLeastWindow = 1024, kMostWindow = 100'000'000;  // tokens

// --window, for a model whose window is not known; of one that is known less may be used.
Status TakeWindow(const std::optional<std::int64_t>& window, model::Choice* choice) {
  if (!window) return {};
  if (*window < kLeastWindow || *window > kMostWindow) {
    return MakeError(ErrorCode::kUsage, "--window {}: a window has {} to {} tokens", *window,
                     GroupDigits(kLeastWindow), GroupDigits(kMostWindow));
  }
  model::Entry& entry = choice->entry;
  if (entry.provider == "local") {
    return MakeError(
        ErrorCode::kUsage,
        "--window {}: the local server has its own; start it with `dossier models start "
        "--context {}`",
        *window, *window);
  }
  if (entry.known && *window > entry.capability.window) {
    return MakeError(ErrorCode::kUsage, "--window {}: {} has a window of {} tokens", *window,
                     entry.name, GroupDigits(static_cast<std::uint64_t>(entry.capability.window)));
  }
  entry.capability.window = *window;
  entry.capability.max_output = std::min(entry.capability.max_output, *window / 2);
  return {};
}

class Opener {
 public:
  Opener(const ModelFlags& flags, const std::function<void(std::string_view)>& say,
         const CancelToken& cancel)
      : flags_(flags), say_(say), cancel_(cancel) {}

  Status Load() {
    if (!flags_.record.empty() && !flags_.replay.empty()) {
      return MakeError(ErrorCode::kUsage, "--record and --replay exclude each other");
    }
    DOSSIER_ASSIGN_OR_RETURN(data_,
                             flags_.config ? LoadModelData(*flags_.config) : LoadModelData());
    if (!flags_.replay.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(replay_, model::Recording::Load(flags_.replay));
    }
    return {};
  }

  Result<model::Choice> Choose(const std::string& name) const {
    DOSSIER_ASSIGN_OR_RETURN(
        model::Choice choice,
        data_.catalog.Choose(
            {.name = name,
             .base_url = flags_.base_url,
             .key_env = flags_.key_env,
             .script = flags_.script,
             .config = data_.config,
             .today = std::chrono::floor<std::chrono::days>(SystemClock()->WallNow()),
             .keys = replay_ || flags_.use == ModelFlags::Use::kLookedAt
                         ? model::Wanted::Keys::kNone
                         : model::Wanted::Keys::kFind},
            Environment));
    DOSSIER_RETURN_IF_ERROR(TakePrice(flags_.prices, &choice));
    DOSSIER_RETURN_IF_ERROR(TakeWindow(flags_.window, &choice));
    if (flags_.needs_price) DOSSIER_RETURN_IF_ERROR(RefuseUnknownPrice(choice));
    for (const std::string& warning : choice.warnings) say_("warning: " + warning);
    return choice;
  }

  Result<ask::BoundModel> Bind(const model::Choice& choice, std::string* description) {
    model::ConnectOptions options = ConnectOptionsFor(data_, choice);
    options.progress = say_;
    options.headers = flags_.headers;
    if (flags_.offline) options.network = model::ConnectOptions::Network::kNone;
    options.replay = replay_;
    const bool asked = flags_.use == ModelFlags::Use::kAsked;
    if (!asked) options.start = model::ConnectOptions::Start::kNothing;
    DOSSIER_RETURN_IF_ERROR(model::CheckNetwork(choice, options));
    // Only now: a choice that fails must not empty an older recording.
    if (!flags_.record.empty() && !recorder_ && asked) {
      DOSSIER_ASSIGN_OR_RETURN(recorder_, model::Recorder::Create(flags_.record));
    }
    options.recorder = recorder_;
    DOSSIER_ASSIGN_OR_RETURN(const model::Connection connection,
                             model::Connect(choice, options, cancel_));
    *description = connection.description;
    return Bound(choice, connection);
  }

 private:
  ask::BoundModel Bound(const model::Choice& choice, const model::Connection& connection) const {
    ask::BoundModel bound;
    bound.name = choice.model;
    // A recording holds every request, so nothing may be answered from elsewhere.
    if (!recorder_ && !replay_) bound.origin = OriginOf(choice);
    bound.entry = connection.entry;
    bound.counter = connection.counter;
    bound.stops = connection.stop_sequences ? ask::BoundModel::Stops::kHonoured
                                            : ask::BoundModel::Stops::kIgnored;
    bound.gate = model::Gate::Make(
        connection.client,
        {.concurrency = flags_.concurrency.value_or(std::max(1, connection.parallel)),
         .retries = flags_.retries,
         .price = [entry = connection.entry](
                      const model::Request& request) { return WorstPriceOf(entry, request); },
         .counter = connection.counter,
         .max_output = connection.entry.capability.max_output,
         .window = connection.entry.capability.window},
        SystemClock());
    return bound;
  }

  const ModelFlags& flags_;
  const std::function<void(std::string_view)>& say_;
  const CancelToken& cancel_;
  ModelData data_;
  std::shared_ptr<model::Recorder> recorder_;
  std::shared_ptr<model::Recording> replay_;
};

// K=V, V as JSON where it is JSON, else as text.
Result<JsonObject> ParseParams(const std::vector<std::string>& params, JsonObject out) {
  for (const std::string& param : params) {
    const auto equals = param.find('=');
    if (equals == std::string::npos || equals == 0) {
      return MakeError(ErrorCode::kUsage, "--param {}: write it as NAME=VALUE", param);
    }
    const std::string value = param.substr(equals + 1);
    auto json = ParseJson(value);
    out[param.substr(0, equals)] = json ? std::move(*json) : Json(value);
  }
  return out;
}

// A server may call its models PROVIDER/NAME, so the configured name stands for itself.
bool HasConfiguredAccess(const ModelFlags& flags, const config::Config& config) {
  const std::string name = flags.model.empty() ? config.model.value_or("") : flags.model;
  if (!flags.base_url.empty() || name == "local" || name == "scripted") return false;
  return name == config.model || name.find('/') == std::string::npos;
}

}  // namespace

std::optional<std::string> Environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (!value || !value[0]) return std::nullopt;
  return std::string(value);
}

Result<ModelFlags> WithConfig(ModelFlags flags, const config::Config& config,
                              const GlobalFlags& global) {
  DOSSIER_ASSIGN_OR_RETURN(flags.config, model::UserConfigOf(config));
  if (HasConfiguredAccess(flags, config)) {
    flags.base_url = config.access.api_base;
    flags.headers = config.access.extra_headers;
    if (flags.key_env.empty()) flags.key_env = config.access.key_env;
    if (!flags.base_url.empty() && flags.model.empty()) flags.model = config.model.value_or("");
  }
  if (!flags.temperature) flags.temperature = config.temperature;
  if (!flags.max_output) flags.max_output = config.max_tokens;
  flags.defaults = config.params;
  flags.offline = global.offline;
  return flags;
}

Result<ModelData> LoadModelData() {
  DOSSIER_ASSIGN_OR_RETURN(model::UserConfig config, model::LoadUserConfig());
  return LoadModelData(std::move(config));
}

Result<ModelData> LoadModelData(model::UserConfig config) {
  ModelData data{.config = std::move(config)};
  DOSSIER_ASSIGN_OR_RETURN(data.catalog, model::Catalog::LoadFor(data.config));
  return data;
}

model::ConnectOptions ConnectOptionsFor(const ModelData& data, const model::Choice& choice) {
  return {.context_tokens = data.config.local_context,
          .idle = data.config.local_idle,
          .local_server = data.config.local_server,
          .known_models = data.catalog.NamesOf(choice.provider.name),
          .commands_folder = ConfigFolder().value_or("") + "/commands",
          .environment = Environment};
}

Result<OpenedModel> OpenModel(const ModelFlags& flags,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel) {
  OpenedModel opened;
  DOSSIER_ASSIGN_OR_RETURN(opened.sampling.extra, ParseParams(flags.params, flags.defaults));
  opened.sampling.max_output = flags.max_output;
  DOSSIER_ASSIGN_OR_RETURN(opened.deadline, ReadTimeFlag("--timeout", flags.timeout));
  DOSSIER_ASSIGN_OR_RETURN(opened.idle_limit, ReadTimeFlag("--idle-timeout", flags.idle_timeout));
  Opener opener(flags, say, cancel);
  DOSSIER_RETURN_IF_ERROR(opener.Load());
  DOSSIER_ASSIGN_OR_RETURN(const model::Choice choice, opener.Choose(flags.model));
  DOSSIER_ASSIGN_OR_RETURN(opened.root, opener.Bind(choice, &opened.description));
  opened.why = choice.why;
  opened.provider = choice.provider.name;
  opened.dialect = choice.provider.dialect;
  opened.sub = opened.root;
  if (!flags.sub_model.empty() && flags.sub_model != flags.model) {
    DOSSIER_ASSIGN_OR_RETURN(const model::Choice sub, opener.Choose(flags.sub_model));
    std::string unused;
    DOSSIER_ASSIGN_OR_RETURN(opened.sub, opener.Bind(sub, &unused));
  }
  return opened;
}

}  // namespace dossier::cli
