// Presents a run to people as one HTML page or Markdown, and compares two runs.
//
//   WriteFileAtomic("run.html", PageOf(tale));
//
// The page is one file that loads nothing and runs no script. Texts of a run come from models,
// files and code: they are all escaped, and control and direction characters are made visible.
// Thread-safety: pure functions.

#ifndef DOSSIER_ASK_EXCHANGE_RUN_PAGE_H_
#define DOSSIER_ASK_EXCHANGE_RUN_PAGE_H_

#include <string>
#include <string_view>

#include "ask/exchange/run_tale.h"
#include "base/json/json.h"

namespace dossier::ask {

// Escapes `text` for use in an HTML element or a quoted attribute.
std::string PageText(std::string_view text);

std::string PageOf(const RunTale& tale);
std::string MarkdownOf(const RunTale& tale);

// Compares the root calls turn by turn (prompt sections, code, output, answer, cost):
// {"schema":"dossier.runs-diff/1", "a", "b", "equal", "turns": [{"turn", "differs": ["code", …],
// …}], "answer", …}.
JsonObject DiffOf(const RunTale& a, const RunTale& b);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_EXCHANGE_RUN_PAGE_H_
