// The only way a run asks a model: it uses a call site's layout, memory rounds, prompt logs and the
// journal.
//
//   CallRequest request{.site = "draft", .scope = {.node = id, .branch = id, .stage = stage}};
//   request.sections = {{"data_overview", overview}, {"evaluation_metrics", metrics}};
//   request.check = [&](std::string_view payload) { return CheckArtifacts(payload); };
//   DOSSIER_ASSIGN_OR_RETURN(const CallOutcome outcome, caller.Call(request, cancel));
//   if (outcome.failure) return NodeFails(*outcome.failure);
//
// A failed call is an outcome, never a made-up answer. The same run, call and journal give the same
// bytes: a reply that is in the journal is reused, and its memory block is not applied again.
//
// Section texts are redacted before the prompt is built from them, so that the same text, free of
// secrets, is sent, logged and stored.
//
// Thread-safety: Call from any thread, for different nodes at the same time.

#ifndef DOSSIER_RESEARCH_CALL_CALLER_H_
#define DOSSIER_RESEARCH_CALL_CALLER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/layout.h"
#include "assembly/layout/messages.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "driver/bound_model.h"
#include "driver/caller.h"
#include "driver/memory_port.h"
#include "driver/section_reader.h"
#include "model/client/ledger.h"
#include "research/tree/node.h"
#include "research/tree/run_log.h"

namespace dossier::research {

// The sections that every prompt of a node begins with. Empty ones are left out.
struct PrefixSections {
  Json domain;       // experiment.num_syn_datasets, language, phase mode: rules of this run
  Json idea;         // title, abstract, hypothesis, …; experiments and risks in late stages
  Json environment;  // text
  Json resources;    // text, depends on the phase
  Json plan;         // `Phase 0 plan`
};

struct CallOrigin {
  std::string node;    // node id; "": a call of the run
  std::string branch;  // memory branch; "": root
  std::string stage;   // for prompt logs: "1_initial_implementation_1_preliminary"
  std::string phase;   // for memory records: "phase0"
};

struct OwnSection {
  std::string name;  // as in the layout
  Json value;
  std::vector<assembly::Block> parts = {};  // instead of `value`: text and images
  std::vector<assembly::Turn> turns = {};   // instead, for section "history": earlier replies
};

struct CallRequest {
  std::string site;  // "phase1_step": layouts/research.phase1_step.yaml
  CallOrigin scope;
  std::string label;  // used in logs and as the journal key; "": the site. "phase1_step3"
  std::string alias;  // second name of the accepted call's log: "phase0_prompt"
  PrefixSections prefix;
  std::vector<OwnSection> sections;
  std::string memory_query;                      // "": the first one in `sections`
  std::map<std::string, std::string> variables;  // for templates
  // An error rejects the payload, and its message is sent to the model. May be empty: the payload
  // is checked against the table of call sites before.
  std::function<Status(std::string_view payload)> check;
  // kNo: no separate memory round, even if the table has one (used after a timeout).
  enum class MemoryRound : std::uint8_t { kBySite, kNo } memory_round = MemoryRound::kBySite;
};

struct CallFailure {
  std::string reason;      // "missing_payload", "refused", …
  std::string detail;      // what was wrong with the last reply
  std::string reply_path;  // path of the raw reply, relative to the run folder
};

struct CallOutcome {
  std::optional<CallFailure> failure;  // if set, there is no payload
  std::string payload;  // for a JSON reply that object, compact; else the text (replies.h)
  std::string log;      // name of the accepted prompt's log
  std::vector<std::string> warnings;
};

struct CallerOptions {
  ResearchLog* log = nullptr;       // outlives the caller
  driver::MemoryUse memory;         // no store with --no-memory: plain templates
  model::Ledger* ledger = nullptr;  // the run's ledger
  // Called once per role: "code feedback vlm summary select report cite write review memory".
  driver::OpenModel open;
  assembly::AssetFolders assets;
  driver::SectionMakers makers;                // for the sections that a user's layouts add
  std::function<void(std::string_view)> warn;  // receives their warnings; may be empty
  CancelToken cancel;                          // cancels reading them
  std::shared_ptr<const Clock> clock;
  std::string run_folder;
  std::string persona = "AI researcher";  // agent.role_description
  // Template variables for all calls; those of a request take precedence: mount, output_name,
  // single ("yes" in single mode), page_limit, max_figures.
  std::map<std::string, std::string> variables;
  std::map<std::string, std::int64_t, std::less<>> budget_chars;  // memory.NAME_budget_chars
  enum class PromptLogs : std::uint8_t { kOff, kOn } prompt_logs = PromptLogs::kOn;
  std::map<std::string, double, std::less<>> temperatures;  // by role
  std::uint64_t boundary_seed = 0;                          // derived from the run id
  driver::RetryPolicy retry;
};

class RoleCaller {
 public:
  // Loads the layouts. Errors: kConfig, kNotFound.
  static Result<std::unique_ptr<RoleCaller>> Open(CallerOptions options);
  virtual ~RoleCaller() = default;

  // Errors: those that end a run: kLimit, kCancelled, kTooLong, kAuth, kRateLimited, kNetwork and
  // kTimeout after all retries, kIo, and those of the memory store.
  virtual Result<CallOutcome> Call(const CallRequest& request, const CancelToken& cancel) = 0;

  // The first prompt of a call with its report, nothing sent or written: for --dry-run.
  virtual Result<JsonObject> Preview(const CallRequest& request) = 0;
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_CALLER_H_
