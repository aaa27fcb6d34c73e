// Makes the content of layout sections that are not from files: `source: header`, `memory`,
// `command` and `environment`. Used by the command and the library.
//
//   options.makers = SectionMakersFor({.config = LoadOwnConfig, .agents = load, .warn = say});
//
// `with` of a header: {task: ID, mode: review, window: 3m, with: [dirty]}. `with` of memory:
//
//   {branch: n1, query: {var: task}, budget: 6000, status: true, help: short}
//
// and store, at, hint, show, all optional: docs/guide/memory.md.
//
// Configuration and repository are read only when a section asks for them. Thread-safety: makers
// may be called from any thread, if the functions of `parts` may.

#ifndef DOSSIER_APP_SECTION_MAKERS_H_
#define DOSSIER_APP_SECTION_MAKERS_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"
#include "config/config.h"
#include "driver/section_reader.h"
#include "sources/header/agents_config.h"

namespace dossier::app {

struct SectionMakerParts {
  std::function<Result<config::Config>()> config;         // where memory is stored
  std::function<Result<sources::AgentsConfig>()> agents;  // of the repository, for the header
  // If empty, every task of the header's backlog counts as open.
  std::function<sources::DoneTasks(const sources::AgentsConfig&)> done_tasks;
  std::function<void(std::string_view)> warn;  // may be empty
  CancelToken cancel;
  std::string now;  // RFC 3339; "": the time of each call
};

// Errors of the makers: kConfig (an invalid `with`), kRefused (trust), those of `parts`, of the
// repository and of the store.
driver::SectionMakers SectionMakersFor(SectionMakerParts parts);

}  // namespace dossier::app

#endif  // DOSSIER_APP_SECTION_MAKERS_H_
