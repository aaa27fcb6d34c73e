// The file of one conversation: a JSON object with six keys in the order id, model, messages,
// created_at, updated_at, metadata (docs/formats/conversation.md). Other programs write the same
// format, so a change keeps every byte outside it.
//
//   DOSSIER_ASSIGN_OR_RETURN(Document document, Document::Parse(std::move(bytes), "bug-12"));
//   document.AppendMessage(JsonObject{{"role", "user"}, {"content", "Hello"}});
//   document.SetUpdated(FormatMicros(now));
//   DOSSIER_RETURN_IF_ERROR(document.metadata().Set({"total_tokens"}, 41));
//   for (std::string_view piece : document.Render().pieces()) Write(piece);
//
// The text is held once; messages are parsed on request. An append or a metadata change costs its
// own size; any other change parses the whole text again. Thread-safety: one owner.

#ifndef DOSSIER_CHAT_DOCUMENT_DOCUMENT_H_
#define DOSSIER_CHAT_DOCUMENT_DOCUMENT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "chat/document/json_patch.h"

namespace dossier::chat {

// Formats a time as "2026-11-21T12:47:14.000000Z": UTC, microseconds.
std::string FormatMicros(Clock::Wall time);

// A text in pieces, most of them views of a Document, which must outlive it.
class RenderedFile {
 public:
  void Add(std::string_view view) { pieces_.push_back(view); }
  void Own(std::string text);
  const std::vector<std::string_view>& pieces() const { return pieces_; }
  std::string Joined() const;

 private:
  std::vector<std::unique_ptr<const std::string>> owned_;
  std::vector<std::string_view> pieces_;
};

class Document {
 public:
  static constexpr std::uint64_t kMaxBytes = 1ull << 30;
  static constexpr std::size_t kMaxMessages = 1'000'000;

  // Errors: kDamaged, "conversation ID is malformed: REASON": no JSON object, a duplicate key,
  // messages without a role. Missing keys are no error; unknown ones are kept.
  static Result<Document> Parse(std::string bytes, std::string_view id);
  // Makes a conversation without messages; both times are `at`.
  static Document Make(std::string_view id, std::string_view model, std::string_view at,
                       JsonStyle style = {});

  // The id from the file's name; errors name it.
  const std::string& name() const { return name_; }
  // The values in the file; "" if the file has none.
  const std::string& id() const { return id_; }
  const std::string& model() const { return model_; }
  const std::string& created_at() const { return created_at_; }
  const std::string& updated_at() const { return updated_at_; }
  // Returns the top-level keys that are not part of the format.
  std::vector<std::string> ForeignKeys() const;

  // The number of messages in the text, not counting those that AppendMessage has queued.
  std::size_t message_count() const { return messages_.size(); }
  std::string_view RawMessage(std::size_t index) const { return Of(text_, messages_[index]); }
  Result<Json> ReadMessage(std::size_t index) const { return ReadValue(RawMessage(index)); }
  Result<Json> ReadMetadata() const { return ReadValue(metadata_.text()); }
  const JsonStyle& style() const { return style_; }

  void AppendMessage(Json message) { appended_.push_back(std::move(message)); }
  void SetUpdated(std::string at) { updated_at_ = std::move(at); }
  JsonPatch& metadata() { return metadata_; }

  // Each of these parses the whole text again: for rare changes.
  Status InsertFirstMessage(const Json& message);
  Status SetContent(std::size_t index, const Json& content);  // other keys of the message stay
  Status EraseMessagesFrom(std::size_t index);
  Status SetId(std::string_view id);
  Status SetModel(std::string_view model);
  // Moves foreign keys to metadata.dossier.foreign. Returns their names.
  Result<std::vector<std::string>> MoveForeignKeys();

  RenderedFile Render() const;
  // Writes queued changes into the text, so that they can be read.
  Status Apply();

 private:
  Document() : metadata_("{}", {}, 1) {}
  Status Index();
  Status CheckMessages() const;
  Status Replace(Slice slice, std::string_view with);
  const Member* FindMember(std::string_view key) const;

  std::string text_, name_;
  JsonStyle style_;
  Slice whole_;
  std::vector<Member> members_;
  std::vector<Slice> messages_;
  std::string id_, model_, created_at_, updated_at_;
  JsonPatch metadata_;
  std::vector<Json> appended_;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_DOCUMENT_DOCUMENT_H_
