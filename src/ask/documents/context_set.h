// The documents of one question: read, described, and kept as immutable files.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto context, LoadContext({{.path = "feed.ndjson"}}, options,
//   cancel)); context->documents()[0].description.records.records;   // known at once
//   DOSSIER_ASSIGN_OR_RETURN(const StoredText* text, context->Stored(0));  // waits for the copy
//
// The description comes first and the copy into the content store continues in the background, so
// that the first request can be sent once the file has been read. The user's file is never mapped,
// because it may shrink. Thread-safety: all const methods from any thread.

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
  // Name of `text`, which has none; or replaces the last part of a file's path.
  std::string name;
  std::vector<std::string> notes;  // about `text`, for the model and the user: sentences
  // For a copy at `path`: the known path of the text; `name` is then its document's.
  std::string shown;
  // Describes what `text` is a part of or equals: its records look alike. Null: unknown.
  const inspect::Description* like = nullptr;
  std::optional<inspect::TextExcerpt> part;  // set if `text` is a part
  // kNoFile: `name` is what code calls the text, which is described as unnamed.
  enum class Named : std::uint8_t { kFile, kNoFile } named = Named::kFile;
};

struct ContextOptions {
  inspect::Options inspect;
  // Must outlive the set. Null: texts are kept in memory, and files are not allowed.
  store::ContentStore* content = nullptr;
  std::uint64_t max_files = 10'000;
  std::optional<Millis> stdin_silence;  // longest wait for more input; unset: no limit
  // A larger file is only named in the run's journal, not stored in `content`.
  std::uint64_t copy_limit = 64ull << 20;  // bytes
  // Opens a file for reading, for a caller that must check each file's real location; unset: any
  // file may be read. Its errors become those of the load.
  std::function<Result<UniqueFd>(const std::string& path)> open;
  // Controls whether files in folders that contain secrets are read as well.
  enum class Secrets : std::uint8_t { kLeftOut, kRead } secrets = Secrets::kLeftOut;
  // If set, keys and passwords in files are replaced by [redacted:KIND] in everything that is kept.
  // The value is the option that a person can add to prevent that: "--allow-secrets".
  std::optional<std::string> redact_unless;
};

// A file that is only named, with what is needed to tell later whether it is unchanged.
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
  std::optional<FileReference> named;  // the copy is deleted with the set
  // Of the copy, if the file changed after its description; otherwise the document's own is valid.
  std::optional<inspect::Description> description;
  std::string changed;  // such as "feed.ndjson changed while it was read (10 bytes, now 12); …"
  // For an SQLite file: its bytes, with the two that name a write-ahead log set to say that there
  // is none. `map` is then its schema as text.
  UniqueFd database;
  std::uint64_t database_bytes = 0;
};

struct ContextDocument {
  // Unique within the set: the base name, with its folder if needed to tell two apart, or the path
  // below the given folder.
  std::string name;
  std::string path;
  inspect::Description description;
  std::vector<std::string> warnings;            // as StoredText::changed, if known at once
  std::optional<inspect::SqliteFile> database;  // of an SQLite file, readable only by sql()
  // Description by `inspect` of the file if code is served something else: a database, whose
  // `description` is its schema's, or a compressed file, with its compression.
  std::optional<inspect::Description> database_file;
  struct Packed {
    std::string kind;
    std::uint64_t bytes = 0;
  };
  std::optional<Packed> packed;
};

// Returns the description of a document's original file, as `inspect` gives it.
inspect::Description DescriptionOfFile(const ContextDocument& document);

class ContextSet {
 public:
  virtual ~ContextSet() = default;
  // Sorted by name, bytewise.
  virtual const std::vector<ContextDocument>& documents() const = 0;
  virtual std::uint64_t characters() const = 0;
  virtual std::uint64_t bytes() const = 0;
  // Notes for the user on how the documents were chosen, such as a file that was given twice.
  virtual const std::vector<std::string>& notes() const = 0;
  // Number of files in the given folders that are not documents: binary or unreadable files,
  // secrets, and those beyond ContextOptions::max_files as far as they were seen.
  virtual std::uint64_t files_left_out() const = 0;
  // Waits until the copy of document `index` is complete. The pointer is valid as long as the set.
  virtual Result<const StoredText*> Stored(std::size_t index) const = 0;
  // Waits for all copies until then; false if some are incomplete. Not concurrently with Stored.
  virtual bool WaitForCopies(Clock::Steady until) const = 0;
};

// Returns the SQLite files among the documents for a session, where they follow its texts. Waits
// for the copies; the set keeps the descriptors. Errors: as ContextSet::Stored.
Result<std::vector<sandbox::ContextText>> DatabasesOf(const ContextSet& context);

// Errors: kNotFound, kPermission, kIsDevice, kDamaged (binary), each with the path and the remedy.
Result<std::shared_ptr<const ContextSet>> LoadContext(const std::vector<ContextSource>& sources,
                                                      const ContextOptions& options,
                                                      const CancelToken& cancel);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_CONTEXT_SET_H_
