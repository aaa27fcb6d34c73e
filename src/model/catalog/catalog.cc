#include "model/catalog/catalog.h"

#include <charconv>
#include <cmath>

#include "base/assets.h"
#include "base/files/file.h"
#include "base/net/url.h"
#include "base/text/text.h"
#include "model/catalog/catalog_reader.h"
#include "model/catalog/keys.h"

namespace dossier::model {
namespace {

const Provider* FindProvider(const std::vector<Provider>& providers, std::string_view name) {
  for (const Provider& provider : providers) {
    if (provider.name == name) return &provider;
  }
  return nullptr;
}

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
  DOSSIER_ASSIGN_OR_RETURN(Key key,
                           FindKey(choice.provider, wanted.key_env, environment, wanted.config));
  choice.key = std::move(key.value);
  choice.key_source = std::move(key.source);
  return {};
}

tl::unexpected<Error> NoKey(const Provider& provider, const Environment& environment) {
  return MakeError(
      ErrorCode::kAuth,
      "no key for {}: {}; `dossier models list` shows what can be used, and `-m local` "
      "needs no key",
      provider.name, LookedAt(provider, environment));
}

std::string UnknownWarning(const Entry& entry, const UserConfig& config) {
  return fmt::format(
      "{} is not in the model data: taken as window {}, output {}, roles alternating, profile {}; "
      "say better in a file like data/models.yaml, named in {} as models: {{data: [FILE]}}",
      entry.name, GroupDigits(static_cast<std::uint64_t>(entry.capability.window)),
      GroupDigits(static_cast<std::uint64_t>(entry.capability.max_output)),
      entry.capability.profile,
      config.path.empty() ? "~/.config/dossier/dossier.yml" : config.path);
}

// Facts are good for 180 days.
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
    const bool keyless = wanted_.keys == Wanted::Keys::kNone || loopback_;
    if (choice_.key.empty() && NeedsKey(choice_.provider) && !keyless) {
      return NoKey(choice_.provider, environment_);
    }
    return std::move(choice_);
  }

 private:
  void Take(const Provider& provider, std::string_view name) {
    choice_.provider = provider;
    choice_.model = std::string(name);
    if (const Entry* entry = FindEntry(catalog_.entries(), provider.name, name)) {
      choice_.entry = *entry;
    } else {
      choice_.entry = ConservativeEntry(provider.name, name);
      // A preset brings its own facts (model/providers/command_preset.h).
      if (provider.name != "command") {
        choice_.warnings.push_back(UnknownWarning(choice_.entry, wanted_.config));
      }
    }
    if (IsOld(choice_.entry.as_of, wanted_.today)) {
      choice_.warnings.push_back(fmt::format(
          "what is known about {} is of {}, more than 180 days ago: prices and limits may differ",
          choice_.entry.name, choice_.entry.as_of));
    }
  }

  Status ByEnvironment() {
    for (const Provider& provider : catalog_.providers()) {
      for (const std::string& variable : provider.key_variables) {
        if (!Variable(environment_, variable)) continue;
        Take(provider, provider.default_model);
        choice_.why = variable + " is set";
        return {};
      }
    }
    const Provider* local = FindProvider(catalog_.providers(), "local");
    if (!local) return MakeError(ErrorCode::kConfig, "the model data has no provider \"local\"");
    Take(*local, local->default_model);
    choice_.why = "no key of a provider is set";
    return {};
  }

  Status ByName(const std::string& name, std::string why) {
    choice_.why = std::move(why);
    if (const Provider* provider = FindProvider(catalog_.providers(), name)) {
      Take(*provider, provider->default_model);
      return {};
    }
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
      const Provider* provider =
          FindProvider(catalog_.providers(), std::string_view(name).substr(0, slash));
      if (provider && slash + 1 < name.size()) {
        Take(*provider, std::string_view(name).substr(slash + 1));
        return {};
      }
    }
    if (const Entry* entry = FindEntry(catalog_.entries(), "", name)) {
      if (const Provider* provider = FindProvider(catalog_.providers(), entry->provider)) {
        Take(*provider, name);
        return {};
      }
    }
    // An alias of an alias is unknown, so they cannot turn in a circle.
    const auto alias = wanted_.config.aliases.find(name);
    if (alias != wanted_.config.aliases.end() && !wanted_.config.aliases.count(alias->second)) {
      return ByName(alias->second, fmt::format("{} is {}", name, alias->second));
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

  // --base-url: any name passes, and no key goes there that was not given for it.
  Result<Choice> ByAddress() {
    DOSSIER_ASSIGN_OR_RETURN(const Url url, ParseUrl(wanted_.base_url));
    if (wanted_.name.empty()) {
      return MakeError(ErrorCode::kConfig, "--base-url needs the model's name, by -m NAME");
    }
    choice_.provider = {.name = "openai-compatible", .base_url = wanted_.base_url};
    choice_.model = wanted_.name;
    choice_.why = "--base-url";
    if (const Entry* entry = FindEntry(catalog_.entries(), "", wanted_.name);
        entry && SpeaksOpenAi(entry->provider)) {
      choice_.entry = *entry;
      choice_.entry.price_input = choice_.entry.price_cached = choice_.entry.price_output = {};
    } else {
      choice_.entry = ConservativeEntry("openai-compatible", wanted_.name);
      choice_.warnings.push_back(UnknownWarning(choice_.entry, wanted_.config));
    }
    DOSSIER_RETURN_IF_ERROR(KeyForAddress(url));
    DOSSIER_RETURN_IF_ERROR(TakeKey(wanted_, environment_, choice_));
    return std::move(choice_);
  }

  bool SpeaksOpenAi(std::string_view name) const {
    const Provider* provider = FindProvider(catalog_.providers(), name);
    return provider && provider->dialect == "openai";
  }

  // A provider's variables count only for that provider's own address.
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

  // OPENAI_BASE_URL and its like: the provider's key is meant for that address too.
  std::optional<std::string> MovedTo(const Provider& provider, std::string* variable) const {
    for (const std::string& name : provider.base_url_variables) {
      auto address = Variable(environment_, name);
      if (!address) continue;
      *variable = name;
      return address;
    }
    return std::nullopt;
  }

  Status FollowVariables() {
    std::string variable;
    const auto address = MovedTo(choice_.provider, &variable);
    if (!address) return {};
    DOSSIER_ASSIGN_OR_RETURN(const Url url, ParseUrl(*address));
    choice_.provider.base_url = *address;
    loopback_ = url.is_loopback();
    choice_.why += ", at " + variable;
    return {};
  }

  const Catalog& catalog_;
  const Wanted& wanted_;
  const Environment& environment_;
  Choice choice_;
  bool loopback_ = false;
};

}  // namespace

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
  // In input prices; the factors of the data have few digits, so the product is exact.
  const auto add_share = [&](std::int64_t tokens, const std::optional<double>& factor) {
    if (tokens == 0) return true;
    if (!entry.price_input || !factor) return false;
    const long double cost =
        static_cast<long double>(tokens) * static_cast<long double>(*entry.price_input) * *factor;
    return cost < 9e18L && !__builtin_add_overflow(total, std::llround(cost), &total);
  };
  const auto read = cache.read < 1 ? std::optional(cache.read) : std::nullopt;  // 1: not said
  const auto write = [&](std::size_t index) {
    return index < cache.write.size() ? std::optional(cache.write[index]) : std::nullopt;
  };
  const bool known =
      add(usage.input - cached - written, entry.price_input) &&
      add(usage.output, entry.price_output) &&
      (entry.price_cached ? add(cached, entry.price_cached) : add_share(cached, read)) &&
      add_share(written - written_long, write(0)) && add_share(written_long, write(1));
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

Result<Catalog> Catalog::Load(const std::vector<std::string>& override_files) {
  Catalog catalog;
  const auto built_in = BuiltInAsset("data/models.yaml");
  if (!built_in) return MakeError(ErrorCode::kInternal, "data/models.yaml is not built in");
  DOSSIER_RETURN_IF_ERROR(
      ReadCatalogFile(*built_in, "data/models.yaml", &catalog.entries_, &catalog.providers_));
  for (const std::string& path : override_files) {
    DOSSIER_ASSIGN_OR_RETURN(std::string text, ReadFile(path, 16u << 20));
    DOSSIER_RETURN_IF_ERROR(ReadCatalogFile(text, path, &catalog.entries_, &catalog.providers_));
  }
  return catalog;
}

std::vector<std::string> Catalog::NamesOf(std::string_view provider) const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (entry.provider == provider) names.push_back(entry.name);
  }
  return names;
}

Result<Choice> Catalog::Choose(const Wanted& wanted, const Environment& environment) const {
  return Chooser(*this, wanted, environment).Run();
}

}  // namespace dossier::model
