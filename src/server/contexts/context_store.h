// Contexts as durable handles: an id names a content, and outlives server, connection and machine
// restart. Whoever opens the same content gets the same id.
//
//   ContextStore store({.folder = data_folder});
//   DOSSIER_ASSIGN_OR_RETURN(const auto opened, store.Add({{.path = "/var/a.log"}}, "", {},
//   cancel)); opened->id;                                     // "c3f9a01b2c4d"
//   DOSSIER_ASSIGN_OR_RETURN(const auto again, store.Find("c3f9a01b2c4d", cancel));
//
// On disk: contexts/ID/context.json, and the decoded texts beside it (docs/formats/contexts.md). A
// file above the copy limit is named, not copied: its path, size and time stand in the record, and
// once the file has changed the id is gone. Texts stay mapped files, never memory. A few contexts
// stay open; the rest is read again when it is asked for.
// Errors name the id and the nearest one that is there. Thread-safety: all methods from any thread,
// several processes on one folder.

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

// An open context. Immutable; whoever holds it keeps its texts.
struct OpenContext {
  std::string id;
  std::string name;  // what its opener calls it; "" if it has no name
  std::shared_ptr<const ask::ContextSet> set;
  // The documents of the set, in order, and what answers questions about their positions.
  std::unique_ptr<ask::DocumentService> documents;
  JsonObject summary;              // context, documents, bytes, characters, format
  std::string hint;                // what it is, for a model's prompt
  std::vector<std::string> notes;  // of how the documents were chosen, a sentence each
};

// What is known of a context without opening it.
struct KnownContext {
  std::string id, name;
  JsonObject summary;
  std::vector<std::string> paths;  // of its files, absolute; those of texts are not there
  std::size_t texts = 0;           // documents that came as texts, not from files
  bool redacted = false;           // keys and passwords in its files were replaced
  Clock::Wall used;
};

struct ContextStoreOptions {
  std::string folder;                      // contexts/ lies in it
  std::uint64_t copy_limit = 64ull << 20;  // bytes; a larger file is named, not copied
  std::size_t open_contexts = 8;           // kept open at most
  std::shared_ptr<const Clock> clock = SystemClock();
};

class ContextStore {
 public:
  explicit ContextStore(ContextStoreOptions options);

  // Reads the sources and keeps them. Of `how` content and copy_limit are this store's. Errors: as
  // ask::LoadContext; kIo, kPermission.
  Result<std::shared_ptr<const OpenContext>> Add(const std::vector<ask::ContextSource>& sources,
                                                 const std::string& name, ask::ContextOptions how,
                                                 const CancelToken& cancel);
  // Errors: kNotFound (no such id, with the nearest; a named file that has changed or is gone);
  // kDamaged (a record that was changed).
  Result<std::shared_ptr<const OpenContext>> Find(std::string_view id, const CancelToken& cancel);
  // Sources that ask::LoadContext reads the same documents from, for a store of another owner.
  Result<std::vector<ask::ContextSource>> SourcesOf(std::string_view id) const;
  // Errors: as Find.
  Result<KnownContext> Look(std::string_view id) const;
  // Whether Add gave this id here, in this process.
  bool Added(std::string_view id) const;
  // Most recently used first; damaged records are passed over.
  std::vector<KnownContext> List() const;
  // Drops the one of texts that has these documents (name, sha256), unless somebody opened it after
  // `until`. There is none: success.
  Status Drop(const JsonArray& documents, Clock::Wall until);
  // Drops what was not used for `unused`, and the least recently used beyond the newest `most`.
  // Returns the ids.
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

// Whether `text` has the form of an id: c and 12 hex digits.
bool IsContextId(std::string_view text);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_CONTEXTS_CONTEXT_STORE_H_
