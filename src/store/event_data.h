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

// Deeper data is refused, so that whatever was written can be read again.
inline constexpr std::size_t kMaxEventDepth = 200;

// `text` as it may be stored: secrets redacted, invalid UTF-8 replaced.
std::string CleanText(std::string_view text);

// {"text": …} up to `inline_limit` bytes, else {"sha256": …, "bytes": …} with the text stored in
// `content`. `text` must be clean.
Result<Json> MakeBody(std::string_view text, std::size_t inline_limit, ContentStore& content);

// Cleans every string and key in `data`; puts strings above `inline_limit` bytes into `content` and
// their body in their place; numbers that JSON cannot hold (NaN, infinity) become null.
// Errors: kInvalidArgument above kMaxEventDepth; those of ContentStore::Put.
Status CleanEventData(JsonObject& data, std::size_t inline_limit, ContentStore& content);

// Calls `see` with every row of exactly 64 hex digits in `text`: in the stored data of an event
// those are the bodies that it names, and more.
void ForEachHash(std::string_view text, const std::function<void(std::string_view hash)>& see);

// An event's data without its texts: what stays of a run whose words have to go.
//
//   Erased erased = EraseTextsOf({{"turn", 1}, {"body", {{"text", "secret"}}}});
//   erased.data;        // {"turn": 1, "body": {"bytes": 6, "left_out": true}}
//   erased.bodies;      // hashes of the bodies that it referred to
//
// Thread-safety: pure functions.

struct Erased {
  JsonObject data;
  std::vector<std::string> bodies;  // every SHA-256 that it names: bodies, copies of contexts
};
// A body becomes {"bytes": N, "left_out": true}, as --no-log leaves it, but without its hash: that
// of a short text tells the text. Of other strings those under the names of ids and states stay
// (event_data.cc has the list); all others become "". So a name that is not on the list loses its
// text, not its secrecy.
Erased EraseTextsOf(const JsonObject& data);

// What stands in the place of a text that the journal does not have.
inline constexpr std::string_view kDeleted = "(deleted)", kNotKept = "(not kept)";
// Which of them is true of a body: kNotKept after --no-log, kDeleted after EraseTextsOf; "": the
// journal has it.
std::string_view WhyLeftOut(const Json& body);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_EVENT_DATA_H_
