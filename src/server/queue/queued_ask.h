// A question in the queue of the shared store: written by a client, read by a worker.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string run,
//                            QueueAsk(*queue, {.wish = wish, .context = context.get(), .owner =
//                            "ann"}));
//   DOSSIER_ASSIGN_OR_RETURN(const QueuedAsk asked, ReadQueuedAsk(claim.request));   // elsewhere
//   DOSSIER_RETURN_IF_ERROR(FetchContexts(*queue, asked, content));
//
// The context's texts are in the store before the run is queued, so that any machine can answer it.
// Errors: kInvalidArgument, kDamaged; those of the store. Thread-safety: as the queue.

#ifndef DOSSIER_SERVER_QUEUE_QUEUED_ASK_H_
#define DOSSIER_SERVER_QUEUE_QUEUED_ASK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ask/documents/context_set.h"
#include "base/json/json.h"
#include "base/result.h"
#include "server/prepared_ask.h"
#include "store/content.h"
#include "store/postgres/run_queue.h"

namespace dossier::server {

struct AskToQueue {
  AskWish wish;  // its context id and opened model are ignored
  const ask::ContextSet* context;
  std::string owner;
  int priority = 0;
};

// Returns the run's id. Errors: kInvalidArgument also for an SQLite file among the documents, and
// for a model named by its address: a worker's owner decides which machines it talks to.
Result<std::string> QueueAsk(store::RunQueue& queue, const AskToQueue& ask);

struct QueuedContext {
  std::string name, path, sha256;  // path: "" for a text
};

struct QueuedAsk {
  AskWish wish;
  ask::AskRequest::Seed seed_from = ask::AskRequest::Seed::kDrawn;
  std::vector<QueuedContext> contexts;
};

Result<QueuedAsk> ReadQueuedAsk(const JsonObject& request);

// Fetches the missing texts into the local store. Returns sources for ask::LoadContext.
Result<std::vector<ask::ContextSource>> FetchContexts(store::RunQueue& queue, const QueuedAsk& ask,
                                                      store::ContentStore& content);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_QUEUE_QUEUED_ASK_H_
