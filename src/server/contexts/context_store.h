// Contexts with durable ids: an id names a content and survives restarts of server, connection and
// machine. Opening the same content again gives the same id.
//
//   ContextStore store({.folder = data_folder});
//   DOSSIER_ASSIGN_OR_RETURN(const auto opened, store.Add({{.path = "/var/a.log"}}, "", {},
//   cancel)); opened->id;                                     // "c3f9a01b2c4d"
//   DOSSIER_ASSIGN_OR_RETURN(const auto again, store.Find("c3f9a01b2c4d", cancel));
//
// On disk: contexts/ID/context.json with the decoded texts beside it (docs/formats/contexts.md). A
// file above the copy limit is not copied: the record has its path, size and time, and once the
// file has changed, the id is no longer found. Texts are mapped files, not memory. A few contexts
// stay open; others are read again on demand. Errors name the id and the nearest existing one.
// Thread-safety: all methods from any thread, and several processes on one folder.

#ifndef DOSSIER_SERVER_CONTEXTS_CONTEXT_STORE_H_
#define DOSSIER_SERVER_CONTEXTS_CONTEXT_STORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ask/documents/context_set.h"
#include "ask/documents/document_service.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::server {

// An open context. Immutable; holding it keeps its texts available.
struct OpenContext {
  std::string id;
  std::string name;  // given by its opener; "" if it has no name
  std::shared_ptr<const ask::ContextSet> set;
  // The documents of the set, in order; answers questions about their positions.
  std::unique_ptr<ask::DocumentService> documents;
  JsonObject summary;              // context, documents, bytes, characters, format
  std::string hint;                // a description for a model's prompt
  std::vector<std::string> notes;  // how the documents were chosen, a sentence each
};

// The properties of a context that are known without opening it.
struct KnownContext {
  std::string id, name;
  JsonObject summary;
  std::vector<std::string> paths;  // of its files, absolute; texts have none
  std::size_t texts = 0;           // documents that came as texts, not from files
  bool redacted = false;           // keys and passwords in its files were replaced
  Clock::Wall used;
};

struct ContextStoreOptions {
  std::string folder;                      // the folder that contains contexts/
  std::uint64_t copy_limit = 64ull << 20;  // bytes; a larger file is named, not copied
  std::size_t open_contexts = 8;           // at most kept open
  std::shared_ptr<const Clock> clock = SystemClock();
};

class ContextStore {
 public:
  explicit ContextStore(ContextStoreOptions options);

  // Reads and stores the sources. This store sets content and copy_limit of `how`. Errors: as
  // ask::LoadContext; kIo, kPermission.
  Result<std::shared_ptr<const OpenContext>> Add(const std::vector<ask::ContextSource>& sources,
                                                 const std::string& name, ask::ContextOptions how,
                                                 const CancelToken& cancel);
  // Errors: kNotFound (no such id, with the nearest; a named file that has changed or is gone);
  // kDamaged (a record that was changed).
  Result<std::shared_ptr<const OpenContext>> Find(std::string_view id, const CancelToken& cancel);
  // Sources from which ask::LoadContext reads the same documents, for another store.
  Result<std::vector<ask::ContextSource>> SourcesOf(std::string_view id) const;
  // Errors: as Find.
  Result<KnownContext> Look(std::string_view id) const;
  // Returns true if Add returned this id in this process.
  bool Added(std::string_view id) const;
  // Returns the most recently used first; damaged records are skipped.
  std::vector<KnownContext> List() const;
  // Drops the context of texts with these documents (name, sha256), unless somebody opened it after
  // `until`. If there is none: success.
  Status Drop(const JsonArray& documents, Clock::Wall until);
  // Drops contexts not used for `unused`, and the least recently used beyond `most`. Returns their
  // ids.
  Result<std::vector<std::string>> Collect(std::chrono::hours unused, std::size_t most);

 private:
  std::string FolderOf(std::string_view id) const;
  std::shared_ptr<const OpenContext> Live(std::string_view id);
  void Remember(const std::shared_ptr<const OpenContext>& context);
  Result<Json> ReadRecord(std::string_view id) const;

  const ContextStoreOptions options_;
  mutable std::mutex mutex_;                              // guards what follows
  std::vector<std::shared_ptr<const OpenContext>> open_;  // most recently used last
  std::set<std::string, std::less<>> added_;
};

// Returns true if `text` has the form of an id: c and 12 hex digits.
bool IsContextId(std::string_view text);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_CONTEXTS_CONTEXT_STORE_H_
