// One folder of stored conversations, used by many processes at the same time.
//
//   Store store(folder);
//   DOSSIER_ASSIGN_OR_RETURN(Begun begun, store.BeginCreate("bug-12", cancel));
//   if (begun.creation) {                      // ours to make: run the context commands, ask
//     DOSSIER_ASSIGN_OR_RETURN(Saved saved, store.Create(*std::move(begun.creation), save, turn));
//   } else {                                   // made by another meanwhile: go on with its turn 2
//     DOSSIER_ASSIGN_OR_RETURN(Saved saved, store.Append(*begun.existing, save, turn, cancel));
//   }
//
// A save takes the conversation's lock, reads the file again, adds, and replaces it as a whole: a
// process that is killed leaves the old file or the new one, and parallel turns are all kept.
// Between turns no lock is held. Ids are checked in every call. Thread-safety: all methods from any
// thread.

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

// The right to make a conversation: nobody else can, while it lives.
struct Creation {
  std::string id;
  FileLock lock;
};

// One of the three.
struct Begun {
  std::optional<Creation> creation;
  std::optional<Loaded> existing;
  std::optional<Error> unwritable;  // there is none, and none can be made: why
};

struct Saved {
  std::string id;         // another one if the conversation was deleted meanwhile
  std::int64_t turn = 0;  // its number
  std::vector<std::string> warnings;
};

class Store {
 public:
  static constexpr Millis kLockWait{600'000};

  explicit Store(std::string folder, std::shared_ptr<const Clock> clock = SystemClock(),
                 Millis lock_wait = kLockWait)
      : folder_(std::move(folder)), clock_(std::move(clock)), lock_wait_(lock_wait) {}

  const std::string& folder() const { return folder_; }
  std::string Now() const { return FormatMicros(clock_->WallNow()); }

  // Errors: kNotFound ("no conversation 'X' in FOLDER", nearest ids), kDamaged.
  Result<Loaded> Load(std::string_view id) const;
  // nullopt if there is none.
  Result<std::optional<Loaded>> Find(std::string_view id) const;

  // Waits while another process makes the same conversation. A folder that takes no file is no
  // error: a turn can be answered without it. Errors: kLocked, kCancelled, kDamaged.
  Result<Begun> BeginCreate(std::string_view id, const CancelToken& cancel) const;
  // Writes the new file; its lock ends.
  Result<Saved> Create(Creation creation, const TurnSave& save, const FinishedTurn& turn) const;
  // Keeps all others from saving, as long as it lives (--wait).
  Result<FileLock> Hold(std::string_view id, const CancelToken& cancel) const {
    return LockConversation(folder_, id, lock_wait_, cancel);
  }
  // Adds a turn that was planned on `seen` to what the file holds now. `held`: by Hold, of this
  // conversation; null: the lock is taken here.
  Result<Saved> Append(const Loaded& seen, const TurnSave& save, const FinishedTurn& turn,
                       const CancelToken& cancel, const FileLock* held = nullptr) const;
  // Any other change: under the lock, on the file as it is. Nothing is written if `change` fails or
  // changes nothing.
  using Change = std::function<Status(Document* document)>;
  Status Update(std::string_view id, const Change& change, const CancelToken& cancel) const;

  // Copies the first `at` turns (all if unset) to `as` (an id is made if empty), with the frozen
  // context byte for byte. Returns the new id. Errors: kNotFound ("conversation 'X' exists", a turn
  // that is not there).
  Result<std::string> Fork(std::string_view id, std::optional<std::int64_t> at, std::string_view as,
                           const CancelToken& cancel) const;
  // The conversation goes by another id; the old one is free again. Errors: kNotFound
  // ("conversation 'X' exists"), as Update.
  Status Rename(std::string_view id, std::string_view as, const CancelToken& cancel) const;
  // A conversation that was made elsewhere. One here that is its beginning grows by the rest, and
  // keeps what only this folder knows of it: its title, and all records of another program's.
  // kThere: all of it stands here already; kOther: what has its id is another one, and stays.
  // kPlanned: nothing is written. Errors: kLocked, those of ReadStored and of writing.
  enum class Added { kNew, kLonger, kThere, kOther };
  enum class Adding { kDone, kPlanned };
  Result<Added> Add(const Document& document, Adding adding, const CancelToken& cancel) const;
  // Removes file and lock file. Errors: kNotFound.
  Status Delete(std::string_view id, const CancelToken& cancel) const;
  // "ID.json.bak-YYYYMMDDTHHMMSSZ" beside the file. Returns its path.
  Result<std::string> BackUp(std::string_view id, const CancelToken& cancel) const;

  // All ids, sorted.
  Result<std::vector<std::string>> Ids() const;
  // An id, or the only id that begins with `prefix` (4 characters at least); an exact id wins.
  // Errors: kNotFound, with the candidates if there are several.
  Result<std::string> Resolve(std::string_view prefix) const;

 private:
  tl::unexpected<Error> NoSuch(std::string_view id) const;
  Status Write(std::string_view id, const Document& document) const;

  std::string folder_;
  std::shared_ptr<const Clock> clock_;
  Millis lock_wait_;
};

// Writes a conversation that its own folder did not take into `folder`; if that takes none either,
// or is "", into a new folder of mode 0700 among the temporary files. Returns the file's path.
Result<std::string> KeepElsewhere(const std::string& folder, std::string_view id,
                                  const Document& document);

// Index of the first message of turn `n` (from 1): its n-th message of role user; the number of
// messages if there is no such turn.
std::size_t TurnBegin(const Stored& stored, std::int64_t n);
std::int64_t TurnCount(const Stored& stored);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_STORE_STORE_H_
