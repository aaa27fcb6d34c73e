// All of libdossier. Each header below stands alone and begins with what it is for.
//
// [example]
//   auto about = dossier::Inspect("notes.csv");
//   if (about) std::cout << about->hint << "\n";
// [/example]
//
// Errors, units, ownership and thread-safety are stated in each header. Names change only with a
// line in CHANGELOG.md; the ABI may change until version 1.0, so that programs are compiled anew
// for a new version.

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
