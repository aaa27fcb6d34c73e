// Files that hold nothing but secrets: private keys, passwords, tokens of services. No model sees
// them unless a person names them.
//
//   if (IsSecretFile("/home/ann/project/.env")) LeaveOut();
//   DOSSIER_ASSIGN_OR_RETURN(const auto paths, FindSecretFiles(project));
//   for (const std::string& path : paths) Cover(path);
//
// A file is secret by the name that programs give such files, in letters of either case, or by what
// it is: a private key (PEM, OpenPGP, SSH2, PuTTY, age), or a client's settings for clusters with
// what logs in there (a kubeconfig).
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

// By the last name of `path` alone: ".env", "id_rsa", "*.pem"; not ".env.example".
bool HasSecretName(std::string_view path);

// By what it is. `text`: all of a file, or its first 4 KiB, in which a key is seen.
bool IsSecretText(std::string_view text);

// By name or content. False for what is no regular file; links are not followed.
bool IsSecretFile(const std::string& path);

// Of one folder: how many entries are looked at.
inline constexpr std::size_t kMostSecretEntries = 200'000;

// The secret files at any depth below `folder`, as that was given, sorted; links are not followed,
// folders that cannot be read, or go meanwhile, are passed over. Errors: kLimit if there are more
// than `most` entries, so that some may be missed; kIo.
Result<std::vector<std::string>> FindSecretFiles(const std::string& folder,
                                                 std::size_t most = kMostSecretEntries);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_SECRET_FILES_H_
