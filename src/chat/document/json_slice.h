// Where the parts of a JSON text stand, without changing a byte of it.
//
//   DOSSIER_ASSIGN_OR_RETURN(Slice whole, SliceDocument(text));
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<Member> members, SliceObject(text, whole));
//   std::string_view raw = Of(text, members[0].value);
//
// Strict by RFC 8259: no comments, no trailing commas, no NaN; nesting at most kMaxDepth. Numbers
// are not read, so they keep their text; a string is decoded only when asked for.
// Thread-safety: pure functions over plain data.

#ifndef DOSSIER_CHAT_DOCUMENT_JSON_SLICE_H_
#define DOSSIER_CHAT_DOCUMENT_JSON_SLICE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::chat {

inline constexpr int kMaxDepth = 60;

// Bytes begin to end - 1 of a text.
struct Slice {
  std::size_t begin = 0, end = 0;
};

inline std::string_view Of(std::string_view text, Slice slice) {
  return text.substr(slice.begin, slice.end - slice.begin);
}

struct Member {
  std::string key;  // decoded
  Slice name;       // with its quotation marks
  Slice value;
};

// The one value of `text`, checked from end to end, without the white space around it.
// Errors: kDamaged with reason and byte offset; text that is not UTF-8 too.
Result<Slice> SliceDocument(std::string_view text);

// The members of an object, the items of a list. `container` must be a slice of checked text.
// Errors: kDamaged if it is of another kind.
Result<std::vector<Member>> SliceObject(std::string_view text, Slice container);
Result<std::vector<Slice>> SliceArray(std::string_view text, Slice container);

// The value itself. A lone surrogate (`\ud800`), which other programs write, reads as U+FFFD.
Result<Json> ReadValue(std::string_view raw);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_DOCUMENT_JSON_SLICE_H_
