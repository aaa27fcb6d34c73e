// Which words of `dossier ask` are files, and which one is the question, in whatever order they
// stand.
//
//   DOSSIER_ASSIGN_OR_RETURN(const AskWords words,
//                            ReadAskWords({"sales.csv", "Which month was best?"}, exists));
//   words.question;   // "Which month was best?"
//   words.paths;      // {"sales.csv"}
//
// Thread-safety: a pure function, as far as `exists` is one.

#ifndef DOSSIER_CLI_RUNS_ASK_WORDS_H_
#define DOSSIER_CLI_RUNS_ASK_WORDS_H_

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace dossier::cli {

struct AskWords {
  std::string question;            // "-": it comes from stdin
  std::vector<std::string> paths;  // in their order; "-" is stdin
};

// What exists is a context, and the one word that does not is the question. "-" is the question
// only where no other word can be it. `exists` says whether a path names something. Errors: kUsage,
// where no word or several can be the question, with both ways to read the line.
Result<AskWords> ReadAskWords(const std::vector<std::string>& words,
                              const std::function<bool(const std::string&)>& exists);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_WORDS_H_
