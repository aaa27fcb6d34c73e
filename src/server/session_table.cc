#include "server/session_table.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "app/documents_handler.h"
#include "base/random.h"
#include "base/text/nearest.h"
#include "inspect/description/hint.h"
#include "server/workspace.h"

namespace dossier::server {
namespace {

constexpr std::size_t kIdHexDigits = 8;
constexpr Millis kLook{20};  // poll interval for the token while waiting for another call
// The error for code that calls a model.
constexpr std::string_view kNoSubCalls = "sub-calls are off in run; use ask";

sandbox::SessionSpec SpecOf(const OpenContext& context) {
  sandbox::SessionSpec spec;
  spec.features = {{"profile", "large"}, {"depth", 0}, {"question", ""}, {"no_calls", kNoSubCalls}};
  const auto& documents = context.documents->documents();
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto stored = context.set->Stored(i);  // complete since the context was opened
    if (!stored) continue;
    spec.contexts.push_back(
        {.name = documents[i].name,
         .fd = (*stored)->fd.get(),
         .bytes = documents[i].text.size(),
         .characters = documents[i].description.counts.chars,
         .meta = inspect::ContextMeta(documents[i].description, inspect::Runtime::kPython)});
  }
  return spec;
}

}  // namespace

struct SessionTable::Kept {
  Kept(std::string name, std::string whose, std::shared_ptr<const OpenContext> opened)
      : id(std::move(name)),
        caller(std::move(whose)),
        context(std::move(opened)),
        handler(context->documents->documents()) {}

  const std::string id, caller;
  const std::shared_ptr<const OpenContext> context;
  app::DocumentsHandler handler;
  std::timed_mutex running;         // held by the call that is using it
  std::vector<std::string> blocks;  // executed blocks, in order, for Wake
  std::atomic<bool> live{false};
  Clock::Steady used;                        // guarded by the table
  std::unique_ptr<sandbox::Session> worker;  // null: parked
};

SessionTable::SessionTable(Workspace& workspace) : workspace_(workspace) {}
SessionTable::~SessionTable() = default;

Result<std::shared_ptr<SessionTable::Kept>> SessionTable::Take(
    const std::shared_ptr<const OpenContext>& context, std::string_view session,
    const std::string& caller) {
  const std::lock_guard lock(mutex_);
  const Clock::Steady now = workspace_.options().clock->Now();
  if (session.empty()) {
    if (kept_.size() >= kKnown) {
      const auto oldest =
          std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second->used; });
      kept_.erase(oldest);
    }
    auto fresh = std::make_shared<Kept>("s" + RandomHex(kIdHexDigits), caller, context);
    fresh->used = now;
    kept_[fresh->id] = fresh;
    return fresh;
  }
  const auto found = kept_.find(session);
  if (found == kept_.end() || found->second->caller != caller) {
    std::vector<std::string> ids;
    for (const auto& [id, kept] : kept_) {
      if (kept->caller == caller) ids.push_back(id);
    }
    return MakeError(ErrorCode::kNotFound,
                     "there is no session {}{}; leave session out to begin one", session,
                     DidYouMean(session, ids));
  }
  if (found->second->context->id != context->id) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "session {} is over context {}, not {}; leave session out to begin one",
                     session, found->second->context->id, context->id);
  }
  found->second->used = now;
  return found->second;
}

// Parks idle interpreters, and the longest idle ones above the limit.
void SessionTable::Park() {
  const std::lock_guard lock(mutex_);
  const Clock::Steady now = workspace_.options().clock->Now();
  std::vector<Kept*> live;
  for (const auto& [id, kept] : kept_) {
    if (kept->live) live.push_back(kept.get());
  }
  std::ranges::sort(live, {}, &Kept::used);
  std::size_t over = live.size() >= kLive ? live.size() - kLive + 1 : 0;
  for (Kept* kept : live) {
    if (over == 0 && now - kept->used < kRest) continue;
    const std::unique_lock running(kept->running, std::try_to_lock);
    if (!running.owns_lock()) continue;
    kept->worker.reset();
    kept->live = false;
    over -= over > 0 ? 1 : 0;
  }
}

// Starts the interpreter of a new or parked session; its blocks run again.
Status SessionTable::Wake(Kept& kept, const CancelToken& cancel) {
  Park();
  DOSSIER_ASSIGN_OR_RETURN(const auto pool, workspace_.Pool());
  DOSSIER_ASSIGN_OR_RETURN(kept.worker, pool->Open(SpecOf(*kept.context), cancel));
  kept.live = true;
  for (const std::string& block : kept.blocks) {
    DOSSIER_RETURN_IF_ERROR(kept.worker->Run(block, {.cancel = cancel}, kept.handler));
  }
  return {};
}

Result<SessionRun> SessionTable::Run(const std::shared_ptr<const OpenContext>& context,
                                     std::string_view session, std::string_view code,
                                     const CallScope& scope) {
  const CancelToken& cancel = scope.cancel;
  DOSSIER_ASSIGN_OR_RETURN(const auto kept, Take(context, session, scope.caller.id));
  std::unique_lock running(kept->running, std::defer_lock);
  while (!running.try_lock_for(kLook)) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
  }
  auto run = [&]() -> Result<sandbox::BlockResult> {
    if (!kept->worker) DOSSIER_RETURN_IF_ERROR(Wake(*kept, cancel));
    return kept->worker->Run(code, {.cancel = cancel}, kept->handler);
  };
  auto result = run();
  if (!result) {
    // The state is unknown: the next call runs the blocks again.
    kept->worker.reset();
    kept->live = false;
    return tl::unexpected(std::move(result).error());
  }
  kept->blocks.emplace_back(code);
  return SessionRun{.session = kept->id, .result = std::move(*result)};
}

Status SessionTable::Close(std::string_view session) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(session);
  if (found == kept_.end()) {
    return MakeError(ErrorCode::kNotFound, "there is no session {}", session);
  }
  kept_.erase(found);
  return {};
}

}  // namespace dossier::server
