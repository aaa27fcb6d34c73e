// A session: one isolated interpreter with state, run block by block.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto pool, Pool::Make({.mode = Mode::kStrict}));
//   DOSSIER_ASSIGN_OR_RETURN(auto session, pool->Open({.contexts = {context}}));
//   DOSSIER_ASSIGN_OR_RETURN(BlockResult result, session->Run("print(len(context))", {}, handler));
//   // result.out == "3800000\n"
//
// Nothing that the code does ends the host: a worker that hangs is interrupted, then killed; one
// that dies is replaced and its recorded blocks run again. Thread-safety: Pool from any thread. A
// Session has one owner; Interrupt and Close may be called from any thread while Run blocks.

#ifndef DOSSIER_SANDBOX_SESSION_SESSION_H_
#define DOSSIER_SANDBOX_SESSION_SESSION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/result.h"
#include "sandbox/walls/isolation.h"

namespace dossier::sandbox {

// The language of the code; each has a worker program of its own.
enum class Dialect { kPython, kJavaScript };
std::string_view DialectName(Dialect dialect);  // "python"
// Errors: kUsage naming the known ones.
Result<Dialect> ParseDialect(std::string_view name);

// A text that code sees as `context` (or one of its documents). The worker maps `fd` read-only; the
// text never travels in a message. Valid UTF-8.
struct Context {
  std::string name;  // base name: what open("events.ndjson") finds
  int fd = -1;       // a sealed memfd or a file of the content store; stays the caller's
  std::shared_ptr<const void> owner = nullptr;  // of `fd`; without one a session opens it again
  std::uint64_t bytes = 0, characters = 0;
  Json meta;  // contextMeta for this document; null if there is none
  // How often code may hold it beside its own memory, before the session counts as too large.
  std::uint64_t copies = 5;
  // An SQLite file, which is no text: only sql() reads it, by its name. Behind all texts.
  enum class Kind { kText, kDatabase } kind = Kind::kText;
};

struct SessionSpec {
  Dialect dialect = Dialect::kPython;  // the pool's; set by Open
  std::vector<Context> contexts;       // sorted by name
  std::uint64_t seed = 0;              // of `random`; string hashing is constant
  Limits limits;
  std::uint64_t context_string_max = 2ull << 30;  // bytes
  std::vector<std::string> named_models;
  JsonObject features;  // depth, profile, question…: what the prelude shows to code
};

enum class BlockStatus { kOk, kError, kInterrupted, kLimit, kFinal, kDied, kNotRun };
std::string_view BlockStatusName(BlockStatus status);

struct BlockError {
  std::string type, message;  // "KeyError", "'sise'"
  int line = 0;               // in the block, from 1; 0 unknown
  std::string source;         // that line's text
  std::string traceback;      // our own frames removed
};

struct VariableInfo {
  std::string name, type, preview;  // preview at most 200 characters
  std::uint64_t size = 0;           // len() where there is one
};

// An answer that code handed over.
struct HandedAnswer {
  enum class Form { kAnswerDict, kSubmit, kFinal, kFinalVar, kPartial } form = Form::kFinal;
  std::string text;
  std::optional<Json> value;  // where it is JSON
  // Numbers that JSON cannot hold (of more than 64 bits, inf, nan) stand in `value` as texts.
  bool numbers_as_text = false;
};

// A part of a context that code looked at.
struct ReadPart {
  std::size_t context = 0;           // index into SessionSpec::contexts
  std::uint64_t at = 0, length = 0;  // bytes
};

struct BlockResult {
  BlockStatus status = BlockStatus::kOk;
  std::string out;  // stdout and stderr as printed, then the shown last value
  std::uint64_t out_bytes = 0, out_dropped = 0;
  std::uint64_t out_chars = 0;  // printed, whether kept or not
  std::string last;             // "Out: …" text of the last expression or assignment; "" none
  std::optional<BlockError> error;
  std::string refused;  // why a block was not run; status kNotRun
  std::string stopped;  // at which limit an interrupted block was stopped; in `notes` too
  std::vector<std::string> notes;  // for the model: names put back, late output, comparisons …
  std::vector<VariableInfo> variables;
  std::optional<HandedAnswer> answer;  // accepted form of this block
  std::optional<std::string> draft;    // answer["content"] while not ready
  // What the block's output was made from. Data means a context, a model's reply, or something that
  // was computed from one.
  enum class Ground { kNothing, kData } ground = Ground::kNothing;
  std::vector<std::string> typed;     // texts of output and answer that stand in the code itself
  std::vector<std::string> searched;  // constants of the code that it looks for in texts
  std::vector<std::string> days;  // of three numbers or more, which data must equal or begin with
  // Conditions and searched texts of the code that fit nothing in the data, a sentence each.
  std::vector<std::string> unmatched;
  // Those of earlier blocks whose condition this block wrote in a way that fits something.
  std::vector<std::string> settled;
  // Whether an output of nothing is proved: no other spelling of what the code asks for would have
  // found anything.
  enum class Nothing { kUnproved, kProved } nothing = Nothing::kUnproved;
  // What output and answer leave out: rows behind a slice, failures that code passes over, rows
  // that a condition was to keep off and did not.
  struct Gap {
    std::string text;  // a sentence
    std::uint64_t rows =
        0;  // that were taken, where so many were named; a question may ask for them
    std::vector<std::string> documents;  // names of those that were taken, for the same reason
  };
  std::vector<Gap> gaps;
  // Rows and texts that code got; without searches, which the host makes.
  std::vector<ReadPart> read;
  Millis cpu{0}, wall{0};
  std::uint64_t peak_bytes = 0;
  // After kDied: what the replacement has and lacks.
  std::string death_reason;
  std::vector<std::string> names_kept, names_lost;
};

// One call from code over the bridge. JSON is checked for shape only; methods, offsets and names
// are checked by the handler.
struct BridgeCall {
  std::uint64_t id = 0;
  int block = 0;
  std::string method;  // llm llm_batch map grep search count records budget …
  JsonObject args;
  std::string raw;  // texts lie here; {"blob":[offset,length]} in args points into it
};

// Completes one call, now or later, from any thread. Dropped without an answer it fails the call.
class BridgeReply {
 public:
  virtual ~BridgeReply() = default;
  // `value` may point into `raw` by {"blob":[offset,length]}.
  virtual void Ok(Json value, std::string raw = {}) = 0;
  enum class Retry { kNo, kYes };
  virtual void Fail(std::string_view code, std::string_view message, Retry retry = Retry::kNo) = 0;
  // One finished item of a batch, before the reply.
  virtual void Item(std::int64_t index, Json value, std::string raw = {}) = 0;
  // Fires when the block ended, was interrupted, or the worker died: nobody waits any more.
  virtual CancelToken cancel() const = 0;
};

class BridgeHandler {
 public:
  virtual ~BridgeHandler() = default;
  // On the thread that is inside Run; must not block long: hand slow work on and keep the reply.
  virtual void OnCall(BridgeCall call, std::shared_ptr<BridgeReply> reply) = 0;
};

// The text of `parts`: a list of strings, {"blob":[offset,length]} into raw, and
// {"ctx":index,"at":byte,"len":bytes} slices of contexts given as views. Every offset is checked.
// Errors: kInvalidArgument with what is wrong.
Result<std::string> ResolveText(const Json& parts, std::string_view raw,
                                const std::vector<std::string_view>& contexts);

struct BlockTimes {
  std::optional<Clock::Steady> deadline;  // of code in this run; beats the block's own limits
  // Of the whole run: what is left of it behind `deadline` is for others. A block that does not
  // stop is killed when half of that has passed, and names are brought back for a quarter more.
  std::optional<Clock::Steady> end;
};

struct BlockOptions {
  // Asked again and again while the block runs: of a run that is repeated and goes on, the time
  // begins in the middle of one. Empty: no time is set. From the thread that is inside Run.
  std::function<BlockTimes()> times;
  CancelToken cancel;
  enum class Repeat { kAllow, kRefuse } repeat = Repeat::kAllow;

  BlockTimes Times() const { return times ? times() : BlockTimes(); }
};

struct CheckResult {
  bool ok = false;
  BlockError error;         // when not ok
  bool incomplete = false;  // the code ends in the middle of something
  bool has_effect = false;  // a call, assignment, import or loop (whole reply as code)
  bool computes = false;    // one expression that works something out of names of the session
};

enum class InterruptReason { kUser, kDeadline, kSilence, kCpu };

class Session {
 public:
  virtual ~Session() = default;  // as Close
  // Runs one block to its end. What the code raises is a BlockResult, not an error. So is a block
  // that stopped when `options.cancel` asked for it: kInterrupted with its output and draft, or the
  // answer that it handed over just then. Errors: kDied after the third death of the worker in this
  // session, kProtocol, kUnavailable; kCancelled if there was nothing to run yet, or if the code
  // did not stop and its worker was killed.
  virtual Result<BlockResult> Run(std::string_view code, const BlockOptions& options,
                                  BridgeHandler& handler) = 0;
  // Compiles, runs nothing.
  virtual Result<CheckResult> Check(std::string_view code) = 0;
  // The value of a variable as text (str() of it), at most `max_bytes`. kNotFound names the
  // nearest.
  virtual Result<std::string> Get(std::string_view name, std::uint64_t max_bytes) = 0;
  // Starts over: what blocks assigned is gone, but for the variables in `keep`. Contexts, modules
  // that were imported and the files in /tmp stay. Errors: kDied, kRefused while a block runs.
  virtual Status Reset(const std::vector<std::string>& keep) = 0;
  virtual void Interrupt(InterruptReason reason) = 0;
  virtual void Close() = 0;
  virtual const IsolationReport& report() const = 0;
  // The time from the fork until the session was ready, for the journal.
  virtual Millis start_time() const = 0;
};

// A session whose process makes ready while the host does other work. Dropped, it ends.
class Opening {
 public:
  virtual ~Opening() = default;
  // Waits until it is ready; to be called once. Errors: as Pool::Open.
  virtual Result<std::unique_ptr<Session>> Finish() = 0;
};

struct PoolOptions {
  Mode mode = Mode::kStrict;
  Dialect dialect = Dialect::kPython;
  std::string worker_path;                   // empty: beside the command, or ../libexec/dossier
  std::vector<std::string> read_folders;     // --sandbox-read
  std::vector<std::string> disabled_layers;  // for tests: these layers are treated as unavailable
};

class Pool {
 public:
  // Errors: kUnavailable / kRefused with the layer, the reason and the way out (exit 12).
  static Result<std::unique_ptr<Pool>> Make(PoolOptions options);
  virtual ~Pool() = default;
  // Starts the zygote (self test included) and a first worker in the background, for an Open that
  // will come. What fails shows in Open. Returns at once.
  virtual void Prepare() = 0;
  // Starts the zygote on first use if nobody called Prepare, forks a session. `cancel` ends its
  // waits and those of the session for a worker: a replacement, Check, Get. Errors: kUnavailable
  // with layer, reason and way out, kDied, kCancelled.
  virtual Result<std::unique_ptr<Session>> Open(SessionSpec spec,
                                                const CancelToken& cancel = {}) = 0;
  // The same in two steps, of which this one waits for nothing: where it cannot begin without
  // waiting, Finish does all of it. Errors: kIo for descriptors that cannot be kept.
  virtual Result<std::unique_ptr<Opening>> Begin(SessionSpec spec,
                                                 const CancelToken& cancel = {}) = 0;
};

// Which build of the worker sessions run in, for reports that must name it.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string build, WorkerBuild({}));   // "705460f34c82…"
//
// Thread-safety: reads files only.

// As base/process/build_info.h, of the worker that a pool with these options starts. Errors:
// kUnavailable (no worker is there), kDamaged.
Result<std::string> WorkerBuild(const PoolOptions& options);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_SESSION_H_
