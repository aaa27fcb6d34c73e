// Finds a provider's key: from --key-env, the provider's variables, key_cmd, the desktop's secret
// service, or a 0600 file; the first source that has one is used.
//
//   DOSSIER_ASSIGN_OR_RETURN(FoundKey key, FindKey(provider, {.key_env = "MY_KEY"}, environment,
//   config)); key.source;    // "MY_KEY": for messages; the value never gets into one
//
// Thread-safety: pure functions over the environment, files and programs.

#ifndef DOSSIER_MODEL_CATALOG_KEYS_H_
#define DOSSIER_MODEL_CATALOG_KEYS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/catalog/catalog.h"
#include "model/catalog/user_config.h"

namespace dossier::model {

using Environment = std::function<std::optional<std::string>(std::string_view)>;

// Returns the value of a variable without surrounding blanks. An empty value counts as unset,
// because users switch variables off in either way.
std::optional<std::string> Variable(const Environment& environment, std::string_view name);

struct FoundKey {
  std::string value;   // empty: none found
  std::string source;  // "OPENAI_API_KEY", "key_cmd pass", a path
};

// Errors: kAuth (a named source that fails, or a key that cannot be a header value).
Result<FoundKey> FindKey(const Provider& provider, std::string_view key_env,
                         const Environment& environment, const UserConfig& config);

// Returns where FindKey would find a key of `provider` without --key-env: "OPENAI_API_KEY is set",
// "the key file PATH is there". Nothing is read or run; sources for all providers (`key_cmd`,
// `key_file`, the secret service) do not count. Unset: nowhere.
enum class KeyPlaces { kVariables, kFiles };
std::optional<std::string> KeyPlace(const Provider& provider, KeyPlaces places,
                                    const Environment& environment, const UserConfig& config);

// Returns a provider's key file: keys/PROVIDER in the configuration folder. Errors: kConfig if
// there is no home.
Result<std::string> KeyFile(const Environment& environment, std::string_view provider);
// Writes `key` there, mode 0600, folder 0700. Errors: kAuth (no key, no valid header value); kIo.
Status WriteKeyFile(const Environment& environment, std::string_view provider, std::string key);
// Returns false if there was none. Errors: kIo.
Result<bool> RemoveKeyFile(const Environment& environment, std::string_view provider);

// The places that FindKey checked, for messages: "OPENAI_API_KEY is not set and there is no …".
std::string LookedAt(const Provider& provider, const Environment& environment);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CATALOG_KEYS_H_
