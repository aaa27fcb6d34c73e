// Edits of a JSON text that leave every byte they do not mean as it is: order of keys, spelling of
// numbers and escapes, white space.
//
//   JsonPatch patch(text, JsonStyle::Of(text));
//   DOSSIER_RETURN_IF_ERROR(patch.Set({"dossier", "title"}, "Hello"));   // made if absent
//   DOSSIER_RETURN_IF_ERROR(patch.Append({"dossier", "turns"}, turn));
//   Write(patch.text());
//
// Thread-safety: none; one owner.

#ifndef DOSSIER_CHAT_DOCUMENT_JSON_PATCH_H_
#define DOSSIER_CHAT_DOCUMENT_JSON_PATCH_H_

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::chat {

// Where the parts of a JSON text stand, without changing a byte of it.
//
//   DOSSIER_ASSIGN_OR_RETURN(Slice whole, SliceDocument(text));
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<Member> members, SliceObject(text, whole));
//   std::string_view raw = Of(text, members[0].value);
//
// Strict by RFC 8259: no comments, no trailing commas, no NaN; nesting at most kMaxDepth. Numbers
// are not read, so they keep their text; a string is decoded only when asked for.
// Thread-safety: pure functions over plain data.

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

// How a file is written, so that what is added looks like the rest.
struct JsonStyle {
  enum class Charset { kUtf8, kAscii } charset = Charset::kUtf8;  // kAscii: \u00e9 for é
  enum class Lines { kIndented, kOne } lines = Lines::kIndented;  // by two spaces
  static JsonStyle Of(std::string_view text);
};

// `value` as it stands in a text at a place whose line begins with `indent`.
std::string WriteJson(const Json& value, const JsonStyle& style, std::string_view indent = {});

// Where a new child of a container goes, and the text that puts it there.
struct Insertion {
  std::size_t at = 0;
  std::string text;
};
// `last` is the container's last child, with its key if it has one. `depth` is the container's, for
// one that is empty. `key` is empty for an item of a list.
Insertion InsertInto(std::string_view text, Slice container, std::optional<Slice> last, int depth,
                     std::string_view key, std::span<const Json> values, const JsonStyle& style);

class JsonPatch {
 public:
  using Path = std::initializer_list<std::string_view>;

  // `depth` is that of the text inside its document: its members are indented one step more.
  JsonPatch(std::string text, JsonStyle style, int depth = 0)
      : text_(std::move(text)), style_(style), depth_(depth) {}

  const std::string& text() const { return text_; }

  // Objects on the way are made; a value that is there is replaced.
  // Errors: kDamaged if something on the way is not an object.
  Status Set(Path path, const Json& value);
  // As Set, with a value that is text already.
  Status SetRaw(Path path, std::string_view raw);
  // Errors: kDamaged if the place holds something else than a list.
  Status Append(Path path, const Json& item);
  // Takes the last `count` items of a list away. Absent is success.
  Status RemoveLast(Path path, std::size_t count);
  // Takes a member away. Absent is success.
  Status Remove(Path path);

 private:
  struct Place;
  Result<Place> Find(Path path) const;
  Status Insert(const Place& place, std::span<const std::string_view> missing, const Json& value);

  std::string text_;
  JsonStyle style_;
  int depth_;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_DOCUMENT_JSON_PATCH_H_
