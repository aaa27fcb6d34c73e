// Files that hold nothing but secrets: private keys, passwords, tokens of services. No model sees
// them unless a person names them.
//
//   if (IsSecretFile("/home/ann/project/.env")) LeaveOut();
//   for (const std::string& path : FindSecretFiles(project).paths) Cover(path);
//
// A file is secret by the name that programs give such files, or by what it is: readable for its
// owner alone, and a private key in PEM.
//
// Thread-safety: functions over files that are only read.

#ifndef DOSSIER_BASE_FILES_SECRET_FILES_H_
#define DOSSIER_BASE_FILES_SECRET_FILES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

// By the last name of `path` alone: ".env", "id_rsa", "*.pem"; not ".env.example".
bool HasSecretName(std::string_view path);

// Also by what it is. False for what is no regular file; links are not followed.
bool IsSecretFile(const std::string& path);

struct SecretFiles {
  std::vector<std::string> paths;  // below the folder, as `folder` was given, sorted
  bool complete = true;            // false: there are more entries than `most`
};
// At any depth; links are not followed, folders that cannot be read are passed over.
SecretFiles FindSecretFiles(const std::string& folder, std::size_t most = 200'000);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_SECRET_FILES_H_
