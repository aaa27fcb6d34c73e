// Finds files that contain only secrets: private keys, passwords, service tokens. No model sees
// them unless a person names them.
//
//   if (IsSecretFile("/home/ann/project/.env")) LeaveOut();
//   DOSSIER_ASSIGN_OR_RETURN(const auto paths, FindSecretFiles(project));
//   for (const std::string& path : paths) Cover(path);
//
// A file is secret by a name that programs give such files, ignoring case, or by its content: a
// private key (PEM, OpenPGP, SSH2, PuTTY, age), or a client's cluster settings with credentials (a
// kubeconfig).
//
// Thread-safety: functions over files that are only read.

#ifndef DOSSIER_BASE_FILES_SECRET_FILES_H_
#define DOSSIER_BASE_FILES_SECRET_FILES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier {

// Judges by the last name of `path`: ".env", "id_rsa", "*.pem"; not ".env.example".
bool HasSecretName(std::string_view path);

// The same rule as lines of a .gitattributes file, which give secret names the attribute `secret`
// and their exceptions `harmless`.
std::string SecretAttributes(std::string_view secret, std::string_view harmless);

// Judges by content. `text`: all of a file, or its first 4 KiB, which show a key.
bool IsSecretText(std::string_view text);

// Judges by name or content. False for anything but a regular file; links are not followed.
bool IsSecretFile(const std::string& path);

// The most entries that are looked at in one folder.
inline constexpr std::size_t kMostSecretEntries = 200'000;

// Returns the secret files at any depth below `folder`, with `folder` as given in front, sorted.
// Links are not followed; folders that are unreadable or vanish are skipped. Errors: kLimit if
// there are more than `most` entries, so that some may be missed; kIo.
Result<std::vector<std::string>> FindSecretFiles(const std::string& folder,
                                                 std::size_t most = kMostSecretEntries);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_SECRET_FILES_H_
