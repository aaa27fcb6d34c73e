#include "app/open_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/hash.h"
#include "base/net/url.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "model/catalog/catalog.h"
#include "model/dialects/dialect.h"
#include "model/local/local_weights.h"
#include "model/providers/model_list.h"

namespace dossier::app {
namespace {

constexpr std::uint64_t kMostScript = 64u << 20;  // bytes of a file that is only hashed here

// Different scripts are different models: the path alone would reuse replies of an edited script.
std::string OriginOf(const model::Choice& choice) {
  if (choice.script.empty()) {
    return fmt::format("{} {}", choice.provider.name, choice.provider.base_url);
  }
  const auto script = ReadRegularFile(choice.script, kMostScript);
  return script ? fmt::format("script {}", Sha256Hex(*script)) : std::string();
}

constexpr Millis kListLimit{3000};             // for asking a server which models it has
constexpr std::uint64_t kMostTold = 1u << 20;  // bytes of the list of what was reported
constexpr double kNanoPerMillionth = 1000;     // nano-dollars per token, at $1 per million tokens
constexpr double kHighestPrice = 1e6;          // dollars per million tokens

std::optional<std::int64_t> ReadPrice(std::string_view text) {
  const auto dollars = ParseNumber(text);
  if (!dollars || *dollars < 0 || *dollars > kHighestPrice) return std::nullopt;
  // 0.0011 times 1000 is slightly above 1.1, which must not round up.
  return static_cast<std::int64_t>(std::ceil(*dollars * kNanoPerMillionth - 1e-6));
}

// Applies the --price for a model: [NAME=]IN/OUT, in dollars per million tokens. The last one that
// matches the model counts.
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
    entry.price_cached.reset();  // a share of price_input, by the provider's rules
  }
  return {};
}

Status RefuseUnknownPrice(const model::Entry& entry, std::string_view name) {
  if (entry.price_input && entry.price_output) return {};
  return MakeError(
      ErrorCode::kUsage,
      "a limit of cost is set, but the price of {} is unknown: give it by --price "
      "IN/OUT (US dollars for a million tokens of input and of output; 0/0 if it costs "
      "nothing); `dossier models prices` shows what is known",
      name);
}

// The range that --window allows.
constexpr std::int64_t kLeastWindow = 1024, kMostWindow = 100'000'000;  // tokens

// Applies --window for a model with unknown window; for a known one it can only reduce the window.
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
        "--window {}`",
        *window, *window);
  }
  if (entry.known && *window > entry.capability.window) {
    return MakeError(ErrorCode::kUsage, "--window {}: {} has a window of {} tokens", *window,
                     entry.name, GroupDigits(static_cast<std::uint64_t>(entry.capability.window)));
  }
  entry.capability.window = *window;
  entry.capability.max_output = std::min(entry.capability.max_output, *window / 2);
  if (entry.family.empty()) choice->assumed.clear();  // the window was what was assumed
  return {};
}

class Opener {
 public:
  // `common`: what all opened models share.
  Opener(const ModelSettings& settings, const driver::BoundModel& common,
         const std::function<void(std::string_view)>& say, const CancelToken& cancel)
      : settings_(settings), common_(common), say_(say), cancel_(cancel) {}

  Status Load() {
    if (!settings_.record.empty() && !settings_.replay.empty()) {
      return MakeError(ErrorCode::kUsage, "--record and --replay exclude each other");
    }
    DOSSIER_ASSIGN_OR_RETURN(data_,
                             settings_.config ? LoadModelData(*settings_.config) : LoadModelData());
    if (!settings_.replay.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(replay_, model::Recording::Load(settings_.replay));
    }
    return {};
  }

  Result<model::Choice> Choose(const std::string& name) const {
    DOSSIER_ASSIGN_OR_RETURN(model::Choice choice, Find(name));
    if (choice.ask_server == model::Choice::AskServer::kYes) {
      DOSSIER_ASSIGN_OR_RETURN(choice, AskServer(std::move(choice)));
    }
    if (IsMissing(choice)) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string other, AskPerson());
      DOSSIER_ASSIGN_OR_RETURN(choice, Find(other));
    }
    DOSSIER_RETURN_IF_ERROR(TakePrice(settings_.prices, &choice));
    DOSSIER_RETURN_IF_ERROR(TakeWindow(settings_.window, &choice));
    if (settings_.needs_price) {
      DOSSIER_RETURN_IF_ERROR(RefuseUnknownPrice(choice.entry, choice.model));
    }
    for (const std::string& warning : choice.warnings) say_("warning: " + warning);
    if (!choice.assumed.empty()) TellOnce(choice);
    return choice;
  }

  Result<driver::BoundModel> Bind(const model::Choice& choice, std::string* description) {
    model::ConnectOptions options = ConnectOptionsFor(data_, choice);
    options.progress = say_;
    options.headers = settings_.headers;
    if (settings_.offline) options.network = model::ConnectOptions::Network::kNone;
    options.replay = replay_;
    const bool asked = IsAsked();
    if (!asked) options.start = model::ConnectOptions::Start::kNothing;
    DOSSIER_RETURN_IF_ERROR(model::CheckNetwork(choice, options));
    // Only now, because a failing choice must not empty an older recording.
    if (!settings_.record.empty() && !recorder_ && asked) {
      DOSSIER_ASSIGN_OR_RETURN(recorder_, model::Recorder::Create(settings_.record));
    }
    options.recorder = recorder_;
    DOSSIER_ASSIGN_OR_RETURN(const model::ConnectedModel connection,
                             model::Connect(choice, options, cancel_));
    *description = connection.description;
    return Bound(choice, connection);
  }

 private:
  bool IsAsked() const { return settings_.use == ModelSettings::Use::kAsked; }

  Result<model::Choice> Find(const std::string& name) const {
    return data_.catalog.Choose(
        {.name = name,
         .base_url = settings_.base_url,
         .key_env = settings_.key_env,
         .script = settings_.script,
         .config = data_.config,
         .today = std::chrono::floor<std::chrono::days>(SystemClock()->WallNow()),
         .keys = replay_ || !IsAsked() ? model::Wanted::Keys::kNone : model::Wanted::Keys::kFind},
        Environment);
  }

  // Returns the model of `choice` if the server has it, else the first one that it lists; for a
  // replay, the one that it listed then.
  Result<model::Choice> AskServer(model::Choice choice) const {
    model::ConnectOptions options;
    if (settings_.offline) options.network = model::ConnectOptions::Network::kNone;
    DOSSIER_RETURN_IF_ERROR(model::CheckNetwork(choice, options));
    const std::string& address = choice.provider.base_url;
    if (replay_ && !replay_->first_model().empty() && replay_->first_model() != choice.model) {
      return FindListed(choice, replay_->first_model(), ", and the recording asked this model");
    }
    if (replay_ || !IsAsked()) {
      const std::string_view why = replay_ ? "a replay" : "a dry run";
      if (choice.model.empty()) {
        return MakeError(ErrorCode::kConfig,
                         "name a model of {} by -m: {} does not ask which ones it lists", address,
                         why);
      }
      if (!replay_) {
        say_(
            fmt::format("{} is taken as the model; {} does not ask {} which ones it lists (-m "
                        "names another)",
                        choice.model, why, address));
      }
      return choice;
    }
    const auto listed = FetchModelList(choice.provider, choice.key, kListLimit, cancel_);
    if (!listed && !choice.model.empty()) return choice;  // it may answer anyway
    if (!listed) {
      return MakeError(listed.error().code, "name a model by -m: {}", listed.error().message);
    }
    const bool has = std::ranges::any_of(
        *listed, [&](const model::ListedModel& model) { return model.name == choice.model; });
    if (has) return choice;
    if (listed->empty()) {
      return MakeError(ErrorCode::kNotFound, "{} lists no model; name one by -m", address);
    }
    const model::ListedModel& first = listed->front();
    DOSSIER_ASSIGN_OR_RETURN(choice,
                             FindListed(choice, first.name, ", and lists this model first"));
    if (first.window && !choice.entry.known) {
      assembly::Capability& capability = choice.entry.capability;
      capability.window = *first.window;
      capability.max_output = std::min(capability.max_output, *first.window / 2);
      choice.assumed.clear();
    }
    return choice;
  }

  Result<model::Choice> FindListed(const model::Choice& server, const std::string& name,
                                   std::string_view why) const {
    const bool by_address = !settings_.base_url.empty();
    DOSSIER_ASSIGN_OR_RETURN(model::Choice choice,
                             Find(by_address ? name : server.provider.name + "/" + name));
    choice.why = server.why + std::string(why);
    return choice;
  }

  // Returns true if the default weights are needed and missing.
  bool IsMissing(const model::Choice& choice) const {
    if (replay_ || !IsAsked() || choice.provider.name != "local") return false;
    const auto data = DataFolder();
    if (!data || choice.model != model::DefaultWeights().name) return false;
    const auto found = model::FindWeights(*data, choice.model);
    return !found && found.error().code == ErrorCode::kNotFound;
  }

  Result<std::string> AskPerson() const {
    FirstUse found;
    if (settings_.model.empty() && data_.config.model.empty()) {
      found.servers = model::ProbeLocalServers(model::UsualPlaces(data_.catalog, Environment));
    }
    if (settings_.first_use) return settings_.first_use(found, cancel_);
    return MakeError(ErrorCode::kNotFound, "{}", DescribeFirstUse(found));
  }

  // Reports the assumptions about a model only once per user. If the list of reports cannot be
  // written, they are reported again, which is not an error.
  void TellOnce(const model::Choice& choice) const {
    const auto folder = UserFolder(UserFolderKind::kState, Environment);
    const std::string path = folder ? *folder + "/told-models" : "";
    const std::string line = Sha256Hex(choice.assumed) + "\n";
    const std::string told = path.empty() ? "" : ReadFile(path, kMostTold).value_or("");
    if (told.find(line) != std::string::npos) return;
    say_(choice.assumed);
    if (path.empty() || !IsAsked() || told.size() + line.size() > kMostTold) return;
    if (!MakeFolders(*folder, 0700)) return;
    (void)WriteFileAtomic(path, told + line, 0600);
  }

  driver::BoundModel Bound(const model::Choice& choice,
                           const model::ConnectedModel& connection) const {
    driver::BoundModel bound = common_;
    bound.name = choice.model;
    // A recording contains every request, so nothing may be answered from the cache.
    if (!recorder_ && !replay_) bound.origin = OriginOf(choice);
    bound.entry = connection.entry;
    bound.counter = connection.counter;
    bound.stops = connection.stop_sequences ? driver::BoundModel::Stops::kHonoured
                                            : driver::BoundModel::Stops::kIgnored;
    bound.gate = model::Gate::Make(
        connection.client,
        {.concurrency = settings_.concurrency.value_or(std::max(1, connection.parallel)),
         .retries = settings_.retries,
         .price = [entry = connection.entry](
                      const model::Request& request) { return WorstPriceOf(entry, request); },
         .counter = connection.counter,
         .max_output = connection.entry.capability.max_output,
         .window = connection.entry.capability.window},
        SystemClock());
    return bound;
  }

  const ModelSettings& settings_;
  const driver::BoundModel& common_;
  const std::function<void(std::string_view)>& say_;
  const CancelToken& cancel_;
  ModelData data_;
  std::shared_ptr<model::Recorder> recorder_;
  std::shared_ptr<model::Recording> replay_;
};

// A server may call its models PROVIDER/NAME, so the configured name is compared as a whole.
bool HasConfiguredAccess(const ModelSettings& settings, const config::Config& config) {
  const std::string name = settings.model.empty() ? config.model.value_or("") : settings.model;
  if (!settings.base_url.empty() || name == "local" || name == "scripted") return false;
  return name == config.model || name.find('/') == std::string::npos;
}

}  // namespace

Status CheckPrices(const OpenedModel& opened) {
  DOSSIER_RETURN_IF_ERROR(RefuseUnknownPrice(opened.root.entry, opened.root.name));
  DOSSIER_RETURN_IF_ERROR(RefuseUnknownPrice(opened.sub.entry, opened.sub.name));
  if (opened.child) {
    DOSSIER_RETURN_IF_ERROR(RefuseUnknownPrice(opened.child->entry, opened.child->name));
  }
  for (const auto& [name, model] : opened.named) {
    DOSSIER_RETURN_IF_ERROR(RefuseUnknownPrice(model.entry, model.name));
  }
  return {};
}

std::optional<std::string> Environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (!value || !value[0]) return std::nullopt;
  return std::string(value);
}

void SplitAddress(ModelSettings* settings) {
  std::string& name = settings->model;
  const std::size_t mark = name.find('#');
  if (!IsWebAddress(name) || mark == name.npos) return;
  if (settings->base_url.empty()) settings->base_url = name.substr(0, mark);
  name.erase(0, mark + 1);
}

std::string DescribeFirstUse(const FirstUse& found) {
  std::string text = "no model is here yet: ";
  for (const model::LocalServer& server : found.servers) text += Describe(server) + "; ";
  return text +
         "`dossier models pull` fetches the local one once (1.1 GB), `dossier keys set openai` (or "
         "another provider) stores a key, --base-url takes a server's address";
}

Status ApplyConfig(const config::Config& config, ModelSettings* settings) {
  SplitAddress(settings);
  DOSSIER_ASSIGN_OR_RETURN(settings->config, model::UserConfigOf(config));
  if (HasConfiguredAccess(*settings, config)) {
    settings->base_url = config.access.api_base;
    settings->headers = config.access.extra_headers;
    if (settings->key_env.empty()) settings->key_env = config.access.key_env;
    if (!settings->base_url.empty() && settings->model.empty()) {
      settings->model = config.model.value_or("");
    }
  }
  if (!settings->temperature) settings->temperature = config.temperature;
  if (!settings->max_output) settings->max_output = config.max_tokens;
  settings->defaults = config.params;
  return {};
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

namespace {

// Reads "fast=gpt-5-mini": a name for code, and the model.
Result<std::pair<std::string, std::string>> ReadNamedModel(const std::string& given) {
  const std::size_t equals = given.find('=');
  const std::string name = given.substr(0, equals);
  const bool plain = !name.empty() && IsLetter(name[0]) && std::ranges::all_of(name, [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '_' || c == '-';
  });
  if (plain && equals != given.npos && equals + 1 < given.size()) {
    return std::make_pair(name, given.substr(equals + 1));
  }
  return MakeError(ErrorCode::kUsage,
                   "--named-model {}: give NAME=MODEL; a name has letters, digits, _ and -, and "
                   "begins with a letter",
                   given);
}

}  // namespace

Result<OpenedModel> OpenModel(const ModelSettings& settings,
                              const std::function<void(std::string_view)>& say,
                              const CancelToken& cancel) {
  OpenedModel opened;
  driver::BoundModel common{
      .sampling = {.max_output = settings.max_output, .extra = settings.defaults},
      .deadline = settings.deadline,
      .idle_limit = settings.idle_limit};
  for (const auto& [name, value] : settings.sent) common.sampling.extra[name] = value;
  Opener opener(settings, common, say, cancel);
  DOSSIER_RETURN_IF_ERROR(opener.Load());
  DOSSIER_ASSIGN_OR_RETURN(const model::Choice choice, opener.Choose(settings.model));
  DOSSIER_ASSIGN_OR_RETURN(opened.root, opener.Bind(choice, &opened.description));
  opened.why = choice.why;
  opened.provider = choice.provider.name;
  opened.dialect = choice.provider.dialect;
  // A model with several roles is opened once: they share its gate.
  std::map<std::string, driver::BoundModel> bound{{settings.model, opened.root}};
  const auto bind = [&](const std::string& name) -> Result<driver::BoundModel> {
    if (const auto found = bound.find(name); found != bound.end()) return found->second;
    DOSSIER_ASSIGN_OR_RETURN(const model::Choice chosen, opener.Choose(name));
    std::string unused;
    DOSSIER_ASSIGN_OR_RETURN(bound[name], opener.Bind(chosen, &unused));
    return bound[name];
  };
  DOSSIER_ASSIGN_OR_RETURN(opened.sub,
                           bind(settings.sub_model.empty() ? settings.model : settings.sub_model));
  if (!settings.child_model.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(opened.child, bind(settings.child_model));
  }
  for (const std::string& given : settings.named_models) {
    DOSSIER_ASSIGN_OR_RETURN(const auto named, ReadNamedModel(given));
    DOSSIER_ASSIGN_OR_RETURN(opened.named[named.first], bind(named.second));
  }
  return opened;
}

Result<tokens::Opened> OpenCounter(const CounterChoice& choice, std::string* note) {
  if (!choice.encoding.empty() && !choice.model.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "give --encoding or --model, not both: a model says how it counts");
  }
  const tokens::DataPaths paths = tokens::DefaultDataPaths();
  if (choice.model.empty()) {
    return tokens::Open(choice.encoding.empty() ? "o200k_base" : choice.encoding, paths);
  }
  DOSSIER_ASSIGN_OR_RETURN(const model::Choice chosen,
                           ChooseWithoutKey(choice.model, choice.config));
  if (note && !chosen.assumed.empty()) {
    *note = chosen.assumed;
  } else if (note && choice.model == chosen.provider.name && !chosen.model.empty()) {
    *note = fmt::format("{} is counted as its model {}", choice.model, chosen.model);
  }
  return model::OpenTokenizer(chosen.entry, paths);
}

std::string CountsFolder(const tokens::Opened& opened) {
  const std::string cache = tokens::DefaultDataPaths().cache;
  return opened.identity.empty() || cache.empty() ? "" : cache + "/counts";
}

Result<model::Choice> ChooseWithoutKey(const std::string& name, const config::Config* config) {
  ModelSettings settings{.model = name};
  if (config) DOSSIER_RETURN_IF_ERROR(ApplyConfig(*config, &settings));
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data,
                           settings.config ? LoadModelData(*settings.config) : LoadModelData());
  model::Wanted wanted{.name = settings.model,
                       .base_url = settings.base_url,
                       .config = data.config,
                       .today = std::chrono::floor<std::chrono::days>(SystemClock()->WallNow())};
  // Without a configured name, the available keys decide which model is used.
  if (wanted.name.empty()) {
    auto choice = data.catalog.Choose(wanted, Environment);
    if (choice || choice.error().code != ErrorCode::kAuth) return choice;
  }
  wanted.keys = model::Wanted::Keys::kNone;
  return data.catalog.Choose(wanted, Environment);
}

namespace {

using driver::BoundModel;

std::function<std::string(const model::Request&)> WireOf(const OpenedModel& opened) {
  const model::WireDialect* dialect = &model::DialectOf(opened.dialect);
  const model::WireOptions options{
      .entry = opened.root.entry,
      .provider = opened.provider,
      .stream = opened.root.entry.streaming ? model::Streaming::kYes : model::Streaming::kNo};
  return [dialect, options](const model::Request& request) {
    model::WireOptions own = options;
    if (request.raw == model::Request::Raw::kKept) own.stream = model::Streaming::kNo;
    return dialect->build(request, own).body;
  };
}

}  // namespace

std::string AskedName(const ModelSettings& asked) {
  ModelSettings split = asked;
  SplitAddress(&split);
  if (split.model.empty() || split.base_url.empty()) return split.model;
  return model::WholeAddress(split.base_url) + "#" + split.model;
}

std::string StoredName(const ModelSettings& asked, const OpenedModel& opened) {
  ModelSettings named = asked;
  if (!named.base_url.empty() && named.model.empty()) named.model = opened.root.name;
  if (std::string name = AskedName(named); !name.empty()) return name;
  const std::string& provider = opened.root.entry.provider;
  if (provider == "local" || provider == "scripted") return provider;
  // A bare name that is missing from the model data would not be found again.
  const bool found_by_name = opened.root.entry.known || provider == "openai-compatible";
  return found_by_name ? opened.root.name : opened.provider + "/" + opened.root.name;
}

BoundModel ChatModelOf(const OpenedModel& opened, std::string stored) {
  BoundModel model = opened.root;
  model.stored = std::move(stored);
  model.wire = WireOf(opened);
  return model;
}

Result<BoundModel> OpenChatModel(ModelSettings settings, const config::Config& config,
                                 const std::function<void(std::string_view)>& say,
                                 const CancelToken& cancel) {
  const ModelSettings asked = settings;
  DOSSIER_RETURN_IF_ERROR(ApplyConfig(config, &settings));
  DOSSIER_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(settings, say, cancel));
  BoundModel model = ChatModelOf(opened, StoredName(asked, opened));
  model.sampling.temperature = settings.temperature;
  if (config.debug || settings.announce == ModelSettings::Announce::kYes) {
    say(fmt::format("model: {} ({})", opened.description, opened.why));
  }
  return model;
}

chat::CompactionLimits LimitsOf(const config::CompactionSettings& config) {
  using Mode = chat::CompactionLimits::Mode;
  return {.mode = config.mode == config::CompactionSettings::Mode::kOff ? Mode::kOff : Mode::kAuto,
          .soft_tokens = config.soft_tokens,
          .hard_tokens = config.hard_tokens,
          .keep_turns = config.keep_turns,
          .summary_tokens = config.summary_tokens,
          .horizon = config.horizon,
          .min_gain = config.min_gain};
}

}  // namespace dossier::app
