#include "ask/subcalls/code_reply.h"

#include "driver/caller.h"

namespace dossier::ask {
namespace {

using sandbox::BridgeReply;

// Appends the text of `reply` to `raw`.
JsonObject ValueOf(const CodeReply& reply, std::string* raw) {
  const std::size_t at = raw->size();
  *raw += reply.text;
  JsonObject value{{"ok", true}, {"text", JsonObject{{"blob", JsonArray{at, reply.text.size()}}}}};
  for (const auto& [name, about] : reply.about) value[name] = about;
  return value;
}

}  // namespace

SubcallFailure FailureOf(const Error& error) {
  using Retry = BridgeReply::Retry;
  if (driver::MayPass(error.code)) return {"failed", Retry::kYes};
  switch (error.code) {
    case ErrorCode::kLimit:
      return {"limit", Retry::kNo};
    case ErrorCode::kTooLong:
      return {"too_large", Retry::kNo};
    case ErrorCode::kSchema:
      return {"schema", Retry::kNo};
    case ErrorCode::kUsage:
    case ErrorCode::kInvalidArgument:
      return {"bad_argument", Retry::kNo};
    case ErrorCode::kRefused:
      return {"denied", Retry::kNo};
    case ErrorCode::kCancelled:
      return {"cancelled", Retry::kNo};
    default:
      return {"failed", Retry::kNo};
  }
}

void Give(const Result<CodeReply>& result, BridgeReply& reply) {
  if (!result) {
    const SubcallFailure failure = FailureOf(result.error());
    return reply.Fail(failure.code, result.error().message, failure.retry);
  }
  std::string raw;
  Json value = ValueOf(*result, &raw);
  reply.Ok(std::move(value), std::move(raw));
}

BatchReply::BatchReply(std::size_t count, std::shared_ptr<BridgeReply> reply)
    : results_(count, MakeError(ErrorCode::kCancelled, "not finished")),
      missing_(count),
      reply_(std::move(reply)) {
  if (count == 0) Finish();
}

void BatchReply::Take(std::size_t index, Result<CodeReply> result) {
  std::string raw;
  JsonObject item;
  if (result) item = ValueOf(*result, &raw);
  std::unique_lock lock(mutex_);
  results_[index] = std::move(result);
  const bool last = --missing_ == 0;
  lock.unlock();
  if (last) {
    Finish();
  } else if (!item.empty()) {
    reply_->Item(static_cast<std::int64_t>(index), std::move(item), std::move(raw));
  }
}

void BatchReply::Finish() {
  std::string raw;
  JsonArray list;
  for (const Result<CodeReply>& result : results_) {
    if (result) {
      list.push_back(ValueOf(*result, &raw));
    } else {
      list.push_back(JsonObject{{"ok", false},
                                {"code", FailureOf(result.error()).code},
                                {"error", result.error().message}});
    }
  }
  reply_->Ok(JsonObject{{"results", std::move(list)}}, std::move(raw));
}

}  // namespace dossier::ask
