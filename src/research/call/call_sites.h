// The table of the places in a run that ask a model: what each asks, which role it asks, and what
// counts as an answer.
//
//   const CallSite* site = FindCallSite("execution_review");
//   site->role        // "feedback"
//   site->layout      // "research.execution_review": layouts/research.execution_review.yaml
//
// The layout defines the sections of a prompt, data/research_replies.yaml the shape of a JSON
// reply; this table defines the rest.
//
// Thread-safety: constants and pure functions.

#ifndef DOSSIER_RESEARCH_CALL_CALL_SITES_H_
#define DOSSIER_RESEARCH_CALL_CALL_SITES_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace dossier::research {

// The form of a valid reply's payload; replies.h reads each form.
enum class PayloadForm : std::uint8_t {
  kArtifacts,     // files, build, commands (artifacts.h); single mode: plan and fences
  kJson,          // one object that matches a schema; the caller gets that object as the payload
  kTool,          // the same, by a forced tool call if the model supports tools
  kText,          // any text that is not empty
  kKeywords,      // lines that begin with known prefixes
  kPython,        // a plan, then one Python block
  kPythonOrDone,  // one Python block, or "I am done"
  kLatex,         // one LaTeX fence
  kLatexOrDone,   // one LaTeX fence, or "I am done"
  kThoughtJson,   // thoughts, then one object that matches a schema; the payload is that object
};

// What the first question of a call asks for: the answer, or only a memory block.
enum class FirstAsked : std::uint8_t { kAnswer, kMemory };

struct CallSite {
  std::string_view name;    // "draft"
  std::string_view layout;  // "research.draft"
  std::string_view role;    // "code"
  // Label of the memory section in this prompt; "" if the call has no memory.
  std::string_view memory_hint;
  std::int64_t memory_chars = 0;  // default of memory.NAME_budget_chars; 0: memory_budget_chars
  FirstAsked first = FirstAsked::kAnswer;
  PayloadForm reply = PayloadForm::kText;
  int attempts = 3;
  std::string_view schema;    // for kJson, kTool, kThoughtJson: its name in research_replies.yaml
  std::string_view tool;      // for kTool
  std::string_view keywords;  // for kKeywords, separated by "|": "HYPERPARAM NAME|DESCRIPTION"
};

std::span<const CallSite> CallSites();
// Returns null if no site has this name.
const CallSite* FindCallSite(std::string_view name);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_CALL_SITES_H_
