#include "cli/servers/mcp_clients.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "cli/terminal/terminal.h"
#include "sandbox/session/session.h"
#include "server/clients/client_list.h"

namespace dossier::cli {
namespace {

using clients::Assistant;
using clients::FileChange;
using clients::InstallWish;

constexpr Millis kServerLimit{10'000};  // first answers of a server that doctor starts

struct ClientArguments {
  std::string client, scope = "user", name = "dossier";
  bool hook = false, dry_run = false, yes = false, json = false;
};

Result<InstallWish> WishOf(const ClientArguments& given) {
  InstallWish wish{.name = given.name};
  wish.scope = given.scope == "project" ? clients::Scope::kProject : clients::Scope::kUser;
  if (given.yes) wish.foreign = InstallWish::Foreign::kReplaced;
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, ExecutableFolder());
  wish.argv = {folder + "/dossier", "mcp"};
  const char* home = getenv("HOME");
  wish.home = home ? home : "";
  std::error_code error;
  wish.folder = std::filesystem::current_path(error).string();
  return wish;
}

std::string Shown(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  for (const std::string& word : argv) words.push_back(ShellQuote(word));
  return Join(words, " ");
}

Status RunClientCommand(const FileChange& change, const Context& context) {
  auto ran = RunProcess({.argv = change.command, .timeout = Millis(60'000)}, context.cancel);
  if (!ran && ran.error().code == ErrorCode::kNotFound) {
    return MakeError(ErrorCode::kNotFound,
                     "{} is not on PATH, and keeps its list of servers itself; --scope project "
                     "writes a file of the project instead",
                     change.command[0]);
  }
  DOSSIER_RETURN_IF_ERROR(ran);
  if (ran->exit_code == 0) return {};
  return MakeError(ErrorCode::kFailed, "`{}` failed: {}", Shown(change.command),
                   FirstLine(ran->err.empty() ? ran->out : ran->err));
}

// Shows what a change would do, or makes it.
Status Carry(const FileChange& change, const ClientArguments& given, Context& context) {
  if (!change.command.empty()) {
    if (given.dry_run) {
      context.out << Shown(change.command) << "\n";
      return {};
    }
    DOSSIER_RETURN_IF_ERROR(RunClientCommand(change, context));
    context.out << fmt::format("ran {}\n", Shown(change.command));
    return {};
  }
  if (change.before == change.after) {
    context.out << fmt::format("{}: nothing to change\n", change.path);
    return {};
  }
  if (given.dry_run) {
    context.out << fmt::format("--- {}\n{}\n+++ {}\n{}\n", change.path, change.before.value_or(""),
                               change.path, change.after.value_or(""));
    return {};
  }
  DOSSIER_RETURN_IF_ERROR(clients::Apply(change));
  context.out << fmt::format("{} {}\n", change.after ? "wrote" : "removed", change.path);
  return {};
}

Status RunInstall(const ClientArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const Assistant client, clients::FindClient(given.client));
  DOSSIER_ASSIGN_OR_RETURN(const InstallWish wish, WishOf(given));
  // Plans both before making either: if the second file is broken the first one stays unchanged.
  DOSSIER_ASSIGN_OR_RETURN(const FileChange change, clients::PlanInstall(client, wish));
  std::optional<FileChange> hook;
  if (given.hook) {
    DOSSIER_ASSIGN_OR_RETURN(hook, clients::PlanHook(client, wish));
  }
  DOSSIER_RETURN_IF_ERROR(Carry(change, given, context));
  return hook ? Carry(*hook, given, context) : Status();
}

Status RunUninstall(const ClientArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const Assistant client, clients::FindClient(given.client));
  DOSSIER_ASSIGN_OR_RETURN(const InstallWish wish, WishOf(given));
  DOSSIER_ASSIGN_OR_RETURN(const FileChange change, clients::PlanUninstall(client, wish));
  std::optional<FileChange> hook;
  if (const auto planned = clients::PlanUnhook(client, wish)) hook = *planned;
  DOSSIER_RETURN_IF_ERROR(Carry(change, given, context));
  return hook && hook->before != hook->after ? Carry(*hook, given, context) : Status();
}

// The answers of a server, started as its client starts it.
struct Checked {
  std::string version, problem;
  std::size_t tools = 0;
  Millis took{0};
};

// `own` is this program. A project's file may come with a stranger's repository, so no other
// program that it names is started.
Checked CheckServer(const clients::Registered& server, const std::string& own,
                    const CancelToken& cancel) {
  constexpr std::string_view kAsked =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
      "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"dossier-doctor\",\"version\":"
      "\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";
  Checked out;
  std::error_code error;
  const bool same = std::filesystem::equivalent(server.argv[0], own, error);
  if (server.scope == clients::Scope::kProject && !same) {
    out.problem = fmt::format(
        "{} is not this program and is named by the project, so it was not "
        "started",
        server.argv[0]);
    return out;
  }
  const auto began = std::chrono::steady_clock::now();
  const auto ran = RunProcess(
      {.argv = server.argv, .input = std::string(kAsked), .timeout = kServerLimit}, cancel);
  out.took = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - began);
  if (!ran) {
    out.problem = ran.error().message;
    return out;
  }
  for (const std::string_view line : Split(ran->out, '\n')) {
    const auto message = ParseJson(line);
    const Json* result = message ? Find(*message, "result") : nullptr;
    if (!result) continue;
    if (const Json* info = Find(*result, "serverInfo")) out.version = TextAt(*info, "version");
    if (const Json* tools = Find(*result, "tools"); tools && tools->is_array()) {
      out.tools = tools->get_array().size();
    }
  }
  if (out.version.empty() || out.tools == 0) {
    out.problem = ran->timed_out ? "it does not answer"
                                 : "it gives no list of tools: " + std::string(FirstLine(ran->err));
  }
  return out;
}

Result<int> RunMcpDoctor(const ClientArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const InstallWish wish, WishOf(given));
  std::vector<std::string> problems;
  DOSSIER_ASSIGN_OR_RETURN(const auto found,
                           clients::FindRegistered(wish.home, wish.folder, &problems));
  JsonArray list;
  std::string lines;
  for (const clients::Registered& one : found) {
    const Checked checked = CheckServer(one, wish.argv[0], context.cancel);
    const std::string said = checked.problem.empty()
                                 ? fmt::format("version {}, {} tools, answered and ended in {} ms",
                                               checked.version, checked.tools, checked.took.count())
                                 : checked.problem;
    if (!checked.problem.empty()) problems.push_back(fmt::format("{}: {}", one.path, said));
    lines += fmt::format("{}  {}  {}\n    {}\n    {}\n", one.client, one.name, one.path,
                         Shown(one.argv), said);
    list.push_back(JsonObject{{"client", one.client},
                              {"name", one.name},
                              {"path", one.path},
                              {"argv", JsonArray(one.argv.begin(), one.argv.end())},
                              {"version", checked.version},
                              {"tools", checked.tools},
                              {"ms", checked.took.count()},
                              {"problem", checked.problem}});
  }
  const auto pool = sandbox::Pool::Make({});
  const auto session = pool ? (*pool)->Open({}, context.cancel) : tl::unexpected(pool.error());
  const std::string walls = session ? "strict" : session.error().message;
  if (!session) problems.push_back("sandbox: " + walls);
  if (given.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.mcp.doctor/1"},
                                     {"servers", std::move(list)},
                                     {"sandbox", walls},
                                     {"problems", JsonArray(problems.begin(), problems.end())}})
                << "\n";
  } else {
    if (found.empty()) lines = "no client starts dossier yet: dossier mcp install CLIENT\n";
    context.out << lines << "sandbox: " << walls << "\n";
    for (const std::string& problem : problems) PrintWarning(context.err, problem);
  }
  return problems.empty() ? 0 : kExitDifferences;
}

void DeclareClient(Flags& flags, ClientArguments& to) {
  flags
      .Add("client", &to.client,
           "claude-code, claude-desktop, cursor, windsurf, vscode, codex, gemini")
      .Required()
      .Kind(kName);
  flags.Add("--scope", &to.scope, "for all your projects, or for this folder")
      .OneOf({"user", "project"})
      .ShowDefault();
  flags.Add("--name", &to.name, "the server's name in the client").ShowDefault();
  flags.Add("--dry-run", &to.dry_run, "show what would change");
  flags.Add("-y,--yes", &to.yes, "replace or remove an entry that starts something else");
}

void DeclareInstall(Flags& flags, ClientArguments& to) {
  DeclareClient(flags, to);
  flags.Add("--hook", &to.hook, "refuse to read large files whole (claude-code)");
}

void DeclareMcpDoctor(Flags& flags, ClientArguments& to) {
  flags.Add("--json", &to.json, "one object with every server");
}

}  // namespace

std::vector<Command> McpClientCommands() {
  return {{.name = "install",
           .summary = "add dossier to a coding assistant",
           .examples = "dossier mcp install cursor --scope project --dry-run\n"
                       "    what it would write",
           .binding = Bind(DeclareInstall, RunInstall)},
          {.name = "uninstall",
           .summary = "take it out again",
           .binding = Bind(DeclareClient, RunUninstall)},
          {.name = "doctor",
           .summary = "start each server as its client does, and say what is wrong",
           .binding = Bind(DeclareMcpDoctor, RunMcpDoctor)}};
}

}  // namespace dossier::cli
