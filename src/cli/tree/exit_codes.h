// What each exit code of the program means: the one table behind `help exit-codes`, the man page
// and the guide. base/result.h says which error has which code.
//
// Thread-safety: constant data.

#ifndef DOSSIER_CLI_TREE_EXIT_CODES_H_
#define DOSSIER_CLI_TREE_EXIT_CODES_H_

#include <span>
#include <string_view>

namespace dossier::cli {

struct ExitMeaning {
  int code;
  std::string_view meaning;
};

inline constexpr int kExitDifferences = 15;    // a check found differences
inline constexpr int kExitClosedStdout = 141;  // no error of ours has it

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

#endif  // DOSSIER_CLI_TREE_EXIT_CODES_H_
