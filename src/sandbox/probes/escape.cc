#include "sandbox/probes/escape.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::sandbox {
namespace {

// The targets outside the sandbox for the escape attempts, and whether anything reached them.
//
//   DOSSIER_ASSIGN_OR_RETURN(EscapeGround ground, EscapeGround::Make());
//   std::string code = ground.Fill("open('$FOLDER$/secret')");
//   ground.Disturbed();   // "" or "a connection to 127.0.0.1"
//
// Every user may access everything, so that only the walls can refuse. Thread-safety: one owner.

class EscapeGround {
 public:
  static Result<EscapeGround> Make();
  EscapeGround(EscapeGround&&) noexcept = default;
  EscapeGround& operator=(EscapeGround&&) = delete;
  // Removes files that attempts left in a /tmp that was not private.
  ~EscapeGround();

  // Replaces the names in escape.h, except $ROOT$.
  std::string Fill(std::string_view code) const;
  // Random; it is in the files outside, but in no code.
  const std::string& secret() const { return secret_; }
  // Returns what has arrived since the last call: connections, datagrams, changed or new files.
  std::string Disturbed();

 private:
  explicit EscapeGround(TempFolder folder) : folder_(std::move(folder)) {}
  Status MakeFiles();
  Status Listen();
  std::string Path(std::string_view name) const;

  TempFolder folder_;
  std::string secret_, abstract_;
  int tcp_port_ = 0, udp_port_ = 0;
  UniqueFd tcp_, stream_, abstract_socket_;  // listening
  UniqueFd udp_, datagram_;
};

constexpr int kSocketFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;

std::string RandomHex() {
  std::uint64_t number = 0;
  while (getrandom(&number, sizeof(number), 0) != sizeof(number)) continue;
  return fmt::format("{:016x}", number);
}

Result<UniqueFd> Bind(int type, const sockaddr* address, socklen_t length) {
  UniqueFd fd(socket(address->sa_family, type | kSocketFlags, 0));
  if (!fd.valid() || bind(fd.get(), address, length) != 0 ||
      (type == SOCK_STREAM && listen(fd.get(), 8) != 0)) {
    return MakeErrnoError(errno, "a listener to escape to");
  }
  return fd;
}

Result<UniqueFd> BindLoopback(int type, int* port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  DOSSIER_ASSIGN_OR_RETURN(
      UniqueFd fd, Bind(type, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
  socklen_t length = sizeof(address);
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return MakeErrnoError(errno, "getsockname");
  }
  *port = ntohs(address.sin_port);
  return fd;
}

// A name that starts with a zero byte is abstract.
Result<UniqueFd> BindUnix(int type, std::string_view name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof(address.sun_path)) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: too long for a socket's name", name);
  }
  name.copy(address.sun_path, name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() +
                                             (name.front() == '\0' ? 0 : 1));
  return Bind(type, reinterpret_cast<const sockaddr*>(&address), length);
}

bool Accepted(const UniqueFd& listener) {
  return UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)).valid();
}

bool Received(const UniqueFd& socket) {
  char byte;
  return recv(socket.get(), &byte, 1, MSG_DONTWAIT) >= 0;
}

std::vector<std::string> Names(const std::string& folder) {
  std::vector<std::string> names;
  DIR* stream = opendir(folder.c_str());
  if (stream == nullptr) return names;
  while (const dirent* entry = readdir(stream)) names.emplace_back(entry->d_name);
  closedir(stream);
  return names;
}

constexpr std::string_view kFolderNames[] = {".", "..", "secret", "store.db", "stream", "dgram"};

std::string EscapeGround::Path(std::string_view name) const {
  return fmt::format("{}/{}", folder_.path(), name);
}

EscapeGround::~EscapeGround() {
  if (folder_.path().empty()) return;  // moved from
  for (const char* suffix : {"-link", "-a", "-b", "-run", "-left"}) {
    unlink(("/tmp/" + abstract_ + suffix).c_str());
  }
}

Result<EscapeGround> EscapeGround::Make() {
  DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("dossier-escape"));
  EscapeGround ground(std::move(folder));
  DOSSIER_RETURN_IF_ERROR(ground.MakeFiles());
  DOSSIER_RETURN_IF_ERROR(ground.Listen());
  return ground;
}

Status EscapeGround::MakeFiles() {
  secret_ = "dossier-canary-" + RandomHex();
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(Path("secret"), secret_, 0666));
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(Path("store.db"), secret_, 0666));
  if (chmod(folder_.path().c_str(), 0777) != 0 || chmod(Path("secret").c_str(), 0666) != 0 ||
      chmod(Path("store.db").c_str(), 0666) != 0) {
    return MakeErrnoError(errno, folder_.path());
  }
  return {};
}

Status EscapeGround::Listen() {
  DOSSIER_ASSIGN_OR_RETURN(tcp_, BindLoopback(SOCK_STREAM, &tcp_port_));
  DOSSIER_ASSIGN_OR_RETURN(udp_, BindLoopback(SOCK_DGRAM, &udp_port_));
  DOSSIER_ASSIGN_OR_RETURN(stream_, BindUnix(SOCK_STREAM, Path("stream")));
  DOSSIER_ASSIGN_OR_RETURN(datagram_, BindUnix(SOCK_DGRAM, Path("dgram")));
  abstract_ = "dossier-escape-" + RandomHex();
  DOSSIER_ASSIGN_OR_RETURN(abstract_socket_,
                           BindUnix(SOCK_STREAM, std::string(1, '\0') + abstract_));
  if (chmod(Path("stream").c_str(), 0777) != 0 || chmod(Path("dgram").c_str(), 0777) != 0) {
    return MakeErrnoError(errno, folder_.path());
  }
  return {};
}

std::string EscapeGround::Fill(std::string_view code) const {
  const char* home = std::getenv("HOME");
  const std::pair<std::string_view, std::string> names[] = {
      {"$FOLDER$", folder_.path()},
      {"$STORE$", Path("store.db")},
      {"$STREAM$", Path("stream")},
      {"$DGRAM$", Path("dgram")},
      {"$ABSTRACT$", abstract_},
      {"$TCP$", std::to_string(tcp_port_)},
      {"$UDP$", std::to_string(udp_port_)},
      {"$HOME$", home != nullptr && *home == '/' ? home : "/home"},
  };
  std::string text(code);
  for (const auto& [name, value] : names) text = ReplaceAll(text, name, value);
  return text;
}

std::string EscapeGround::Disturbed() {
  if (Accepted(tcp_)) return "a connection to 127.0.0.1";
  if (Accepted(stream_)) return "a connection to a unix socket";
  if (Accepted(abstract_socket_)) return "a connection to an abstract unix socket";
  if (Received(udp_)) return "a datagram to 127.0.0.1";
  if (Received(datagram_)) return "a datagram to a unix socket";
  for (const char* name : {"secret", "store.db"}) {
    if (ReadFile(Path(name)) != secret_) return fmt::format("{} was changed", Path(name));
  }
  for (const std::string& name : Names(folder_.path())) {
    if (std::ranges::find(kFolderNames, name) != std::end(kFolderNames)) continue;
    return fmt::format("{} appeared", Path(name));
  }
  return "";
}

constexpr std::string_view kContextText = "The quick brown fox jumps over the lazy dog.\n";
constexpr int kCallsLeft = 7;  // returned by budget(); code tries to change it

// Returns Python that runs `code` as a function and writes how it ended directly to the descriptor,
// because the code may have replaced print, sys.stdout and the builtins.
std::string WrapPython(std::string_view code, const std::string& nonce) {
  std::string body;
  for (std::string_view line : Split(code, '\n')) body += fmt::format("    {}\n", line);
  return fmt::format(
      "from os import write as _write\n"
      "def _attempt():\n{0}    return None\n"
      "try:\n"
      "    _found = _attempt()\n"
      "except BaseException as _error:\n"
      "    _said = f'{1} refused {{type(_error).__name__}}: {{_error}}'\n"
      "else:\n"
      "    _said = f'{1} effect {{_found!r:.200}}' if _found else '{1} refused nothing came'\n"
      "_write(1, f'\\n{{_said}}\\n'.encode('utf-8', 'replace'))\n",
      body, nonce);
}

// The same in JavaScript, where `print` belongs to the session.
std::string WrapJavaScript(std::string_view code, const std::string& nonce) {
  return fmt::format(
      "(() => {{\n  let found;\n"
      "  try {{ found = (function () {{\n{0}\n}})(); }}\n"
      "  catch (error) {{ print('{1} refused ' + String(error)); return; }}\n"
      "  print(found ? '{1} effect ' + String(found) : '{1} refused nothing came');\n"
      "}})();\n",
      code, nonce);
}

std::string Wrap(std::string_view code, const std::string& nonce, Dialect dialect) {
  return dialect == Dialect::kPython ? WrapPython(code, nonce) : WrapJavaScript(code, nonce);
}

std::string Nonce() {
  std::uint64_t number = 0;
  while (getrandom(&number, sizeof(number), 0) != sizeof(number)) continue;
  return fmt::format("attempt-{:016x}", number);
}

// The host's side of the bridge: answers permitted calls, and detects calls that nobody made.
class Host : public BridgeHandler {
 public:
  void OnCall(BridgeCall call, std::shared_ptr<BridgeReply> reply) override {
    if (call.method == "budget") {
      return reply->Ok(JsonObject{{"calls_left", kCallsLeft}, {"depth", 1}});
    }
    if (call.method != "llm") return reply->Fail("unknown_method", "no such method");
    const Json* model = Find(call.args, "model");
    if (model != nullptr && !model->is_null()) return reply->Fail("denied", "no such model");
    const Json* parts = Find(call.args, "parts");
    const auto text = ResolveText(parts ? *parts : Json(), call.raw, {kContextText});
    if (!text) return reply->Fail("bad_argument", text.error().message);
    if (text->find("FORGED") != std::string::npos) forged_ = true;
    reply->Ok(JsonObject{{"text", "pong"}});
  }
  bool forged() const { return forged_; }

 private:
  std::atomic<bool> forged_ = false;
};

struct Verdict {
  bool refused = false;
  std::string how;
};

Verdict Refused(std::string how) { return {true, std::move(how)}; }
Verdict Effect(std::string how) { return {false, "effect: " + std::move(how)}; }

std::string LineHead(std::string_view text, std::size_t max = 160) {
  return std::string(text.substr(0, std::min(text.find('\n'), max)));
}

Verdict Judge(const BlockResult& result, const std::string& nonce) {
  if (result.status == BlockStatus::kDied || result.status == BlockStatus::kInterrupted ||
      result.status == BlockStatus::kLimit) {
    return Refused(fmt::format("{}: {}", BlockStatusName(result.status), result.death_reason));
  }
  const std::size_t at = result.out.rfind(nonce + " ");
  if (at == std::string::npos) {
    const std::string why = result.error ? result.error->type + ": " + result.error->message
                            : !result.refused.empty() ? result.refused
                                                      : std::string(BlockStatusName(result.status));
    return {false, "no verdict: " + LineHead(why)};
  }
  const std::string_view said = std::string_view(result.out).substr(at + nonce.size() + 1);
  if (said.starts_with("refused ")) return Refused(LineHead(said.substr(8)));
  return Effect(LineHead(said));
}

Result<UniqueFd> SealedContext() {
  UniqueFd fd(memfd_create("context", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return MakeErrnoError(errno, "memfd");
  DOSSIER_RETURN_IF_ERROR(WriteAll(fd.get(), kContextText));
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return MakeErrnoError(errno, "seal");
  return fd;
}

Limits AttemptLimits(const EscapeAttempt& attempt) {
  Limits limits;
  limits.silence = attempt.id.starts_with("E12") ? Millis(300) : Millis(8'000);
  limits.cpu = Millis(8'000);
  limits.grace = Millis(500);
  limits.memory = 256u << 20;
  limits.output = 1u << 20;
  return limits;
}

class Runner {
 public:
  Runner(Pool& pool, const PoolOptions& options, const CancelToken& cancel, EscapeGround ground,
         UniqueFd context)
      : pool_(pool),
        dialect_(options.dialect),
        cancel_(cancel),
        ground_(std::move(ground)),
        context_(std::move(context)) {
    native_.mode = options.mode;
    native_.disabled_layers = options.disabled_layers;
    native_.read_folders = options.read_folders;
  }

  Result<EscapeOutcome> Run(const EscapeAttempt& attempt) {
    EscapeOutcome outcome{std::string(attempt.id), std::string(attempt.name), true, ""};
    if (const auto probes = NativeProbes(attempt.id); !probes.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(const Verdict verdict, RunNative(probes));
      outcome.refused = verdict.refused;
      outcome.how = verdict.how;
    }
    if (attempt.code.empty() || !outcome.refused) return outcome;
    DOSSIER_ASSIGN_OR_RETURN(const Verdict verdict, RunCode(attempt));
    outcome.refused = verdict.refused;
    outcome.how = outcome.how.empty() ? verdict.how : outcome.how + "; " + verdict.how;
    return outcome;
  }

  Result<IsolationReport> Report() {
    DOSSIER_ASSIGN_OR_RETURN(const auto session, Open({}));
    return session->report();
  }

 private:
  Result<std::unique_ptr<Session>> Open(const Limits& limits) {
    SessionSpec spec;
    spec.limits = limits;
    spec.contexts.push_back(ContextText{.name = "context.txt",
                                        .fd = context_.get(),
                                        .bytes = kContextText.size(),
                                        .characters = kContextText.size()});
    return pool_.Open(std::move(spec), cancel_);
  }

  Result<Verdict> RunNative(std::span<const NativeProbe> probes) {
    DOSSIER_ASSIGN_OR_RETURN(const auto results, RunNativeProbes(native_, probes));
    std::string how;
    for (const NativeResult& result : results) {
      if (!result.refused) return Effect(fmt::format("{}: {}", result.name, result.how));
      how += fmt::format("{}{}: {}", how.empty() ? "" : ", ", result.name, result.how);
    }
    return Refused(how);
  }

  // Runs one block, and checks its effects from outside while the session lives.
  Result<Verdict> RunBlock(Session& session, std::string_view code, const EscapeAttempt& attempt,
                           const Limits& limits, Host& host) {
    const std::string nonce = Nonce();
    const std::string hides = session.report().Applied("namespaces") ? "1" : "0";
    const std::string filled = ReplaceAll(ground_.Fill(code), "$ROOT$", hides);
    const auto result = session.Run(Wrap(filled, nonce, dialect_), {.cancel = cancel_}, host);
    if (!result) {
      if (result.error().code == ErrorCode::kProtocol) return Effect(result.error().message);
      if (result.error().code == ErrorCode::kDied) return Refused(result.error().message);
      return tl::unexpected(result.error());
    }
    if (result->out.find(ground_.secret()) != std::string::npos) {
      return Effect("the secret was read");
    }
    if (host.forged()) return Effect("a forged call reached the host");
    if (result->answer) return Effect("a forged answer reached the host");
    if (attempt.effect != nullptr && attempt.effect(*result, limits)) {
      return Effect(fmt::format("{} bytes kept, {} ms", result->out.size(), result->wall.count()));
    }
    return Judge(*result, nonce);
  }

  Result<Verdict> RunCode(const EscapeAttempt& attempt) {
    const Limits limits = AttemptLimits(attempt);
    Host host;
    DOSSIER_ASSIGN_OR_RETURN(auto session, Open(limits));
    DOSSIER_ASSIGN_OR_RETURN(Verdict verdict,
                             RunBlock(*session, attempt.code, attempt, limits, host));
    if (verdict.refused && attempt.then != EscapeAttempt::Then::kNothing) {
      if (attempt.then == EscapeAttempt::Then::kNextSession) {
        DOSSIER_ASSIGN_OR_RETURN(session, Open(limits));
      }
      EscapeAttempt plain;
      DOSSIER_ASSIGN_OR_RETURN(verdict, RunBlock(*session, attempt.check, plain, limits, host));
    }
    session->Close();
    session.reset();
    const std::string disturbed = ground_.Disturbed();
    return disturbed.empty() ? verdict : Effect(disturbed);
  }

  Pool& pool_;
  const Dialect dialect_;
  CancelToken cancel_;
  EscapeGround ground_;
  UniqueFd context_;
  IsolationOptions native_;
};

}  // namespace

std::size_t EscapeReport::refused() const {
  return static_cast<std::size_t>(
      std::count_if(outcomes.begin(), outcomes.end(), [](const auto& o) { return o.refused; }));
}

std::string EscapeReport::Summary() const {
  std::string text = fmt::format("{} of {} refused", refused(), outcomes.size());
  if (not_built.empty()) return text;
  return text + fmt::format("; {} {} the JavaScript worker, which this build does not have",
                            not_built.size(), not_built.size() == 1 ? "needs" : "need");
}

Json EscapeReport::ToJson() const {
  JsonArray attempts, missing;
  for (const EscapeOutcome& outcome : outcomes) {
    attempts.push_back(JsonObject{{"id", outcome.id},
                                  {"name", outcome.name},
                                  {"refused", outcome.refused},
                                  {"how", outcome.how}});
  }
  for (const std::string& id : not_built) missing.emplace_back(id);
  return JsonObject{{"schema", "dossier.sandbox.test/1"}, {"refused", refused()},
                    {"total", outcomes.size()},           {"not_built", std::move(missing)},
                    {"attempts", std::move(attempts)},    {"isolation", isolation.ToJson()}};
}

namespace {

// Its worker is beside the Python worker.
PoolOptions JavaScriptOptions(PoolOptions options) {
  options.dialect = Dialect::kJavaScript;
  if (!options.worker_path.empty()) {
    options.worker_path =
        std::filesystem::path(options.worker_path).replace_filename("dossier-javascript-worker");
  }
  return options;
}

Status TryJavaScript(const PoolOptions& other, const CancelToken& cancel, EscapeReport* report) {
  const PoolOptions options = JavaScriptOptions(other);
  if (!WorkerBuild(options)) {
    for (const EscapeAttempt& attempt : JavaScriptAttempts()) {
      report->not_built.emplace_back(attempt.id);
    }
    return {};
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto pool, Pool::Make(options));
  DOSSIER_ASSIGN_OR_RETURN(EscapeGround ground, EscapeGround::Make());
  DOSSIER_ASSIGN_OR_RETURN(UniqueFd context, SealedContext());
  Runner runner(*pool, options, cancel, std::move(ground), std::move(context));
  for (const EscapeAttempt& attempt : JavaScriptAttempts()) {
    DOSSIER_ASSIGN_OR_RETURN(EscapeOutcome outcome, runner.Run(attempt));
    report->outcomes.push_back(std::move(outcome));
  }
  return {};
}

}  // namespace

Result<EscapeReport> RunEscapeTests(Pool& pool, const PoolOptions& options,
                                    const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(EscapeGround ground, EscapeGround::Make());
  DOSSIER_ASSIGN_OR_RETURN(UniqueFd context, SealedContext());
  Runner runner(pool, options, cancel, std::move(ground), std::move(context));
  EscapeReport report;
  DOSSIER_ASSIGN_OR_RETURN(report.isolation, runner.Report());
  for (const EscapeAttempt& attempt : EscapeAttempts()) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    DOSSIER_ASSIGN_OR_RETURN(EscapeOutcome outcome, runner.Run(attempt));
    report.outcomes.push_back(std::move(outcome));
  }
  DOSSIER_RETURN_IF_ERROR(TryJavaScript(options, cancel, &report));
  return report;
}

}  // namespace dossier::sandbox
