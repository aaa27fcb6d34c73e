// Model requests made by code: one prompt, or a batch.
//
//   Subcalls subcalls(run, contexts, coverage);
//   subcalls.Query(call, reply);            // llm_query
//   subcalls.Batch(call, reply);            // llm_query_batched
//
// Requests complete through the bridge without a thread each. Thread-safety: Query and Batch from
// one thread at a time; replies come on the network thread. What becomes of a prompt before it is
// sent is in subcall_prompt.cc.

#ifndef DOSSIER_ASK_SUBCALLS_SUBCALLS_H_
#define DOSSIER_ASK_SUBCALLS_SUBCALLS_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ask/policy/coverage.h"
#include "ask/run/run_state.h"
#include "ask/subcalls/code_reply.h"
#include "ask/subcalls/subcall_cache.h"
#include "model/schema/json_schema.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

// Sub-calls that code made, and those of them that failed, by kind: "cut", "empty", "timeout",
// "too_long" (never sent). A prompt that failed, was asked again and was answered then did not fail
// any more; where its failure was in an earlier tally, the number of this one is negative.
struct SubcallTally {
  int made = 0;
  std::map<std::string, int> failures;
  int unsure_labels = 0;  // calls of map_llm whose counts may be wrong
  // Texts of calls of map_llm that gave some no label, and those of them, by reason.
  int texts = 0;
  std::map<std::string, int> without_label;

  int failed() const;
  int lost() const;  // failed, or texts without a label
  void Add(const SubcallTally& more);
  // "3 of 40 failed (2 cut, 1 empty)"
  std::string ToText() const;
  // The same with the texts of map_llm; empty: nothing is lost.
  std::string LostText() const;
};

// Whether a reply is a text, or the JSON value that a schema asked for.
enum class ReplyForm { kText, kValue };

// How a reply ended, as code that asked for it needs to know.
struct ReplyEnding {
  enum class Cut { kNo, kYes } cut = Cut::kNo;  // the text ends before the reply did
  std::string kind;     // "cut", "filtered", "empty"; empty: the reply is whole
  std::string problem;  // the same in a sentence
};
// `text`: the reply without thinking.
ReplyEnding EndingOf(const model::Reply& reply, std::string_view text);

// What fits the model's window beside its reply. The rest is for roles and fences.
std::int64_t SubcallTokens(const driver::BoundModel& to);
// The names by which code may ask for a model.
std::vector<std::string> ModelNames(const EngineOptions& options);

class Subcalls {
 public:
  Subcalls(RunState& run, std::vector<std::string_view> contexts, Coverage& coverage)
      : run_(run),
        contexts_(std::move(contexts)),
        coverage_(coverage),
        cache_(run.options.replies, run.request.cache, run.boundary) {}
  ~Subcalls();  // waits for what is in flight

  void Query(const sandbox::BridgeCall& call, std::shared_ptr<sandbox::BridgeReply> reply);
  void Batch(const sandbox::BridgeCall& call, const std::shared_ptr<sandbox::BridgeReply>& reply);

  using Done = std::function<void(Result<model::Reply>)>;
  struct Outgoing {
    assembly::Assembled prompt;
    model::Purpose purpose = model::Purpose::kSubcall;
    model::Sampling sampling;
    const driver::BoundModel* to = nullptr;  // null: the sub-model
    const Json* schema = nullptr;            // for servers that hold replies to one; not kept
    JsonArray media;  // the images in the prompt, for the journal: [{"name", "sha256"}]
    SpendPermit permit;
  };
  // Sends an assembled prompt; `done` runs once, on another thread. A reply that is known already
  // is handed over before Send returns.
  void Send(Outgoing out, const CancelToken& cancel, Done done);

  // The model that `args` name by `model`, or `otherwise`. Errors: kInvalidArgument with the known.
  Result<const driver::BoundModel*> NamedModel(const JsonObject& args,
                                               const driver::BoundModel& otherwise) const;
  // The prompts of a batch. Errors: kInvalidArgument: one is none, or blank; kCancelled.
  Result<const JsonArray*> PromptsOf(const sandbox::BridgeCall& call,
                                     const CancelToken& cancel) const;
  // One more sub-call, made as a child.
  void CountChild(const Result<CodeReply>& reply);

  // What Query or Batch would send for the same call, whose method is that of a batch if it has
  // `prompts`; nothing leaves. A prompt that cannot be sent is an error. Errors: kInvalidArgument,
  // kUsage, kTooLong, kCancelled.
  Result<CallEstimate> Estimate(const sandbox::BridgeCall& call, const CancelToken& cancel);
  // The same for one assembled prompt.
  CallEstimate EstimateOne(const Outgoing& out);

  // What became of the sub-calls since the last call of Take: for the feedback.
  SubcallTally Take();
  void NoteUnsureLabels();
  // Texts of a call of map_llm that got no label.
  void CountLostTexts(int texts, const std::map<std::string, int>& without_label);
  // What code was told of sub-calls that failed, each once: no answer to anything.
  std::vector<std::string> error_texts();
  // Counts the text of `parts` as shown to a model.
  void CountCoverage(const Json& parts, std::string_view raw);
  const std::vector<std::string_view>& contexts() const { return contexts_; }
  const SubcallCache& cache() const { return cache_; }

 private:
  struct Slice {
    std::size_t document = 0;
    std::uint64_t at = 0, length = 0;
  };
  // What code may set of its requests.
  struct Settings {
    const driver::BoundModel* to = nullptr;
    model::Sampling sampling;
    std::string system;                       // empty: no system message
    std::optional<model::JsonSchema> schema;  // that the reply has to fit, as JSON
  };
  Result<Settings> ReadSettings(const JsonObject& args) const;
  // One prompt, {"parts": …, "context": …}, ready to be sent.
  struct Prepared {
    assembly::Assembled prompt;
    JsonArray media;                 // as Outgoing::media
    std::vector<Slice> slices;       // of the contexts; counted once the reply is there
    std::vector<std::string> texts;  // that may come from the contexts
  };
  Result<Prepared> Prepare(const JsonObject& prompt, std::string_view raw,
                           const Settings& settings);
  Result<assembly::Assembled> Assemble(std::string text, const std::optional<std::string>& content,
                                       const Settings& settings,
                                       std::span<const Medium* const> media) const;
  // `parts`: all texts that one request holds; `images`: how many stand beside them.
  static Status CheckLength(std::initializer_list<std::string_view> parts, std::size_t images,
                            const driver::BoundModel& to);
  // The images of all prompts of a batch are in memory at once.
  Status CheckBatchMedia(const JsonArray& prompts) const;
  std::int64_t OutputOf(const model::Sampling& sampling, const assembly::Assembled& prompt,
                        const driver::BoundModel& to) const;
  // Of a reply that has to fit a schema the text is its value, or the error is kSchema.
  void SendPrepared(Prepared prepared, const Settings& settings, const SpendPermit& permit,
                    const CancelToken& cancel, Done done);
  // A prompt whose reply did not fit gets it back once, with what is wrong.
  Done FitOnce(const Settings& settings, const Prepared& prepared, const CancelToken& cancel,
               Done done);
  // What a person says to it, where it has to be asked. Errors: kRefused.
  Result<SpendPermit> Agreed(const sandbox::BridgeCall& call, const CancelToken& cancel);
  bool IsBlankPrompt(const JsonObject& prompt, std::string_view raw) const;
  Status RefuseBareQuestion(std::string_view text) const;
  // `messages`: those of out.prompt, which may be as large as a context.
  std::shared_ptr<model::Request> MakeRequest(const Outgoing& out,
                                              assembly::Messages messages) const;
  // The reply of an equal earlier request, counted and in the journal.
  std::optional<model::Reply> Known(const std::optional<std::string>& key,
                                    const model::Request& request, const std::string& hash,
                                    const JsonArray& media, std::int64_t id);
  void LogResult(std::int64_t id, model::Purpose purpose, const std::string& hash,
                 const Result<model::Reply>& result, JsonObject unsent);
  // `told`: what code reads of it; empty: nothing.
  void CountFailure(std::string_view kind, std::string_view told = {});
  // Of a prompt that was sent; `before`: its earlier failures, which no answer has made good.
  void CountLost(const std::string& prompt, const std::map<std::string, int>& before,
                 std::string_view kind, std::string_view told = {});
  void CountMadeGood(const std::map<std::string, int>& before);
  // As CountFailure, of a call that no request left for.
  void CountUnsent(std::string_view kind, std::string_view told = {});

  RunState& run_;
  const std::vector<std::string_view> contexts_;
  Coverage& coverage_;
  const SubcallCache cache_;
  std::mutex mutex_;
  std::condition_variable idle_;
  int in_flight_ = 0;
  std::int64_t next_id_ = 0;
  SubcallTally tally_;
  std::map<std::string, std::map<std::string, int>> lost_;  // by prompt; failures by kind
  std::set<std::string, std::less<>> error_texts_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_SUBCALLS_H_
