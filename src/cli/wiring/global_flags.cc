#include "cli/wiring/global_flags.h"

#include <unistd.h>

#include <filesystem>
#include <optional>

#include "base/files/git_folders.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/text_diff.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"
#include "config/load.h"
#include "config/trust.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kMaxQuestion = 600;  // characters

// Asks on one line, so that a name in the question cannot fake another question below it. The end
// of input is not an answer and counts as no.
Result<bool> Ask(std::string_view question, std::ostream& err,
                 DefaultAnswer otherwise = DefaultAnswer::kNo) {
  const bool yes = otherwise == DefaultAnswer::kYes;
  const auto read = AskOn(STDIN_FILENO, [&]() -> Status {
    err << OnOneLine(question, kMaxQuestion) << (yes ? " [Y/n] " : " [y/N] ") << std::flush;
    return {};
  });
  if (!read || !*read) err << "\n" << std::flush;
  DOSSIER_ASSIGN_OR_RETURN(const auto answer, read);
  const std::string word = ToLowerAscii(TrimSpace(answer.value_or("")));
  return word == "y" || word == "yes" || (yes && answer && word.empty());
}

// Decides about project files with power keys.
class Guard {
 public:
  Guard(const GlobalFlags& flags, const config::LoadRequest& request, std::string state,
        std::ostream& err)
      : flags_(flags), request_(request), store_(std::move(state), SystemClock()), err_(err) {}

  Status operator()(const config::Question& question) {
    if (flags_.trust_config) return {};
    const std::string& real = question.file.real_path;
    const auto roots = config::Lookup(request_.variables, "DOSSIER_TRUST_ROOTS");
    if (roots && config::IsBelowTrustRoot(real, *roots)) return {};
    DOSSIER_ASSIGN_OR_RETURN(const auto known, store_.Find(real));
    if (known && known->sha256 == Sha256Hex(question.file.bytes)) return {};
    Explain(question, known);
    // Not affected by -y: a user who says yes to everything has not read this file.
    bool trusted = false;
    if (MayAsk(flags_)) {
      DOSSIER_ASSIGN_OR_RETURN(trusted, Ask("Trust " + question.file.path + "?", err_));
    }
    if (trusted) return store_.Approve(real, question.file.bytes);
    return MakeError(ErrorCode::kRefused,
                     "project config {} is not trusted; review it and run: dossier trust {}",
                     question.file.path, ShellQuote(question.file.path));
  }

 private:
  void Explain(const config::Question& question, const std::optional<config::Approval>& known) {
    err_ << "dossier: " << utf8::CleanForTerminal(question.file.path)
         << " can run code or redirect "
         << "data: " << utf8::CleanForTerminal(Join(question.powers, ", ")) << "\n";
    if (!known) {
      err_ << Safe(config::NumberedLines(question.file.bytes));
      return;
    }
    if (const auto before = store_.Bytes(*known)) {
      err_ << utf8::CleanForTerminal(UnifiedDiff("approved", *before, "now", question.file.bytes));
    }
    err_ << Safe(config::NumberedLines(question.file.bytes));
  }

  const GlobalFlags& flags_;
  const config::LoadRequest& request_;
  config::TrustStore store_;
  std::ostream& err_;
};

}  // namespace

void AddGlobalFlags(Flags& all, GlobalFlags* to) {
  constexpr static ValueKind kWhen{"WHEN"};
  Flags flags = all.In(kGlobalGroup);
  flags.Add("-C", &to->folder, "work in this folder, as if you had changed to it").Kind(kFolder);
  flags.Add("--config", &to->config_name, "read NAME.dossier.yml, too; its values win")
      .Kind(kConfigName);
  flags.Add("--config-dir", &to->config_dir, "read configuration from this folder only")
      .Kind(kFolder);
  flags.Add("--conversations-path", &to->conversations_path, "where conversations are kept")
      .Kind(kFolder);
  flags.Add("--compat", &to->compat, "behave as the Python tool cllm does");
  flags.Add("--trust-config", &to->trust_config, "trust the project's configuration for this run");
  flags.Add("-q,--quiet", &to->quiet, "errors only");
  flags.Add("-v,--verbose", &to->verbose, "say more; may be repeated").Counts();
  flags.Add("--color", &to->color, "auto, always or never")
      .Kind(kWhen)
      .OneOf({"auto", "always", "never"});
  flags.Add("--no-input", &to->no_input, "never ask a question");
  flags.Add("-y,--yes", &to->yes, "answer every question with yes");
  flags.Add("--offline", &to->offline, "nothing leaves this machine");
  flags.Add("--log-file", &to->log_file, "append messages to this file, for you alone to read")
      .Kind(kPath);
  flags.Add("--no-stdin", &to->no_stdin, "do not read stdin");
  flags
      .Add("--stdin-timeout", &to->stdin_timeout,
           "how long stdin may stay silent (60s with a PROMPT; 0: for ever)")
      .Kind(kTime);
}

Result<std::optional<Millis>> StdinTimeout(const GlobalFlags& flags) {
  if (flags.stdin_timeout.empty()) return std::nullopt;
  DOSSIER_ASSIGN_OR_RETURN(const Millis time,
                           ReadTimeFlag("--stdin-timeout", flags.stdin_timeout, Zero::kTaken));
  return time;
}

Result<config::LoadRequest> MakeLoadRequest(const GlobalFlags& flags) {
  config::LoadRequest request{
      .variables = config::ProcessVariables(),
      .name = flags.config_name,
      .config_dir = flags.config_dir,
      .conversations_path = flags.conversations_path,
      .mode = flags.compat ? config::CompatMode::kCompat : config::CompatMode::kDefault};
  std::error_code error;
  request.folder = std::filesystem::canonical(".", error).string();
  if (error) return MakeErrnoError(error.value(), "the working folder");
  if (const auto git = FindGitFolders(request.folder)) request.root = git->root;
  return request;
}

Result<config::Config> LoadConfig(const GlobalFlags& flags,
                                  const std::vector<config::Override>& overrides,
                                  std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(config::LoadRequest request, MakeLoadRequest(flags));
  request.flags = overrides;
  DOSSIER_ASSIGN_OR_RETURN(const auto user, config::UserFoldersOf(request.variables));
  Guard guard(flags, request, user.state, err);
  DOSSIER_ASSIGN_OR_RETURN(config::Config config,
                           config::LoadConfig(request, config::ReadConfigFile, std::ref(guard)));
  if (flags.log && flags.log_file.empty() && !config.log_file.empty()) {
    DOSSIER_RETURN_IF_ERROR(flags.log->Open(
        config.log_file, config.json_logs ? LogBuffer::Form::kJson : LogBuffer::Form::kText));
  }
  if (!flags.quiet) {
    for (const std::string& warning : config.warnings) PrintWarning(err, warning);
  }
  return config;
}

Status CheckTrust(const GlobalFlags& flags, const config::Question& question, std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const config::LoadRequest request, MakeLoadRequest(flags));
  DOSSIER_ASSIGN_OR_RETURN(const auto user, config::UserFoldersOf(request.variables));
  return Guard(flags, request, user.state, err)(question);
}

config::Decide DecideBy(const GlobalFlags& flags, std::ostream& err) {
  return
      [&flags, &err](const config::Question& question) { return CheckTrust(flags, question, err); };
}

bool MayAsk(const GlobalFlags& flags) {
  return !flags.no_input && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

Result<bool> Confirm(const GlobalFlags& flags, std::string_view question, std::string_view way_out,
                     std::ostream& err, DefaultAnswer answer) {
  if (flags.yes) return true;
  if (!MayAsk(flags)) {
    return MakeError(ErrorCode::kUsage, "{} There is no terminal to ask on; use {}", question,
                     way_out);
  }
  return Ask(question, err, answer);
}

}  // namespace dossier::cli
