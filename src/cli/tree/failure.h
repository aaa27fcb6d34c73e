// How a command ends: what each exit code means, and what stands for a failure. That is a sentence
// on stderr and, with --json, an object on stdout, which so holds exactly one whatever happens.
//
//   return code ? *code : Fail(code.error(), FormOf(arguments.json), out, err);
//   // {"schema":"dossier.error/1","error":{"code":"not_found","exit":4,"message":"…"}}
//
// For a command that has not printed its object yet; docs/formats/json.md describes this one.
// base/result.h says which error has which code.
// Thread-safety: none needed; the streams are the caller's.

#ifndef DOSSIER_CLI_TREE_FAILURE_H_
#define DOSSIER_CLI_TREE_FAILURE_H_

#include <ostream>
#include <string_view>

#include "base/result.h"

namespace dossier::cli {

enum class FailureForm { kText, kJson };

// Of a command's own flag --json.
constexpr FailureForm FormOf(bool json) { return json ? FailureForm::kJson : FailureForm::kText; }

// Without secrets. Returns the error's exit code.
int Fail(const Error& error, FailureForm form, std::ostream& out, std::ostream& err);

inline constexpr int kExitDifferences = 15;  // a check found differences

struct ExitMeaning {
  int code;
  std::string_view meaning;
};

// The one table behind `help exit-codes`, the manual page and the guide.
inline constexpr ExitMeaning kExitMeanings[] = {
    {0, "done"},
    {1, "another failure that was handled"},
    {2, "wrong use: flags, arguments"},
    {3, "configuration, variable or template"},
    {4, "a named thing is missing, invalid or damaged"},
    {5, "the provider refused the key, or there is none"},
    {6, "rate limit, after retries"},
    {7, "timeout or deadline"},
    {8, "network or provider error"},
    {9, "the context is too long"},
    {10, "a budget or limit is reached; the answer so far is printed"},
    {11, "the reply does not match the schema"},
    {12, "refused by policy, trust or sandbox"},
    {13, "a part of the answer, or partly done"},
    {14, "a context command that must not fail failed"},
    {15, "a check found differences"},
    {16, "a lock was not obtained in time"},
    {70, "a defect in the program"},
    {130, "interrupted (SIGINT)"},
    {141, "stdout was closed"},
    {143, "terminated (SIGTERM)"},
};

// --compat knows only "failed" for what has a code of its own here.
constexpr int CompatExitCode(int code) { return code >= 3 && code <= 16 ? 1 : code; }

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_FAILURE_H_
