// map_llm: every item gets one label by meaning; models label, code counts (REC-52 to 54).
//
//   MapCall map(run, subcalls, documents);
//   map.Start(call, reply, tasks);          // answers from a thread of `tasks`
//
// Thread-safety: Start from one thread at a time.

#ifndef DOSSIER_RECURSION_MAP_CALL_H_
#define DOSSIER_RECURSION_MAP_CALL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task_group.h"
#include "recursion/document_service.h"
#include "recursion/run_state.h"
#include "recursion/subcalls.h"
#include "sandbox/session.h"

namespace dossier::recursion {

class MapCall {
 public:
  MapCall(RunState& run, Subcalls& subcalls, DocumentService& documents)
      : run_(run), subcalls_(subcalls), documents_(documents) {}

  void Start(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply,
             TaskGroup& tasks);

 private:
  struct Plan {
    std::vector<std::string> items, labels;
    std::string instruction;
    // Item and label: what a call that was stopped had found already (REC-79).
    std::vector<std::pair<std::size_t, std::size_t>> known;
    std::size_t max_items = 1;
    // The label that a yes/no question asks for, when the other only means "anything else".
    std::optional<std::size_t> asked;
  };
  using Labels = std::vector<std::optional<std::size_t>>;
  // Told of the items that got their label from one reply.
  using Report = std::function<void(const std::vector<std::size_t>& found, const Labels& labels)>;

  Result<Plan> Read(const sandbox::BridgeCall& call, const CancelToken& cancel) const;
  Result<std::vector<std::string>> ReadItems(const sandbox::BridgeCall& call,
                                             const CancelToken& cancel) const;
  Result<std::vector<std::string>> ReadRecords(const Json& range, const CancelToken& cancel) const;
  Result<std::vector<std::string>> ReadLines(const Json& range) const;
  static Status ReadKnown(const JsonObject& args, Plan* plan);
  // The labels of all items, also where a limit stopped the work: then `stopped` says which.
  Result<Labels> Label(const Plan& plan, sandbox::BridgeReply& reply, std::string* stopped) const;
  Status AskMissing(const Plan& plan, const std::vector<std::string_view>& items,
                    const CancelToken& cancel, const Report& report, Labels* labels) const;
  Status Contrast(const Plan& plan, const std::vector<std::string_view>& items,
                  const CancelToken& cancel, const Report& report, Labels* labels) const;
  // One request for each of `batches`. What was found stands in `labels`, also after an error.
  Status Ask(const Plan& plan, const std::vector<std::string_view>& items,
             const std::vector<std::vector<std::size_t>>& batches, const CancelToken& cancel,
             const Report& report, Labels* labels) const;
  Result<assembly::Assembled> Prompt(const Plan& plan,
                                     const std::vector<std::string_view>& items) const;
  static Labels Parse(const Plan& plan, std::string_view reply, std::size_t count);

  RunState& run_;
  Subcalls& subcalls_;
  DocumentService& documents_;
};

}  // namespace dossier::recursion

#endif  // DOSSIER_RECURSION_MAP_CALL_H_
