// What a worker does in its language's own way. All else is the same for every worker: the start
// behind walls, the forks, the bridge, the messages (worker_main.h, zygote.h, session_process.h).
//
//   class Python final : public Language { … };
//   return RunWorker(argc, argv, {.name = "dossier-python-worker", …}, start);
//
// One object lives in the zygote and, by fork, in each of its sessions. Thread-safety: none; called
// by the main thread of its process.

#ifndef DOSSIER_WORKERS_PROCESS_LANGUAGE_H_
#define DOSSIER_WORKERS_PROCESS_LANGUAGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bridge.h"
#include "contexts.h"
#include "sql.h"

namespace dossier::worker {

// What the code of one session works with; outlives the language.
struct SessionParts {
  Bridge* bridge = nullptr;
  OutputCapture* capture = nullptr;
  std::vector<MappedContext> contexts;  // texts
  JsonObject features;
  std::shared_ptr<SqlSession> sql;
};

enum class ForkSide { kParent, kChild };

class Language {
 public:
  virtual ~Language() = default;

  // In the zygote.
  virtual void BeforeFork() {}
  virtual void AfterFork(ForkSide side) { static_cast<void>(side); }
  // A little more that sessions will need, while nobody asks for anything. False: all is there.
  virtual bool LoadMore() { return false; }
  // Holds the contexts as texts, for all sessions forked from now on. Errors: kLimit.
  virtual Status LoadTexts(const std::vector<MappedContext>& contexts) = 0;

  // In a session's process, in this order.
  // A step of what each session does, before it is known what for. False: nothing is left to do.
  virtual bool Rehearse() { return false; }
  // Before the walls are closed.
  virtual Status Attach(SessionParts* parts) = 0;
  // Bytes that the texts of the contexts will take which are not held yet.
  virtual std::uint64_t TextMemory() const = 0;
  // Behind the walls.
  virtual Status StartSession() = 0;
  // Bridge::NextRequest, without what keeps other threads of the language waiting.
  virtual sandbox::Message NextRequest(Bridge& bridge) { return bridge.NextRequest(); }
  // The signal handler by which the bridge stops a block that runs.
  virtual void (*interrupt_handler() const)(int) = 0;

  // The fields of `done` but usage and output; `failed` with an error for what has no result.
  virtual JsonObject RunBlock(std::string_view code, std::uint32_t block) = 0;
  // An interrupt came in the block that RunBlock has just ended.
  virtual void AfterInterrupt() {}
  // The fields of `checked`, or `failed`.
  virtual JsonObject Check(std::string_view code) = 0;
  // found, text, nearest.
  virtual JsonObject Get(std::string_view name, std::int64_t max_bytes) = 0;
  // False: half a reset, the session cannot go on.
  virtual bool Reset(const Json& keep) = 0;
};

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PROCESS_LANGUAGE_H_
