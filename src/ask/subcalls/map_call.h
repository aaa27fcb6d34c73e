// Implements map_llm: every item gets one label by meaning; models label, code counts.
//
//   MapCall map(run, subcalls, documents);
//   map.Start(call, reply, tasks);          // answers from a thread of `tasks`
//
// Thread-safety: Start from one thread at a time.

#ifndef DOSSIER_ASK_SUBCALLS_MAP_CALL_H_
#define DOSSIER_ASK_SUBCALLS_MAP_CALL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/documents/document_service.h"
#include "ask/run/run_state.h"
#include "ask/subcalls/map_items.h"
#include "ask/subcalls/map_plan.h"
#include "ask/subcalls/subcalls.h"
#include "base/task_group.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

class MapCall {
 public:
  MapCall(RunState& run, Subcalls& subcalls, DocumentService& documents)
      : run_(run), subcalls_(subcalls), documents_(documents) {}

  void Start(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply,
             TaskGroup& tasks);

 private:
  // The places of the texts in the context, to account for what models have read.
  struct Place {
    enum class Kind { kParts, kRecords, kSlices } kind = Kind::kParts;
    std::int64_t document = 0, first = 0;  // for records: the number of the first one
    std::vector<std::size_t> ends;         // for slices: where each text ends in the document
  };
  struct Plan {
    std::shared_ptr<MapItems> items;
    std::vector<std::string> labels;
    std::string instruction;
    // Item and label: the labels that an earlier, stopped call had already found.
    std::vector<std::pair<std::size_t, std::size_t>> known;
    std::size_t max_items = 1;
    enum class Remember { kNo, kYes } remember = Remember::kNo;
    Place place;
    enum class Dry { kNo, kYes } dry = Dry::kNo;  // kYes: only estimate the cost
    SpendPermit permit;
  };
  // The result for one text.
  struct Outcome {
    std::optional<std::size_t> label;
    // Why there is no label: "cut", "unreadable: THE REPLY'S BEGINNING"; empty: not asked.
    std::string reason;
    bool read = false;  // a model was shown the text and its reply was complete
  };
  using Outcomes = std::vector<Outcome>;
  // The question about texts: which label fits, or whether the run's question asks for them.
  enum class About { kLabels, kQuestion };
  using Batch = std::vector<std::size_t>;  // indexes of texts
  using Take = std::function<void(const Batch& batch, const Result<model::Reply>& reply)>;
  // Called with the texts that got their label from one reply.
  using Report = std::function<void(const Batch& found)>;
  // The texts of one call without duplicates, and the labels found so far.
  struct Work {
    const Plan& plan;
    std::vector<std::string_view> texts;
    CancelToken cancel;
    Report report;
    Outcomes outcomes;
    std::vector<std::optional<std::string>> keys;  // of the texts, if labels are remembered
    // The output tokens that a reply needs, as seen in the replies so far.
    struct Room {
      bool thinks = false;     // a reply contained thinking
      std::int64_t least = 0;  // tokens: more than the latest cut-off replies had
      bool left = false;       // some were cut off, and more room is available
    } room;
  };

  Result<Plan> Read(const sandbox::BridgeCall& call, const CancelToken& cancel);
  Status ReadItems(const sandbox::BridgeCall& call, const CancelToken& cancel, Plan* plan) const;
  Status ReadRecords(const Json& range, const CancelToken& cancel, Plan* plan) const;
  Status ReadLines(const Json& range, const CancelToken& cancel, Plan* plan) const;
  static Status ReadKnown(const JsonObject& args, Plan* plan);
  // Collects the texts of a call without duplicates, with what is known about them.
  static Work Begin(const Plan& plan, const UniqueItems& unique, const CancelToken& cancel);
  // Estimates the first round without sending anything. Texts that it does not settle cost extra.
  Result<CallEstimate> Estimate(const Plan& plan, const CancelToken& cancel) const;
  // Returns what is asked of a model that gives token probabilities, one request per text: pairs of
  // the question kind and the texts.
  std::vector<std::pair<About, std::vector<std::string>>> ScoreTexts(const Work& work) const;
  bool IsScored(const Plan& plan) const;
  static model::Sampling ScoreSampling();
  // Returns the result for each item. If a limit stopped the work, `stopped` names it.
  Result<Outcomes> Label(const Plan& plan, const sandbox::BridgeCall& call,
                         sandbox::BridgeReply& reply, std::string* stopped) const;
  // Recalls the labels of equal texts from this run or an earlier one; Remember stores them.
  void Recall(Work* work) const;
  void Remember(const Batch& found, const Work& work) const;
  Status AskMissing(Work* work) const;
  // Returns the texts that have no label yet and are not empty.
  static Batch Missing(const Work& work);
  // Returns true if counts may be wrong because the texts `unscored` of `wanted` got their labels
  // from words: if all did, or if all texts have one label.
  static bool IsDoubtful(const Work& work, const Batch& wanted, const Batch& unscored);
  // map_score.cc. Labels by the probabilities of the reply's first token; texts that it cannot
  // settle stay missing.
  Status Score(Work* work) const;
  // The same for two labels and enough texts, by their choice and by the run's question.
  Status ScoreByGroups(const Batch& wanted, Work* work) const;
  Result<std::optional<Scores>> Leaning(const Work& work) const;
  // Labels by the words of the replies, in rounds of ever smaller batches.
  Status AskRounds(Work* work) const;
  // The result of the first requests: the model can label no texts, only single texts, or all.
  enum class Hope { kNone, kAlone, kAll };
  Result<Hope> AskFirst(const std::vector<Batch>& batches, Work* work) const;
  std::vector<Batch> MissingBatches(const Work& work, std::size_t max_items) const;
  // Runs one round. What it found is in `work`, even after an error.
  Status AskWords(const std::vector<Batch>& batches, Work* work) const;
  static void TakeWords(const Batch& batch, const Result<model::Reply>& reply, Work* work);
  // Sends one request for each of `batches` of `texts`; `take` gets the replies, one at a time.
  Status Ask(const Plan& plan, About about, const std::vector<std::string_view>& texts,
             const std::vector<Batch>& batches, const model::Sampling& sampling,
             const CancelToken& cancel, const Take& take) const;
  model::Sampling WordSampling(const Work& work, std::size_t count) const;
  Result<assembly::Assembled> Prompt(const Plan& plan, About about,
                                     const std::vector<std::string_view>& items) const;
  // Adds the items that a model has read to the coverage.
  void CountRead(const Plan& plan, const sandbox::BridgeCall& call, const Outcomes& outcomes) const;
  void TellOfFailures(const Outcomes& outcomes) const;
  static std::string ReasonOf(const Error& error);

  RunState& run_;
  Subcalls& subcalls_;
  DocumentService& documents_;
  LargeTurn large_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_MAP_CALL_H_
