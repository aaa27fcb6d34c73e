// mcp: a server of the Model Context Protocol for the operations of src/server.

#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/net/url.h"
#include "base/text/text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/servers/mcp_clients.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/shared_flags.h"
#include "server/mcp/http_server.h"
#include "server/mcp/stdio_server.h"
#include "server/mcp/workspace_catalog.h"

namespace dossier::cli {
namespace {

constexpr Millis kLongestEnd{900};  // from the end of input to the end of the process
constexpr std::chrono::hours kUnusedContext{30 * 24};
constexpr std::size_t kMostContexts = 200;

struct McpArguments {
  std::string http;                // --http
  std::vector<std::string> roots;  // --root
  std::string paid = "on";
  double max_usd = 1.00, max_usd_day = 10.00;
  std::string tools;
  std::int64_t result_tokens = 15'000;
  bool allow_secrets = false, json = false;
  std::vector<std::string> allow_hosts;
  std::string keys;
  ModelFlags model;
};

// Everything that a person has must not be readable just because an assistant started there.
bool StartsTooWide(const McpArguments& given) {
  const char* home = getenv("HOME");
  std::error_code ignored;
  return given.roots.empty() && (std::filesystem::equivalent(".", "/", ignored) ||
                                 (home && std::filesystem::equivalent(".", home, ignored)));
}

Result<std::vector<std::string>> RootsOf(const McpArguments& given) {
  std::vector<std::string> roots;
  for (const std::string& root :
       given.roots.empty() ? std::vector<std::string>{"."} : given.roots) {
    std::error_code error;
    const auto real = std::filesystem::canonical(root, error);
    if (error) return MakeErrnoError(error.value(), "--root " + root);
    roots.push_back(real.string());
  }
  return roots;
}

Result<server::WorkspaceOptions> OptionsOf(const McpArguments& given) {
  using server::WorkspaceOptions;
  WorkspaceOptions options;
  DOSSIER_ASSIGN_OR_RETURN(options.roots, RootsOf(given));
  DOSSIER_ASSIGN_OR_RETURN(options.model, SettingsOf(given.model));
  if (StartsTooWide(given)) options.files = WorkspaceOptions::Files::kNone;
  options.secrets = given.allow_secrets ? WorkspaceOptions::Secrets::kAllowed
                                        : WorkspaceOptions::Secrets::kRedacted;
  if (given.paid == "off") options.paid = WorkspaceOptions::Paid::kOff;
  options.ask_line = AskLineOf(given.model, {});
  options.max_usd = given.max_usd;
  options.max_usd_day = given.max_usd_day;
  options.result_tokens = given.result_tokens;
  return options;
}

std::vector<std::string> ToolNames(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string_view name : Split(list, ',')) {
    if (!TrimSpace(name).empty()) names.emplace_back(TrimSpace(name));
  }
  return names;
}

// Ends the process if something does not end by itself: a client that has left does not wait.
class EndInTime {
 public:
  EndInTime()
      : thread_([this] {
          std::unique_lock lock(mutex_);
          if (!ended_.wait_for(lock, kLongestEnd, [this] { return done_; })) _exit(0);
        }) {}
  ~EndInTime() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;
};

// Reserves stdout for messages: all other output goes to stderr.
class OwnedStdout {
 public:
  OwnedStdout() : fd_(dup(STDOUT_FILENO)) { dup2(STDERR_FILENO, STDOUT_FILENO); }
  int fd() const { return fd_.get(); }

 private:
  const UniqueFd fd_;
};

Status ServeHttp(const McpArguments& given, mcp::ServerOffer& catalog, const Context& context,
                 const mcp::ServerInfo& info) {
  DOSSIER_ASSIGN_OR_RETURN(ListenAddress address, ParseListenAddress("--http", given.http));
  mcp::HttpOptions options{.address = address, .allow_hosts = given.allow_hosts, .info = info};
  if (!given.keys.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(server::KeyRing keys, server::KeyRing::Load(given.keys));
    options.keys = std::make_shared<server::KeyRing>(std::move(keys));
    DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
    DOSSIER_RETURN_IF_ERROR(MakeFolders(data + "/server", 0700));
    options.owners = std::make_shared<server::Owners>(data + "/server/owners.jsonl");
  }
  DOSSIER_ASSIGN_OR_RETURN(auto server, mcp::HttpServer::Start(catalog, std::move(options)));
  address.port = server->port();
  context.err << fmt::format("dossier: MCP at {}/mcp\n", address.url());
  if (given.keys.empty()) {
    context.err << "dossier: without --keys every user of this machine, and every page that it "
                   "serves, may use this server\n";
  }
  context.err << std::flush;
  while (WaitUnlessCancelled(Millis(3'600'000), context.cancel)) {
  }
  const EndInTime limit;
  server.reset();
  return {};
}

Status RunMcp(const McpArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(server::WorkspaceOptions options, OptionsOf(given));
  DOSSIER_ASSIGN_OR_RETURN(auto workspace, server::Workspace::Open(std::move(options)));
  DOSSIER_ASSIGN_OR_RETURN(auto catalog,
                           mcp::WorkspaceCatalog::Make(*workspace, ToolNames(given.tools)));
  const mcp::ServerInfo info{.version = std::string(kVersion)};
  if (!given.http.empty()) return ServeHttp(given, *catalog, context, info);
  const OwnedStdout out;
  const Status served = mcp::ServeStdio(
      *catalog, {.in = STDIN_FILENO, .out = out.fd(), .info = info}, context.cancel);
  const EndInTime limit;
  catalog.reset();
  workspace.reset();
  return served;
}

Status PrintTools(const McpArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(server::WorkspaceOptions options, OptionsOf(given));
  DOSSIER_ASSIGN_OR_RETURN(const auto workspace, server::Workspace::Open(std::move(options)));
  DOSSIER_ASSIGN_OR_RETURN(const auto catalog,
                           mcp::WorkspaceCatalog::Make(*workspace, ToolNames(given.tools)));
  context.out << ToJson(JsonObject{{"tools", catalog->Tools()},
                                   {"instructions", catalog->Instructions()}})
              << "\n";
  return {};
}

Status RunGc(const McpArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto workspace, server::Workspace::Open({}));
  DOSSIER_ASSIGN_OR_RETURN(const auto dropped,
                           workspace->contexts().Collect(kUnusedContext, kMostContexts));
  if (given.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.mcp.gc/1"},
                                     {"dropped", JsonArray(dropped.begin(), dropped.end())}})
                << "\n";
    return {};
  }
  context.out << fmt::format("{} contexts dropped\n", dropped.size());
  for (const std::string& id : dropped) context.out << id << "\n";
  return {};
}

void DeclareScope(Flags& flags, McpArguments& to) {
  flags.Add("--root", &to.roots, "a folder whose files may be opened (this folder; repeat)")
      .Kind(kFolder);
  flags.Add("--allow-secrets", &to.allow_secrets,
            "read secret files, and keys and passwords in others, too");
  flags.Add("--tools", &to.tools, "offer only these: open,search,read (all)").Kind(kList);
  flags.Add("--paid", &to.paid, "off: no tool calls a model").OneOf({"on", "off"}).ShowDefault();
}

void DeclareMcp(Flags& flags, McpArguments& to) {
  DeclareScope(flags, to);
  flags.Add("--result-tokens", &to.result_tokens, "tokens of one result, at most")
      .Positive()
      .ShowDefault();
  Flags limits = flags.In("Limits");
  limits.Add("--max-usd", &to.max_usd, "US dollars of one ask").Positive().ShowDefault();
  limits.Add("--max-usd-day", &to.max_usd_day, "US dollars of all asks of a day (UTC)")
      .Positive()
      .ShowDefault();
  AddPriceFlag(limits, &to.model.prices);
  Flags http = flags.In("HTTP");
  http.Add("--http", &to.http, "serve at HOST:PORT instead of stdin and stdout");
  http.Add("--allow-host", &to.allow_hosts, "a name of this machine in Host and Origin (repeat)")
      .Kind(kName);
  http.Add("--keys", &to.keys, "file of keys that callers must have one of").Kind(kPath);
  AddModelFlags(flags, &to.model);
}

void DeclareGc(Flags& flags, McpArguments& to) {
  flags.Add("--json", &to.json, "one object with the ids");
}

}  // namespace

Command McpCommand() {
  Command command{
      .name = "mcp",
      .summary = "serve files of any size to coding assistants (Model Context Protocol)",
      .examples =
          "dossier mcp install claude-code\n"
          "    from now on the assistant starts it by itself\n"
          "dossier mcp --root ~/logs --paid off\n"
          "    what an assistant runs: messages on stdin and stdout, no model\n"
          "dossier mcp --http 127.0.0.1:8790\n"
          "    the same for clients that come over HTTP",
      .binding = Bind(DeclareMcp, RunMcp),
      .commands = {{.name = "tools",
                    .summary = "print the list of tools that assistants pay for in tokens",
                    .binding = Bind(DeclareScope, PrintTools)},
                   {.name = "gc",
                    .summary =
                        "drop contexts that nobody used for 30 days, or beyond the newest 200",
                    .binding = Bind(DeclareGc, RunGc)}},
      .signals = Command::Signals::kOrder,
      .alone = Command::Alone::kYes};
  for (Command& more : McpClientCommands()) command.commands.push_back(std::move(more));
  command.commands.push_back(McpServersCommand());
  return command;
}

}  // namespace dossier::cli
