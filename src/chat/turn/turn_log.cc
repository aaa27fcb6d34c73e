#include "chat/turn/turn_log.h"

#include "base/hash.h"

namespace dossier::chat {

void TurnLog::Start(JsonObject data) {
  if (!journal_) return;
  data["kind"] = kChatRun;
  if (auto run = journal_->StartRun(std::move(data))) {
    run_ = std::move(*run);
  } else {
    Failed(run.error());
  }
}

void TurnLog::Resume(std::string run) {
  run_ = std::move(run);
  Add("run.resumed", {});
}

void TurnLog::Add(std::string_view type, JsonObject data) {
  if (run_.empty() || failure_) return;
  const Status written = journal_->Append(run_, /*call=*/0, type, std::move(data));
  if (!written) Failed(written.error());
}

Json TurnLog::Body(std::string_view text) {
  if (!journal_ || failure_ || bodies_ == Bodies::kLeftOut) {
    return JsonObject{{"sha256", Sha256Hex(text)}, {"bytes", text.size()}, {"left_out", true}};
  }
  auto body = journal_->Body(text);
  if (body) return std::move(*body);
  Failed(body.error());
  return nullptr;
}

void TurnLog::Failed(const Error& error) {
  if (!failure_) failure_ = "the journal could not be written: " + error.message;
}

}  // namespace dossier::chat
