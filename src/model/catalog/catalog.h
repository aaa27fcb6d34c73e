// The catalogue of models: what exists, what each can do, and which one the user means.
//
//   DOSSIER_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Load(overrides));
//   DOSSIER_ASSIGN_OR_RETURN(Choice choice, catalog.Choose({.name = "gpt-5-mini"}, environment));
//   // model/providers/connect.h
//   DOSSIER_ASSIGN_OR_RETURN(ConnectedModel connection, Connect(choice, options));
//
// Thread-safety: immutable after loading.

#ifndef DOSSIER_MODEL_CATALOG_CATALOG_H_
#define DOSSIER_MODEL_CATALOG_CATALOG_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/assemble.h"
#include "base/result.h"
#include "model/catalog/user_config.h"
#include "model/client/client.h"
#include "model/client/ledger.h"
#include "tokens/files/open.h"

namespace dossier::model {

// Differences of a provider's chat completions from OpenAI's. Only the dialect "openai" reads it.
struct ChatForm {
  std::string prompt_mode;                 // sent as "prompt_mode"; empty: not sent
  std::string seed_name = "seed";          // or random_seed
  std::string required_tool = "required";  // tool_choice if some tool must be called; or any
  bool stream_options = true;              // false: refused, and usage comes without it
};

// One entry of data/models.yaml, where every fact has a date and a source.
struct Entry {
  std::string name, provider;  // "gpt-5-mini", "openai"
  assembly::Capability capability;
  // Encoding for exact counts, "o200k_base"; with a ratio, the encoding whose counts times `ratio`
  // are the estimate. Empty: estimated from bytes.
  std::string tokenizer;
  std::optional<double> ratio;
  double bytes_per_token = 3.3, margin = 0.15;  // for estimates
  // Nano-dollars per token; unset: unknown.
  std::optional<std::int64_t> price_input, price_cached, price_output;
  bool streaming = true, json_schema = false, grammar = false;
  // The parameters that the model accepts; it refuses or ignores all others.
  std::vector<std::string> sampling = {"temperature", "top_p", "seed", "stop"};
  bool tools = false, vision = false, thinking = false;
  // The most tokens of thinking before a reply's text, in addition to the text's cap.
  std::int64_t thinking_tokens = 0;
  bool image_assumed = false;  // no source says that the model sees, or what an image costs
  bool logprobs = false;  // replies can include the log-probabilities of their tokens
  std::string max_tokens_name = "max_tokens";  // or max_completion_tokens
  ChatForm form;
  std::string as_of, source;
  // The family that the facts are from, "gpt-4o*", if the model has no entry of its own.
  std::string family;
  // false: no file has this model; the facts are its family's, or conservative defaults.
  bool known = true;

  bool Takes(std::string_view parameter) const {
    return std::find(sampling.begin(), sampling.end(), parameter) != sampling.end();
  }
};

// The wire formats of the providers, in the order of the table in model/dialects/dialect.cc.
inline constexpr std::array<std::string_view, 3> kDialectNames = {"openai", "anthropic", "gemini"};

// The access data of a provider.
struct Provider {
  std::string name, base_url;                   // "openai", "https://api.openai.com/v1"
  std::string dialect = "openai";               // model/dialects/dialect.h
  std::vector<std::string> other_names;         // as other tools call it, "ollama_chat"
  std::vector<std::string> key_variables;       // checked in order
  std::vector<std::string> base_url_variables;  // the first one that is set replaces base_url
  std::string default_model;
  int concurrency = 16;  // requests in flight, unless the user says otherwise

  bool speaks_openai() const { return dialect == kDialectNames[0]; }
};

// The content of files in the format of data/models.yaml. A family is an entry whose name ends in
// "*": it applies to its provider's models with that prefix and no own entry; the longest name
// wins.
struct CatalogData {
  std::vector<Entry> entries, families;
  std::vector<Provider> providers;
};

struct Wanted {
  std::string name;                                     // "", "NAME" or "PROVIDER/NAME"
  std::string base_url;                                 // --base-url; as WholeAddress takes it
  std::string key_env;                                  // --key-env
  std::string script;                                   // --script: for the scripted model
  UserConfig config;                                    // model/catalog/user_config.h
  std::optional<std::chrono::sys_days> today;           // to warn of old facts; unset: no warning
  enum class Keys { kFind, kNone } keys = Keys::kFind;  // kNone: a replay sends nothing
};

struct Choice {
  Entry entry;
  Provider provider;       // base_url replaced if the user set it
  std::string model;       // as the provider knows it
  std::string key;         // empty: none needed; never logged
  std::string key_source;  // "OPENAI_API_KEY"
  std::string script;
  std::string why;  // "OPENAI_API_KEY is set"
  std::vector<std::string> warnings;
  // Assumptions about an unknown model; users are told once per model. Empty: nothing.
  std::string assumed;
  // kYes: no model was named, and the address is not the provider's own: the models that the server
  // lists take precedence over `model`, which may be empty.
  enum class AskServer { kNo, kYes } ask_server = AskServer::kNo;
};

// The price of a token read from the provider's cache, in nano-dollars. If the table has none, it
// is the input price times the factor of the entry's cache rules, or, without such rules, the input
// price, which is never less than the true price.
struct CachedPrice {
  double nano_usd = 0;
  enum class From { kTable, kCacheRules, kInput } from = From::kTable;
};
// Unset if the input price is also unknown.
std::optional<CachedPrice> CachedPriceOf(const Entry& entry);

// Returns the cost of `usage` by the entry's prices, in nano-dollars; unset if the price of input
// or output is unknown. Cached and written tokens are part of `usage.input`. A cache write without
// a price in the cache rules costs the most that any provider charges.
std::optional<std::int64_t> CostOf(const Usage& usage, const Entry& entry);

// Returns the most that tokens of `request` can cost: nothing is read from the provider's cache,
// and with breakpoints the whole prompt is written to it. Unset if a price is unknown.
std::optional<TokenPrice> WorstPriceOf(const Entry& entry, const Request& request);

// Completes an address as users write it ("localhost:11434"): if it has no scheme, http on this
// machine and https elsewhere; if it has no path, /v1 ("/" is a path).
std::string WholeAddress(std::string_view text);

// Returns the folder where `models refresh` stores the providers' lists, one catalogue file each.
std::string ModelListFolder(const std::string& data_folder);

class Catalog {
 public:
  // Loads the built-in data, then each override file. Errors: kConfig with FILE:LINE:COL.
  static Result<Catalog> Load(const std::vector<std::string>& override_files);

  // Loads the built-in data, the lists stored by `models refresh`, and the files named in the
  // user's config.
  static Result<Catalog> LoadFor(const UserConfig& config);

  // `environment` looks up a variable. Errors: kConfig (unknown model, nearest three), kAuth (no
  // key for a named provider; names the variables checked and the local alternative).
  Result<Choice> Choose(
      const Wanted& wanted,
      const std::function<std::optional<std::string>(std::string_view)>& environment) const;

  // Returns a model's data: its own entry, else its family's, else conservative defaults.
  Entry EntryOf(std::string_view provider, std::string_view name) const;
  // Returns the provider of the family that a bare name belongs to; null: none. Families that match
  // all names of a provider do not count.
  const Provider* ProviderByFamily(std::string_view name) const;
  const Provider* FindProvider(std::string_view name) const;
  // Splits PROVIDER/MODEL; unset if there is no such provider.
  struct ProviderModel {
    const Provider* provider;
    std::string_view model;  // a part of the given name
  };
  std::optional<ProviderModel> SplitName(std::string_view name) const;

  // Returns the names of a provider's models.
  std::vector<std::string> NamesOf(std::string_view provider) const;

  const std::vector<Entry>& entries() const { return data_.entries; }
  const std::vector<Entry>& families() const { return data_.families; }
  const std::vector<Provider>& providers() const { return data_.providers; }

 private:
  CatalogData data_;
};

// Opens the token counter of a model, according to its entry.
//
//   DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened, OpenTokenizer(entry,
//   tokens::DefaultDataPaths()));
//
// A public encoding: exact. With a ratio: its counts times the ratio, with the entry's margin, at
// least 0.15. The local model: the vocabulary of its weights file. Otherwise: by bytes.
// Thread-safety: functions over files.

// Errors: kConfig for an entry with an unknown encoding or a ratio out of range.
Result<tokens::Opened> OpenTokenizer(const Entry& entry, const tokens::DataPaths& paths);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CATALOG_CATALOG_H_
