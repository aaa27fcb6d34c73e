#include "model/local/local_server.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/process/child.h"
#include "base/random.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "tokens/files/gguf.h"

namespace dossier::model {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kScript = "local_server.py";
constexpr Millis kAnswerLimit{2000};
constexpr Millis kLockLimit{600'000};  // another command may be installing the runtime
constexpr Millis kStep{50};            // between checks of a starting server

std::string Folder(const std::string& data_folder) { return data_folder + "/local"; }
std::string StatePath(const std::string& data_folder) {
  return Folder(data_folder) + "/server.json";
}

// Returns true if a process has not ended; a zombie has.
bool IsAlive(pid_t pid) {
  const auto stat = ReadFile(fmt::format("/proc/{}/stat", pid), 4096);
  if (!stat) return false;
  const std::size_t name_end = stat->rfind(") ");
  return name_end != std::string::npos && name_end + 2 < stat->size() &&
         (*stat)[name_end + 2] != 'Z' && (*stat)[name_end + 2] != 'X';
}

// Process ids are reused: only our own launcher may be signalled.
bool IsLauncher(pid_t pid) {
  const auto command = ReadFile(fmt::format("/proc/{}/cmdline", pid), 1 << 20);
  return command && command->find(kScript) != std::string::npos;
}

std::optional<ServerState> ReadState(const std::string& data_folder) {
  const auto text = ReadFile(StatePath(data_folder), 64 << 10);
  if (!text) return std::nullopt;
  auto state = ParseServerState(*text);
  if (!state) return std::nullopt;
  return std::move(*state);
}

Result<HttpAnswer> Ask(const ServerState& state, std::string_view target) {
  DOSSIER_ASSIGN_OR_RETURN(const auto loop, HttpLoop::Make());
  return AskHttp(*loop, LocalCall(state.port, state.key, target, kAnswerLimit), kMostLocalAnswer,
                 {});
}

// Returns true if our server answers on that port: only it knows the key.
bool Answers(const ServerState& state) {
  if (!IsAlive(state.pid) || !IsAlive(state.server_pid)) return false;
  const auto health = Ask(state, "/health");
  if (!health || health->status != 200) return false;
  const auto models = Ask(state, "/v1/models");
  return models && models->status == 200 && models->body.find(state.model) != std::string::npos;
}

// A server that is too busy to answer is working.
bool IsWorking(const ServerState& state) {
  const auto slots = Ask(state, "/slots");
  if (!slots) return slots.error().code == ErrorCode::kTimeout;
  return slots->body.find("\"is_processing\":true") != std::string::npos;
}

bool Fits(const ServerState& state, const LocalServerOptions& options) {
  return state.path == options.weights.path && (!options.window || state.window >= *options.window);
}

// Sends TERM, then kills; the watcher ends its server.
Status EndServer(const std::string& data_folder, const ServerState& state) {
  if (IsAlive(state.pid) && IsLauncher(state.pid)) {
    SendSignal(state.pid, SIGTERM);
    const auto kill_at = SteadyClock::now() + Millis(5000);
    const auto until = kill_at + Millis(2000);
    while (IsAlive(state.pid) && SteadyClock::now() < until) {
      if (SteadyClock::now() >= kill_at) SendSignal(state.pid, SIGKILL);
      std::this_thread::sleep_for(kStep);
    }
    if (IsAlive(state.pid)) {
      return MakeError(ErrorCode::kFailed, "the local server (pid {}) does not end", state.pid);
    }
  }
  unlink(StatePath(data_folder).c_str());
  return {};
}

std::string LogTail(const std::string& data_folder) {
  const auto log = ReadFile(Folder(data_folder) + "/server.log", 64 << 20);
  if (!log) return {};
  std::string last, problem;
  const std::size_t from = log->size() - std::min<std::size_t>(log->size(), 16 << 10);
  for (const std::string_view line : Split(std::string_view(*log).substr(from), '\n')) {
    const std::string lower = ToLowerAscii(line);
    if (TrimSpace(line).empty()) continue;
    last = std::string(line);
    if (problem.empty() &&
        (lower.find("error") != std::string::npos || lower.find("failed") != std::string::npos)) {
      problem = std::string(line);
    }
  }
  const std::string& shown = problem.empty() ? last : problem;
  return utf8::CleanForTerminal(utf8::Prefix(utf8::Sanitize(TrimSpace(shown)), 200));
}

// Starts one server, holding the lock.
class Starter {
 public:
  Starter(const LocalServerOptions& options, const CancelToken& cancel)
      : options_(options), cancel_(cancel), folder_(Folder(options.data_folder)) {}

  Result<ServerState> Run() {
    ModelNeeds needs = NeedsOf(options_.weights);
    needs.window = options_.window;
    DOSSIER_ASSIGN_OR_RETURN(
        plan_, PlanServer(options_.machine ? *options_.machine : LookAtMachine(), needs));
    DOSSIER_ASSIGN_OR_RETURN(runtime_, ChooseRuntime());
    const auto begin = SteadyClock::now();
    const std::string sentence =
        fmt::format("starting local model {} …", DescribeWeights(options_.weights));
    Tell(sentence);
    DOSSIER_RETURN_IF_ERROR(Launch());
    DOSSIER_ASSIGN_OR_RETURN(ServerState state, WaitUntilReady(begin));
    const std::chrono::duration<double> took = SteadyClock::now() - begin;
    Tell(fmt::format("{} {:.0f} s", sentence, std::ceil(took.count())));
    return state;
  }

 private:
  Result<LocalRuntime> ChooseRuntime() const {
    if (options_.runtime) return *options_.runtime;
    if (options_.network == LocalServerOptions::Network::kAllowed) {
      return EnsureRuntime(options_.data_folder, options_.say, cancel_);
    }
    if (auto runtime = FindRuntime(options_.data_folder, cancel_)) return std::move(*runtime);
    return MakeError(ErrorCode::kNetwork,
                     "--offline: the local runtime is not installed, and would be fetched; run "
                     "`dossier models start` once without --offline, or install llama-server of "
                     "llama.cpp");
  }

  void Tell(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  Status Launch() {
    const auto script = BuiltInAsset("data/local_server.py");
    if (!script) return MakeError(ErrorCode::kInternal, "the local launcher is not built in");
    const std::string script_path = folder_ + "/" + std::string(kScript);
    const std::string parameters_path = folder_ + "/launch.json";
    unlink((folder_ + "/failure.json").c_str());
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(script_path, *script, 0600));
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(parameters_path, ToJson(Parameters()), 0600));
    DOSSIER_ASSIGN_OR_RETURN(
        pid_, StartDetached({.argv = {runtime_.python, "-I", script_path, parameters_path},
                             .folder = folder_,
                             .environment = EnvironmentWithoutSecrets()},
                            folder_ + "/server.log"));
    return {};
  }

  Json Parameters() const {
    const double idle = static_cast<double>(options_.idle.count()) / 1000;
    return JsonObject{{"folder", folder_},
                      {"key", RandomHex(32)},
                      {"model", options_.weights.name},
                      {"path", options_.weights.path},
                      {"window", plan_.window},
                      {"slots", plan_.slots},
                      {"threads", plan_.threads},
                      {"runtime", runtime_.kind},
                      {"program", runtime_.program},
                      {"version", runtime_.version},
                      {"idle_seconds", idle}};
  }

  Result<ServerState> WaitUntilReady(SteadyClock::time_point begin) {
    while (true) {
      if (cancel_.cancelled()) {
        SendSignal(pid_, SIGTERM);
        return MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel_.reason());
      }
      const auto state = ReadState(options_.data_folder);
      if (state && state->pid == pid_ && Answers(*state)) return *state;
      if (!IsAlive(pid_)) return Died();
      if (SteadyClock::now() - begin > options_.start_limit) {
        SendSignal(pid_, SIGTERM);
        return MakeError(ErrorCode::kUnavailable,
                         "the local model did not start within {} s; its log is {}/server.log; set "
                         "a provider's key or --base-url, or try again",
                         options_.start_limit.count() / 1000, folder_);
      }
      std::this_thread::sleep_for(kStep);
    }
  }

  tl::unexpected<Error> Died() const {
    const auto text = ReadFile(folder_ + "/failure.json", 4096);
    const auto failure = text ? ParseJson(*text) : Result<Json>(Json());
    const std::int64_t signal_number = failure ? FindInt(*failure, "signal").value_or(0) : 0;
    std::string why = LogTail(options_.data_folder);
    if (signal_number == SIGILL) {
      why = "this CPU lacks instructions that the runtime needs";
    } else if (signal_number == SIGKILL) {
      why = "it was killed, most likely because memory ran out";
    } else if (why.find("load") != std::string::npos && why.find("model") != std::string::npos) {
      // The next `models pull` hashes the file again instead of trusting the mark.
      ForgetVerified(options_.weights.path);
      why = fmt::format(
          "{} cannot be loaded and may be damaged (`dossier models pull` checks it "
          "and fetches it again)",
          options_.weights.path);
    }
    return MakeError(ErrorCode::kUnavailable,
                     "the local model cannot run: {}; its log is {}/server.log; set a provider's "
                     "key or --base-url to use another model",
                     why.empty() ? "it ended without a word" : why, folder_);
  }

  const LocalServerOptions& options_;
  const CancelToken& cancel_;
  const std::string folder_;
  ServerPlan plan_;
  LocalRuntime runtime_;
  pid_t pid_ = 0;
};

}  // namespace

HttpCall LocalCall(int port, const std::string& key, std::string_view target, Millis limit) {
  HttpCall call{.method = HttpCall::Method::kGet,
                .url = fmt::format("http://127.0.0.1:{}{}", port, target),
                .headers = {"Content-Type: application/json"},
                .body = {},
                .deadline = limit};
  if (!key.empty()) call.headers.push_back("Authorization: Bearer " + key);
  return call;
}

Result<ServerState> ParseServerState(std::string_view json) {
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseJson(json, 4));
  ServerState state;
  const auto text = [&](std::string_view key) { return TextAt(value, key); };
  const auto number = [&](std::string_view key, std::int64_t most) {
    const std::int64_t found = FindInt(value, key).value_or(0);
    return found < 0 || found > most ? 0 : found;
  };
  constexpr std::int64_t kMostPid = 1 << 22, kMostWindow = 1 << 24;
  state.pid = static_cast<pid_t>(number("pid", kMostPid));
  state.server_pid = static_cast<pid_t>(number("server_pid", kMostPid));
  state.port = static_cast<int>(number("port", 65535));
  state.key = text("key");
  state.model = text("model");
  state.path = text("path");
  state.runtime = text("runtime");
  state.version = text("version");
  state.window = number("window", kMostWindow);
  state.slots = static_cast<int>(number("slots", 1024));
  state.threads = static_cast<int>(number("threads", 4096));
  state.started = number("started", INT64_MAX);
  state.idle_seconds = static_cast<std::int64_t>(FindNumber(value, "idle_seconds").value_or(0));
  const bool header_safe = state.key.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (state.pid <= 1 || state.server_pid <= 1 || state.port == 0 || state.key.empty() ||
      !header_safe || state.model.empty() || state.window == 0 || state.slots == 0) {
    return MakeError(ErrorCode::kDamaged, "the local server's state is incomplete");
  }
  return state;
}

std::optional<ServerState> FindLocalServer(const std::string& data_folder) {
  auto state = ReadState(data_folder);
  if (!state || !Answers(*state)) return std::nullopt;
  return state;
}

Result<ServerState> EnsureLocalServer(const LocalServerOptions& options,
                                      const CancelToken& cancel) {
  const std::string state_path = StatePath(options.data_folder);
  // The modification time of the state counts as a request: a command that has just found the
  // server must not lose it before its first request.
  if (auto state = FindLocalServer(options.data_folder); state && Fits(*state, options)) {
    if (utimensat(AT_FDCWD, state_path.c_str(), nullptr, 0) == 0) return *state;
  }
  DOSSIER_RETURN_IF_ERROR(MakeFolders(Folder(options.data_folder), 0700));
  DOSSIER_ASSIGN_OR_RETURN(
      const FileLock lock,
      FileLock::Take(Folder(options.data_folder) + "/server.lock", kLockLimit, cancel));
  if (auto state = ReadState(options.data_folder)) {
    const bool answers = Answers(*state);
    if (answers && Fits(*state, options)) {
      utimensat(AT_FDCWD, state_path.c_str(), nullptr, 0);
      return *state;
    }
    if (answers && IsWorking(*state)) {
      return MakeError(ErrorCode::kLocked,
                       "the local server is answering with {} (window {}); wait, or end it with "
                       "`dossier models stop`",
                       state->model, state->window);
    }
    DOSSIER_RETURN_IF_ERROR(EndServer(options.data_folder, *state));
  }
  return Starter(options, cancel).Run();
}

Result<bool> StopLocalServer(const std::string& data_folder, const CancelToken& cancel) {
  if (!Exists(Folder(data_folder))) return false;
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, FileLock::Take(Folder(data_folder) + "/server.lock",
                                                               Millis(10'000), cancel));
  const auto state = ReadState(data_folder);
  if (!state) return false;
  const bool ran = IsAlive(state->pid) && IsLauncher(state->pid);
  DOSSIER_RETURN_IF_ERROR(EndServer(data_folder, *state));
  return ran;
}

ServerStats ReadServerStats(const std::string& data_folder, const ServerState& state) {
  ServerStats stats;
  const auto status = ReadFile(fmt::format("/proc/{}/status", state.server_pid), 64 << 10);
  const std::size_t at = status ? status->find("VmRSS:") : std::string::npos;
  if (at != std::string::npos) {
    stats.memory = std::strtoull(status->c_str() + at + 6, nullptr, 10) << 10;
  }
  double last_used = static_cast<double>(state.started);
  struct stat info{};
  if (stat(StatePath(data_folder).c_str(), &info) == 0) {
    last_used = std::max(last_used, static_cast<double>(info.st_mtim.tv_sec));
  }
  if (const auto text = ReadFile(Folder(data_folder) + "/stats.json", 4096)) {
    if (const auto json = ParseJson(*text)) {
      stats.tokens_per_second = FindNumber(*json, "tokens_per_second");
      last_used = std::max(last_used, FindNumber(*json, "last_active").value_or(0));
    }
  }
  const auto now = static_cast<double>(time(nullptr));
  const double left = static_cast<double>(state.idle_seconds) - (now - last_used);
  stats.idle_left = static_cast<std::int64_t>(std::max(0.0, left));
  return stats;
}

namespace {

// The server's compute buffers beside weights and cache, measured with this model.
constexpr std::uint64_t kBuffers = 320u << 20;

std::optional<std::uint64_t> LeadingNumber(std::string_view text) {
  text = TrimSpace(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

// Returns the memory that the control group leaves, if it has a limit (version 2).
std::optional<std::uint64_t> GroupMemory() {
  const auto limit = ReadFile("/sys/fs/cgroup/memory.max", 4096);
  const auto used = ReadFile("/sys/fs/cgroup/memory.current", 4096);
  if (!limit || !used) return std::nullopt;
  const auto most = LeadingNumber(*limit), now = LeadingNumber(*used);
  if (!most || !now) return std::nullopt;
  return *most - std::min(*most, *now);
}

int UsableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::string Gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace

std::uint64_t FreeMemory(std::string_view meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  const std::size_t at = meminfo.find(kKey);
  if (at == std::string_view::npos) return 0;
  const std::uint64_t kilobytes = LeadingNumber(meminfo.substr(at + kKey.size(), 32)).value_or(0);
  return kilobytes > (~std::uint64_t{0} >> 10) ? 0 : kilobytes << 10;
}

int PhysicalCores(std::string_view cpuinfo, int usable) {
  std::set<std::pair<std::string_view, std::string_view>> cores;
  std::string_view package;
  for (const std::string_view line : Split(cpuinfo, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = TrimSpace(line.substr(0, colon));
    const std::string_view value = TrimSpace(line.substr(colon + 1));
    if (name == "physical id") package = value;
    if (name == "core id") cores.emplace(package, value);
  }
  const int found = static_cast<int>(std::min<std::size_t>(cores.size(), 4096));
  return std::max(1, found > 0 ? std::min(found, usable) : usable);
}

Machine LookAtMachine() {
  Machine machine;
  machine.free_memory = FreeMemory(ReadFile("/proc/meminfo", 1 << 20).value_or(""));
  if (const auto group = GroupMemory()) {
    machine.free_memory = std::min(machine.free_memory, *group);
  }
  machine.cores =
      PhysicalCores(ReadFile("/proc/cpuinfo", 16 << 20).value_or(""), UsableProcessors());
  return machine;
}

ModelNeeds NeedsOf(const Weights& weights) {
  ModelNeeds needs{.weights = weights.bytes};
  const auto file = tokens::ReadGguf(weights.path);
  if (!file) return needs;  // the server will report what is wrong with it
  needs.kv_bytes = file->shape.KvBytes().value_or(kDefaultKvBytes);
  constexpr std::uint64_t kMost = 1u << 24;
  const std::uint64_t length = file->shape.context_length;
  if (length > 0 && length <= kMost) needs.longest = static_cast<std::int64_t>(length);
  return needs;
}

Result<ServerPlan> PlanServer(const Machine& machine, const ModelNeeds& needs) {
  ServerPlan plan;
  plan.threads = std::max(1, machine.cores);
  plan.slots = machine.cores <= 2 ? 1 : std::max(1, std::min(4, machine.cores / 4));
  const auto memory = [&](std::int64_t window) {
    return needs.weights + kBuffers +
           needs.kv_bytes * static_cast<std::uint64_t>(window) * static_cast<unsigned>(plan.slots);
  };
  const bool known = machine.free_memory > 0;
  const std::int64_t longest = needs.longest.value_or(INT64_MAX);
  if (needs.window && *needs.window > longest) {
    return MakeError(
        ErrorCode::kInvalidArgument,
        "a window of {} tokens is longer than the {} that this model was made for; ask "
        "for {} or less (`models start --window`, or local: context: of the config)",
        GroupDigits(static_cast<std::uint64_t>(*needs.window)),
        GroupDigits(static_cast<std::uint64_t>(longest)), longest);
  }
  if (needs.window) {
    plan.window = *needs.window;
  } else {
    for (const std::int64_t window : {16384, 8192, 4096}) {
      plan.window = std::min(window, longest);
      if (!known || memory(plan.window) <= machine.free_memory / 2) break;
    }
  }
  if (known && memory(plan.window) > machine.free_memory) plan.slots = 1;
  plan.memory = memory(plan.window);
  if (known && plan.memory > machine.free_memory) {
    return MakeError(
        ErrorCode::kUnavailable,
        "the local model needs {} of memory for a window of {} tokens and {} are free; "
        "end other programs, or set a provider's key or --base-url",
        Gigabytes(plan.memory), plan.window, Gigabytes(machine.free_memory));
  }
  return plan;
}

namespace {

constexpr std::size_t kRemembered = 4096;  // texts; under 1 MB
constexpr Millis kTokenizeLimit{3000};
constexpr Millis kPause{5000};  // after no answer

// Caches the counts of recent texts by their hash.
class Memory {
 public:
  std::optional<std::int64_t> Find(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(name);
    if (found == places_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }

  void Keep(const std::string& name, std::int64_t tokens) {
    const std::lock_guard lock(mutex_);
    if (places_.count(name)) return;
    order_.emplace_front(name, tokens);
    places_[name] = order_.begin();
    if (order_.size() <= kRemembered) return;
    places_.erase(order_.back().first);
    order_.pop_back();
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<std::string, std::int64_t>> order_;
  std::unordered_map<std::string, decltype(order_)::iterator> places_;
};

class ServerCounter final : public tokens::Counter {
 public:
  ServerCounter(std::shared_ptr<HttpLoop> loop, HttpCall call,
                std::shared_ptr<const tokens::Counter> estimator)
      : loop_(std::move(loop)), call_(std::move(call)), estimator_(std::move(estimator)) {}

  tokens::Count CountText(std::string_view text) const override {
    if (text.empty()) return {.tokens = 0, .exact = true};
    if (text.size() > kMostCountedBytes) return estimator_->CountText(text);
    const std::string name = Sha256Hex(text);
    if (const auto known = memory_.Find(name)) return {.tokens = *known, .exact = true};
    const auto asked = Ask(text);
    if (!asked) return estimator_->CountText(text);
    memory_.Keep(name, *asked);
    return {.tokens = *asked, .exact = true};
  }

  std::string name() const override { return "local server"; }
  bool exact() const override { return true; }
  double margin() const override { return 0; }

 private:
  std::optional<std::int64_t> Ask(std::string_view text) const {
    if (SystemClock()->Now() < silent_until_.load()) return std::nullopt;
    HttpCall call = call_;
    call.method = HttpCall::Method::kPost;
    call.body = ToJson(JsonObject{
        {"content", utf8::Sanitize(text)}, {"add_special", false}, {"parse_special", true}});
    const auto answer = AskHttp(*loop_, std::move(call), kMostLocalAnswer, {});
    if (answer && answer->status == 200) {
      const auto json = ParseJson(answer->body);
      const Json* list = json ? Find(*json, "tokens") : nullptr;
      if (list && list->is_array()) return static_cast<std::int64_t>(list->as_array().size());
    }
    silent_until_.store(SystemClock()->Now() + kPause);
    return std::nullopt;
  }

  const std::shared_ptr<HttpLoop> loop_;
  const HttpCall call_;
  const std::shared_ptr<const tokens::Counter> estimator_;
  mutable Memory memory_;
  mutable std::atomic<Clock::Steady> silent_until_{Clock::Steady::min()};
};

}  // namespace

Result<std::shared_ptr<const tokens::Counter>> MakeServerCounter(int port, const std::string& key,
                                                                 tokens::Ratio ratio) {
  DOSSIER_ASSIGN_OR_RETURN(auto estimator, tokens::MakeEstimator(ratio));
  DOSSIER_ASSIGN_OR_RETURN(auto loop, HttpLoop::Make());
  return std::make_shared<ServerCounter>(
      std::move(loop), LocalCall(port, key, "/tokenize", kTokenizeLimit), std::move(estimator));
}

}  // namespace dossier::model
