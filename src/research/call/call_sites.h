// The places of a run that ask a model: one table of what each asks whom, and what counts as an
// answer.
//
//   const CallSite* site = FindCallSite("execution_review");
//   site->role        // "feedback"
//   site->layout      // "research.execution_review": layouts/research.execution_review.yaml
//
// The layout says which sections a prompt has, data/research_replies.yaml which shape a JSON reply
// has; this table says the rest. Constants; thread-safe.
//
// Thread-safety: constants and pure functions.

#ifndef DOSSIER_RESEARCH_CALL_CALL_SITES_H_
#define DOSSIER_RESEARCH_CALL_CALL_SITES_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace dossier::research {

// What the payload of a good reply is; replies.h reads each of them.
enum class PayloadForm : std::uint8_t {
  kArtifacts,     // files, build, commands (artifacts.h); single mode: plan and fences
  kJson,          // one object by a schema; the payload that a caller gets is that object
  kTool,          // the same, by a forced call of a tool where the model has tools
  kText,          // anything but nothing
  kKeywords,      // lines that begin with known prefixes
  kPython,        // a plan, then one Python block
  kPythonOrDone,  // one Python block, or "I am done"
  kLatex,         // one LaTeX fence
  kLatexOrDone,   // one LaTeX fence, or "I am done"
  kThoughtJson,   // thoughts, then one object by a schema; the payload is that object
};

// Whether a block alone is asked for before the call.
enum class FirstAsked : std::uint8_t { kAnswer, kMemory };

struct CallSite {
  std::string_view name;    // "draft"
  std::string_view layout;  // "research.draft"
  std::string_view role;    // "code"
  // The label of memory in this prompt; "": the call has no memory.
  std::string_view memory_hint;
  std::int64_t memory_chars = 0;  // default of memory.NAME_budget_chars; 0: memory_budget_chars
  FirstAsked first = FirstAsked::kAnswer;
  PayloadForm reply = PayloadForm::kText;
  int attempts = 3;
  std::string_view schema;    // of kJson, kTool, kThoughtJson: its name in research_replies.yaml
  std::string_view tool;      // of kTool
  std::string_view keywords;  // of kKeywords, "|" between: "HYPERPARAM NAME|DESCRIPTION"
};

std::span<const CallSite> CallSites();
// Null: there is none of this name.
const CallSite* FindCallSite(std::string_view name);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_CALL_SITES_H_
