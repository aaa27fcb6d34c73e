#include "agents/merge/publish.h"

#include "agents/git/ref_transaction.h"
#include "agents/merge/ledger.h"
#include "agents/merge/test_fault.h"

namespace dossier::agents {
namespace {

Result<Published> RollBack(const Publication& publication, CheckoutRefusal refusal) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string rescue,
                           publication.state.Rescued(publication.intent.run));
  const auto back = PutBack(publication.git, MoveOf(publication), rescue);
  if (!back) {
    refusal.reason += fmt::format("; and it could not be undone: {}", back.error().message);
    return Published{.refusal = std::move(refusal), .rolled_back = false};
  }
  return Published{.refusal = std::move(refusal)};
}

}  // namespace

std::string MergeMark(const Git& git) { return "DOSSIER_MERGE=" + git.folders().common; }

CheckoutMove MoveOf(const Publication& publication) {
  const Intent& intent = publication.intent;
  return {.checkout = intent.checkout.value_or(Checkout{}),
          .old_commit = intent.old_commit,
          .new_commit = intent.new_commit,
          .changes = publication.changes};
}

Result<CheckoutRefusal> CanPublish(const Publication& publication, const CancelToken& cancel) {
  const auto& checkout = publication.intent.checkout;
  if (!checkout) return CheckoutRefusal{};
  if (CheckoutRefusal busy = RefuseBusy(*checkout)) return busy;
  if (CheckoutRefusal busy = WaitForIndex(*checkout, publication.index_wait)) return busy;
  return WouldRefuse(publication.git, publication.state, MoveOf(publication), cancel);
}

Result<Published> Publish(const Publication& publication) {
  const Intent& intent = publication.intent;
  const GitPlace place{.git_dir = intent.checkout ? intent.checkout->git_dir
                                                  : publication.git.folders().common};
  auto transaction =
      RefTransaction::Prepare(publication.git, place,
                              {.ref = intent.ref,
                               .new_commit = intent.new_commit,
                               .old_commit = intent.old_commit,
                               .message = fmt::format("agent:{} merge", intent.task)});
  if (!transaction) return Published{.refusal = {.reason = transaction.error().message}};
  TestFault("after-prepare");
  if (intent.checkout) {
    // The branch is locked now; before, somebody may have gone to another one.
    if (!IsOn(*intent.checkout, intent.ref)) {
      return Published{.refusal = {.reason = fmt::format("{} is no longer on {}",
                                                         intent.checkout->root, intent.ref)}};
    }
    Result<CheckoutRefusal> moved = MoveCheckout(publication.git, MoveOf(publication));
    if (!moved) moved = CheckoutRefusal{.reason = moved.error().message};
    if (*moved) return RollBack(publication, std::move(*moved));
  }
  TestFault("after-tree");
  if (const Status committed = transaction->Commit(); !committed) {
    CheckoutRefusal refusal{.reason = committed.error().message};
    if (!intent.checkout) return Published{.refusal = std::move(refusal)};
    return RollBack(publication, std::move(refusal));
  }
  TestFault("after-ref");
  return Published{};
}

Status Finish(const Intent& intent, IntentLog& intents, const MergeHooks& hooks) {
  if (hooks.merged) DOSSIER_RETURN_IF_ERROR(hooks.merged(intent));
  DOSSIER_RETURN_IF_ERROR(AppendLedger(intent.ledger_file, intent.ledger_line));
  TestFault("after-ledger");
  return intents.Close();
}

}  // namespace dossier::agents
