#include "chat/document/document.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <set>

namespace dossier::chat {
namespace {

constexpr std::array<std::string_view, 6> kKeys = {"id",         "model",      "messages",
                                                   "created_at", "updated_at", "metadata"};

bool IsOurs(std::string_view key) {
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

using RawMembers = std::vector<std::pair<std::string_view, std::string>>;

RenderedFile WithMembers(std::string text, const RawMembers& members, const JsonStyle& style) {
  JsonPatch patch(std::move(text), style);
  for (const auto& [key, raw] : members) {
    static_cast<void>(patch.SetRaw({key}, raw));  // the text was checked when it was read
  }
  RenderedFile out;
  out.Own(patch.text());
  return out;
}

}  // namespace

std::string FormatMicros(Clock::Wall time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time - seconds);
  const std::time_t whole = std::chrono::system_clock::to_time_t(seconds);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     micros.count());
}

void RenderedFile::Own(std::string text) {
  owned_.push_back(std::make_unique<const std::string>(std::move(text)));
  pieces_.push_back(*owned_.back());
}

std::string RenderedFile::Joined() const {
  std::string out;
  for (const std::string_view piece : pieces_) out += piece;
  return out;
}

Result<Document> Document::Parse(std::string bytes, std::string_view id) {
  Document document;
  document.name_ = id;
  document.text_ = std::move(bytes);
  document.style_ = JsonStyle::Of(document.text_);
  DOSSIER_RETURN_IF_ERROR(document.Index());
  return document;
}

Document Document::Make(std::string_view id, std::string_view model, std::string_view at,
                        JsonStyle style) {
  Document document;
  document.name_ = id;
  document.style_ = style;
  document.text_ = WriteJson(JsonObject{{"id", id},
                                        {"model", model},
                                        {"messages", JsonArray()},
                                        {"created_at", at},
                                        {"updated_at", at},
                                        {"metadata", JsonObject()}},
                             style);
  static_cast<void>(document.Index());  // cannot fail: we wrote the text
  return document;
}

Status Document::Index() {
  const auto malformed = [this](const Error& error) {
    return MakeError(ErrorCode::kDamaged, "conversation {} is malformed: {}", name_, error.message);
  };
  const auto read = [this]() -> Status {
    DOSSIER_ASSIGN_OR_RETURN(whole_, SliceDocument(text_));
    if (text_[whole_.begin] != '{') return MakeError(ErrorCode::kDamaged, "it is not an object");
    DOSSIER_ASSIGN_OR_RETURN(members_, SliceObject(text_, whole_));
    std::set<std::string_view> seen;
    for (const Member& member : members_) {
      if (!seen.insert(member.key).second && IsOurs(member.key)) {
        return MakeError(ErrorCode::kDamaged, "key {} stands twice", member.key);
      }
    }
    const auto text_at = [this](std::string_view key) -> std::string {
      const Member* member = FindMember(key);
      const auto value = member ? ReadValue(Of(text_, member->value)) : Result<Json>(Json());
      return value && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    id_ = text_at("id");
    model_ = text_at("model");
    created_at_ = text_at("created_at");
    updated_at_ = text_at("updated_at");
    const Member* metadata = FindMember("metadata");
    const std::string_view raw = metadata ? Of(text_, metadata->value) : std::string_view("{}");
    if (!raw.starts_with('{') && raw != "null") {
      return MakeError(ErrorCode::kDamaged, "metadata is not an object");
    }
    metadata_ = JsonPatch(raw == "null" ? "{}" : std::string(raw), style_, 1);
    messages_.clear();
    const Member* messages = FindMember("messages");
    if (!messages) return {};
    if (text_[messages->value.begin] != '[') {
      return MakeError(ErrorCode::kDamaged, "messages is not a list");
    }
    DOSSIER_ASSIGN_OR_RETURN(messages_, SliceArray(text_, messages->value));
    return CheckMessages();
  };
  const Status done = read();
  if (!done) return malformed(done.error());
  return {};
}

// Checks that every message is an object with a role, so that later readers can rely on it.
Status Document::CheckMessages() const {
  if (messages_.size() > kMaxMessages) {
    return MakeError(ErrorCode::kDamaged, "more than {} messages", kMaxMessages);
  }
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (text_[messages_[i].begin] != '{') {
      return MakeError(ErrorCode::kDamaged, "messages[{}] is not an object", i);
    }
    DOSSIER_ASSIGN_OR_RETURN(const auto members, SliceObject(text_, messages_[i]));
    const bool has_role = std::any_of(members.begin(), members.end(), [this](const Member& member) {
      return member.key == "role" && text_[member.value.begin] == '"';
    });
    if (!has_role) return MakeError(ErrorCode::kDamaged, "messages[{}] has no role", i);
  }
  return {};
}

const Member* Document::FindMember(std::string_view key) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [key](const Member& member) { return member.key == key; });
  return found == members_.end() ? nullptr : &*found;
}

std::vector<std::string> Document::ForeignKeys() const {
  std::vector<std::string> keys;
  for (const Member& member : members_) {
    if (!IsOurs(member.key)) keys.push_back(member.key);
  }
  return keys;
}

RenderedFile Document::Render() const {
  struct Edit {
    std::size_t begin, end;
    std::string text;
  };
  std::vector<Edit> edits;
  RawMembers absent;
  const auto put = [&](std::string_view key, std::string raw) {
    const Member* member = FindMember(key);
    if (!member) {
      absent.emplace_back(key, std::move(raw));
    } else if (Of(text_, member->value) != raw) {
      edits.push_back({member->value.begin, member->value.end, std::move(raw)});
    }
  };
  if (const Member* messages = FindMember("messages"); messages && !appended_.empty()) {
    std::optional<Slice> last;
    if (!messages_.empty()) last = messages_.back();
    Insertion insertion = InsertInto(text_, messages->value, last, 1, {}, appended_, style_);
    edits.push_back({insertion.at, insertion.at, std::move(insertion.text)});
  } else if (!appended_.empty()) {
    absent.emplace_back("messages",
                        WriteJson(JsonArray(appended_.begin(), appended_.end()), style_, "  "));
  }
  if (!updated_at_.empty()) put("updated_at", WriteJson(Json(updated_at_), style_));
  const Member* metadata = FindMember("metadata");
  const bool was_null = metadata && Of(text_, metadata->value) == "null";
  if (metadata_.text() != "{}" || (metadata && !was_null)) put("metadata", metadata_.text());
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  RenderedFile out;
  std::size_t at = 0;
  for (Edit& edit : edits) {
    out.Add(std::string_view(text_).substr(at, edit.begin - at));
    out.Own(std::move(edit.text));
    at = edit.end;
  }
  out.Add(std::string_view(text_).substr(at));
  return absent.empty() ? std::move(out) : WithMembers(out.Joined(), absent, style_);
}

Status Document::Apply() {
  text_ = Render().Joined();
  appended_.clear();
  return Index();
}

Status Document::Replace(Slice slice, std::string_view with) {
  text_.replace(slice.begin, slice.end - slice.begin, with);
  return Index();
}

Status Document::InsertFirstMessage(const Json& message) {
  DOSSIER_RETURN_IF_ERROR(Apply());
  if (messages_.empty()) {
    AppendMessage(message);
    return Apply();
  }
  // Inserts it as if appended, then the old first message after it.
  const Slice list = FindMember("messages")->value;
  const std::string_view space =
      std::string_view(text_).substr(list.begin + 1, messages_[0].begin - list.begin - 1);
  JsonStyle inner = style_;
  if (space.find('\n') == space.npos) inner.lines = JsonStyle::Lines::kOne;
  const std::size_t line = space.rfind('\n');
  const std::string indent(line == space.npos ? std::string_view() : space.substr(line + 1));
  const std::string text = WriteJson(message, inner, indent) + "," + std::string(space);
  return Replace({messages_[0].begin, messages_[0].begin}, text);
}

Status Document::SetContent(std::size_t index, const Json& content) {
  DOSSIER_RETURN_IF_ERROR(Apply());
  JsonPatch patch{std::string(RawMessage(index)), style_, 2};
  DOSSIER_RETURN_IF_ERROR(patch.Set({"content"}, content));
  return Replace(messages_[index], patch.text());
}

Status Document::EraseMessagesFrom(std::size_t index) {
  DOSSIER_RETURN_IF_ERROR(Apply());
  if (index >= messages_.size()) return {};
  if (index == 0) return Replace(FindMember("messages")->value, "[]");
  return Replace({messages_[index - 1].end, messages_.back().end}, "");
}

Status Document::SetModel(std::string_view model) {
  DOSSIER_RETURN_IF_ERROR(Apply());
  JsonPatch patch(text_, style_);
  DOSSIER_RETURN_IF_ERROR(patch.Set({"model"}, Json(model)));
  text_ = patch.text();
  return Index();
}

Status Document::SetId(std::string_view id) {
  DOSSIER_RETURN_IF_ERROR(Apply());
  name_ = id;
  JsonPatch patch(text_, style_);
  DOSSIER_RETURN_IF_ERROR(patch.Set({"id"}, Json(id)));
  text_ = patch.text();
  return Index();
}

Result<std::vector<std::string>> Document::MoveForeignKeys() {
  DOSSIER_RETURN_IF_ERROR(Apply());
  const std::vector<std::string> keys = ForeignKeys();
  for (const std::string& key : keys) {
    const std::string_view raw = Of(text_, FindMember(key)->value);
    DOSSIER_RETURN_IF_ERROR(metadata_.SetRaw({"dossier", "foreign", key}, raw));
    JsonPatch patch(Render().Joined(), style_);
    DOSSIER_RETURN_IF_ERROR(patch.Remove({key}));
    text_ = patch.text();
    DOSSIER_RETURN_IF_ERROR(Index());
  }
  return keys;
}

}  // namespace dossier::chat
