// Keys that a server over HTTP takes: a file of names and hashes, never of keys.
//
//   DOSSIER_ASSIGN_OR_RETURN(const KeyRing keys, KeyRing::Load("/home/ann/.config/dossier/keys"));
//   keys.Find("Bearer dsk_…");   // "ann", or nullptr
//
// A line is `NAME SHA256 SCOPES CREATED`, and more that this does not read; # begins a comment.
// Only the owner may read the file (mode 0600). Errors: kRefused (another mode or owner), kConfig
// with FILE:LINE, kNotFound. Thread-safety: immutable.

#ifndef DOSSIER_SERVER_KEY_RING_H_
#define DOSSIER_SERVER_KEY_RING_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier::server {

struct AccessKey {
  std::string name, sha256;
  std::vector<std::string> scopes;  // read, run, admin
};

class KeyRing {
 public:
  static Result<KeyRing> Load(const std::string& path);

  // By the value of the header Authorization. Takes the same time for every wrong key.
  const AccessKey* Find(std::string_view authorization) const;

 private:
  std::vector<AccessKey> keys_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_KEY_RING_H_
