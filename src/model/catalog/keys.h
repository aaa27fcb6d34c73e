// Where a provider's key comes from: --key-env, the provider's variables, key_cmd, the desktop's
// secret service, a 0600 file; the first that has one.
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

// The value of a variable without blanks around it. Unset and empty are the same: both are how
// people switch a variable off.
std::optional<std::string> Variable(const Environment& environment, std::string_view name);

struct FoundKey {
  std::string value;   // empty: there is none
  std::string source;  // "OPENAI_API_KEY", "key_cmd pass", a path
};

// Errors: kAuth (a source that is named and fails, a key that is no header value).
Result<FoundKey> FindKey(const Provider& provider, std::string_view key_env,
                         const Environment& environment, const UserConfig& config);

// Where FindKey would find a key of `provider` without --key-env: "OPENAI_API_KEY is set", "the key
// file PATH is there". Nothing is read or run; what concerns all providers (`key_cmd`, `key_file`,
// the secret service) does not count. Unset: nowhere.
enum class KeyPlaces { kVariables, kFiles };
std::optional<std::string> KeyPlace(const Provider& provider, KeyPlaces places,
                                    const Environment& environment, const UserConfig& config);

// The file that holds a provider's key, keys/PROVIDER in the folder of the configuration. Errors:
// kConfig if there is no home.
Result<std::string> KeyFile(const Environment& environment, std::string_view provider);
// Writes `key` there, mode 0600, its folder 0700. Errors: kAuth (no key, or no header value); kIo.
Status WriteKeyFile(const Environment& environment, std::string_view provider, std::string key);
// False if there was none. Errors: kIo.
Result<bool> RemoveKeyFile(const Environment& environment, std::string_view provider);

// "OPENAI_API_KEY is not set and there is no file …": what FindKey looked at, for messages.
std::string LookedAt(const Provider& provider, const Environment& environment);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CATALOG_KEYS_H_
