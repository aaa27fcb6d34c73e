// Which models there are, what each can do, and which one is meant.
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

// Where a provider's chat completions differ from OpenAI's own. Only the dialect "openai" reads it.
struct ChatForm {
  std::string prompt_mode;                 // sent as "prompt_mode"; empty: not sent
  std::string seed_name = "seed";          // or random_seed
  std::string required_tool = "required";  // tool_choice where some tool must be called; or any
  bool stream_options = true;              // false: refused, and usage comes unasked
};

// One entry of data/models.yaml. Every fact has a date and a source there.
struct Entry {
  std::string name, provider;  // "gpt-5-mini", "openai"
  assembly::Capability capability;
  // Encoding of exact counts, "o200k_base"; with a ratio, the one whose counts times `ratio` are
  // the estimate. Empty: by bytes.
  std::string tokenizer;
  std::optional<double> ratio;
  double bytes_per_token = 3.3, margin = 0.15;  // for estimates
  // Nano-dollars for one token; unset: unknown.
  std::optional<std::int64_t> price_input, price_cached, price_output;
  bool streaming = true, json_schema = false, grammar = false;
  // The parameters that the model takes; it refuses the others or overlooks them.
  std::vector<std::string> sampling = {"temperature", "top_p", "seed", "stop"};
  bool tools = false, vision = false, thinking = false;
  // What a reply may spend on thinking before its text begins, on top of the text's own cap.
  std::int64_t thinking_tokens = 0;
  bool logprobs = false;  // replies can tell the log-probabilities of their tokens
  std::string max_tokens_name = "max_tokens";  // or max_completion_tokens
  ChatForm form;
  std::string as_of, source;
  // The family whose facts these are, "gpt-4o*", where the model has no entry of its own.
  std::string family;
  // false: no file knows this very model; the facts are its family's, or careful ones.
  bool known = true;

  bool Takes(std::string_view parameter) const {
    return std::find(sampling.begin(), sampling.end(), parameter) != sampling.end();
  }
};

// The wire formats that providers speak, in the order of the table in model/dialects/dialect.cc.
inline constexpr std::array<std::string_view, 3> kDialectNames = {"openai", "anthropic", "gemini"};

// How to reach a provider.
struct Provider {
  std::string name, base_url;                   // "openai", "https://api.openai.com/v1"
  std::string dialect = "openai";               // model/dialects/dialect.h
  std::vector<std::string> key_variables;       // looked at in order
  std::vector<std::string> base_url_variables;  // the first that is set moves the provider
  std::string default_model;
  int concurrency = 16;  // requests in flight, unless the user says otherwise

  bool speaks_openai() const { return dialect == kDialectNames[0]; }
};

// What files of the form of data/models.yaml say. A family is an entry whose name ends in "*": it
// counts for every model of its provider whose name begins so and that has no entry of its own; the
// longest name wins.
struct CatalogData {
  std::vector<Entry> entries, families;
  std::vector<Provider> providers;
};

struct Wanted {
  std::string name;                                     // "", "NAME" or "PROVIDER/NAME"
  std::string base_url;                                 // --base-url; as WholeAddress takes it
  std::string key_env;                                  // --key-env
  std::string script;                                   // --script: of the scripted model
  UserConfig config;                                    // model/catalog/user_config.h
  std::optional<std::chrono::sys_days> today;           // to warn of old facts; unset: no warning
  enum class Keys { kFind, kNone } keys = Keys::kFind;  // kNone: a replay sends nothing
};

struct Choice {
  Entry entry;
  Provider provider;       // base_url overridden where the user said so
  std::string model;       // as the provider knows it
  std::string key;         // empty: none needed; never logged
  std::string key_source;  // "OPENAI_API_KEY"
  std::string script;
  std::string why;  // "OPENAI_API_KEY is set"
  std::vector<std::string> warnings;
  // What is assumed of a model that no file knows; a person is told it once a model. Empty:
  // nothing.
  std::string assumed;
  // kYes: nobody named a model, and the address is not the provider's own: what the server lists
  // counts more than `model`, which may be empty.
  enum class AskServer { kNo, kYes } ask_server = AskServer::kNo;
};

// What a token costs that was read from the provider's cache, in nano-dollars. Where the table has
// no price for it, it is the input price times what the entry's cache rules say, and where these
// say nothing the input price itself, which is never less than the true one.
struct CachedPrice {
  double nano_usd = 0;
  enum class From { kTable, kCacheRules, kInput } from = From::kTable;
};
// Unset if the input price is unknown, too.
std::optional<CachedPrice> CachedPriceOf(const Entry& entry);

// The cost of `usage` by the entry's prices, in nano-dollars; unset if that of input or output is
// unknown. Cached and written tokens are part of `usage.input`. Tokens that were written to the
// cache at a price that the cache rules do not say cost the most that any provider asks.
std::optional<std::int64_t> CostOf(const Usage& usage, const Entry& entry);

// The most that tokens of `request` can cost: nothing is read from the provider's cache, and with
// breakpoints all of the prompt is written to it. Unset if a price is unknown.
std::optional<TokenPrice> WorstPriceOf(const Entry& entry, const Request& request);

// An address as people write it, "localhost:11434": http on this machine and https elsewhere where
// no scheme stands there, and /v1 where there is no path ("/" is one).
std::string WholeAddress(std::string_view text);

// Where `models refresh` keeps what providers list, one file of the catalog's form for each.
std::string ModelListFolder(const std::string& data_folder);

class Catalog {
 public:
  // The built-in data/models.yaml, then each override file. Errors: kConfig with FILE:LINE:COL.
  static Result<Catalog> Load(const std::vector<std::string>& override_files);

  // The built-in data, the lists that `models refresh` has kept, and the files that the user's
  // config names.
  static Result<Catalog> LoadFor(const UserConfig& config);

  // `environment` looks a variable up. Errors: kConfig (unknown model, nearest three), kAuth (no
  // key for a named provider; the variables looked at, the local way).
  Result<Choice> Choose(
      const Wanted& wanted,
      const std::function<std::optional<std::string>(std::string_view)>& environment) const;

  // What is known of a model: by its own entry, else its family's, else careful defaults.
  Entry EntryOf(std::string_view provider, std::string_view name) const;
  // The provider of the family that a bare name belongs to; null: none. Families that take every
  // name of a provider do not count.
  const Provider* ProviderByFamily(std::string_view name) const;
  const Provider* FindProvider(std::string_view name) const;
  // Of PROVIDER/MODEL; unset where there is no such provider.
  struct ProviderModel {
    const Provider* provider;
    std::string_view model;  // of the name that was given
  };
  std::optional<ProviderModel> SplitName(std::string_view name) const;

  // The names of a provider's models.
  std::vector<std::string> NamesOf(std::string_view provider) const;

  const std::vector<Entry>& entries() const { return data_.entries; }
  const std::vector<Entry>& families() const { return data_.families; }
  const std::vector<Provider>& providers() const { return data_.providers; }

 private:
  CatalogData data_;
};

// The counter of a model, by what its entry says of its tokenizer.
//
//   DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened, OpenTokenizer(entry,
//   tokens::DefaultDataPaths()));
//
// A public encoding: exact. With a ratio: its counts times that, within the entry's margin, 0.15 at
// least. The local model: the vocabulary of its own weights file. Else by bytes. Thread-safety:
// functions over files.

// Errors: kConfig for an entry that names no known encoding or a ratio out of range.
Result<tokens::Opened> OpenTokenizer(const Entry& entry, const tokens::DataPaths& paths);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CATALOG_CATALOG_H_
