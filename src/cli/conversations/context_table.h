// Where each block of a request stands and what it costs: `chat --explain-context`.
//
//   out << ContextTable(*outcome.plan, outcome.blocks);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_CLI_CONVERSATIONS_CONTEXT_TABLE_H_
#define DOSSIER_CLI_CONVERSATIONS_CONTEXT_TABLE_H_

#include <span>
#include <string>

#include "base/json/json.h"
#include "chat/context/plan.h"

namespace dossier::cli {

// A line for each context block and each section of the request: block, source, bytes, tokens, cut,
// zone.
// `blocks` are those of the plan.
std::string ContextTable(const chat::TurnPlan& plan, std::span<const chat::ContextBlock> blocks);

// A line for each command whose output is frozen: block, source, bytes, tokens, cut, outcome.
std::string FrozenTable(const chat::ContextRecord& context);

// The sections of an assembly report: name, zone, tokens.
Json ContextSections(const Json& report);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONVERSATIONS_CONTEXT_TABLE_H_
