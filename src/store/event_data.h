// Prepares the data of an event for writing: secrets removed, UTF-8 made valid, long texts moved to
// the content store.
//
//   DOSSIER_RETURN_IF_ERROR(CleanEventData(data, Journal::kInlineLimit, content));
//
// Thread-safety: functions may be called from many threads, each with its own data.

#ifndef DOSSIER_STORE_EVENT_DATA_H_
#define DOSSIER_STORE_EVENT_DATA_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "store/content.h"

namespace dossier::store {

// Deeper data is refused, so that everything that was written can be read again.
inline constexpr std::size_t kMaxEventDepth = 200;

// Returns `text` in the form that may be stored: secrets redacted, invalid UTF-8 replaced.
std::string CleanText(std::string_view text);

// {"text": …} up to `inline_limit` bytes, else {"sha256": …, "bytes": …} with the text stored in
// `content`. `text` must be clean.
Result<Json> MakeBody(std::string_view text, std::size_t inline_limit, ContentStore& content);

// Cleans every string and key in `data`; replaces strings above `inline_limit` bytes by a body in
// `content`; numbers that JSON cannot hold (NaN, infinity) become null. Errors: kInvalidArgument
// above kMaxEventDepth; those of ContentStore::Put.
Status CleanEventData(JsonObject& data, std::size_t inline_limit, ContentStore& content);

// Calls `see` with every run of exactly 64 hex digits in `text`: in the stored data of an event
// these include all bodies that it names.
void ForEachHash(std::string_view text, const std::function<void(std::string_view hash)>& see);

// Removes the texts from an event's data, for a run whose texts must be erased.
//
//   Erased erased = EraseTextsOf({{"turn", 1}, {"body", {{"text", "secret"}}}});
//   erased.data;        // {"turn": 1, "body": {"bytes": 6, "left_out": true}}
//   erased.bodies;      // hashes of the bodies that it referred to
//
// Thread-safety: pure functions.

struct Erased {
  JsonObject data;
  std::vector<std::string> bodies;  // every SHA-256 that the data names: bodies, copies of contexts
};
// A body becomes {"bytes": N, "left_out": true}, as --no-log writes it, but without its hash,
// because the hash of a short text reveals the text. Other strings stay only under the names of ids
// and states (list in event_data.cc); all others become "". So a name missing from the list loses
// its text and never leaks it.
Erased EraseTextsOf(const JsonObject& data);

// Shown in place of a text that the journal does not have.
inline constexpr std::string_view kDeleted = "(deleted)", kNotKept = "(not kept)";
// Returns the one for a body: kNotKept after --no-log, kDeleted after EraseTextsOf; "" if the
// journal has the body.
std::string_view WhyLeftOut(const Json& body);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_EVENT_DATA_H_
