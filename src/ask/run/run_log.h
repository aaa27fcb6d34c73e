// Every event of one run: into the journal, and to whoever watches.
//
//   RunLog log(journal, events, clock);
//   log.Start({{"question", question}});
//   log.Add(0, "turn.started", {{"turn", 1}});
//
// A journal that cannot be written never ends a run: the first failure becomes a warning, the
// events still reach the sink when the journal's disk is full. Thread-safety: all methods from any
// thread; events keep one order.

#ifndef DOSSIER_ASK_RUN_RUN_LOG_H_
#define DOSSIER_ASK_RUN_RUN_LOG_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/engine.h"
#include "assembly/layout/messages.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "driver/run_log.h"
#include "store/journal.h"

namespace dossier::ask {

class RunLog {
 public:
  RunLog(std::shared_ptr<store::Journal> journal, EventSink& sink,
         std::shared_ptr<const Clock> clock);

  void Start(JsonObject data);
  void Add(std::int64_t call, std::string_view type, JsonObject data);
  Json Body(std::string_view text) { return log_.Body(text); }
  // The messages of a request: [1, 2, {"n":3,"role":"user","body":…}]. Each is told once a run, the
  // first time it is sent, and is only named after that: a turn adds what is new in it.
  Json Messages(const assembly::Messages& messages);
  void Warn(std::int64_t call, std::string_view code, Json data = nullptr);
  void Delta(std::string_view text) { sink_.OnDelta(text); }

  std::string run() const { return log_.run(); }
  std::vector<Warning> warnings() const;

 private:
  EventSink& sink_;
  driver::RunLog log_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Warning> warnings_;
  std::map<std::string, std::int64_t> told_;  // messages, by hash
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RUN_LOG_H_
