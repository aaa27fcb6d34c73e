#include "server/rpc/callbacks.h"

#include <utility>

namespace dossier::server {

void Callbacks::Call(const ClientCall& call, const CancelToken& cancel, Answer answer) {
  std::int64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!gone_) {
      number = next_++;
      open_[number] = {.answer = std::move(answer), .cancel = cancel};
    }
  }
  if (number == 0) {
    return answer(MakeError(ErrorCode::kCancelled, "{}: the program is gone", call.name));
  }
  // If already cancelled, this runs at once: the call is open by then.
  const std::uint64_t watch = cancel.OnCancel([this, number, name = call.name] {
    Finish(number, MakeError(ErrorCode::kCancelled, "{}: nobody waits for it any more", name));
  });
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(number);
    if (found == open_.end()) return;
    found->second.watch = watch;
  }
  JsonObject message{{"call", number}, {"id", call.id}, {"name", call.name}, {"args", call.args}};
  if (!call.rest.empty()) message["rest"] = call.rest;
  if (Status sent = out_.Write(ToJson(message)); !sent) {
    Finish(number, tl::unexpected(std::move(sent).error()));
  }
}

bool Callbacks::Resolve(const JsonObject& reply) {
  const Json* given = Find(reply, "reply");
  const auto* number = given ? given->if_int64() : nullptr;
  if (number == nullptr) return false;
  {
    const std::lock_guard lock(mutex_);
    if (!open_.contains(*number)) return false;
  }
  if (const Json* error = Find(reply, "error")) {
    Finish(*number, MakeError(ErrorCode::kFailed, "{}: {}", TextAt(*error, "type"),
                              TextAt(*error, "message")));
  } else {
    const auto* value = reply.if_contains("value");
    Finish(*number, value ? *value : Json(nullptr));
  }
  return true;
}

void Callbacks::FailAll() {
  std::map<std::int64_t, Open> open;
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    open.swap(open_);
  }
  for (auto& [number, call] : open) {
    call.answer(MakeError(ErrorCode::kCancelled, "the program is gone"));
    call.cancel.Forget(call.watch);
  }
}

void Callbacks::Finish(std::int64_t number, Result<Json> value) {
  Open call;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(number);
    if (found == open_.end()) return;
    call = std::move(found->second);
    open_.erase(found);
  }
  call.answer(std::move(value));
  // Not from the token's own callback, which runs only once.
  if (!call.cancel.cancelled()) call.cancel.Forget(call.watch);
}

}  // namespace dossier::server
