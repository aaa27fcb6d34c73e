// A session: one isolated interpreter with state, in which code runs block by block.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto pool, Pool::Make({.mode = IsolationMode::kStrict}));
//   DOSSIER_ASSIGN_OR_RETURN(auto session, pool->Open({.contexts = {context}}));
//   DOSSIER_ASSIGN_OR_RETURN(BlockResult result, session->Run("print(len(context))", {}, handler));
//   // result.out == "3800000\n"
//
// Nothing that the code does ends the host: a worker that hangs is interrupted, then killed; one
// that dies is replaced and its recorded blocks run again. Thread-safety: Pool: any thread. A
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

// The language of the code; each has its own worker program.
enum class Dialect { kPython, kJavaScript };
std::string_view DialectName(Dialect dialect);  // "python"
// Errors: kUsage naming the known dialects.
Result<Dialect> ParseDialect(std::string_view name);

// A text that code sees as `context` (or as one of its documents). The worker maps `fd` read-only;
// the text is never sent in a message. Must be valid UTF-8.
struct ContextText {
  std::string name;  // base name, for open("events.ndjson")
  int fd = -1;       // a sealed memfd or a file of the content store; the caller keeps it
  std::shared_ptr<const void> owner = nullptr;  // of `fd`; without one a session opens it again
  std::uint64_t bytes = 0, characters = 0;
  Json meta;  // contextMeta of this document; null if there is none
  // Copies that code may hold beside its own memory before the session counts as too large.
  std::uint64_t copies = 5;
  // kDatabase: an SQLite file, which only sql() reads, by its name. Comes after all texts.
  enum class Kind { kText, kDatabase } kind = Kind::kText;
};

struct SessionSpec {
  Dialect dialect = Dialect::kPython;  // the pool's; set by Open
  std::vector<ContextText> contexts;   // sorted by name
  std::uint64_t seed = 0;              // for `random`; string hashing is constant
  Limits limits;
  std::uint64_t context_string_max = 2ull << 30;  // bytes
  std::vector<std::string> named_models;
  JsonObject features;  // depth, profile, question…: values that the prelude shows to code
};

enum class BlockStatus { kOk, kError, kInterrupted, kLimit, kFinal, kDied, kNotRun };
std::string_view BlockStatusName(BlockStatus status);

struct BlockError {
  std::string type, message;  // "KeyError", "'sise'"
  int line = 0;               // in the block, from 1; 0: unknown
  std::string source;         // the text of that line
  std::string traceback;      // without our own frames
};

struct VariableInfo {
  std::string name, type, preview;  // preview at most 200 characters
  std::uint64_t size = 0;           // len(), if there is one
};

// An answer that code submitted.
struct HandedAnswer {
  enum class Form { kAnswerDict, kSubmit, kFinal, kFinalVar, kPartial } form = Form::kFinal;
  std::string text;
  std::optional<Json> value;  // if it is JSON
  // Numbers beyond JSON (over 64 bits, inf, nan) are strings in `value`.
  bool numbers_as_text = false;
};

// A part of a context that code read.
struct ReadPart {
  std::size_t context = 0;           // index into SessionSpec::contexts
  std::uint64_t at = 0, length = 0;  // bytes
};

struct BlockResult {
  BlockStatus status = BlockStatus::kOk;
  std::string out;  // stdout and stderr as printed, then the last value if shown
  std::uint64_t out_bytes = 0, out_dropped = 0;
  std::uint64_t out_chars = 0;  // characters printed, kept or not
  std::string last;             // "Out: …" text of the last expression or assignment; "" none
  std::optional<BlockError> error;
  std::string refused;  // why a block was not run; status kNotRun
  std::string stopped;  // the limit at which an interrupted block was stopped; also in `notes`
  std::vector<std::string> notes;  // for the model: restored names, late output, comparisons …
  std::vector<VariableInfo> variables;
  std::optional<HandedAnswer> answer;  // the submitted answer of this block
  std::optional<std::string> draft;    // answer["content"] while not ready
  // The basis of the block's output. Data is a context, a model's reply, or something computed from
  // one.
  enum class Ground { kNothing, kData } ground = Ground::kNothing;
  std::vector<std::string> typed;     // texts of output and answer that are literals in the code
  std::vector<std::string> searched;  // constants that the code searches for in texts
  std::vector<std::string> days;  // of three numbers or more, which data must equal or begin with
  // Conditions and searched texts of the code that match nothing in the data, one sentence each.
  std::vector<std::string> unmatched;
  // Those of earlier blocks whose condition this block wrote in a way that matches something.
  std::vector<std::string> settled;
  // kProved: an empty output is proved: no other spelling of the searched texts would have found
  // anything.
  enum class Nothing { kUnproved, kProved } nothing = Nothing::kUnproved;
  // Gaps in output and answer: rows after a slice, failures that code ignores, rows that a
  // condition should have excluded but did not.
  struct Gap {
    std::string text;  // a sentence
    std::uint64_t rows =
        0;  // rows taken, if their number was given; a question may ask for that number
    std::vector<std::string> documents;  // names of the documents taken, for the same reason
  };
  std::vector<Gap> gaps;
  // Rows and texts that code received; without searches, which the host makes.
  std::vector<ReadPart> read;
  Millis cpu{0}, wall{0};
  std::uint64_t peak_bytes = 0;
  // After kDied: what the replacement has and lacks.
  std::string death_reason;
  std::vector<std::string> names_kept, names_lost;
};

// One call from code over the bridge. Only the form of the JSON is checked; the handler checks
// methods, offsets and names.
struct BridgeCall {
  std::uint64_t id = 0;
  int block = 0;
  std::string method;  // llm llm_batch map grep search count records budget …
  JsonObject args;
  std::string raw;  // holds texts; {"blob":[offset,length]} in args points into it
};

// Completes one call, now or later, from any thread. Destroyed unanswered, it fails the call.
class BridgeReply {
 public:
  virtual ~BridgeReply() = default;
  // `value` may point into `raw` by {"blob":[offset,length]}.
  virtual void Ok(Json value, std::string raw = {}) = 0;
  enum class Retry { kNo, kYes };
  virtual void Fail(std::string_view code, std::string_view message, Retry retry = Retry::kNo) = 0;
  // Sends one finished item of a batch, before the reply.
  virtual void Item(std::int64_t index, Json value, std::string raw = {}) = 0;
  // Fires when the block has ended, was interrupted, or the worker died: nobody waits any more.
  virtual CancelToken cancel() const = 0;
};

class BridgeHandler {
 public:
  virtual ~BridgeHandler() = default;
  // Runs on the thread inside Run and must not block long: pass slow work on and keep the reply.
  virtual void OnCall(BridgeCall call, std::shared_ptr<BridgeReply> reply) = 0;
};

// Resolves the text of `parts`: a list of strings, {"blob":[offset,length]} into `raw`, and
// {"ctx":index,"at":byte,"len":bytes} slices of contexts given as views. Every offset is checked.
// Errors: kInvalidArgument with the reason.
Result<std::string> ResolveText(const Json& parts, std::string_view raw,
                                const std::vector<std::string_view>& contexts);

struct BlockTimes {
  std::optional<Clock::Steady> deadline;  // for code in this run; overrides the block's limits
  // The end of the whole run: the time between `deadline` and this is for other work. A block that
  // does not stop is killed after half of it, and names are restored for a quarter more.
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
  bool incomplete = false;  // the code ends in the middle of a statement
  bool has_effect = false;  // a call, assignment, import or loop (whole reply as code)
  bool computes = false;    // one expression that computes something from names of the session
};

enum class InterruptReason { kUser, kDeadline, kSilence, kCpu };

class Session {
 public:
  virtual ~Session() = default;  // as Close
  // Runs one block to its end. Exceptions of the code are reported in BlockResult, not as errors.
  // So is a block stopped by `options.cancel`: kInterrupted with its output and draft, or the
  // answer submitted just then. Errors: kDied after the worker's third death in this session,
  // kProtocol, kUnavailable; kCancelled if nothing ran yet, or if the code did not stop and its
  // worker was killed: the next call has the variables of the blocks before.
  virtual Result<BlockResult> Run(std::string_view code, const BlockOptions& options,
                                  BridgeHandler& handler) = 0;
  // Compiles the code without running it.
  virtual Result<CheckResult> Check(std::string_view code) = 0;
  // Returns the str() of a variable, at most `max_bytes`. kNotFound names the nearest variable.
  virtual Result<std::string> Get(std::string_view name, std::uint64_t max_bytes) = 0;
  // Starts over: removes what blocks assigned, except the variables in `keep`. Contexts, imported
  // modules and the files in /tmp stay. Errors: kDied, kRefused while a block runs.
  virtual Status Reset(const std::vector<std::string>& keep) = 0;
  virtual void Interrupt(InterruptReason reason) = 0;
  virtual void Close() = 0;
  virtual const IsolationReport& report() const = 0;
  // The time from the fork until the session was ready, for the journal.
  virtual Millis start_time() const = 0;
};

// A session whose process starts while the host does other work. Destroying it ends the process.
class Opening {
 public:
  virtual ~Opening() = default;
  // Waits until it is ready; call it once. Errors: as Pool::Open.
  virtual Result<std::unique_ptr<Session>> Finish() = 0;
};

struct PoolOptions {
  IsolationMode mode = IsolationMode::kStrict;
  Dialect dialect = Dialect::kPython;
  std::string worker_path;                   // empty: beside the command, or ../libexec/dossier
  std::vector<std::string> read_folders;     // --sandbox-read
  std::vector<std::string> disabled_layers;  // for tests: these layers are treated as unavailable
};

class Pool {
 public:
  // Errors: kUnavailable / kRefused with the layer, the reason and the remedy (exit 12).
  static Result<std::unique_ptr<Pool>> Make(PoolOptions options);
  virtual ~Pool() = default;
  // Starts the zygote (including the self test) and a first worker in the background, for a later
  // Open, which reports failures. Returns at once.
  virtual void Prepare() = 0;
  // Starts the zygote on first use unless Prepare did, and forks a session. `cancel` ends its waits
  // and those of the session for a worker: a replacement, Check, Get. Errors: kUnavailable with
  // layer, reason and remedy, kDied, kCancelled.
  virtual Result<std::unique_ptr<Session>> Open(SessionSpec spec,
                                                const CancelToken& cancel = {}) = 0;
  // The same in two steps, of which this one never waits: if it cannot begin without waiting,
  // Finish does all of it. Errors: kIo for descriptors that cannot be duplicated.
  virtual Result<std::unique_ptr<Opening>> Begin(SessionSpec spec,
                                                 const CancelToken& cancel = {}) = 0;
};

// Identifies the worker build in which sessions run, for reports that must name it.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string build, WorkerBuild({}));   // "705460f34c82…"
//
// Thread-safety: reads files only.

// Returns the build as base/process/build_info.h does, for the worker that a pool with these
// options starts. Errors: kUnavailable (there is no worker), kDamaged.
Result<std::string> WorkerBuild(const PoolOptions& options);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_SESSION_H_
