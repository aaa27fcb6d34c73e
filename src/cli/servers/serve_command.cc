// serve: OpenAI's endpoints over the engine, an API for runs, and a page that shows them.

#include <filesystem>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/servers/worker_setup.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/shared_flags.h"
#include "server/http/http_server.h"
#include "server/key_ring.h"

namespace dossier::cli {
namespace {

using server::ServeOptions;

struct ServeArguments {
  std::string bind = "127.0.0.1:8780", keys, store;
  bool no_auth = false, no_viewer = false, json = false;
  std::string max_body = "64M", max_upload = "8G";
  std::size_t max_running = 8, max_queue = 64;
  std::int64_t inline_tokens = 16'384, max_calls = 500;
  std::string heartbeat = "5s", drain = "30s";
  std::vector<std::string> origins, hosts;
  std::string local_paths;
  std::optional<double> max_cost, max_usd_day;
  ModelFlags model;
  SandboxFlags sandbox;
  // For `keys`.
  server::KeyWish wish;
};

// Rejects flags that exclude each other before anything is opened.
Status CheckStore(const ServeArguments& given) {
  if (given.store.empty()) {
    if (given.max_running > 0) return {};
    return MakeError(ErrorCode::kUsage,
                     "--max-running 0: without --store URL nobody else answers; name a store whose "
                     "workers do");
  }
  DOSSIER_RETURN_IF_ERROR(CheckStoreFlag(given.store));
  if (!given.max_usd_day) return {};
  return MakeError(
      ErrorCode::kUsage,
      "--max-usd-day: a sum of a day cannot be kept over a store that several machines "
      "share; --max-cost holds for each run");
}

Result<ServeOptions> OptionsOf(const ServeArguments& given) {
  DOSSIER_RETURN_IF_ERROR(CheckStore(given));
  ServeOptions options{.keys_file = given.keys,
                       .work = {.running = given.max_running, .waiting = given.max_queue},
                       .inline_tokens = given.inline_tokens,
                       .origins = given.origins,
                       .hosts = given.hosts,
                       .store = given.store,
                       .version = std::string(kVersion)};
  if (given.max_running == 0) {
    options.answers = ServeOptions::Answers::kNothing;
    options.work.running = ServeArguments().max_running;  // queueing runs uses places, too
  }
  if (!given.store.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(options.cache_folder, WorkerFolder());
  }
  DOSSIER_ASSIGN_OR_RETURN(options.address, ParseListenAddress("--bind", given.bind));
  DOSSIER_ASSIGN_OR_RETURN(options.max_body, ReadSizeFlag("--max-body", given.max_body));
  DOSSIER_ASSIGN_OR_RETURN(options.max_upload, ReadSizeFlag("--max-upload", given.max_upload));
  DOSSIER_ASSIGN_OR_RETURN(options.heartbeat, ReadTimeFlag("--heartbeat", given.heartbeat));
  DOSSIER_ASSIGN_OR_RETURN(options.drain, ReadTimeFlag("--drain", given.drain, Zero::kTaken));
  if (given.no_auth) options.auth = ServeOptions::Auth::kNone;
  if (given.no_viewer) options.viewer = ServeOptions::Viewer::kNone;
  if (!given.local_paths.empty()) {
    std::error_code error;
    options.local_paths = std::filesystem::canonical(given.local_paths, error).string();
    if (error) return MakeErrnoError(error.value(), "--local-paths " + given.local_paths);
  }
  DOSSIER_ASSIGN_OR_RETURN(const SandboxChoice sandbox, ParseSandboxFlags(given.sandbox));
  server::WorkspaceOptions& workspace = options.workspace;
  workspace.pool = sandbox.pool;
  workspace.root_flag = "--local-paths";
  workspace.roots_name = "that of --local-paths";
  workspace.secrets_flag.clear();  // serve has none
  DOSSIER_ASSIGN_OR_RETURN(workspace.model, SettingsOf(given.model));
  workspace.ask_line = AskLineOf(given.model, given.sandbox);
  workspace.max_usd = given.max_cost;
  workspace.max_usd_day = given.max_usd_day;
  workspace.max_calls = given.max_calls;
  return options;
}

// Writes where a program of this user finds the key of a server that it did not start.
Result<std::string> WriteState(const std::string& url, const server::Address& address) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  const std::string path = data + "/serve.json";
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(
      path,
      ToJson(JsonObject{{"schema", "dossier.serve/1"}, {"url", url}, {"key", address.key}}) + "\n",
      0600));
  return path;
}

Status RunServe(const ServeArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(ServeOptions options, OptionsOf(given));
  options.say = SayOn(context);
  server::HttpServer server;
  DOSSIER_ASSIGN_OR_RETURN(const server::Address address, server.Listen(std::move(options)));
  const std::string& url = address.url;
  DOSSIER_ASSIGN_OR_RETURN(const std::string state, WriteState(url, address));
  context.err << fmt::format("dossier: serving {}/v1; viewer {}/{}\n", url, url,
                             address.key.empty() ? "" : "#key=" + address.key)
              << std::flush;
  if (!address.warning.empty()) PrintWarning(context.err, address.warning);
  const Status served = server.Run(context.cancel, {});
  // Another server of this user may have written its own state meanwhile.
  if (const auto text = ReadFile(state);
      text && text->find(fmt::format("\"{}\"", url)) != text->npos) {
    (void)RemoveAll(state).has_value();
  }
  return served;
}

// Returns the file of --keys, else the user's own.
Result<std::string> KeysFile(const ServeArguments& given) {
  if (!given.keys.empty()) return given.keys;
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_RETURN_IF_ERROR(MakeFolders(data, 0700));
  return data + "/serve-keys";
}

Status AddServeKey(const ServeArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, KeysFile(given));
  DOSSIER_ASSIGN_OR_RETURN(const std::string secret,
                           server::AddKey(path, given.wish, *SystemClock()));
  context.out << secret << "\n" << std::flush;
  context.err << fmt::format(
      "dossier: this key is not shown again; start the server with --keys {}\n", Safe(path));
  return {};
}

Status ListServeKeys(const ServeArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, KeysFile(given));
  // The user's own file does not exist before the first key; a named file must exist.
  const bool none = given.keys.empty() && !Exists(path);
  std::vector<server::ServerKey> keys;
  if (!none) {
    DOSSIER_ASSIGN_OR_RETURN(keys, server::ReadKeys(path));
  }
  if (keys.empty() && !given.json) {
    context.out << "no keys yet; `dossier serve keys add NAME` makes one\n";
    return {};
  }
  JsonArray list;
  for (const server::ServerKey& key : keys) {
    std::vector<std::string> scopes;
    for (const auto scope : {server::Scope::kRead, server::Scope::kRun, server::Scope::kAdmin}) {
      if (key.Has(scope)) scopes.emplace_back(server::ScopeName(scope));
    }
    if (!given.json) {
      context.out << fmt::format("{:<20} {:<16} {}\n", key.name, Join(scopes, ","), key.created);
    }
    list.push_back(JsonObject{{"name", key.name},
                              {"scopes", JsonArray(scopes.begin(), scopes.end())},
                              {"created", key.created}});
  }
  if (given.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.serve-keys/1"}, {"keys", list}}) << "\n";
  }
  return {};
}

Status RevokeServeKey(const ServeArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, KeysFile(given));
  DOSSIER_RETURN_IF_ERROR(server::RevokeKey(path, given.wish.name));
  context.out << fmt::format("the key {} is revoked\n", given.wish.name);
  return {};
}

void DeclareServe(Flags& flags, ServeArguments& to) {
  flags.Add("--bind", &to.bind, "address and port; port 0: any free one").ShowDefault();
  AddStoreFlag(flags, &to.store);
  flags.Add("--no-viewer", &to.no_viewer, "do not serve the page that shows runs");
  flags.Add("--local-paths", &to.local_paths, "folder whose files requests may name").Kind(kFolder);
  flags
      .Add("--inline-tokens", &to.inline_tokens,
           "a longer part of a message becomes a document of the context")
      .Positive()
      .ShowDefault();
  Flags access = flags.In("Access");
  access.Add("--keys", &to.keys, "file of keys (dossier serve keys add); else one is drawn")
      .Kind(kPath);
  access.Add("--no-auth", &to.no_auth, "nobody needs a key; on this machine only");
  access.Add("--allow-origin", &to.origins, "origin of a web page that may ask (repeat)")
      .Kind(kName);
  access.Add("--allow-host", &to.hosts, "host name under which it is reached (repeat)").Kind(kName);
  Flags limits = flags.In("Limits");
  limits
      .Add("--max-running", &to.max_running,
           "requests at work; with --store: runs, too, and 0 leaves all of them to workers")
      .Between(0, 1'000)
      .ShowDefault();
  limits.Add("--max-queue", &to.max_queue, "requests that wait; more get 429")
      .Between(0, 100'000)
      .ShowDefault();
  limits.Add("--max-body", &to.max_body, "size of a request").Kind(kSize).ShowDefault();
  limits.Add("--max-upload", &to.max_upload, "size of an uploaded file").Kind(kSize).ShowDefault();
  limits.Add("--max-calls", &to.max_calls, "requests to models of one answer")
      .Positive()
      .ShowDefault();
  limits.Add("--max-cost", &to.max_cost, "US dollars of one answer").Positive();
  limits.Add("--max-usd-day", &to.max_usd_day, "US dollars of all answers of a day (UTC)")
      .Positive();
  AddPriceFlag(limits, &to.model.prices);
  limits.Add("--heartbeat", &to.heartbeat, "silence of a stream after which it says where it is")
      .Kind(kTime)
      .ShowDefault();
  limits.Add("--drain", &to.drain, "what runs at the end has so long").Kind(kTime).ShowDefault();
  AddModelFlags(flags, &to.model);
  AddSandboxFlags(flags, &to.sandbox);
}

void DeclareKeysFile(Flags& flags, ServeArguments& to) {
  flags.Add("--keys", &to.keys, "the file (serve-keys in the data folder)").Kind(kPath);
}

void DeclareAdd(Flags& flags, ServeArguments& to) {
  flags.Add("name", &to.wish.name, "whose key it is").Required().Kind(kName);
  flags.Add("--scope", &to.wish.scopes, "read, run, admin, with commas").ShowDefault();
  flags.Add("--max-usd-day", &to.wish.usd_day, "US dollars a day").Positive();
  flags.Add("--per-minute", &to.wish.per_minute, "requests a minute").Positive();
  DeclareKeysFile(flags, to);
}

void DeclareListKeys(Flags& flags, ServeArguments& to) {
  flags.Add("--json", &to.json, "one object");
  DeclareKeysFile(flags, to);
}

void DeclareRevoke(Flags& flags, ServeArguments& to) {
  flags.Add("name", &to.wish.name, "whose key it is").Required().Kind(kName);
  DeclareKeysFile(flags, to);
}

}  // namespace

Command ServeCommand() {
  return {.name = "serve",
          .summary = "answer OpenAI clients over files of any size, and show runs in a browser",
          .examples =
              "dossier serve\n"
              "    on this machine; prints the address of the viewer with its key\n"
              "dossier serve keys add ann\n"
              "    a key for somebody; start the server with --keys",
          .binding = Bind(DeclareServe, RunServe),
          .commands = {{.name = "keys",
                        .summary = "who may use the server",
                        .commands = {{.name = "add",
                                      .summary = "make a key, and print it once",
                                      .binding = Bind(DeclareAdd, AddServeKey)},
                                     {.name = "list",
                                      .summary = "the names of keys; never a key",
                                      .binding = Bind(DeclareListKeys, ListServeKeys)},
                                     {.name = "revoke",
                                      .summary = "end a key, at once",
                                      .binding = Bind(DeclareRevoke, RevokeServeKey)}}}},
          .signals = Command::Signals::kOrder,
          .alone = Command::Alone::kYes};
}

}  // namespace dossier::cli
