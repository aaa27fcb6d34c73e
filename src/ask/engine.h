// The recursive engine: one question over a context of any size.
//
//   Engine engine({.root = root_model, .sub = sub_model, .pool = pool, .journal = journal, …});
//   Request request{.question = "Which package is the largest?", .context = context};
//   DOSSIER_ASSIGN_OR_RETURN(Outcome outcome, engine.Run(request, cancel, events));
//   Print(outcome.text);
//
// The context stays out of the prompt: the model is told what it is, writes code, the sandbox runs
// it, the model sees the output, until an answer is handed in. Short contexts get one plain call.
//
// Errors of Run are those before a run exists (no sandbox, no model, bad context). A run that was
// started always ends in an Outcome; `error` then says what ended it early, and an answer that was
// already produced is kept.
//
// Thread-safety: an Engine may run many requests at once; each run is sequential code on its
// caller's thread.

#ifndef DOSSIER_ASK_ENGINE_H_
#define DOSSIER_ASK_ENGINE_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ask/claims/proof.h"
#include "ask/documents/context_set.h"
#include "ask/documents/out_folder.h"
#include "ask/media.h"
#include "ask/reply/citations.h"
#include "ask/reply/requirement.h"
#include "ask/spending.h"
#include "ask/tools.h"
#include "assembly/layout/layout.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "driver/bound_model.h"
#include "driver/memory_port.h"
#include "driver/section_reader.h"
#include "model/client/ledger.h"
#include "sandbox/session/session.h"
#include "store/content.h"
#include "store/journal.h"

namespace dossier::ask {

enum class Mode { kAuto, kDirect, kRecursive };
enum class Profile { kAuto, kSmall, kLarge };
enum class Forcing { kFull, kReference, kNone };
enum class CacheUse { kOn, kOff, kRefresh };  // refresh: ask again, keep the new reply
// What makes room in a prompt that got too long: cuts and a model's summary, cuts only, or neither:
// the oldest turns then fall out of the prompt.
enum class Compacting { kAuto, kRules, kOff };
// What quotes, references and numbers of an answer must show: nothing (they are looked up), that
// they hold, or that each has evidence; or that nobody looks.
enum class CitationCheck { kCheck, kHeld, kAll, kOff };
enum class BlockPolicy { kUntilError, kAll, kFirst };
// What the root is shown of its code's output: all, as far as limits let it; how much there was;
// not even that. Errors and the names of variables are always shown.
enum class Observe { kFull, kSizes, kNone };
enum class RunStatus { kFinal, kExtracted, kPartial, kNone, kInterrupted, kFailed };
enum class Source {
  kNone,
  kAnswerDict,
  kSubmit,
  kFinal,
  kFinalVar,
  kPartial,
  kBareText,
  kDirect,
  kExtract,
  kDraft,
  kPassage  // read off a passage, without code
};

std::string_view ModeName(Mode mode);
std::string_view RunStatusName(RunStatus status);
std::string_view SourceName(Source source);

struct Limits {
  std::optional<int> iterations;  // turns of a call; unset: 30 large, 12 small
  int depth = 1;                  // 0: no sub-calls; 1: plain ones; N: children to level N - 1
  std::int64_t calls = 500;       // model requests of the tree; each attempt counts
  std::optional<std::int64_t> tokens;
  std::optional<double> usd;
  std::optional<Millis> time;
  int errors = 5;                           // turns in a row in which a block raised
  std::optional<std::size_t> output_chars;  // code points a block; unset: see RunState
};

// A question of the same session that was asked before.
struct PastQuestion {
  std::string run = {}, question = {};
  std::uint64_t seed = 0;
  std::shared_ptr<const ContextSet> context = nullptr;
  std::vector<std::string> blocks = {};  // the code that ran to an end, in order
  std::string transcript = {};           // question, replies, outputs and answer
  enum class Files { kNone, kWritten } files = Files::kNone;  // that code could hand to the user
};
struct AskedSession {
  std::string name = {};  // empty: the run is no part of one
  std::vector<PastQuestion> past = {};
};

struct Request {
  std::string question;
  std::shared_ptr<const ContextSet> context;
  Mode mode = Mode::kAuto;
  Profile profile = Profile::kAuto;
  Forcing forcing = Forcing::kFull;
  Observe observe = Observe::kFull;
  BlockPolicy blocks = BlockPolicy::kUntilError;
  CacheUse cache = CacheUse::kOn;  // of sub-call replies
  Compacting compacting = Compacting::kAuto;
  double compact_at = 0.75;  // of the model's window; above it room is made
  std::optional<int> votes;  // attempts of which two must agree; unset: 1 large, 3 small
  Limits limits;
  sandbox::Limits cell;
  std::uint64_t context_string_max = 2ull << 30;  // bytes
  std::optional<double> temperature;              // unset: 0.2 small, the provider's own otherwise
  std::optional<std::int64_t> sub_max_output;  // tokens of a sub-call's reply; unset: the model's
  std::uint64_t seed = 0;
  enum class Seed { kDrawn, kGiven } seed_from = Seed::kDrawn;  // given: replies can be repeated
  std::vector<Requirement> requirements;                        // that the answer must satisfy
  int repairs = 2;  // how often an answer that does not may be mended
  // With kHeld and kAll the engine adds the requirement, which may be mended once.
  CitationCheck citations = CitationCheck::kCheck;
  ConfirmAbove confirm_above;  // asks a person before it gets dear
  std::vector<Tool> tools;     // that code may call beside ours
  // Of `tools`, those that code of children may call; unset: all of them.
  std::optional<std::vector<std::string>> child_tools;
  std::vector<Medium> media;  // that code may hand to a model with a prompt
  AskedSession session;
  JsonArray argv;                  // for the journal
  std::string folder;              // in which `argv` was typed; the same
  std::shared_ptr<OutFolder> out;  // where code may write files for the user; null: nowhere
  driver::MemoryUse memory;
};

struct LimitHit {
  std::string limit;  // calls, tokens, cost (US dollars), time (seconds), iterations, errors
  Json max, used;     // numbers
};

struct Warning {
  std::string code;  // "blocks_not_run"
  Json data;
};

// What an answer stands on.
struct EvidenceSummary {
  // Shares of the context's bytes, 0 to 1: what models were shown in requests that were answered,
  // and what code looked at.
  double read_by_models = 0, read_by_code = 0;
  std::uint64_t files_left_out = 0;  // of folders, which no share above counts
  int attempts = 0, agreeing = 0;    // independent ones; 1 and 1 where the first answer counts
  std::vector<std::string> doubts;   // what speaks against the answer, a sentence each

  JsonObject ToJson() const;  // as in the event run.finished
};

// Room that was made in the prompt of one turn.
struct Compacted {
  int turn = 0;
  std::string kind;                    // "rules"; "summary"; "stub": the summary failed
  std::string turns;                   // those a summary or stub stands for: "2 to 7"; else empty
  std::int64_t before = 0, after = 0;  // tokens of the prompt
  std::size_t messages_cut = 0;        // of those a summary was made of

  JsonObject ToJson() const;
};

struct Outcome {
  RunStatus status = RunStatus::kNone;
  Source source = Source::kNone;
  std::string text;  // the answer; empty if there is none
  std::optional<Json> value;
  std::string run;  // the journal's id
  Mode mode = Mode::kRecursive;
  std::int64_t mode_tokens = 0, mode_threshold = 0;
  bool mode_estimated = false;  // mode_tokens is no exact count
  int turns = 0;
  // Of a fork: what it asked and took itself. What its parent did counts for limits alone.
  model::LedgerUse usage;
  Millis elapsed{0};
  std::optional<std::int64_t> shared_calls;  // of a fork: its parent's, whose replies it uses
  EvidenceSummary evidence;
  // Where no answer was handed in: what the last block showed. No answer.
  std::string last_output;
  std::vector<Citation> citations;  // in the order of the answer
  std::vector<Proof> proofs;        // with CitationCheck::kHeld and kAll; in the same order
  std::vector<LimitHit> limits_hit;
  std::vector<Compacted> compactions;  // in order
  std::vector<Warning> warnings;
  std::optional<std::vector<OutFile>> files;  // that code wrote; unset without Request::out
  std::optional<sandbox::IsolationReport> sandbox;
  std::optional<Error> error;  // what ended the run early
  // Of a run that was only compared: what came out otherwise than it is recorded, a sentence each.
  std::vector<std::string> differences;

  Json ToJson() const;    // dossier.ask/1
  int exit_code() const;  // of the process
};

// Sees every event of a run, in order, on the run's threads. Must not block.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void OnEvent(const store::Event& event) = 0;
  // Text of the root model's reply as it arrives.
  virtual void OnDelta(std::string_view text) { static_cast<void>(text); }
};

struct EngineOptions {
  driver::BoundModel root, sub;
  std::optional<driver::BoundModel> child;          // drives children; unset: `sub`
  std::map<std::string, driver::BoundModel> named;  // that code may ask for by these names
  int most_children = 64;                           // that run at once, each with a sandbox
  std::shared_ptr<sandbox::Pool> pool;  // made when the first recursive run needs it, if null
  sandbox::PoolOptions pool_options;
  std::shared_ptr<store::Journal> journal;
  std::shared_ptr<const store::Memo> replies;  // of sub-calls asked before; null: none is kept
  assembly::AssetFolders folders;
  driver::SectionMakers makers;        // of sections that a user's layouts add
  std::shared_ptr<const Clock> clock;  // unset: the system's
  std::string version = "0.1.0";

  const driver::BoundModel& child_model() const { return child ? *child : sub; }
};

// What --dry-run prints: the decision and the first messages.
struct Plan {
  Mode mode = Mode::kRecursive;
  std::int64_t tokens = 0, threshold = 0;
  bool estimated = false;  // tokens is no exact count
  std::string reason;
  assembly::Messages messages;
  Json report;
  CallEstimate first;  // the request that this prompt would be
  // All of the context read once by sub-calls of the largest size; nothing in direct mode.
  CallEstimate reading;
  std::vector<std::string> warnings;  // of the sections that the user's layouts add
};

// How a run that the journal has goes on. `request` must be the one that it was started with but
// for limits, and for what a fork edits.
//
//   engine.Resume({.run = id}, request, cancel, events);     // asks nothing twice
//
struct Continuation {
  std::string run;
  // kForked: `run` is a copy (ForkRun). kCompared: no model is asked, nothing is written;
  // Outcome::differences tells what came out otherwise.
  enum class How { kResumed, kForked, kCompared } how = How::kResumed;
  std::string code;  // of a fork: runs as its first new block; empty: the model is asked
};

class Engine {
 public:
  explicit Engine(EngineOptions options);
  ~Engine();

  Result<Outcome> Run(const Request& request, const CancelToken& cancel, EventSink& events);
  // Errors before the run goes on: also kNotFound (no such run), kDamaged (made by an older
  // version; a context is not the same any more, by name, size or hash).
  Result<Outcome> Resume(const Continuation& how, const Request& request, const CancelToken& cancel,
                         EventSink& events);
  // Calls no model and starts no worker.
  Result<Plan> DryRun(const Request& request, const CancelToken& cancel);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_ENGINE_H_
