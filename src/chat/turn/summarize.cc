#include "chat/turn/summarize.h"

#include "assembly/assemble.h"
#include "base/random.h"
#include "base/text/text.h"

namespace dossier::chat {

Result<Summary> Summarize(const CompactionPlan& plan, const driver::BoundModel& writer,
                          const assembly::AssetFolders& folders, driver::Caller& caller,
                          const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Layout layout,
                           assembly::FindLayout("chat.compaction", folders));
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled prompt,
                           SummaryRequest(plan, layout, writer.entry.capability, *writer.counter,
                                          assembly::MakeBoundary(SystemEntropy())));
  model::Request request = driver::RequestTo(writer, prompt, model::Purpose::kCompact);
  request.sampling = {.max_output = plan.summary_tokens};
  const driver::Called called = caller.Ask(writer, std::move(request), {}, cancel);
  if (!called.reply) return tl::unexpected(called.reply.error());
  const model::Reply& reply = *called.reply;
  if (TrimSpace(reply.text).empty()) {
    return MakeError(ErrorCode::kNetwork, "the model returned no text (finish reason {})",
                     model::FinishName(reply.finish));
  }
  return Summary{.text = reply.text, .usage = reply.usage};
}

}  // namespace dossier::chat
