// How a command ends that failed: a sentence on stderr and, with --json, an object on stdout, which
// so holds exactly one whatever happens.
//
//   return code ? *code : Fail(code.error(), FormOf(arguments.json), out, err);
//   // {"schema":"dossier.error/1","error":{"code":"not_found","exit":4,"message":"…"}}
//
// For a command that has not printed its object yet; docs/formats/json.md describes this one.
// Thread-safety: none needed; the streams are the caller's.

#ifndef DOSSIER_CLI_TREE_FAILURE_H_
#define DOSSIER_CLI_TREE_FAILURE_H_

#include <ostream>

#include "base/result.h"

namespace dossier::cli {

enum class FailureForm { kText, kJson };

// Of a command's own flag --json.
constexpr FailureForm FormOf(bool json) { return json ? FailureForm::kJson : FailureForm::kText; }

// Without secrets. Returns the error's exit code.
int Fail(const Error& error, FailureForm form, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_FAILURE_H_
