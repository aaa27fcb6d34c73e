// JavaScript as the language of a worker: SpiderMonkey and our own JavaScript half.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::unique_ptr<Language> language, StartJavaScript());
//
// Thread-safety: as Language.

#ifndef DOSSIER_WORKERS_JAVASCRIPT_JAVASCRIPT_LANGUAGE_H_
#define DOSSIER_WORKERS_JAVASCRIPT_JAVASCRIPT_LANGUAGE_H_

#include <memory>
#include <string>

#include "language.h"

namespace dossier::worker {

// Once a process. Errors: kUnavailable, kInternal.
Result<std::unique_ptr<Language>> StartJavaScript();

// "102.15.1"
std::string EngineVersion();

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_JAVASCRIPT_JAVASCRIPT_LANGUAGE_H_
