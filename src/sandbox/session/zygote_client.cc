#include "sandbox/session/zygote_client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "base/process/child.h"
#include "base/text/text.h"
#include "sandbox/session/message.h"
#include "sandbox/session/session_open.h"
#include "sandbox/session/session_socket.h"

namespace dossier::sandbox {
namespace {

std::string StringOf(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

constexpr Millis kStartTime{120'000};  // a cold disk included
constexpr Millis kForkTime{120'000};   // a machine under load
constexpr Millis kLoadTime{60'000};
constexpr Millis kRehearsal{2};   // of a spare until it is worth something, with the fork before it
constexpr Millis kLookAgain{20};  // while a process that starts has not said hello
// Below this many bytes each session decodes its contexts faster than a zygote is made.
constexpr std::uint64_t kWorthSharing = 4u << 20;
constexpr std::size_t kMostWithContexts = 2;  // each holds its texts in memory

struct Spawned {
  pid_t pid = 0;
  UniqueFd control, errors;
};

// Starts the binary with /dev/null, a pipe for errors, the control socket as descriptor 3 and
// nothing else of ours.
Result<Spawned> Spawn(const std::string& path, const IsolationOptions& options) {
  HideMemory();
  DOSSIER_ASSIGN_OR_RETURN(SocketPair pair, MakeSocketPair());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return MakeErrnoError(errno, "pipe");
  UniqueFd errors(ends[0]), errors_write(ends[1]);
  // Above every number that is set below, so that no dup2 hits its own source.
  UniqueFd control(fcntl(pair.theirs.get(), F_DUPFD_CLOEXEC, 10));
  UniqueFd error_end(fcntl(errors_write.get(), F_DUPFD_CLOEXEC, 10));
  if (!control.valid() || !error_end.valid()) return MakeErrnoError(errno, "fcntl");

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, error_end.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, error_end.get(), 2);
  posix_spawn_file_actions_adddup2(&actions, control.get(), kZygoteControlFd);
  posix_spawn_file_actions_addclosefrom_np(&actions, kZygoteControlFd + 1);
  const SpawnAttributes attributes(SpawnGroup::kOwn);

  std::string name = path, text = dossier::ToJson(options.ToJson());
  std::array<std::string, 4> environment = {"PATH=/usr/bin:/bin", "TZ=UTC", "LANG=C.UTF-8",
                                            "PYTHONHASHSEED=0"};
  std::array<char*, 3> argv = {name.data(), text.data(), nullptr};
  std::array<char*, 5> envp = {environment[0].data(), environment[1].data(), environment[2].data(),
                               environment[3].data(), nullptr};
  Spawned spawned{.control = std::move(pair.ours), .errors = std::move(errors)};
  const int failed =
      posix_spawn(&spawned.pid, name.c_str(), &actions, attributes.get(), argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return spawned;
  return MakeError(ErrorCode::kUnavailable, "the sandbox worker {} does not start: {}", path,
                   std::string_view(strerrordesc_np(failed)));
}

std::string ReadErrors(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t got;
  while (text.size() < sizeof(buffer) * 4 && (got = read(fd, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return std::string(TrimSpace(text));
}

// The same for the same files, whatever their descriptors.
std::string ContextsKey(const SessionSpec& spec) {
  std::string key;
  for (const ContextText& context : spec.contexts) {
    struct stat info{};
    if (fstat(context.fd, &info) < 0) return {};
    key += fmt::format("{}:{}:{};", info.st_dev, info.st_ino, context.bytes);
  }
  return key;
}

}  // namespace

Result<std::unique_ptr<ZygoteClient>> ZygoteClient::Start(const std::string& path,
                                                          const IsolationOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(Spawned spawned, Spawn(path, options));
  // Its constructor is private.
  return std::unique_ptr<ZygoteClient>(
      new ZygoteClient(path, std::move(spawned.control), std::move(spawned.errors), spawned.pid));
}

Status ZygoteClient::WaitReady(const CancelToken& cancel) {
  const auto end = std::chrono::steady_clock::now() + kStartTime;
  while (true) {
    {
      std::lock_guard lock(hello_mutex_);
      if (!errors_.valid()) return {};
      const Status read = ReadHello();
      if (read) errors_.Reset();
      if (read || read.error().code != ErrorCode::kTimeout) return read;
    }
    // Another thread may take the hello that this one waits for: nothing more would come then.
    const auto look = std::min(end, std::chrono::steady_clock::now() + kLookAgain);
    const Status waited = WaitForSocket(control_.get(), POLLIN, look, cancel);
    if (!waited && (waited.error().code != ErrorCode::kTimeout || look == end)) return waited;
  }
}

// What has arrived of it. Errors: kTimeout if that is not all.
Status ZygoteClient::ReadHello() {
  const Result<Message> hello = ReceiveMessage(control_.get(), hello_, nullptr, Millis(0));
  if (!hello) {
    if (hello.error().code != ErrorCode::kDied) return tl::unexpected(hello.error());
    const std::string said = ReadErrors(errors_.get());
    return MakeError(ErrorCode::kUnavailable, "the sandbox worker {} does not start: {}", path_,
                     said.empty() ? "it ended without a word" : said);
  }
  const std::string other = StringOf(hello->json, "version");
  if (hello->type != MessageType::kHello || other != kWorkerVersion) {
    return MakeError(ErrorCode::kUnavailable,
                     "the sandbox worker {} is version {}, this program needs {}", path_, other,
                     kWorkerVersion);
  }
  return {};
}

Result<std::unique_ptr<ZygoteClient>> ZygoteClient::StartWithContexts(
    std::shared_ptr<ZygoteClient> parent, const SessionSpec& spec, const CancelToken& cancel) {
  constexpr std::uint64_t kOpenId = 2;
  DOSSIER_RETURN_IF_ERROR(parent->WaitReady(cancel));
  DOSSIER_ASSIGN_OR_RETURN(ForkedWorker forked, parent->Order(Kind::kZygote));
  DOSSIER_RETURN_IF_ERROR(Receive(&forked, cancel));
  std::unique_ptr<ZygoteClient> client(
      new ZygoteClient(parent->path_, std::move(forked.socket), UniqueFd(), 0));  // private
  client->next_id_ = kOpenId;
  client->parent_ = std::move(parent);
  std::vector<int> fds;
  for (const ContextText& context : spec.contexts) fds.push_back(context.fd);
  const std::string bytes = MessageWriter::Encode(MakeOpenMessage(spec, kOpenId), kFlagDescriptors);
  DOSSIER_RETURN_IF_ERROR(SendWithFds(client->control_.get(), bytes, fds));
  MessageDecoder decoder(Side::kWorker);
  DOSSIER_RETURN_IF_ERROR(
      ReceiveMessage(client->control_.get(), decoder, nullptr, kLoadTime, cancel));
  return client;
}

ZygoteClient::~ZygoteClient() {
  control_.Reset();
  if (pid_ == 0) return;  // its parent reaps it
  // It holds nothing that needs an orderly end, and its children die with it.
  SendSignal(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::string_view ZygoteClient::KindName(Kind kind) {
  if (kind == Kind::kZygote) return "zygote";
  return kind == Kind::kSpare ? "spare" : "session";
}

Result<ForkedWorker> ZygoteClient::Order(Kind kind) {
  DOSSIER_ASSIGN_OR_RETURN(SocketPair bridge, MakeSocketPair());
  DOSSIER_ASSIGN_OR_RETURN(SocketPair status, MakeSocketPair());
  std::lock_guard lock(mutex_);
  const Message request{
      .type = MessageType::kFork, .id = next_id_ += 2, .json = {{"kind", KindName(kind)}}};
  const int fds[] = {bridge.theirs.get(), status.theirs.get()};
  DOSSIER_RETURN_IF_ERROR(SendWithFds(control_.get(), MessageWriter::Encode(request), fds));
  // Their ends go here, or the end of the other side would never show.
  return ForkedWorker{.socket = std::move(bridge.ours), .status = std::move(status.ours)};
}

Status ZygoteClient::Receive(ForkedWorker* worker, const CancelToken& cancel) {
  MessageDecoder decoder(Side::kWorker);
  DOSSIER_ASSIGN_OR_RETURN(const Message forked, ReceiveMessage(worker->status.get(), decoder,
                                                                nullptr, kForkTime, cancel));
  if (forked.type != MessageType::kForked) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} instead of forked",
                     MessageTypeName(forked.type));
  }
  if (const std::string error = StringOf(forked.json, "error"); !error.empty()) {
    return MakeError(ErrorCode::kUnavailable, "the sandbox cannot fork: {}", error);
  }
  const auto pid = static_cast<pid_t>(forked.json.at("pid").get_int64());
  // A number that is another process's by now cannot pass for ours: the bridge is closed then.
  worker->handle = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!worker->handle.valid()) return MakeErrnoError(errno, "pidfd_open");
  pollfd entry{worker->socket.get(), POLLRDHUP, 0};
  if (poll(&entry, 1, 0) != 0) return MakeError(ErrorCode::kDied, "the sandbox worker has ended");
  worker->pid = pid;
  return {};
}

std::optional<ForkedWorker> ZygoteClient::TakeSpare() {
  std::lock_guard lock(mutex_);
  std::optional<Spare> spare = std::exchange(spare_, std::nullopt);
  const bool rehearsed = spare && std::chrono::steady_clock::now() - spare->since >= kRehearsal;
  hurried_ = ++sessions_ > 1 && !rehearsed;
  if (!spare) return std::nullopt;
  return std::move(spare->ordered);
}

Result<ForkedWorker> ZygoteClient::Fork(const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(WaitReady(cancel));
  if (std::optional<ForkedWorker> spare = TakeSpare()) {
    const Status there = Receive(&*spare, cancel);
    if (there) return std::move(*spare);
    if (there.error().code == ErrorCode::kCancelled) return tl::unexpected(there.error());
  }
  DOSSIER_ASSIGN_OR_RETURN(ForkedWorker worker, Order(Kind::kSession));
  DOSSIER_RETURN_IF_ERROR(Receive(&worker, cancel));
  return worker;
}

Result<ForkedWorker> ZygoteClient::Take() {
  if (std::optional<ForkedWorker> spare = TakeSpare()) return std::move(*spare);
  return Order(Kind::kSession);
}

void ZygoteClient::OrderNext() {
  {
    std::lock_guard lock(mutex_);
    if (sessions_ < 2) return;
  }
  OrderSpare();
}

void ZygoteClient::OrderSpare() {
  Kind kind = Kind::kSpare;
  {
    std::lock_guard lock(mutex_);
    if (spare_) return;
    if (hurried_) kind = Kind::kSession;
  }
  Result<ForkedWorker> ordered = Order(kind);
  if (!ordered) return;
  std::lock_guard lock(mutex_);
  // Of two that were ordered at once, one ends on its closed bridge.
  if (!spare_) spare_ = Spare{std::move(*ordered), std::chrono::steady_clock::now()};
}

Result<std::shared_ptr<ZygoteClient>> ZygoteSource::GetBase() {
  if (!base_) {
    DOSSIER_ASSIGN_OR_RETURN(base_, ZygoteClient::Start(path_, options_));
  }
  return base_;
}

Result<std::shared_ptr<ZygoteClient>> ZygoteSource::Find(const std::string& key) {
  if (!wanted_.contains(key)) return GetBase();
  const auto found = std::find_if(with_contexts_.begin(), with_contexts_.end(),
                                  [&](const WithContexts& entry) { return entry.key == key; });
  if (found == with_contexts_.end()) return std::shared_ptr<ZygoteClient>();
  with_contexts_.splice(with_contexts_.begin(), with_contexts_, found);
  return with_contexts_.front().client;
}

Result<std::shared_ptr<ZygoteClient>> ZygoteSource::Get(const SessionSpec& spec,
                                                        const CancelToken& cancel) {
  const std::string key = ContextsKey(spec);
  std::lock_guard lock(mutex_);
  DOSSIER_ASSIGN_OR_RETURN(std::shared_ptr<ZygoteClient> found, Find(key));
  if (found) return found;
  DOSSIER_ASSIGN_OR_RETURN(std::shared_ptr<ZygoteClient> base, GetBase());
  auto made = ZygoteClient::StartWithContexts(base, spec, cancel);
  if (!made && made.error().code == ErrorCode::kCancelled) return tl::unexpected(made.error());
  if (!made) {
    wanted_.erase(key);  // without memory for it each session tries for itself
    return base;
  }
  with_contexts_.push_front({key, std::move(*made)});
  if (with_contexts_.size() > kMostWithContexts) with_contexts_.pop_back();
  return with_contexts_.front().client;
}

void ZygoteSource::WantContextText(const SessionSpec& spec) {
  std::uint64_t bytes = 0;
  for (const ContextText& context : spec.contexts) bytes += context.bytes;
  if (bytes < kWorthSharing || bytes > spec.context_string_max) return;
  std::string key = ContextsKey(spec);
  std::lock_guard lock(mutex_);
  wanted_.insert(std::move(key));
}

void ZygoteSource::Forget(const std::shared_ptr<ZygoteClient>& client) {
  std::lock_guard lock(mutex_);
  with_contexts_.remove_if([&](const WithContexts& entry) { return entry.client == client; });
  if (base_ == client) {
    base_.reset();
    with_contexts_.clear();  // they died with it
  }
}

void ZygoteSource::Prepare() {
  std::lock_guard lock(mutex_);
  const auto base = GetBase();
  if (base) (*base)->OrderSpare();
}

Result<ForkedWorker> ZygoteSource::Fork(const SessionSpec& spec, const CancelToken& cancel) {
  constexpr int kTries = 3;
  for (int tries = 1;; ++tries) {
    DOSSIER_ASSIGN_OR_RETURN(const std::shared_ptr<ZygoteClient> client, Get(spec, cancel));
    if (const Status ready = client->WaitReady(cancel); !ready) {
      if (ready.error().code != ErrorCode::kCancelled) Forget(client);
      return tl::unexpected(ready.error());
    }
    Result<ForkedWorker> worker = client->Fork(cancel);
    if (worker) worker->zygote = client;
    if (worker || worker.error().code == ErrorCode::kCancelled) return worker;
    if (worker.error().code != ErrorCode::kUnavailable) Forget(client);
    if (tries == kTries) {
      return MakeError(ErrorCode::kUnavailable, "no sandbox worker after {} tries: {}", kTries,
                       worker.error().message);
    }
    std::this_thread::sleep_for(Millis(300));
  }
}

Result<ForkedWorker> ZygoteSource::Order(const SessionSpec& spec) {
  const std::string key = ContextsKey(spec);
  const std::unique_lock lock(mutex_, std::try_to_lock);  // held while a zygote is made
  std::shared_ptr<ZygoteClient> client;
  if (lock.owns_lock()) {
    DOSSIER_ASSIGN_OR_RETURN(client, Find(key));
  }
  if (!client) return MakeError(ErrorCode::kTimeout, "a zygote with these contexts is made first");
  DOSSIER_ASSIGN_OR_RETURN(ForkedWorker worker, client->Take());
  worker.zygote = std::move(client);
  return worker;
}

Status ZygoteSource::Await(ForkedWorker* worker, const CancelToken& cancel) {
  if (const Status ready = worker->zygote->WaitReady(cancel); !ready) {
    if (ready.error().code != ErrorCode::kCancelled) Forget(worker->zygote);
    return ready;
  }
  return ZygoteClient::Receive(worker, cancel);  // a spare may have died, its zygote living on
}

}  // namespace dossier::sandbox
