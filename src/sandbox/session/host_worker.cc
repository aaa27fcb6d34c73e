#include "sandbox/session/host_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string>

#include "base/cancel.h"
#include "base/files/file.h"
#include "sandbox/session/session_open.h"

namespace dossier::sandbox {
namespace {

std::uint64_t NumberAfter(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  std::string_view rest = text.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t number = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return number;
}

constexpr Millis kOpenTime{60'000};  // a large context may have to be read from disk
constexpr Millis kCloseGrace{200};

}  // namespace

ProcessUsage ParseProcessStatus(std::string_view text) {
  constexpr std::uint64_t kKibibyte = 1024;
  ProcessUsage usage;
  usage.private_bytes = NumberAfter(text, "\nRssAnon:") * kKibibyte;
  usage.peak_bytes = NumberAfter(text, "\nVmHWM:") * kKibibyte;
  usage.threads = static_cast<int>(NumberAfter(text, "\nThreads:"));
  constexpr std::string_view kState = "\nState:\t";
  const std::size_t state = text.find(kState);
  if (state != std::string_view::npos && text.substr(state + kState.size()).starts_with('R')) {
    usage.state = ProcessUsage::State::kRunnable;
  }
  return usage;
}

Result<ProcessUsage> ReadProcessUsage(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/status", pid);
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  const ssize_t got = fd.valid() ? read(fd.get(), buffer, sizeof(buffer)) : -1;
  if (got <= 0) return MakeError(ErrorCode::kNotFound, "process {} has ended", pid);
  return ParseProcessStatus({buffer, static_cast<std::size_t>(got)});
}

Result<Millis> ProcessCpu(pid_t pid) {
  clockid_t clock;
  timespec used;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) {
    return MakeError(ErrorCode::kNotFound, "process {} has ended", pid);
  }
  return Millis(used.tv_sec * 1000 + used.tv_nsec / 1'000'000);
}

Result<std::unique_ptr<HostWorker>> HostWorker::Open(ZygoteSource& zygotes, const SessionSpec& spec,
                                                     std::shared_ptr<Waker> waker,
                                                     const CancelToken& cancel) {
  const auto started = std::chrono::steady_clock::now();
  DOSSIER_ASSIGN_OR_RETURN(ForkedWorker forked, zygotes.Fork(spec, cancel));
  std::unique_ptr<HostWorker> worker(new HostWorker(std::move(forked)));  // private constructor
  worker->bridge_ = std::make_shared<HostBridge>(std::move(waker));
  DOSSIER_RETURN_IF_ERROR(worker->SendOpen(spec, cancel));
  DOSSIER_RETURN_IF_ERROR(SetNonBlocking(worker->fd()));
  if (const auto usage = ReadProcessUsage(worker->pid()))
    worker->base_bytes_ = usage->private_bytes;
  worker->start_time_ =
      std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - started);
  return worker;
}

Status HostWorker::SendOpen(const SessionSpec& spec, const CancelToken& cancel) {
  constexpr std::uint64_t kOpenId = 2;
  std::vector<int> fds;
  for (const Context& context : spec.contexts) fds.push_back(context.fd);
  const std::string bytes =
      MessageWriter::Encode(MakeOpenMessage(spec, kOpenId), fds.empty() ? 0 : kFlagDescriptors);
  DOSSIER_RETURN_IF_ERROR(SendWithFds(fd(), bytes, fds));
  bridge_->SkipId(kOpenId);
  auto opened = ReceiveMessage(fd(), decoder_, nullptr, kOpenTime, cancel);
  if (!opened && opened.error().code == ErrorCode::kDied) {
    return MakeError(ErrorCode::kDied, "the sandbox worker ended while it started: {}",
                     DeathReason());
  }
  if (!opened) return tl::unexpected(opened.error());
  if (opened->type == MessageType::kLog) {
    const Json* text = Find(opened->json, "text");
    return MakeError(
        ErrorCode::kUnavailable, "{}",
        text && text->is_string() ? std::string_view(text->get_string()) : "no reason");
  }
  if (opened->type != MessageType::kOpened || opened->id != kOpenId) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} instead of opened",
                     MessageTypeName(opened->type));
  }
  DOSSIER_ASSIGN_OR_RETURN(report_, IsolationReport::FromJson(opened->json.at("report")));
  report_.Set("watchdog", LayerState::kApplied, "");
  return {};
}

HostWorker::~HostWorker() {
  bridge_->EndBlock("the session was closed");
  bridge_->Send({.type = MessageType::kClose, .json = {{"grace_ms", kCloseGrace.count()}}},
                Urgency::kUrgent);
  (void)bridge_->Flush(fd());
  // Its end of the bridge closes when it exits; what the kernel then still takes apart (its
  // namespaces) need not be waited for.
  pollfd entry{fd(), POLLRDHUP, 0};
  if (poll(&entry, 1, static_cast<int>(kCloseGrace.count())) <= 0) Kill();
}

void HostWorker::Kill() {
  syscall(SYS_pidfd_send_signal, forked_.handle.get(), SIGKILL, nullptr, 0);
}

Result<Message> HostWorker::Request(Message message, Millis timeout, const CancelToken& cancel) {
  const CancelFd stop(cancel);
  const std::uint64_t id = bridge_->Send(std::move(message));
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (true) {
    DOSSIER_RETURN_IF_ERROR(bridge_->Flush(fd()));
    // Large requests need room before the worker can answer.
    const bool pending = bridge_->pending();
    const auto left = std::chrono::duration_cast<Millis>(end - std::chrono::steady_clock::now());
    if (left <= Millis(0)) return MakeError(ErrorCode::kTimeout, "the worker did not answer");
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    DOSSIER_ASSIGN_OR_RETURN(std::optional<Message> answer, decoder_.Next());
    if (answer && answer->id == id) return std::move(*answer);
    if (answer) {
      // Calls of threads that outlived their block; nothing else can come now.
      if (answer->type == MessageType::kCall) {
        OpenDropped(*answer);
        continue;
      }
      if (answer->type == MessageType::kCancel || answer->type == MessageType::kLog) continue;
      return MakeError(ErrorCode::kProtocol, "bridge: {} between blocks",
                       MessageTypeName(answer->type));
    }
    pollfd entries[] = {{fd(), static_cast<short>(POLLIN | (pending ? POLLOUT : 0)), 0},
                        {stop.fd(), POLLIN, 0}};
    poll(entries, 2, static_cast<int>(left.count()));
    if (entries[0].revents & (POLLIN | POLLHUP | POLLERR)) {
      DOSSIER_RETURN_IF_ERROR(ReadSome(fd(), decoder_));
    }
  }
}

void HostWorker::OpenDropped(const Message& call) {
  // The reply fails the call when it goes out of scope.
  bridge_->OpenCall({.id = call.id, .block = static_cast<int>(call.block)}, call.wire_bytes);
}

std::optional<int> HostWorker::WaitStatus(Millis timeout) {
  if (status_) return status_;
  MessageDecoder decoder(Side::kWorker);
  const auto exited = ReceiveMessage(forked_.status.get(), decoder, nullptr, timeout);
  if (!exited || exited->type != MessageType::kExited) return std::nullopt;
  status_ = static_cast<int>(exited->json.at("status").get_int64());
  return status_;
}

std::string HostWorker::DeathReason() {
  const std::optional<int> status = WaitStatus(Millis(1000));
  if (!status) return "the worker is gone";
  if (WIFSIGNALED(*status)) {
    const int signal = WTERMSIG(*status);
    if (signal == SIGSYS) return "stopped for a system call that the sandbox forbids";
    return fmt::format("killed by signal {} ({})", signal, strsignal(signal));
  }
  if (WEXITSTATUS(*status) == kBrokenBridgeExit) return "the bridge to the worker broke";
  if (WEXITSTATUS(*status) == kOutOfMemoryExit) return "out of memory";
  return fmt::format("the process ended itself with status {}", WEXITSTATUS(*status));
}

}  // namespace dossier::sandbox
