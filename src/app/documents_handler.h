// Answers calls of code that runs with documents but no model: `doc`, `records`, `budget()`.
//
//   DocumentsHandler handler(std::move(documents));
//   session->Run(code, options, handler);
//
// Thread-safety: OnCall from any thread. The texts of the documents must outlive the handler.

#ifndef DOSSIER_APP_DOCUMENTS_HANDLER_H_
#define DOSSIER_APP_DOCUMENTS_HANDLER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ask/documents/document_service.h"
#include "sandbox/session/session.h"

namespace dossier::app {

class DocumentsHandler final : public sandbox::BridgeHandler {
 public:
  explicit DocumentsHandler(std::vector<ask::TextDocument> documents)
      : documents_(std::move(documents)) {}

  void OnCall(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) override {
    if (call.method == "budget") return reply->Ok(JsonObject{{"calls_left", 0}, {"depth", 0}});
    if (!ask::DocumentService::Knows(call.method)) {
      return reply->Fail("denied", call.method + " is not available here: no model is connected");
    }
    std::string raw;
    auto value = documents_.Handle(call.method, call.args, &raw, reply->cancel());
    if (value) return reply->Ok(std::move(*value), std::move(raw));
    const bool wrong = value.error().code == ErrorCode::kInvalidArgument;
    reply->Fail(wrong ? "bad_argument" : "failed", value.error().message);
  }

 private:
  ask::DocumentService documents_;
};

}  // namespace dossier::app

#endif  // DOSSIER_APP_DOCUMENTS_HANDLER_H_
