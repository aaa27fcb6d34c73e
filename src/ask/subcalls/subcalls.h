// Handles model requests made by code: one prompt, or a batch.
//
//   Subcalls subcalls(run, contexts, coverage);
//   subcalls.Query(call, reply);            // llm_query
//   subcalls.Batch(call, reply);            // llm_query_batched
//
// Requests complete through the bridge without a thread each. Thread-safety: Query and Batch from
// one thread at a time; replies come on the network thread. subcall_prompt.cc prepares prompts
// before they are sent.

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

// Counts of sub-calls made by code, and of those that failed, by kind: "cut", "empty", "timeout",
// "too_long" (never sent). A failed prompt that was asked again and then answered no longer counts
// as failed; if its failure was in an earlier tally, this tally's number is negative.
struct SubcallTally {
  int made = 0;
  std::map<std::string, int> failures;
  int unsure_labels = 0;  // calls of map_llm whose counts may be wrong
  // Texts of map_llm calls that left some without a label, and those texts by reason.
  int texts = 0;
  std::map<std::string, int> without_label;

  int failed() const;
  int lost() const;  // failed, or texts without a label
  void Add(const SubcallTally& more);
  // Returns "3 of 40 failed (2 cut, 1 empty)".
  std::string ToText() const;
  // Returns the same including texts of map_llm; empty: nothing is lost.
  std::string LostText() const;
};

// The form of a reply: text, or the JSON value that a schema requested.
enum class ReplyForm { kText, kValue };

// The way a reply ended, for the code that asked for it.
struct ReplyEnding {
  enum class Cut { kNo, kYes } cut = Cut::kNo;  // kYes: the text ends before the reply did
  std::string kind;     // "cut", "filtered", "refused", "empty"; empty: the reply is complete
  std::string problem;  // `kind` as a sentence
};
// `text` is the reply without thinking.
ReplyEnding EndingOf(const model::Reply& reply, std::string_view text);

// Returns what fits the model's window besides its reply, roles and fences.
std::int64_t SubcallTokens(const driver::BoundModel& to);
// Returns the names by which code may ask for a model.
std::vector<std::string> ModelNames(const EngineOptions& options);

class Subcalls {
 public:
  Subcalls(RunState& run, std::vector<std::string_view> contexts, Coverage& coverage)
      : run_(run),
        contexts_(std::move(contexts)),
        coverage_(coverage),
        cache_(run.options.replies, run.request.cache, run.boundary) {}
  ~Subcalls();  // waits for requests in flight

  void Query(const sandbox::BridgeCall& call, std::shared_ptr<sandbox::BridgeReply> reply);
  void Batch(const sandbox::BridgeCall& call, const std::shared_ptr<sandbox::BridgeReply>& reply);

  using Done = std::function<void(Result<model::Reply>)>;
  struct Outgoing {
    assembly::Assembled prompt;
    model::Purpose purpose = model::Purpose::kSubcall;
    model::Sampling sampling;
    const driver::BoundModel* to = nullptr;  // null: the sub-model
    const Json* schema = nullptr;            // for servers that constrain replies; not owned
    JsonArray media;  // images in the prompt, for the journal: [{"name", "sha256"}]
    SpendPermit permit;
    SubcallCache::Which kept = SubcallCache::Which::kRepeatable;
    std::optional<model::JsonSchema> fits;  // what a reply must fit to be kept; none: any
  };
  // Sends an assembled prompt. `done` runs once, in another thread, or before Send returns if the
  // reply is already known.
  void Send(Outgoing out, const CancelToken& cancel, Done done);

  // Returns the model in `args.model` or `otherwise`. Errors: kInvalidArgument, with known names.
  Result<const driver::BoundModel*> NamedModel(const JsonObject& args,
                                               const driver::BoundModel& otherwise) const;
  // The prompts of a batch. Errors: kInvalidArgument: one is none, or blank; kCancelled.
  Result<const JsonArray*> PromptsOf(const sandbox::BridgeCall& call,
                                     const CancelToken& cancel) const;
  // Counts one more sub-call that ran as a child.
  void CountChild(const Result<CodeReply>& reply);

  // What Query or Batch would send for the same call, whose method is that of a batch if it has
  // `prompts`; nothing leaves. A prompt that cannot be sent is an error. Errors: kInvalidArgument,
  // kUsage, kTooLong, kCancelled.
  Result<CallEstimate> Estimate(const sandbox::BridgeCall& call, const CancelToken& cancel);
  // Estimates one assembled prompt.
  CallEstimate EstimateOne(const Outgoing& out);

  // Returns the counts since the previous call of Take, for the feedback.
  SubcallTally Take();
  void NoteUnsureLabels();
  // Counts texts of a map_llm call that got no label.
  void CountLostTexts(int texts, const std::map<std::string, int>& without_label);
  // Error messages that code got for failed sub-calls, without duplicates; never an answer.
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
  // Settings that code may choose for its requests.
  struct Settings {
    const driver::BoundModel* to = nullptr;
    model::Sampling sampling;
    std::string system;                       // empty: no system message
    std::optional<model::JsonSchema> schema;  // the reply must fit it, as JSON
    SubcallCache::Which kept = SubcallCache::Which::kRepeatable;
  };
  Result<Settings> ReadSettings(const JsonObject& args) const;
  // One prompt, {"parts": …, "context": …}, ready to be sent.
  struct Prepared {
    assembly::Assembled prompt;
    JsonArray media;                 // as Outgoing::media
    std::vector<Slice> slices;       // of the contexts; counted when the reply is there
    std::vector<std::string> texts;  // that may come from the contexts
  };
  Result<Prepared> Prepare(const JsonObject& prompt, std::string_view raw,
                           const Settings& settings);
  Result<assembly::Assembled> Assemble(std::string text, const std::optional<std::string>& content,
                                       const Settings& settings,
                                       std::span<const Medium* const> media) const;
  // `parts` are all texts of one request; `images` is the number of images in it.
  static Status CheckLength(std::initializer_list<std::string_view> parts, std::size_t images,
                            const driver::BoundModel& to);
  // Limits the total size, since the images of all prompts of a batch are in memory at once.
  Status CheckBatchMedia(const JsonArray& prompts) const;
  std::int64_t OutputOf(const model::Sampling& sampling, const assembly::Assembled& prompt,
                        const driver::BoundModel& to) const;
  // If the reply must fit a schema, the text is its value, or the error is kSchema.
  void SendPrepared(Prepared prepared, const Settings& settings, const SpendPermit& permit,
                    const CancelToken& cancel, Done done);
  // Sends a reply that did not fit its schema back once, with what is wrong.
  Done FitOnce(const Settings& settings, const Prepared& prepared, const CancelToken& cancel,
               Done done);
  // Gets a person's confirmation if one is needed. Errors: kRefused.
  Result<SpendPermit> Agreed(const sandbox::BridgeCall& call, const CancelToken& cancel);
  bool IsBlankPrompt(const JsonObject& prompt, std::string_view raw) const;
  Status RefuseBareQuestion(std::string_view text) const;
  // `messages` are those of out.prompt, which may be as large as a context.
  std::shared_ptr<model::Request> MakeRequest(const Outgoing& out,
                                              assembly::Messages messages) const;
  // Returns the reply to an equal earlier request; counts it and records it in the journal.
  std::optional<model::Reply> Known(const std::optional<std::string>& key,
                                    const model::Request& request, const std::string& hash,
                                    const JsonArray& media, std::int64_t id);
  void LogResult(std::int64_t id, model::Purpose purpose, const std::string& hash,
                 const Result<model::Reply>& result, JsonObject unsent);
  // `told` is the message that code gets; empty: none.
  void CountFailure(std::string_view kind, std::string_view told = {});
  // For a prompt that was sent; `before` are its earlier failures without a later answer.
  void CountLost(const std::string& prompt, const std::map<std::string, int>& before,
                 std::string_view kind, std::string_view told = {});
  void CountMadeGood(const std::map<std::string, int>& before);
  // Like CountFailure, for a call that sent no request.
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
  std::map<std::string, std::map<std::string, int>> lost_;  // failures by kind, for each prompt
  std::set<std::string, std::less<>> error_texts_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_SUBCALLS_H_
