// Stored responses that can be read again or continued: their events as they were sent, the
// resulting object, and the messages, for the response that continues them.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto entry, book.Begin(id, owner, messages));
//   entry->Add("response.created", {{"response", object}});
//   entry->Finish(object, said);
//   entry->Read(5, seen, cancel);   // the events behind number 5, until the last
//
// On disk: FOLDER/ID.jsonl, the head (owner, messages), then the events, then the end. A response
// whose process died has no end and is `failed`. Thread-safety: all methods from any thread.

#ifndef DOSSIER_SERVER_HTTP_RESPONSE_BOOK_H_
#define DOSSIER_SERVER_HTTP_RESPONSE_BOOK_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::server {

class StoredResponse {
 public:
  enum class Kept : std::uint8_t { kOnDisk, kInMemory };

  const std::string& owner() const { return owner_; }
  // The messages of the request, followed by the answer once there is one.
  JsonArray Messages() const;
  JsonObject Object() const;  // the current state
  bool ended() const;
  std::size_t bytes() const;  // written so far; roughly its size in memory

  // Adds the next event with its number; returns its text for a stream.
  std::string Add(std::string_view type, JsonObject data);
  void Update(JsonObject object);
  void Finish(JsonObject object, std::string_view said);
  // Calls `see` with the text of each event after number `after`, until the last one or `cancel`.
  void Read(std::int64_t after, const std::function<void(std::string text)>& see,
            const CancelToken& cancel);
  // Sets the function that Cancel calls while the response is being made.
  void OnCancel(std::function<void()> stop);
  void Cancel();

 private:
  friend class ResponseBook;
  void Write(const JsonObject& line);

  std::string owner_;
  UniqueFd file_;  // invalid: kept only in memory
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  JsonArray messages_;
  JsonObject object_;
  std::vector<std::string> events_;
  bool ended_ = false;
  std::size_t bytes_ = 0;
  std::function<void()> stop_;
};

class ResponseBook {
 public:
  explicit ResponseBook(std::string folder) : folder_(std::move(folder)) {}

  Result<std::shared_ptr<StoredResponse>> Begin(const std::string& id, const std::string& owner,
                                                JsonArray messages, StoredResponse::Kept kept);
  // Errors: kNotFound, also if another owner has it.
  Result<std::shared_ptr<StoredResponse>> Find(const std::string& id, std::string_view owner);
  Status Remove(const std::string& id, std::string_view owner);

 private:
  std::string PathOf(const std::string& id) const { return folder_ + "/" + id + ".jsonl"; }
  Result<std::shared_ptr<StoredResponse>> Load(const std::string& id) const;

  const std::string folder_;
  std::mutex mutex_;  // guards open_
  std::map<std::string, std::shared_ptr<StoredResponse>> open_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_RESPONSE_BOOK_H_
