// Edits of a JSON text that leave every byte they do not mean as it is: order of keys, spelling of
// numbers and escapes, white space.
//
//   JsonPatch patch(text, Style::Of(text));
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

#include "base/json/json.h"
#include "base/result.h"
#include "chat/document/json_slice.h"

namespace dossier::chat {

// How a file is written, so that what is added looks like the rest.
struct Style {
  enum class Charset { kUtf8, kAscii } charset = Charset::kUtf8;  // kAscii: \u00e9 for é
  enum class Lines { kIndented, kOne } lines = Lines::kIndented;  // by two spaces
  static Style Of(std::string_view text);
};

// `value` as it stands in a text at a place whose line begins with `indent`.
std::string WriteJson(const Json& value, const Style& style, std::string_view indent = {});

// Where a new child of a container goes, and the text that puts it there.
struct Insertion {
  std::size_t at = 0;
  std::string text;
};
// `last` is the container's last child, with its key if it has one. `depth` is the container's, for
// one that is empty. `key` is empty for an item of a list.
Insertion InsertInto(std::string_view text, Slice container, std::optional<Slice> last, int depth,
                     std::string_view key, std::span<const Json> values, const Style& style);

class JsonPatch {
 public:
  using Path = std::initializer_list<std::string_view>;

  // `depth` is that of the text inside its document: its members are indented one step more.
  JsonPatch(std::string text, Style style, int depth = 0)
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
  Style style_;
  int depth_;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_DOCUMENT_JSON_PATCH_H_
