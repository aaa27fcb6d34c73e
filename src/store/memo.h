// Results by key, on top of the content store: what was computed once need not be computed again.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto memo, Memo::Open(folder, content));
//   if (auto known = memo->Get(key)) Use(*known);
//   DOSSIER_RETURN_IF_ERROR(memo->Put(key, text));
//
// Layout on disk: memo/ab/abcdef…, a symbolic link whose target is the hash of a stored body. A
// link is made by one system call and its body is checked by its hash, so a process killed at any
// point leaves an entry that is whole or absent. Several processes may use one folder; the last Put
// of a key stands. Nothing is ever removed. Thread-safety: all methods from any thread.

#ifndef DOSSIER_STORE_MEMO_H_
#define DOSSIER_STORE_MEMO_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/content.h"

namespace dossier::store {

class Memo {
 public:
  // Makes `folder`/memo if needed. `content` must outlive the object. Errors: kIo, kPermission.
  static Result<std::unique_ptr<Memo>> Open(const std::string& folder, ContentStore& content);

  // `key`: 64 hex digits, a SHA-256. None if nothing is known, or what was stored is damaged.
  std::optional<std::string> Get(std::string_view key) const;
  // A text with a secret in it is not stored, which is no error (Contract 2).
  // Errors: kInvalidArgument (no such key); kIo with path when the disk is full.
  Status Put(std::string_view key, std::string_view text) const;

 private:
  Memo(std::string folder, ContentStore& content) : folder_(std::move(folder)), content_(content) {}
  // Empty if `key` is none.
  std::string PathOf(std::string_view key) const;

  const std::string folder_;
  ContentStore& content_;
};

}  // namespace dossier::store

#endif  // DOSSIER_STORE_MEMO_H_
