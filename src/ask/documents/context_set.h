// The documents of one question: read, described, kept as files that nothing can change.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto context, LoadContext({{.path = "feed.ndjson"}}, options,
//   cancel)); context->documents()[0].description.records.records;   // known at once
//   DOSSIER_ASSIGN_OR_RETURN(const StoredText* text, context->Stored(0));  // waits for the copy
//
// The description comes first and the copy into the content store goes on in the background, so
// that the first request leaves as soon as the file has been read once. The user's file is never
// mapped: it may shrink. Thread-safety: all const methods from any thread.

#ifndef DOSSIER_ASK_DOCUMENTS_CONTEXT_SET_H_
#define DOSSIER_ASK_DOCUMENTS_CONTEXT_SET_H_

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/result.h"
#include "inspect/containers/sqlite_file.h"
#include "inspect/describe/describe.h"
#include "sandbox/session/session.h"
#include "store/content.h"

namespace dossier::ask {

struct ContextSource {
  std::string path;                 // a file, a folder, or "-"
  std::optional<std::string> text;  // instead of a path
  // Of `text`, of which it says nothing; of a file instead of the last part of its path.
  std::string name;
  std::vector<std::string> notes;  // on `text`, for the model and the user: sentences
  // Of a copy at `path`: the path that the text is known by. `name` is its document's then.
  std::string shown;
  // Of what `text` is a part of, or equals: its records look alike. Null: unknown.
  const inspect::Description* like = nullptr;
  std::optional<inspect::Part> part;  // of `text`, where it is one
  // kNoFile: `name` is what code calls the text, and it is described as one without a name.
  enum class Named : std::uint8_t { kFile, kNoFile } named = Named::kFile;
};

struct ContextOptions {
  inspect::Options inspect;
  // Must outlive the set. Null: texts are kept in memory, and there may be no files.
  store::ContentStore* content = nullptr;
  std::uint64_t max_files = 10'000;
  std::optional<Millis> stdin_silence;  // the longest before more comes; unset: any
  // A larger file is named in the run's journal, not kept in `content`.
  std::uint64_t copy_limit = 64ull << 20;  // bytes
  // Opens a file for reading, for a caller who must see where each really lies; unset: any may be
  // read. Its errors are those of the load.
  std::function<Result<UniqueFd>(const std::string& path)> open;
  // Whether files of a folder that hold secrets are read as well.
  enum class Secrets : std::uint8_t { kLeftOut, kRead } secrets = Secrets::kLeftOut;
  // Set: the keys and passwords in files are replaced by [redacted:KIND] in all that is kept of
  // them. The value is what a person may add so that they are not: "--allow-secrets".
  std::optional<std::string> redact_unless;
};

// A file that is only named: what tells later whether it is still the same.
struct FileReference {
  std::string path;  // absolute
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
};

// The decoded UTF-8 text of a document, mapped from the content store.
struct StoredText {
  UniqueFd fd;
  MappedFile map;
  std::string sha256;
  std::optional<FileReference> named;  // the copy is gone when the set is
  // Of the copy, if the file changed behind its description; else the document's own holds.
  std::optional<inspect::Description> description;
  std::string changed;  // "feed.ndjson changed while it was read (10 bytes, now 12); …"; else empty
  // Of an SQLite file: its bytes, with the two that name a write-ahead log set to say that there is
  // none. `map` is then what its schema says, as text.
  UniqueFd database;
  std::uint64_t database_bytes = 0;
};

struct ContextDocument {
  // Unique within the set: the base name, with its folder where that is needed to tell two apart,
  // or the path below the folder given.
  std::string name;
  std::string path;
  inspect::Description description;
  std::vector<std::string> warnings;            // as StoredText::changed, if that was seen at once
  std::optional<inspect::SqliteFile> database;  // of an SQLite file, which only sql() reads
  // What `inspect` says of the file where code is served something else: of a database, whose
  // `description` is that of its schema, and of a compressed file, how it was packed.
  std::optional<inspect::Description> database_file;
  struct Packed {
    std::string kind;
    std::uint64_t bytes = 0;
  };
  std::optional<Packed> packed;
};

// The description of the file that a document comes from, as `inspect` gives it.
inspect::Description DescriptionOfFile(const ContextDocument& document);

class ContextSet {
 public:
  virtual ~ContextSet() = default;
  // Sorted by name, bytewise.
  virtual const std::vector<ContextDocument>& documents() const = 0;
  virtual std::uint64_t characters() const = 0;
  virtual std::uint64_t bytes() const = 0;
  // What the user should know of how the documents were chosen: a file that was given twice.
  virtual const std::vector<std::string>& notes() const = 0;
  // Files of the folders given that are not among the documents: binary or unreadable ones,
  // secrets, those beyond ContextOptions::max_files as far as they were seen.
  virtual std::uint64_t files_left_out() const = 0;
  // Waits until the copy of document `index` is complete. The pointer lives as long as the set.
  virtual Result<const StoredText*> Stored(std::size_t index) const = 0;
  // Waits for all copies, at most until then; false: some are not complete. Not beside Stored.
  virtual bool WaitForCopies(Clock::Steady until) const = 0;
};

// The SQLite files among the documents, for a session: they stand behind its texts. Waits for the
// copies; the descriptors stay the set's. Errors: as ContextSet::Stored.
Result<std::vector<sandbox::Context>> DatabasesOf(const ContextSet& context);

// Errors: kNotFound, kPermission, kIsDevice, kDamaged (binary), each
// naming the path and the way out.
Result<std::shared_ptr<const ContextSet>> LoadContext(const std::vector<ContextSource>& sources,
                                                      const ContextOptions& options,
                                                      const CancelToken& cancel);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_CONTEXT_SET_H_
