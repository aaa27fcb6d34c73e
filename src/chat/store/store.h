// One folder of stored conversations, which many processes may use at the same time.
//
//   ConversationStore store(folder);
//   DOSSIER_ASSIGN_OR_RETURN(Begun begun, store.BeginCreate("bug-12", cancel));
//   if (begun.creation) {                      // ours to make: run the context commands, ask
//     DOSSIER_ASSIGN_OR_RETURN(Saved saved, store.Create(*std::move(begun.creation), save, turn));
//   } else {                                   // made by another meanwhile: go on with its turn 2
//     DOSSIER_ASSIGN_OR_RETURN(Saved saved, store.Append(*begun.existing, save, turn, cancel));
//   }
//
// A save takes the conversation's lock, reads the file again, adds the turn, and replaces the whole
// file: a killed process leaves the old file or the new one, and parallel turns are all kept. No
// lock is held between turns. Every call checks ids. Thread-safety: all methods from any thread.

#ifndef DOSSIER_CHAT_STORE_STORE_H_
#define DOSSIER_CHAT_STORE_STORE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "chat/document/document.h"
#include "chat/document/folder.h"
#include "chat/document/stored.h"
#include "chat/store/save.h"

namespace dossier::chat {

struct Loaded {
  std::string id;
  Document document;
  Stored stored;
};

// The right to create a conversation: nobody else can create it while this object lives.
struct Creation {
  std::string id;
  FileLock lock;
};

// Exactly one of the three is set.
struct Begun {
  std::optional<Creation> creation;
  std::optional<Loaded> existing;
  std::optional<Error> unwritable;  // the conversation does not exist and cannot be created: why
};

struct Saved {
  std::string id;         // a different one if the conversation was deleted meanwhile
  std::int64_t turn = 0;  // its number
  std::vector<std::string> warnings;
};

class ConversationStore {
 public:
  static constexpr Millis kLockWait{600'000};

  explicit ConversationStore(std::string folder, std::shared_ptr<const Clock> clock = SystemClock(),
                             Millis lock_wait = kLockWait)
      : folder_(std::move(folder)), clock_(std::move(clock)), lock_wait_(lock_wait) {}

  const std::string& folder() const { return folder_; }
  std::string Now() const { return FormatMicros(clock_->WallNow()); }

  // Errors: kNotFound ("no conversation 'X' in FOLDER", nearest ids), kDamaged.
  Result<Loaded> Load(std::string_view id) const;
  // Returns nullopt if the conversation does not exist.
  Result<std::optional<Loaded>> Find(std::string_view id) const;

  // Waits while another process creates the same conversation. A folder that cannot be written is
  // no error: a turn can be answered without it. Errors: kLocked, kCancelled, kDamaged.
  Result<Begun> BeginCreate(std::string_view id, const CancelToken& cancel) const;
  // Writes the new file and releases its lock.
  Result<Saved> Create(Creation creation, const TurnSave& save, const FinishedTurn& turn) const;
  // Keeps all others from saving while the lock lives (--wait).
  Result<FileLock> Hold(std::string_view id, const CancelToken& cancel) const {
    return LockConversation(folder_, id, lock_wait_, cancel);
  }
  // Adds a turn that was planned from `seen` to the current file. `held` is the lock that Hold
  // returned for this conversation; null: the lock is taken here.
  Result<Saved> Append(const Loaded& seen, const TurnSave& save, const FinishedTurn& turn,
                       const CancelToken& cancel, const FileLock* held = nullptr) const;
  // Makes any other change to the current file, under the lock. Nothing is written if `change`
  // fails or changes nothing.
  using Change = std::function<Status(Document* document)>;
  Status Update(std::string_view id, const Change& change, const CancelToken& cancel) const;

  // Copies the first `at` turns (all if unset) to the id `as` (generated if empty), with the frozen
  // context byte for byte. Returns the new id. Errors: kNotFound ("conversation 'X' exists", or
  // there is no such turn).
  Result<std::string> Fork(std::string_view id, std::optional<std::int64_t> at, std::string_view as,
                           const CancelToken& cancel) const;
  // Renames the conversation; the old id is free again. Errors: kNotFound ("conversation 'X'
  // exists"), as Update.
  Status Rename(std::string_view id, std::string_view as, const CancelToken& cancel) const;
  // Adds a conversation made elsewhere. If one here is its beginning, the rest is appended; what
  // only this folder has stays: the title, all records of another program. kThere: it is here in
  // full already; kOther: its id belongs to another conversation, which stays. kPlanned: nothing is
  // written. Errors: kLocked, those of ReadStored and of writing.
  enum class Added { kNew, kLonger, kThere, kOther };
  enum class Adding { kDone, kPlanned };
  Result<Added> Add(const Document& document, Adding adding, const CancelToken& cancel) const;
  // Removes file and lock file. Errors: kNotFound.
  Status Delete(std::string_view id, const CancelToken& cancel) const;
  // Copies the file to "ID.json.bak-YYYYMMDDTHHMMSSZ" beside it; a second copy in a second has
  // "-2" behind that. Returns the path of the copy.
  Result<std::string> BackUp(std::string_view id, const CancelToken& cancel) const;

  // Returns all ids, sorted.
  Result<std::vector<std::string>> Ids() const;
  // Returns the exact id, or else the only id that begins with `prefix` (at least 4 characters).
  // Errors: kNotFound, with the candidates if there are several.
  Result<std::string> Resolve(std::string_view prefix) const;

 private:
  tl::unexpected<Error> NoSuch(std::string_view id) const;
  Status Write(std::string_view id, const Document& document) const;

  std::string folder_;
  std::shared_ptr<const Clock> clock_;
  Millis lock_wait_;
};

// Writes a conversation that could not be saved in its own folder to `folder`; if that fails too,
// or is "", to a new folder of mode 0700 in the temporary folder. Returns the file's path.
Result<std::string> KeepElsewhere(const std::string& folder, std::string_view id,
                                  const Document& document);

// Returns the index of the first message of turn `n` (from 1), its n-th user message, or the number
// of messages if there is no such turn.
std::size_t TurnBegin(const Stored& stored, std::int64_t n);
std::int64_t TurnCount(const Stored& stored);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_STORE_STORE_H_
