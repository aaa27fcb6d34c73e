// Includes all of libdossier. Each header below can be used alone and begins with its purpose.
//
// [example]
//   auto about = dossier::Inspect("notes.csv");
//   if (about) std::cout << about->hint << "\n";
// [/example]
//
// Each header states its errors, units, ownership and thread-safety. A name changes only with an
// entry in CHANGELOG.md. The ABI may change until version 1.0, so recompile programs for each new
// version.

#ifndef DOSSIER_DOSSIER_H_
#define DOSSIER_DOSSIER_H_

#include <dossier/agents.h>
#include <dossier/ask.h>
#include <dossier/assemble.h>
#include <dossier/cancel.h>
#include <dossier/chat.h>
#include <dossier/inspect.h>
#include <dossier/memory.h>
#include <dossier/model.h>
#include <dossier/research.h>
#include <dossier/result.h>
#include <dossier/sandbox.h>
#include <dossier/tokens.h>

#endif  // DOSSIER_DOSSIER_H_
