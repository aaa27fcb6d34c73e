// The result that code gets for a request to a model: one reply, or an ordered batch of replies.
//
//   Give(CodeReply{.text = "Bern", .about = {{"finish", "stop"}}}, *reply);
//   const auto batch = std::make_shared<BatchReply>(prompts.size(), reply);
//   batch->Take(3, std::move(result));      // in any order, from any thread; the last one answers
//
// Thread-safety: BatchReply from any thread.

#ifndef DOSSIER_ASK_SUBCALLS_CODE_REPLY_H_
#define DOSSIER_ASK_SUBCALLS_CODE_REPLY_H_

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

struct CodeReply {
  std::string text;
  // tokens, finish, cut, model; `problem`, a sentence, where the text is not whole or in doubt;
  // `is_value` where a schema was asked for: the text is JSON that fits it.
  JsonObject about;
};

// The code for a failed sub-call in the sandbox, and whether a retry may help.
struct SubcallFailure {
  std::string_view code;
  sandbox::BridgeReply::Retry retry;
};
SubcallFailure FailureOf(const Error& error);

void Give(const Result<CodeReply>& result, sandbox::BridgeReply& reply);

// Sends each good reply ahead as an item, so that an interrupted block keeps the replies already
// paid for.
class BatchReply {
 public:
  // Answers at once if there is nothing to wait for.
  BatchReply(std::size_t count, std::shared_ptr<sandbox::BridgeReply> reply);
  // Call once for each index.
  void Take(std::size_t index, Result<CodeReply> result);

 private:
  void Finish();

  std::mutex mutex_;
  std::vector<Result<CodeReply>> results_;
  std::size_t missing_;
  const std::shared_ptr<sandbox::BridgeReply> reply_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_CODE_REPLY_H_
