#include "base/text/secret_variables.h"

#include <algorithm>
#include <string>

#include "base/text/redact.h"
#include "base/text/text.h"

namespace dossier {
namespace {

constexpr std::string_view kAnywhere[] = {"key", "token", "secret", "pass", "credential", "jwt"};
constexpr std::string_view kLastWord[] = {"pat", "pwd", "creds", "cred", "auth"};

bool EndsInWord(std::string_view name, std::string_view word) {
  if (!name.ends_with(word)) return false;
  return name.size() == word.size() || name[name.size() - word.size() - 1] == '_';
}

// scheme://user:password@host. Neither part may hold a mark that ends the authority of a URL.
bool HoldsUrlWithPassword(std::string_view value) {
  for (std::size_t at = value.find("://"); at != std::string_view::npos;
       at = value.find("://", at + 1)) {
    const std::string_view rest = value.substr(at + 3);
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?# \t\n\"'"));
    const std::size_t host = authority.rfind('@');
    if (host == std::string_view::npos) continue;
    const std::size_t colon = authority.find(':');
    if (colon < host && colon + 1 < host) return true;
  }
  return false;
}

}  // namespace

bool IsSecretVariableName(std::string_view name) {
  const std::string lower = ToLowerAscii(name);
  if (lower == "pwd" || lower.ends_with("askpass")) return false;
  return std::any_of(
             std::begin(kAnywhere), std::end(kAnywhere),
             [&](std::string_view word) { return lower.find(word) != std::string::npos; }) ||
         std::any_of(std::begin(kLastWord), std::end(kLastWord),
                     [&](std::string_view word) { return EndsInWord(lower, word); });
}

bool HoldsSecretValue(std::string_view value) {
  return HoldsUrlWithPassword(value) || !FindSecrets(value).empty();
}

bool IsSecretVariable(std::string_view name, std::string_view value) {
  return IsSecretVariableName(name) || HoldsSecretValue(value);
}

}  // namespace dossier
