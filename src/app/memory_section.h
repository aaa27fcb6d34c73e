// `source: memory` of a layout: what its `with` asks for, rendered.
//
//   - {name: memory, zone: volatile, source: memory, optional: true,
//      with: {branch: n1, query: {var: task}, budget: 6000, status: true, help: short}}
//
// Keys of `with`, all optional: store (a file; else as for `dossier memory`), branch (root), at
// (the state at that seq), query (a text, or {var: NAME} of -D), hint, budget (code points; else
// memory.memory_budget_chars), show (all, core, rest), status (true: the status line), help (long,
// short).
// Thread-safety: a function over files and the environment.

#ifndef DOSSIER_APP_MEMORY_SECTION_H_
#define DOSSIER_APP_MEMORY_SECTION_H_

#include <map>
#include <optional>
#include <string>

#include "base/json/json.h"
#include "base/result.h"
#include "config/config.h"

namespace dossier::app {

// None: there is no such store. Errors: kConfig for a `with` that is not as above, those of the
// store.
Result<std::optional<std::string>> MemorySection(
    const Json& with, const std::map<std::string, std::string>& variables,
    const config::Config& config);

}  // namespace dossier::app

#endif  // DOSSIER_APP_MEMORY_SECTION_H_
