// A run for people: one HTML page, Markdown, and what two runs differ in.
//
//   WriteFileAtomic("run.html", PageOf(tale));
//
// The page is one file that loads nothing and runs no script. Texts of a run come from models,
// files and code: all of them are escaped, control and direction characters are made visible.
// Thread-safety: pure functions.

#ifndef DOSSIER_ASK_EXCHANGE_RUN_PAGE_H_
#define DOSSIER_ASK_EXCHANGE_RUN_PAGE_H_

#include <string>
#include <string_view>

#include "ask/exchange/run_tale.h"
#include "base/json/json.h"

namespace dossier::ask {

// `text` as the content of an HTML element or of a quoted attribute.
std::string PageText(std::string_view text);

std::string PageOf(const RunTale& tale);
std::string MarkdownOf(const RunTale& tale);

// {"schema":"dossier.runs-diff/1", "a", "b", "equal", "turns": [{"turn", "differs": ["code", …],
// …}], "answer", …}: the root calls turn by turn: sections of the prompt, code, output, answer,
// cost.
JsonObject DiffOf(const RunTale& a, const RunTale& b);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_EXCHANGE_RUN_PAGE_H_
