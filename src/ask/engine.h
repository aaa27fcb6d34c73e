// The recursive engine, which answers one question about a context of any size.
//
//   Engine engine({.root = root_model, .sub = sub_model, .pool = pool, .journal = journal, …});
//   AskRequest request{.question = "Which package is the largest?", .context = context};
//   DOSSIER_ASSIGN_OR_RETURN(Outcome outcome, engine.Run(request, cancel, events));
//   Print(outcome.text);
//
// The context stays out of the prompt: the model gets a description and writes code, the sandbox
// runs it, and the model sees the output, until it answers. Short contexts get one plain call.
//
// Run returns an error only before a run exists (no sandbox, no model, bad context). A run that has
// started always ends in an Outcome: its `error` says what ended the run early, and an answer that
// was already produced is kept.
//
// Thread-safety: an Engine may run many requests at once; each run is sequential code in its
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
enum class CacheUse { kOn, kOff, kRefresh };  // kRefresh: ask again and keep the new reply
// The method for compacting old turns when a prompt gets too long: rules and a model's summary,
// rules only, or none (the oldest turns are dropped).
enum class Compacting { kAuto, kRules, kOff };
// The proof required for quotes, references and numbers of an answer: none (they are only looked
// up), that they are true, or that each has evidence. kOff: they are not looked up at all.
enum class CitationCheck { kCheck, kHeld, kAll, kOff };
enum class BlockPolicy { kUntilError, kAll, kFirst };
// The part of its code's output that the root model is shown: all (within the limits), only its
// sizes, or nothing. Errors and the names of variables are always shown.
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
  kPassage  // read from a passage, without code
};

std::string_view ModeName(Mode mode);
std::string_view RunStatusName(RunStatus status);
std::string_view SourceName(Source source);

struct AskLimits {
  std::optional<int> iterations;  // turns per call; unset: 30 large, 12 small
  int depth = 1;                  // 0: no sub-calls; 1: plain ones; N: children to level N - 1
  std::int64_t calls = 500;       // model requests of the whole call tree; each attempt counts
  std::optional<std::int64_t> tokens;
  std::optional<double> usd;
  std::optional<Millis> time;
  int errors = 5;                           // consecutive turns in which a block raised
  std::optional<std::size_t> output_chars;  // code points per block; unset: see RunState
};

// An earlier question of the same session.
struct PastQuestion {
  std::string run = {}, question = {};
  std::uint64_t seed = 0;
  std::shared_ptr<const ContextSet> context = nullptr;
  std::vector<std::string> blocks = {};  // code that ran to its end, in order
  std::string transcript = {};           // question, replies, outputs and answer
  enum class Files { kNone, kWritten } files = Files::kNone;  // whether code wrote user files
};
struct AskedSession {
  std::string name = {};  // empty: the run belongs to no session
  std::vector<PastQuestion> past = {};
};

struct AskRequest {
  std::string question;
  std::shared_ptr<const ContextSet> context;
  Mode mode = Mode::kAuto;
  Profile profile = Profile::kAuto;
  Forcing forcing = Forcing::kFull;
  Observe observe = Observe::kFull;
  BlockPolicy blocks = BlockPolicy::kUntilError;
  CacheUse cache = CacheUse::kOn;  // for replies of sub-calls
  Compacting compacting = Compacting::kAuto;
  double compact_at = 0.75;  // fraction of the model's window above which the prompt is compacted
  std::optional<int> votes;  // attempts, of which two must agree; unset: 1 large, 3 small
  AskLimits limits;
  sandbox::Limits cell;
  std::uint64_t context_string_max = 2ull << 30;  // bytes
  std::optional<double> temperature;              // unset: 0.2 small, the provider's own otherwise
  std::optional<std::int64_t> sub_max_output;     // tokens per sub-call reply; unset: model's limit
  std::uint64_t seed = 0;
  enum class Seed { kDrawn, kGiven } seed_from = Seed::kDrawn;  // kGiven: replies can be repeated
  std::vector<Requirement> requirements;                        // that the answer must meet
  int repairs = 2;  // how often an answer that fails one may be corrected
  // For kHeld and kAll the engine adds a requirement, which allows one correction.
  CitationCheck citations = CitationCheck::kCheck;
  ConfirmAbove confirm_above;  // asks a person before the run gets expensive
  std::vector<Tool> tools;     // that code may call besides the built-in functions
  // Those of `tools` that code of children may call; unset: all of them.
  std::optional<std::vector<std::string>> child_tools;
  std::vector<Medium> media;  // that code may pass to a model with a prompt
  AskedSession session;
  JsonArray argv;                  // for the journal
  std::string folder;              // where `argv` was typed; also for the journal
  std::shared_ptr<OutFolder> out;  // where code may write files for the user; null: not allowed
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

// The evidence for an answer.
struct EvidenceSummary {
  // Shares of the context's bytes, 0 to 1: those that models were shown in answered requests, and
  // those that code read.
  double read_by_models = 0, read_by_code = 0;
  std::uint64_t files_left_out = 0;  // from folders; not part of the shares above
  int attempts = 0, agreeing = 0;    // independent attempts; 1 and 1 if the first answer counts
  std::vector<std::string> doubts;   // reasons against the answer, one sentence each

  JsonObject ToJson() const;  // as in the event run.finished
};

// One compaction of the prompt of a turn.
struct Compacted {
  int turn = 0;
  std::string kind;   // "rules", "summary" or "stub" (the summary failed)
  std::string turns;  // turns that a summary or stub replaces: "2 to 7"; else empty
  std::int64_t before = 0, after = 0;  // tokens of the prompt
  std::size_t messages_cut = 0;        // messages shortened for the summary's request

  JsonObject ToJson() const;
};

struct Outcome {
  RunStatus status = RunStatus::kNone;
  Source source = Source::kNone;
  std::string text;  // the answer; empty if there is none
  std::optional<Json> value;
  std::string run;  // the run's id in the journal
  Mode mode = Mode::kRecursive;
  std::int64_t mode_tokens = 0, mode_threshold = 0;
  bool mode_estimated = false;  // mode_tokens is not an exact count
  int turns = 0;
  // For a fork: its own requests and usage. The parent's count only towards limits.
  model::LedgerUse usage;
  Millis elapsed{0};
  std::optional<std::int64_t> shared_calls;  // for a fork: the parent's calls, reused here
  EvidenceSummary evidence;
  // The output of the last block, if no answer was handed in. It is not an answer.
  std::string last_output;
  std::vector<Citation> citations;  // in the answer's order
  std::vector<Proof> proofs;        // with CitationCheck::kHeld and kAll; in the answer's order
  std::vector<LimitHit> limits_hit;
  std::vector<Compacted> compactions;  // in order
  std::vector<Warning> warnings;
  std::optional<std::vector<OutFile>> files;  // written by code; unset without Request::out
  std::optional<sandbox::IsolationReport> sandbox;
  std::optional<Error> error;  // why the run ended early
  // For kCompared: the differences from the record, one sentence each.
  std::vector<std::string> differences;

  Json ToJson() const;    // dossier.ask/1
  int exit_code() const;  // exit code of the process
};

// Receives every event of a run, in order, in the run's threads. Must not block.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void OnEvent(const store::Event& event) = 0;
  // Gets text of the root model's reply as it arrives.
  virtual void OnDelta(std::string_view text) { static_cast<void>(text); }
};

struct EngineOptions {
  driver::BoundModel root, sub;
  std::optional<driver::BoundModel> child;          // drives child calls; unset: `sub`
  std::map<std::string, driver::BoundModel> named;  // models that code may ask for by these names
  int most_children = 64;                           // that run at once, each with its own sandbox
  std::shared_ptr<sandbox::Pool> pool;  // null: made when the first recursive run needs it
  sandbox::PoolOptions pool_options;
  std::shared_ptr<store::Journal> journal;
  std::shared_ptr<const store::Memo> replies;  // of earlier sub-calls; null: not kept
  assembly::AssetFolders folders;
  driver::SectionMakers makers;        // for sections that a user's layouts add
  std::shared_ptr<const Clock> clock;  // unset: the system's
  std::string version = "0.1.0";

  const driver::BoundModel& child_model() const { return child ? *child : sub; }
};

// The output of --dry-run: the decision on the mode, and the first messages.
struct Plan {
  Mode mode = Mode::kRecursive;
  std::int64_t tokens = 0, threshold = 0;
  bool estimated = false;  // tokens is not an exact count
  std::string reason;
  assembly::Messages messages;
  Json report;
  CallEstimate first;  // the request that this prompt would make
  // For reading the whole context once by sub-calls of maximum size; empty in direct mode.
  CallEstimate reading;
  std::vector<std::string> warnings;  // from the sections that the user's layouts add
};

// The way to continue a run from the journal. `request` must be the one that the run was started
// with, except for limits and for what a fork edits.
//
//   engine.Resume({.run = id}, request, cancel, events);     // asks nothing twice
//
struct Continuation {
  std::string run;
  // kForked: `run` is a copy made by ForkRun. kCompared: no model is asked and nothing is written;
  // Outcome::differences lists what came out differently.
  enum class How { kResumed, kForked, kCompared } how = How::kResumed;
  std::string code;  // for a fork: runs as its first new block; empty: the model is asked
};

class Engine {
 public:
  explicit Engine(EngineOptions options);
  ~Engine();

  Result<Outcome> Run(const AskRequest& request, const CancelToken& cancel, EventSink& events);
  // Additional errors before the run continues: kNotFound (no such run), kDamaged (made by an older
  // version; the name, size or hash of a context has changed).
  Result<Outcome> Resume(const Continuation& how, const AskRequest& request,
                         const CancelToken& cancel, EventSink& events);
  // Calls no model and starts no worker.
  Result<Plan> DryRun(const AskRequest& request, const CancelToken& cancel);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_ENGINE_H_
