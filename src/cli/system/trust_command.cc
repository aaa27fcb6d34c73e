// trust: approves the configuration of projects.

#include <filesystem>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/text_diff.h"
#include "base/text/utf8.h"
#include "cli/commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "config/load.h"
#include "config/trust.h"
#include "sources/header/agents_config.h"
#include "sources/repository/repo_facts.h"

namespace dossier::cli {
namespace {

struct TrustArguments {
  std::string path;    // file or folder; "": the working folder
  std::string show;    // --show PATH
  std::string revoke;  // --revoke PATH
  bool list = false;   // --list
  bool json = false;
};

void DeclareTrust(Flags& flags, TrustArguments& to) {
  flags.Add("path", &to.path, "file or folder (default: here)").Kind(kPath);
  flags.Add("--list", &to.list, "what is approved");
  flags.Add("--show", &to.show, "the bytes that were approved").Kind(kPath).Excludes("--list");
  flags.Add("--revoke", &to.revoke, "take an approval back")
      .Kind(kPath)
      .Excludes("--list")
      .Excludes("--show");
  flags.Add("--json", &to.json, "one object");
}

namespace fs = std::filesystem;

std::string RealPath(const std::string& path) {
  std::error_code error;
  const std::string real = fs::weakly_canonical(path, error).string();
  return error ? path : real;
}

class Trust {
 public:
  Trust(const TrustArguments& arguments, Context& context, config::TrustStore store)
      : arguments_(arguments),
        flags_(context.flags),
        store_(std::move(store)),
        out_(context.out),
        err_(context.err) {}

  Status List() const {
    DOSSIER_ASSIGN_OR_RETURN(const auto approvals, store_.List());
    JsonArray files;
    for (const config::Approval& approval : approvals) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string state, StateOf(approval));
      if (arguments_.json) {
        files.push_back(JsonObject{{"path", approval.path},
                                   {"sha256", approval.sha256},
                                   {"approved_at", approval.approved_at},
                                   {"state", state}});
      } else {
        out_ << fmt::format("{}  {}  {}\n", approval.approved_at, Safe(approval.path), state);
      }
    }
    if (arguments_.json) Print({{"files", std::move(files)}});
    return {};
  }

  Status Show() const {
    DOSSIER_ASSIGN_OR_RETURN(const auto approval, store_.Find(RealPath(arguments_.show)));
    if (!approval) return NotApproved(arguments_.show);
    DOSSIER_ASSIGN_OR_RETURN(const std::string bytes, store_.Bytes(*approval));
    if (arguments_.json) {
      Print({{"path", approval->path},
             {"sha256", approval->sha256},
             {"approved_at", approval->approved_at},
             {"text", utf8::Sanitize(bytes)}});
    } else {
      out_ << Safe(bytes);
    }
    return {};
  }

  Status Revoke() {
    DOSSIER_ASSIGN_OR_RETURN(const bool found, store_.Revoke(RealPath(arguments_.revoke)));
    if (!found) return NotApproved(arguments_.revoke);
    if (arguments_.json) {
      Print({{"revoked", arguments_.revoke}});
    } else {
      out_ << "no longer trusted: " << Safe(arguments_.revoke) << "\n";
    }
    return {};
  }

  Status Approve(const config::ConfigFile& file) {
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> powers, PowersOf(file));
    return Approve(file, powers);
  }

  // Shows what is to be approved. A person then says yes on the terminal; without a terminal only
  // --yes approves.
  Status Approve(const config::ConfigFile& file, const std::vector<std::string>& powers) {
    if (powers.empty()) {
      Tell(file, "needs no trust", powers);
      return {};
    }
    DOSSIER_ASSIGN_OR_RETURN(const auto known, store_.Find(file.real_path));
    if (known && known->sha256 == Sha256Hex(file.bytes)) {
      Tell(file, "trusted already", powers);
      return {};
    }
    std::string diff;
    if (known) {
      const auto before = store_.Bytes(*known);
      if (before) diff = UnifiedDiff("approved", *before, "now", file.bytes);
    }
    const std::string lines = config::NumberedLines(file.bytes);
    const bool asks = MayAsk(flags_);
    if (asks || !arguments_.json) (asks ? err_ : out_) << (asks ? Safe(diff) : "") << Safe(lines);
    bool agreed = flags_.yes;
    if (asks) {
      DOSSIER_ASSIGN_OR_RETURN(agreed,
                               Confirm(flags_, fmt::format("Trust {}?", file.path), "-y", err_));
    }
    if (!agreed) {
      unanswered_ = unanswered_ || !asks;
      Tell(file, "not trusted", powers, diff);
      return {};
    }
    DOSSIER_RETURN_IF_ERROR(store_.Approve(file.real_path, file.bytes));
    Tell(file, "trusted", powers, diff);
    return {};
  }

  // Called at the end, after all files. Errors: kRefused: nobody could be asked.
  Status Finish() {
    if (unanswered_) {
      return MakeError(ErrorCode::kRefused,
                       "nothing was approved, as there is no terminal to ask on: review the file, "
                       "and give --yes");
    }
    if (arguments_.json) Print({{"files", std::move(told_)}});
    return {};
  }

 private:
  static Result<std::vector<std::string>> PowersOf(const config::ConfigFile& file) {
    if (file.path.ends_with(".edn")) return sources::AgentNetPowers(file);
    DOSSIER_ASSIGN_OR_RETURN(const config::Value values, config::ParseConfigFile(file));
    return config::FindPowers(values);
  }

  void Print(JsonObject fields) const {
    JsonObject json{{"schema", "dossier.trust/1"}};
    for (auto& [key, value] : fields) json[key] = std::move(value);
    out_ << ToJson(json) << "\n";
  }

  void Tell(const config::ConfigFile& file, std::string_view state,
            const std::vector<std::string>& powers, std::string_view diff = {}) {
    if (arguments_.json) {
      told_.push_back(JsonObject{{"path", file.path},
                                 {"state", state},
                                 {"powers", JsonArray(powers.begin(), powers.end())},
                                 {"diff", utf8::Sanitize(diff)}});
    } else if (state == "trusted") {
      out_ << Safe(diff)
           << fmt::format("trusted: {}: {}\n", Safe(file.path), Safe(Join(powers, ", ")));
    } else {
      out_ << (state == "not trusted" ? Safe(diff) : "")
           << fmt::format("{}: {}\n", Safe(file.path), state);
    }
  }

  static Status NotApproved(const std::string& path) {
    return MakeError(ErrorCode::kNotFound, "{} is not approved; see dossier trust --list", path);
  }

  Result<std::string> StateOf(const config::Approval& approval) const {
    std::error_code error;
    if (fs::is_directory(approval.path, error)) {  // a project's layouts and prompts
      const auto assets = config::ReadProjectAssets(approval.path);
      if (!assets || !*assets) return std::string("gone");
      return std::string(Sha256Hex((*assets)->file.bytes) == approval.sha256 ? "unchanged"
                                                                             : "changed");
    }
    const std::string mark = fmt::format("/conversations/{}", config::kStoredModelMark);
    if (approval.path.find(mark) != approval.path.npos) return std::string("unchanged");
    const auto bytes = ReadRegularFile(approval.path, config::kMaxConfigBytes);
    if (!bytes) return std::string("gone");
    return std::string(Sha256Hex(*bytes) == approval.sha256 ? "unchanged" : "changed");
  }

  const TrustArguments& arguments_;
  const GlobalFlags& flags_;
  config::TrustStore store_;
  std::ostream& out_;
  std::ostream& err_;
  JsonArray told_;           // for --json: the result for each file
  bool unanswered_ = false;  // a file needs an answer and there is no terminal
};

// Approves the project files that apply in the folder.
Status ApproveFolder(const GlobalFlags& flags, Trust& command) {
  DOSSIER_ASSIGN_OR_RETURN(const config::LoadRequest request, MakeLoadRequest(flags));
  int seen = 0;
  const auto approve = [&](const config::Question& question) -> Status {
    ++seen;
    return command.Approve(question.file);
  };
  const auto loaded = config::LoadConfig(request, config::ReadConfigFile, approve);
  if (!loaded) return tl::unexpected(loaded.error());
  const auto agentnet =
      sources::ReadAgentNet(sources::RepoRoot("."), config::ReadConfigFile, approve);
  if (!agentnet) return tl::unexpected(agentnet.error());
  DOSSIER_ASSIGN_OR_RETURN(const auto assets, config::ReadProjectAssets(".dossier"));
  if (assets) {
    ++seen;
    DOSSIER_RETURN_IF_ERROR(command.Approve(assets->file, assets->names));
  }
  if (seen > 0) return {};
  return MakeError(
      ErrorCode::kNotFound,
      "no configuration of this project needs trust; `dossier config path` shows where "
      "it is looked for");
}

Status RunTrust(const TrustArguments& arguments, Context& context) {
  const GlobalFlags& flags = context.flags;
  DOSSIER_ASSIGN_OR_RETURN(const auto user, config::UserFoldersOf(config::ProcessVariables()));
  Trust command(arguments, context, config::TrustStore(user.state, SystemClock()));
  if (arguments.list) return command.List();
  if (!arguments.show.empty()) return command.Show();
  if (!arguments.revoke.empty()) return command.Revoke();
  std::error_code error;
  std::string path = arguments.path.empty() ? "." : arguments.path;
  // Layouts and prompts of a project are approved as its folder.
  fs::path named = fs::path(path).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  if (named.filename() == ".dossier") {
    path = named.has_parent_path() ? named.parent_path().string() : ".";
  }
  if (fs::is_directory(path, error)) {
    fs::current_path(path, error);
    if (error) return MakeErrnoError(error.value(), path);
    DOSSIER_RETURN_IF_ERROR(ApproveFolder(flags, command));
    return command.Finish();
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto file, config::ReadConfigFile(path));
  if (!file) return tl::unexpected(ExplainMissing({ErrorCode::kNotFound, path}, path));
  DOSSIER_RETURN_IF_ERROR(command.Approve(*file));
  return command.Finish();
}

}  // namespace

Command TrustCommand() {
  return {.name = "trust",
          .summary = "approve a project's configuration, which can run code or redirect data",
          .examples =
              "dossier trust\n"
              "    approve the configuration of this project, after reading it\n"
              "dossier trust --list\n"
              "    what is approved",
          .binding = Bind(DeclareTrust, RunTrust),
          .signals = Command::Signals::kLeft};
}

}  // namespace dossier::cli
