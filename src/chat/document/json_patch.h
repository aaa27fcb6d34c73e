// Edits a JSON text without changing other bytes: order of keys, spelling of numbers and escapes,
// white space.
//
//   JsonPatch patch(text, JsonStyle::Of(text));
//   DOSSIER_RETURN_IF_ERROR(patch.Set({"dossier", "title"}, "Hello"));   // made if absent
//   DOSSIER_RETURN_IF_ERROR(patch.Append({"dossier", "turns"}, turn));
//   Write(patch.text());
//
// Thread-safety: one owner.

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

// Locates the parts of a JSON text without changing a byte of it.
//
//   DOSSIER_ASSIGN_OR_RETURN(Slice whole, SliceDocument(text));
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<Member> members, SliceObject(text, whole));
//   std::string_view raw = Of(text, members[0].value);
//
// Strict as in RFC 8259: no comments, trailing commas or NaN; nesting at most kMaxDepth. Numbers
// are not parsed and keep their text; strings are decoded only on request. Thread-safety: pure
// functions over plain data.

inline constexpr int kMaxDepth = 60;

// The bytes from `begin` to `end` - 1 of a text.
struct Slice {
  std::size_t begin = 0, end = 0;
};

inline std::string_view Of(std::string_view text, Slice slice) {
  return text.substr(slice.begin, slice.end - slice.begin);
}

struct Member {
  std::string key;  // decoded
  Slice name;       // including its quotation marks
  Slice value;
};

// Returns the single value of `text`, fully checked, without surrounding white space. Errors:
// kDamaged with reason and byte offset, also for text that is not UTF-8.
Result<Slice> SliceDocument(std::string_view text);

// Return the members of an object and the items of a list. `container` must be a slice of checked
// text. Errors: kDamaged if it is of another kind.
Result<std::vector<Member>> SliceObject(std::string_view text, Slice container);
Result<std::vector<Slice>> SliceArray(std::string_view text, Slice container);

// Parses a value. A lone surrogate (`\ud800`), which other programs write, becomes U+FFFD.
Result<Json> ReadValue(std::string_view raw);

// The style of a file, so that what is added looks like the rest.
struct JsonStyle {
  enum class Charset { kUtf8, kAscii } charset = Charset::kUtf8;  // kAscii: \u00e9 for é
  enum class Lines { kIndented, kOne } lines = Lines::kIndented;  // indented by two spaces
  static JsonStyle Of(std::string_view text);
};

// Writes `value` for a place in a text whose line begins with `indent`.
std::string WriteJson(const Json& value, const JsonStyle& style, std::string_view indent = {});

// The offset where a new child of a container goes, and the text to insert there.
struct Insertion {
  std::size_t at = 0;
  std::string text;
};
// `last` is the container's last child, with its key if any. `depth` is the container's, used if it
// is empty. `key` is empty for an item of a list.
Insertion InsertInto(std::string_view text, Slice container, std::optional<Slice> last, int depth,
                     std::string_view key, std::span<const Json> values, const JsonStyle& style);

class JsonPatch {
 public:
  using Path = std::initializer_list<std::string_view>;

  // `depth` is the depth of the text inside its document: its members are indented one step more.
  JsonPatch(std::string text, JsonStyle style, int depth = 0)
      : text_(std::move(text)), style_(style), depth_(depth) {}

  const std::string& text() const { return text_; }

  // Creates the objects on the path; an existing value is replaced. Errors: kDamaged if something
  // on the path is not an object.
  Status Set(Path path, const Json& value);
  // As Set, with a value that is JSON text already.
  Status SetRaw(Path path, std::string_view raw);
  // Errors: kDamaged if the place holds something other than a list.
  Status Append(Path path, const Json& item);
  // Removes the last `count` items of a list. Succeeds if the list is absent.
  Status RemoveLast(Path path, std::size_t count);
  // Removes a member. Succeeds if it is absent.
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
