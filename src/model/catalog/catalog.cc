#include "model/catalog/catalog.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/net/url.h"
#include "base/text/text.h"
#include "model/catalog/catalog_reader.h"
#include "model/catalog/keys.h"
#include "model/local/local_weights.h"

namespace dossier::model {
namespace {

constexpr std::string_view kAnyModel = "*";  // the family of all names of a provider
constexpr std::int64_t kImagesInWindow = 4;  // of a model of which nothing is known

const Entry* FindEntry(const std::vector<Entry>& entries, std::string_view provider,
                       std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name && (provider.empty() || entry.provider == provider)) return &entry;
  }
  return nullptr;
}

bool NeedsKey(const Provider& provider) { return !provider.key_variables.empty(); }

Status TakeKey(const Wanted& wanted, const Environment& environment, Choice& choice) {
  if (wanted.keys == Wanted::Keys::kNone) return {};
  DOSSIER_ASSIGN_OR_RETURN(FoundKey key,
                           FindKey(choice.provider, wanted.key_env, environment, wanted.config));
  choice.key = std::move(key.value);
  choice.key_source = std::move(key.source);
  return {};
}

tl::unexpected<Error> NoKey(const Provider& provider, const Environment& environment) {
  return MakeError(ErrorCode::kAuth,
                   "no key for {}: {}; `dossier keys set {}` stores one, and `-m local` "
                   "needs no key",
                   provider.name, LookedAt(provider, environment), provider.name);
}

// Returns what is assumed about an unknown model; short, because it is shown on first use.
std::string AssumedText(const Entry& entry, const UserConfig& config) {
  const std::string window = GroupDigits(static_cast<std::uint64_t>(entry.capability.window));
  const std::int64_t image_tokens = entry.capability.image_tokens.value_or(0);
  const std::string image =
      entry.image_assumed ? fmt::format(", {} for an image", GroupDigits(image_tokens)) : "";
  if (!entry.family.empty()) {
    const std::string as = entry.family == kAnyModel      ? entry.provider + "'s usual"
                           : entry.family.ends_with('*') ? "one of " + entry.family
                                                         : "another provider's " + entry.family;
    return fmt::format("{} is not in the model data: taken as {}, window {} tokens{}", entry.name,
                       as, window, image);
  }
  return fmt::format(
      "{} is not in the model data: a window of {} tokens is assumed{}; models.data in {} says "
      "better",
      entry.name, window, image,
      config.path.empty() ? "~/.config/dossier/dossier.yml" : config.path);
}

// Facts are considered current for 180 days.
bool IsOld(std::string_view as_of, const std::optional<std::chrono::sys_days>& today) {
  if (!today || as_of.size() != 10) return false;
  const auto number = [&](std::size_t at, std::size_t count) {
    int value = 0;
    std::from_chars(as_of.data() + at, as_of.data() + at + count, value);
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  return date.ok() && *today - std::chrono::sys_days(date) > std::chrono::days(180);
}

class Chooser {
 public:
  Chooser(const Catalog& catalog, const Wanted& wanted, const Environment& environment)
      : catalog_(catalog), wanted_(wanted), environment_(environment) {}

  Result<Choice> Run() {
    if (!wanted_.base_url.empty()) return ByAddress();
    if (!wanted_.name.empty()) {
      DOSSIER_RETURN_IF_ERROR(ByName(wanted_.name, "named"));
    } else if (!wanted_.config.model.empty()) {
      DOSSIER_RETURN_IF_ERROR(ByName(wanted_.config.model, "model: in " + wanted_.config.path));
    } else {
      DOSSIER_RETURN_IF_ERROR(ByEnvironment());
    }
    choice_.script = wanted_.script;
    DOSSIER_RETURN_IF_ERROR(FollowVariables());
    DOSSIER_RETURN_IF_ERROR(TakeKey(wanted_, environment_, choice_));
    // A user who moved a provider knows whether that server wants a key; the server reports it too.
    const bool keyless = wanted_.keys == Wanted::Keys::kNone || moved_;
    if (choice_.key.empty() && NeedsKey(choice_.provider) && !keyless) {
      return NoKey(choice_.provider, environment_);
    }
    DOSSIER_RETURN_IF_ERROR(LookForModel());
    Assume();
    return std::move(choice_);
  }

 private:
  void Take(const Provider& provider, std::string_view name) {
    choice_.provider = provider;
    choice_.model = std::string(name);
    choice_.entry = catalog_.EntryOf(provider.name, name);
    if (IsOld(choice_.entry.as_of, wanted_.today)) {
      choice_.warnings.push_back(fmt::format(
          "what is known about {} is of {}, more than 180 days ago: prices and limits may differ",
          choice_.entry.name, choice_.entry.as_of));
    }
  }

  // No model is named: uses a key that is set, a provider's changed address, or a stored key;
  // otherwise the local model.
  Status ByEnvironment() {
    unnamed_ = true;
    if (ByKey(KeyPlaces::kVariables)) return {};
    for (const Provider& provider : catalog_.providers()) {
      std::string variable;
      if (!NeedsKey(provider) || !MovedTo(provider, &variable)) continue;
      Take(provider, provider.default_model);
      choice_.why = variable + " is set";
      return {};
    }
    if (ByKey(KeyPlaces::kFiles)) return {};
    const Provider* local = catalog_.FindProvider("local");
    if (!local) return MakeError(ErrorCode::kConfig, "the model data has no provider \"local\"");
    Take(*local, local->default_model);
    choice_.why = "no key of a provider is set";
    return {};
  }

  // Selects the first provider that has a key and a default model.
  bool ByKey(KeyPlaces places) {
    for (const Provider& provider : catalog_.providers()) {
      if (provider.default_model.empty()) continue;
      auto place = KeyPlace(provider, places, environment_, wanted_.config);
      if (!place) continue;
      Take(provider, provider.default_model);
      choice_.why = std::move(*place);
      return true;
    }
    return false;
  }

  // If no model is named, or only a provider: asks a server on this machine which models it has.
  Status LookForModel() {
    if (choice_.provider.name == "command") return {};
    const bool own_server = loopback_ || (moved_ && !HasKey());
    if (own_server && (unnamed_ || choice_.model.empty())) {
      choice_.ask_server = Choice::AskServer::kYes;
      return {};
    }
    if (!choice_.model.empty()) return {};
    return MakeError(ErrorCode::kConfig, "which model of {0}? Name it: {0}/NAME",
                     choice_.provider.name);
  }

  // True even if no key is used.
  bool HasKey() const {
    const auto is_in = [&](KeyPlaces places) {
      return KeyPlace(choice_.provider, places, environment_, wanted_.config).has_value();
    };
    return !choice_.key.empty() || !wanted_.key_env.empty() || is_in(KeyPlaces::kVariables) ||
           is_in(KeyPlaces::kFiles);
  }

  void Assume() {
    // A preset has its own facts (model/providers/command_client.h), as have the weights.
    const std::string& provider = choice_.provider.name;
    const bool brings_facts = provider == "command" || provider == "local";
    if (choice_.entry.known || brings_facts || choice_.model.empty()) return;
    choice_.assumed = AssumedText(choice_.entry, wanted_.config);
  }

  Status ByName(const std::string& name, std::string why) {
    choice_.why = std::move(why);
    if (const Provider* provider = catalog_.FindProvider(name)) {
      Take(*provider, provider->default_model);
      return {};
    }
    if (const auto split = catalog_.SplitName(name)) {
      Take(*split->provider, split->model);
      return {};
    }
    if (const Entry* entry = FindEntry(catalog_.entries(), "", name)) {
      if (const Provider* provider = catalog_.FindProvider(entry->provider)) {
        Take(*provider, name);
        return {};
      }
    }
    // An alias of an alias is unknown, so there are no cycles.
    const auto alias = wanted_.config.aliases.find(name);
    if (alias != wanted_.config.aliases.end() && !wanted_.config.aliases.count(alias->second)) {
      return ByName(alias->second, fmt::format("{} is {}", name, alias->second));
    }
    if (const Provider* provider = catalog_.ProviderByFamily(name)) {
      Take(*provider, name);
      return {};
    }
    return UnknownName(name);
  }

  Status UnknownName(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [alias, meaning] : wanted_.config.aliases) names.push_back(alias);
    for (const Entry& entry : catalog_.entries()) {
      names.push_back(entry.name);
      names.push_back(entry.provider + "/" + entry.name);
    }
    const std::vector<std::string> near = NearestNames(name, names);
    return MakeError(ErrorCode::kConfig,
                     "unknown model \"{}\"{}; `dossier models list` shows all, PROVIDER/NAME names "
                     "one that is not listed, --base-url takes any name",
                     name, near.empty() ? "" : "; the nearest are " + Join(near, ", "));
  }

  // --base-url: any name is accepted, and only a key given for that address is sent there.
  Result<Choice> ByAddress() {
    choice_.provider = {.name = "openai-compatible", .base_url = WholeAddress(wanted_.base_url)};
    DOSSIER_ASSIGN_OR_RETURN(const Url url, ParseUrl(choice_.provider.base_url));
    choice_.model = wanted_.name;
    choice_.why = "its address is given";
    if (wanted_.name.empty()) choice_.ask_server = Choice::AskServer::kYes;
    DOSSIER_RETURN_IF_ERROR(KeyForAddress(url));
    choice_.entry = EntryAtAddress();
    // The server determines the request format, whoever made its model.
    if (choice_.entry.provider != choice_.provider.name) choice_.entry.form = {};
    choice_.entry.price_input = choice_.entry.price_cached = choice_.entry.price_output = {};
    DOSSIER_RETURN_IF_ERROR(TakeKey(wanted_, environment_, choice_));
    Assume();
    return std::move(choice_);
  }

  bool SpeaksOpenAi(std::string_view name) const {
    const Provider* provider = catalog_.FindProvider(name);
    return provider && provider->speaks_openai();
  }

  // The entry of the provider with that address; else of the model with that name, wherever the
  // same wire format is used, because a model's facts go with it.
  Entry EntryAtAddress() const {
    const std::string& name = choice_.model;
    if (catalog_.FindProvider(choice_.provider.name)) {
      return catalog_.EntryOf(choice_.provider.name, name);
    }
    const std::size_t slash = name.find('/');  // PROVIDER/NAME, as proxies call them
    const std::string_view whole = name;
    const Entry* entry = FindEntry(catalog_.entries(), "", name);
    if (!entry && slash != name.npos) {
      entry = FindEntry(catalog_.entries(), whole.substr(0, slash), whole.substr(slash + 1));
    }
    if (entry && SpeaksOpenAi(entry->provider)) return *entry;
    const Provider* family = catalog_.ProviderByFamily(name);
    if (family && SpeaksOpenAi(family->name)) return catalog_.EntryOf(family->name, name);
    return catalog_.EntryOf("openai-compatible", name);
  }

  // A provider's variables only apply to that provider's own address.
  Status KeyForAddress(const Url& url) {
    for (const Provider& provider : catalog_.providers()) {
      std::string variable;
      const auto own = ParseUrl(MovedTo(provider, &variable).value_or(provider.base_url));
      if (!own || own->origin() != url.origin()) continue;
      choice_.provider.key_variables = provider.key_variables;
      choice_.provider.name = provider.name;
    }
    return {};
  }

  // OPENAI_BASE_URL and similar: the provider's key is meant for that address too.
  std::optional<std::string> MovedTo(const Provider& provider, std::string* variable) const {
    for (const std::string& name : provider.base_url_variables) {
      auto address = Variable(environment_, name);
      if (!address) continue;
      *variable = name;
      return provider.speaks_openai() ? WholeAddress(*address) : *address;
    }
    return std::nullopt;
  }

  Status FollowVariables() {
    std::string variable;
    const auto address = MovedTo(choice_.provider, &variable);
    if (address) {
      choice_.provider.base_url = *address;
      if (!choice_.why.starts_with(variable)) choice_.why += ", at " + variable;
      moved_ = true;
    }
    if (choice_.provider.base_url.empty()) return {};  // a program, not a server
    DOSSIER_ASSIGN_OR_RETURN(const Url url, ParseUrl(choice_.provider.base_url));
    loopback_ = url.is_loopback();
    return {};
  }

  const Catalog& catalog_;
  const Wanted& wanted_;
  const Environment& environment_;
  Choice choice_;
  bool unnamed_ = false;   // no model was named
  bool moved_ = false;     // a variable sets the provider's address
  bool loopback_ = false;  // it is on this machine
};

// Returns the lists that `models refresh` stored, one file per provider.
std::vector<std::string> KeptLists() {
  std::vector<std::string> files;
  const auto data = DataFolder();
  if (!data) return files;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(ModelListFolder(*data), error)) {
    if (file.path().extension() == ".yaml") files.push_back(file.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::optional<CachedPrice> CachedPriceOf(const Entry& entry) {
  using From = CachedPrice::From;
  if (entry.price_cached) return CachedPrice{static_cast<double>(*entry.price_cached)};
  if (!entry.price_input) return std::nullopt;
  const double read = entry.capability.cache.read;  // 1: the rules have no price
  return CachedPrice{static_cast<double>(*entry.price_input) * read,
                     read < 1 ? From::kCacheRules : From::kInput};
}

// The highest price of a cache write, in input prices: Anthropic's for an hour.
constexpr double kDearestWrite = 2;

std::optional<std::int64_t> CostOf(const Usage& usage, const Entry& entry) {
  const assembly::CacheRules& cache = entry.capability.cache;
  const auto part = [](std::int64_t tokens, std::int64_t whole) {
    return std::clamp<std::int64_t>(tokens, 0, whole);
  };
  const std::int64_t cached = part(usage.cached, usage.input);
  const std::int64_t written = part(usage.cache_write, usage.input - cached);
  const std::int64_t written_long = part(usage.cache_write_long, written);
  std::int64_t total = 0;
  const auto add = [&](std::int64_t tokens, const std::optional<std::int64_t>& price) {
    if (tokens == 0) return true;
    std::int64_t product = 0;
    return price && !__builtin_mul_overflow(tokens, *price, &product) &&
           !__builtin_add_overflow(total, product, &total);
  };
  // The prices in the data have few digits, so the product is exact.
  const auto add_share = [&](std::int64_t tokens, const std::optional<double>& price) {
    if (tokens == 0) return true;
    if (!price) return false;
    const long double cost = static_cast<long double>(tokens) * *price;
    return cost < 9e18L && !__builtin_add_overflow(total, std::llround(cost), &total);
  };
  const auto read = CachedPriceOf(entry);
  const auto write = [&](std::size_t index) -> std::optional<double> {
    if (!entry.price_input) return std::nullopt;
    const double factor = index < cache.write.size() ? cache.write[index] : kDearestWrite;
    return factor * static_cast<double>(*entry.price_input);
  };
  const bool known = add(usage.input - cached - written, entry.price_input) &&
                     add(usage.output, entry.price_output) &&
                     add_share(cached, read ? std::optional(read->nano_usd) : std::nullopt) &&
                     add_share(written - written_long, write(0)) &&
                     add_share(written_long, write(1));
  return known ? std::optional<std::int64_t>(total) : std::nullopt;
}

std::optional<TokenPrice> WorstPriceOf(const Entry& entry, const Request& request) {
  if (!entry.price_input || !entry.price_output) return std::nullopt;
  const assembly::CacheRules& cache = entry.capability.cache;
  const auto has_breakpoint = [](const std::vector<assembly::Block>& blocks) {
    return std::any_of(blocks.begin(), blocks.end(),
                       [](const assembly::Block& block) { return block.cache.has_value(); });
  };
  const auto& turns = request.messages.turns;
  const bool writes = cache.mode == assembly::CacheRules::Mode::kAutomatic ||
                      has_breakpoint(request.messages.system) ||
                      std::any_of(turns.begin(), turns.end(), [&](const assembly::Turn& turn) {
                        return has_breakpoint(turn.blocks);
                      });
  double factor = 1;
  if (writes) {
    for (const double write : cache.write) factor = std::max(factor, write);
  }
  const double input = std::ceil(static_cast<double>(*entry.price_input) * factor);
  return TokenPrice{.input = static_cast<std::int64_t>(input), .output = *entry.price_output};
}

std::string ModelListFolder(const std::string& data_folder) { return data_folder + "/model-lists"; }

std::string WholeAddress(std::string_view text) {
  std::string whole(text);
  if (text.find("://") == std::string_view::npos) {
    whole = "http://" + whole;
    const auto url = ParseUrl(whole);
    if (!url) return std::string(text);
    if (!url->is_loopback()) whole.insert(4, "s");
  }
  const auto url = ParseUrl(whole);
  return url && url->path.empty() ? whole + "/v1" : whole;
}

Result<Catalog> Catalog::Load(const std::vector<std::string>& override_files) {
  Catalog catalog;
  const auto built_in = BuiltInAsset("data/models.yaml");
  if (!built_in) return MakeError(ErrorCode::kInternal, "data/models.yaml is not built in");
  DOSSIER_RETURN_IF_ERROR(ReadCatalogFile(*built_in, "data/models.yaml", &catalog.data_));
  for (const std::string& path : override_files) {
    DOSSIER_ASSIGN_OR_RETURN(std::string text, ReadFile(path, 16u << 20));
    DOSSIER_RETURN_IF_ERROR(ReadCatalogFile(text, path, &catalog.data_));
  }
  return catalog;
}

Result<Catalog> Catalog::LoadFor(const UserConfig& config) {
  std::vector<std::string> files = KeptLists();
  const auto lists = static_cast<std::ptrdiff_t>(files.size());
  files.insert(files.end(), config.data_files.begin(), config.data_files.end());
  auto catalog = Load(files);
  if (catalog) return catalog;
  const std::string& message = catalog.error().message;
  const bool in_list = std::any_of(files.begin(), files.begin() + lists,
                                   [&](const auto& file) { return message.starts_with(file); });
  if (!in_list) return catalog;
  return MakeError(catalog.error().code, "{}; `dossier models refresh` writes it anew", message);
}

const Provider* Catalog::FindProvider(std::string_view name) const {
  for (const Provider& provider : data_.providers) {
    const auto& others = provider.other_names;
    const bool other = std::find(others.begin(), others.end(), name) != others.end();
    if (provider.name == name || other) return &provider;
  }
  return nullptr;
}

std::optional<Catalog::ProviderModel> Catalog::SplitName(std::string_view name) const {
  const std::size_t at = name.find('/');
  if (at == std::string_view::npos || at + 1 == name.size()) return std::nullopt;
  const Provider* provider = FindProvider(name.substr(0, at));
  if (!provider) return std::nullopt;
  return ProviderModel{.provider = provider, .model = name.substr(at + 1)};
}

const Provider* Catalog::ProviderByFamily(std::string_view name) const {
  const auto entry = EntryByFamily(data_, "", name);
  return entry ? FindProvider(entry->provider) : nullptr;
}

Entry Catalog::EntryOf(std::string_view provider, std::string_view name) const {
  if (const Entry* entry = FindEntry(data_.entries, provider, name)) return *entry;
  auto by_family = EntryByFamily(data_, provider, name);
  if (by_family && by_family->family != kAnyModel) return std::move(*by_family);
  Entry careful = by_family ? std::move(*by_family) : ConservativeEntry(provider, name);
  const Provider* server = FindProvider(provider);
  // A server tells whether its model sees; a program and weights of this machine do not.
  if (!careful.capability.image_tokens && !(server && server->base_url.empty())) {
    careful.capability.image_tokens = careful.capability.window / kImagesInWindow;
    careful.image_assumed = true;
  }
  if (by_family) return careful;
  // A provider that relays other providers' models ("openai/gpt-4o", "gpt-4o") has their window and
  // tokens, but its own request format.
  const std::string_view own_name = name.substr(name.rfind('/') + 1);
  const Entry* same = FindEntry(data_.entries, "", own_name);
  const auto family = same ? std::nullopt : EntryByFamily(data_, "", own_name);
  if (family) same = &*family;
  if (!same) return careful;
  careful.family = family ? family->family : same->name;
  careful.capability.window = same->capability.window;
  careful.capability.max_output = same->capability.max_output;
  careful.capability.profile = same->capability.profile;
  careful.capability.image_tokens = same->capability.image_tokens;
  careful.image_assumed = same->image_assumed;
  careful.tokenizer = same->tokenizer;
  careful.ratio = same->ratio;
  careful.bytes_per_token = same->bytes_per_token;
  careful.margin = same->margin;
  return careful;
}

std::vector<std::string> Catalog::NamesOf(std::string_view provider) const {
  std::vector<std::string> names;
  for (const Entry& entry : data_.entries) {
    if (entry.provider == provider) names.push_back(entry.name);
  }
  return names;
}

Result<Choice> Catalog::Choose(const Wanted& wanted, const Environment& environment) const {
  return Chooser(*this, wanted, environment).Run();
}

namespace {

constexpr double kLeastMargin = 0.15;  // for a ratio to another vocabulary

Result<tokens::Opened> OpenLocal(const Entry& entry, const tokens::DataPaths& paths) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(const Weights weights, FindWeights(data, entry.name));
  return tokens::Open("gguf:" + weights.path, paths);
}

Result<tokens::Opened> OpenEstimate(const Entry& entry, std::string warning) {
  DOSSIER_ASSIGN_OR_RETURN(
      auto counter,
      tokens::MakeEstimator({.bytes_per_token = entry.bytes_per_token, .margin = entry.margin}));
  return tokens::Opened{.counter = std::move(counter), .warning = std::move(warning)};
}

}  // namespace

Result<tokens::Opened> OpenTokenizer(const Entry& entry, const tokens::DataPaths& paths) {
  if (entry.provider == "local" && entry.tokenizer.empty()) {
    auto own = OpenLocal(entry, paths);
    if (own) return own;
    return OpenEstimate(entry, fmt::format("{}: token counts are estimates within {:.0f} %",
                                           own.error().message, 100 * entry.margin));
  }
  if (entry.tokenizer.empty()) return OpenEstimate(entry, "");
  auto opened = tokens::Open(entry.tokenizer, paths);
  if (!opened) {
    return MakeError(ErrorCode::kConfig, "{}: {}", entry.name, opened.error().message);
  }
  if (!entry.ratio) return opened;
  DOSSIER_ASSIGN_OR_RETURN(
      opened->counter,
      tokens::MakeScaled(opened->counter, *entry.ratio, std::max(entry.margin, kLeastMargin)));
  opened->identity.clear();
  return opened;
}

}  // namespace dossier::model
