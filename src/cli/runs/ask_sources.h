// Collects the question and the context of `ask`: command-line words, stdin, paths, texts, fetched
// addresses, output of commands.
//
//   AskSources gathered(config, cancel);
//   DOSSIER_ASSIGN_OR_RETURN(auto sources, gathered.Gather({.paths = {"a.csv"}}));
//   LoadContext(sources, options, cancel);
//
// Files of fetched addresses exist as long as the object. Thread-safety: one owner.

#ifndef DOSSIER_CLI_RUNS_ASK_SOURCES_H_
#define DOSSIER_CLI_RUNS_ASK_SOURCES_H_

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "ask/documents/context_set.h"
#include "base/cancel.h"
#include "base/files/file.h"
#include "base/net/url.h"
#include "base/result.h"
#include "cli/runs/ask_flags.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/prompt_input.h"
#include "cli/wiring/run_setup.h"
#include "config/config.h"

namespace dossier::cli {

struct AskWanted {
  std::vector<std::string> paths;  // files, folders, addresses, "-"
  std::vector<std::string> texts;
  ContextFlags exec;
  Network network = Network::kAny;  // for addresses
};

class AskSources {
 public:
  AskSources(const config::Config& config, const CancelToken& cancel)
      : config_(config), cancel_(cancel) {}

  // If a command fails, its output is kept, with a note that says so.
  // Errors: those of fetching addresses; kContextCommand (a command cannot be started, or all
  // commands print nothing and nothing else is given); kUsage (a flag); kCancelled; kIo.
  Result<std::vector<ask::ContextSource>> Gather(const AskWanted& wanted);

 private:
  Result<std::string> Fetch(const std::string& address, Network network);
  Result<std::vector<ask::ContextSource>> Run(const ContextFlags& flags) const;

  const config::Config& config_;
  const CancelToken& cancel_;
  std::optional<TempFolder> fetched_;
};

// The question and the paths that it is about.
struct Asked {
  std::string question;            // "-": from stdin
  std::vector<std::string> paths;  // "-": stdin
};

// Sorts the words of the line. Errors: kUsage: stdin is named twice, or must not be read.
Result<Asked> ReadAsked(const AskArguments& arguments, const GlobalFlags& flags);
// If there is no context, adds piped stdin, else, on a terminal, the current folder. Errors:
// kUsage: that folder is the user's home or the root.
Status AddMissingContext(const AskArguments& arguments, const GlobalFlags& flags,
                         const CancelToken& cancel, std::ostream& err, Asked* asked);
// Reads stdin only if "-" names it: stdin may be a context. Errors: kUsage: the question is empty.
Result<std::string> ReadQuestion(const Asked& asked, const GlobalFlags& flags,
                                 const CancelToken& cancel, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_SOURCES_H_
