#include "server/http/response_book.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/text/redact.h"
#include "base/text/text.h"

namespace dossier::server {
namespace {

constexpr std::size_t kOpen = 256;  // responses kept in memory once they have ended
constexpr std::uint64_t kMostBytes = 256u << 20;
constexpr std::size_t kOpenBytes = 16u << 20;  // of all of them, in serialized form

bool IsResponseId(std::string_view id) {
  constexpr std::string_view kPrefix = "resp_";
  return id.starts_with(kPrefix) && id.size() <= 80 &&
         std::ranges::all_of(id.substr(kPrefix.size()), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
         });
}

std::string EventText(std::string_view type, const JsonObject& data) {
  return fmt::format("event: {}\ndata: {}\n\n", type, ToJson(data));
}

}  // namespace

JsonArray StoredResponse::Messages() const {
  const std::lock_guard lock(mutex_);
  return messages_;
}

JsonObject StoredResponse::Object() const {
  const std::lock_guard lock(mutex_);
  return object_;
}

bool StoredResponse::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::size_t StoredResponse::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void StoredResponse::Write(const JsonObject& line) {
  if (!file_.valid()) return;
  const std::string text = Redact(ToJson(line)) + "\n";
  bytes_ += text.size();
  // A full disk ends the recording, not the answer.
  if (!WriteAll(file_.get(), text)) file_ = UniqueFd();
}

std::string StoredResponse::Add(std::string_view type, JsonObject data) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    JsonObject whole{{"type", type}, {"sequence_number", events_.size()}};
    for (auto& field : data) whole[field.key()] = std::move(field.value());
    text = EventText(type, whole);
    events_.push_back(text);
    Write({{"event", std::move(whole)}});
  }
  changed_.notify_all();
  return text;
}

void StoredResponse::Update(JsonObject object) {
  const std::lock_guard lock(mutex_);
  object_ = std::move(object);
}

void StoredResponse::Finish(JsonObject object, std::string_view said) {
  {
    const std::lock_guard lock(mutex_);
    object_ = std::move(object);
    if (!said.empty()) messages_.push_back(JsonObject{{"role", "assistant"}, {"content", said}});
    ended_ = true;
    stop_ = nullptr;
    Write({{"end", object_}, {"said", said}});
    file_ = UniqueFd();
  }
  changed_.notify_all();
}

void StoredResponse::Read(std::int64_t after, const std::function<void(std::string text)>& see,
                          const CancelToken& cancel) {
  const std::uint64_t wake = cancel.OnCancel([this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  auto next = static_cast<std::size_t>(std::max<std::int64_t>(after + 1, 0));
  while (!cancel.cancelled()) {
    while (next < events_.size()) {
      const std::string text = events_[next++];
      lock.unlock();
      see(text);
      lock.lock();
    }
    if (ended_) break;
    changed_.wait(lock, [&] { return ended_ || next < events_.size() || cancel.cancelled(); });
  }
  lock.unlock();
  cancel.Forget(wake);
}

void StoredResponse::OnCancel(std::function<void()> stop) {
  const std::lock_guard lock(mutex_);
  stop_ = std::move(stop);
}

void StoredResponse::Cancel() {
  const std::lock_guard lock(mutex_);
  if (stop_) stop_();
}

Result<std::shared_ptr<StoredResponse>> ResponseBook::Begin(const std::string& id,
                                                            const std::string& owner,
                                                            JsonArray messages,
                                                            StoredResponse::Kept kept) {
  auto entry = std::make_shared<StoredResponse>();
  entry->owner_ = owner;
  entry->messages_ = std::move(messages);
  if (kept == StoredResponse::Kept::kInMemory) return entry;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder_, 0700));
  entry->file_ =
      UniqueFd(open(PathOf(id).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0600));
  if (!entry->file_.valid()) return MakeErrnoError(errno, PathOf(id));
  entry->Write({{"owner", owner}, {"messages", entry->messages_}});
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [name, known] : open_) bytes += known->bytes();
  if (open_.size() > kOpen || bytes > kOpenBytes) {
    std::erase_if(open_, [](const auto& known) { return known.second->ended(); });
  }
  open_[id] = entry;
  return entry;
}

Result<std::shared_ptr<StoredResponse>> ResponseBook::Load(const std::string& id) const {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(PathOf(id), kMostBytes));
  auto entry = std::make_shared<StoredResponse>();
  for (const std::string_view line : Split(text, '\n')) {
    const auto value = ParseJson(line, 128);
    if (!value || !value->is_object()) continue;  // the last line of a process that died
    const JsonObject& object = value->get_object();
    if (const Json* messages = dossier::Find(object, "messages");
        messages && messages->is_array()) {
      entry->owner_ = TextAt(*value, "owner");
      entry->messages_ = messages->get_array();
    } else if (const Json* event = dossier::Find(object, "event"); event && event->is_object()) {
      const Json* made = dossier::Find(*event, "response");
      if (made && made->is_object()) entry->object_ = made->get_object();
      entry->events_.push_back(EventText(TextAt(*event, "type"), event->get_object()));
    } else if (const Json* end = dossier::Find(object, "end"); end && end->is_object()) {
      entry->object_ = end->get_object();
      entry->ended_ = true;
      if (const std::string said = TextAt(*value, "said"); !said.empty()) {
        entry->messages_.push_back(JsonObject{{"role", "assistant"}, {"content", said}});
      }
    }
  }
  if (!entry->ended_) {
    entry->ended_ = true;
    entry->object_["status"] = "failed";
    entry->object_["error"] =
        JsonObject{{"code", "server_error"}, {"message", "the server ended while it was made"}};
  }
  return entry;
}

Result<std::shared_ptr<StoredResponse>> ResponseBook::Find(const std::string& id,
                                                           std::string_view owner) {
  std::shared_ptr<StoredResponse> entry;
  {
    const std::lock_guard lock(mutex_);
    const auto known = open_.find(id);
    if (known != open_.end()) entry = known->second;
  }
  if (!entry && IsResponseId(id)) {
    if (auto loaded = Load(id)) entry = std::move(*loaded);
  }
  if (entry && entry->owner() == owner) return entry;
  return MakeError(ErrorCode::kNotFound, "no response {} of this key", id);
}

Status ResponseBook::Remove(const std::string& id, std::string_view owner) {
  DOSSIER_ASSIGN_OR_RETURN(const auto entry, this->Find(id, owner));
  entry->Cancel();
  {
    const std::lock_guard lock(mutex_);
    open_.erase(id);
  }
  return RemoveAll(PathOf(id));
}

}  // namespace dossier::server
