#include "cli/runs/ask_sources.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/runs/ask_view.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/parser.h"
#include "config/expand.h"
#include "sources/commands/context_run.h"

namespace dossier::cli {
namespace {

constexpr std::uint64_t kMaxFetched = 64 << 20;  // bytes from an address
constexpr std::uint64_t kMaxPrinted = 64 << 20;  // bytes from a command
constexpr std::size_t kLongestName = 80;         // characters of a command used as a name

// Returns a file in `folder` named like the end of the address, so that its extension still tells
// the type.
std::string FetchedPath(const std::string& folder, std::string_view url) {
  const std::string_view whole = url.substr(0, url.find_first_of("?#"));
  const std::string_view last = whole.substr(whole.rfind('/') + 1);
  const bool usable = !last.empty() && last != "." && last != "..";
  const std::string name(usable ? utf8::Prefix(last, 100) : "page");
  std::string path = fmt::format("{}/{}", folder, name);
  for (int number = 2; Exists(path); ++number) path = fmt::format("{}/{}-{}", folder, number, name);
  return path;
}

// Returns true if a program was not found or not started (as sh reports): its output is useless.
bool NeverRan(const sources::CommandResult& result) {
  return result.outcome == sources::CommandOutcome::kStartError ||
         (result.outcome == sources::CommandOutcome::kExit &&
          (result.status == 126 || result.status == 127));
}

std::vector<std::string> NotesOf(const sources::CommandResult& result) {
  std::vector<std::string> notes;
  if (result.failed()) notes.push_back(result.error);
  if (result.bytes == 0) notes.push_back("the command printed nothing");
  if (result.notes.cut_bytes > 0) {
    notes.push_back(fmt::format("{} of the {} bytes that the command printed are left out",
                                GroupDigits(result.notes.cut_bytes), GroupDigits(result.bytes)));
  }
  return notes;
}

}  // namespace

Result<std::string> AskSources::Fetch(const std::string& address, Network network) {
  if (!fetched_) {
    DOSSIER_ASSIGN_OR_RETURN(TempFolder made, TempFolder::Make());
    fetched_.emplace(std::move(made));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string body,
                           FetchAddress(address, kMaxFetched, network, cancel_));
  std::string path = FetchedPath(fetched_->path(), address);
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, body, 0600));
  return path;
}

// Commands in the configuration are for conversations: a question names its own.
Result<std::vector<ask::ContextSource>> AskSources::Run(const ContextFlags& flags) const {
  std::vector<ask::ContextSource> out;
  if (flags.exec.empty()) return out;
  DOSSIER_ASSIGN_OR_RETURN(PreparedContext prepared, PrepareContext(flags, config_));
  std::vector<sources::ContextCommand>& commands = prepared.setup.commands;
  std::erase_if(commands, [](const sources::ContextCommand& command) {
    return command.origin != sources::CommandOrigin::kExec;
  });
  for (sources::ContextCommand& command : commands) {
    command.max_output = kMaxPrinted;
    command.timeout = prepared.setup.run.deadline;
  }
  DOSSIER_ASSIGN_OR_RETURN(std::vector<sources::CommandResult> results,
                           sources::RunContext(commands, prepared.setup.run, cancel_));
  for (sources::CommandResult& result : results) {
    if (NeverRan(result)) {
      return MakeError(ErrorCode::kContextCommand, "--exec {}: {}", flags.exec[result.index],
                       result.text.empty() ? result.error : std::string(TrimSpace(result.text)));
    }
    out.push_back({.path = "",
                   .text = std::move(result.text),
                   .name = OnOneLine(flags.exec[result.index], kLongestName),
                   .notes = NotesOf(result)});
  }
  return out;
}

Result<std::vector<ask::ContextSource>> AskSources::Gather(const AskWanted& wanted) {
  std::vector<ask::ContextSource> sources;
  for (const std::string& path : wanted.paths) {
    sources.push_back({.path = path, .text = {}, .name = {}, .notes = {}});
    if (!IsWebAddress(path)) continue;
    DOSSIER_ASSIGN_OR_RETURN(sources.back().path, Fetch(path, wanted.network));
  }
  for (const std::string& text : wanted.texts) {
    sources.push_back({.path = "", .text = text, .name = {}, .notes = {}});
  }
  DOSSIER_ASSIGN_OR_RETURN(std::vector<ask::ContextSource> printed, Run(wanted.exec));
  const bool alone = sources.empty() && !printed.empty();
  std::ranges::move(printed, std::back_inserter(sources));
  if (alone && std::ranges::all_of(sources, [](const auto& one) { return one.text->empty(); })) {
    return MakeError(ErrorCode::kContextCommand, "--exec {}: {}, and there is no other context",
                     sources[0].name, sources[0].notes[0]);
  }
  return sources;
}

Result<Asked> ReadAsked(const AskArguments& arguments, const GlobalFlags& flags) {
  // An address is a word without blanks: a question may begin with one.
  const auto is_context = [](const std::string& word) {
    return Exists(word) || (IsWebAddress(word) && word.find_first_of(" \t\n") == word.npos);
  };
  DOSSIER_ASSIGN_OR_RETURN(AskWords words, ReadAskWords(arguments.words, is_context));
  DOSSIER_RETURN_IF_ERROR(CheckUtf8(words.question, "the question"));
  Asked asked{.question = std::move(words.question), .paths = arguments.contexts};
  asked.paths.insert(asked.paths.end(), words.paths.begin(), words.paths.end());
  const auto streams =
      std::count(asked.paths.begin(), asked.paths.end(), "-") + (asked.question == "-" ? 1 : 0);
  if (streams > 1) {
    return MakeError(ErrorCode::kUsage,
                     "ask: only one of question and contexts can come from stdin (-)");
  }
  if (streams > 0 && flags.no_stdin) {
    return MakeError(ErrorCode::kUsage, "ask: - is stdin, which --no-stdin leaves alone");
  }
  return asked;
}

namespace {

// Everything that a person has must not be read and sent to a provider by default.
Status RefuseWideFolder() {
  std::error_code error;
  const auto folder = std::filesystem::current_path(error);
  if (error) return MakeErrnoError(error.value(), "the current folder");
  DOSSIER_ASSIGN_OR_RETURN(const auto user, config::UserFoldersOf(config::ProcessVariables()));
  const bool wide =
      folder == folder.root_path() || std::filesystem::equivalent(folder, user.home, error);
  if (!wide) return {};
  return MakeError(
      ErrorCode::kUsage,
      "ask: no context is named, and the current folder is {}: name a file or a folder "
      "(. for this one)",
      folder == folder.root_path() ? "/" : "your home folder");
}

}  // namespace

Status AddMissingContext(const AskArguments& arguments, const GlobalFlags& flags,
                         const CancelToken& cancel, std::ostream& err, Asked* asked) {
  const bool given = !arguments.texts.empty() || !arguments.exec.exec.empty();
  if (!asked->paths.empty() || given || asked->question == "-") return {};
  if (!flags.no_stdin && StdinStream().IsTerminal()) {
    DOSSIER_RETURN_IF_ERROR(RefuseWideFolder());
    if (!flags.quiet) {
      err << "dossier: no context is named, so the files below the current folder are read\n";
    }
    asked->paths.push_back(".");
    return {};
  }
  DOSSIER_ASSIGN_OR_RETURN(const bool piped, StdinHoldsText(flags, cancel, err));
  if (piped) asked->paths.push_back("-");
  return {};
}

Result<std::string> ReadQuestion(const Asked& asked, const GlobalFlags& flags,
                                 const CancelToken& cancel, std::ostream& err) {
  if (asked.question != "-") return asked.question;
  DOSSIER_ASSIGN_OR_RETURN(const auto timeout, StdinTimeout(flags));
  StdinStream in;
  DOSSIER_ASSIGN_OR_RETURN(
      const PromptInput input,
      ReadPromptInput(
          {.prompt = "-", .timeout = timeout}, in,
          [&](std::string_view warning) { PrintWarning(err, warning); }, cancel));
  if (TrimSpace(input.text).empty()) {
    return MakeError(ErrorCode::kUsage, "ask: the question on stdin is empty");
  }
  return input.text;
}

}  // namespace dossier::cli
