#include "model/providers/command_client.h"

#include <list>
#include <mutex>
#include <set>
#include <thread>

#include "base/files/file.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "model/client/http_failure.h"
#include "model/client/timer.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

// What programs need to find their login and to speak the user's language.
constexpr std::string_view kPassed[] = {
    "PATH",          "HOME",           "USER",          "LOGNAME",
    "LANG",          "LC_ALL",         "TMPDIR",        "XDG_CONFIG_HOME",
    "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"};

class CommandClient final : public Client {
 public:
  CommandClient(CommandPreset preset, CommandOptions options)
      : preset_(std::move(preset)), options_(std::move(options)) {
    for (const std::string_view name : kPassed) Pass(name);
    for (const std::string& name : preset_.pass_env) Pass(name);
    if (!options_.key_env.empty()) Pass(options_.key_env);
  }
  ~CommandClient() override {
    stop_.Cancel("the program ends");
    std::list<std::thread> threads;
    {
      std::lock_guard lock(mutex_);
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }

  void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
              std::shared_ptr<Sink> sink) override {
    std::lock_guard lock(mutex_);
    std::erase_if(threads_, [this](std::thread& thread) {
      const bool ended = ended_.erase(thread.get_id()) > 0;
      if (ended) thread.join();
      return ended;
    });
    threads_.emplace_back(
        [this, request = std::move(request), cancel = std::move(cancel), sink = std::move(sink)] {
          Work(*request, cancel, *sink);
          std::lock_guard ended(mutex_);
          ended_.insert(std::this_thread::get_id());
        });
  }

 private:
  void Pass(std::string_view name) {
    if (const auto value = options_.environment(name)) {
      environment_.push_back(fmt::format("{}={}", name, *value));
    }
  }

  void Work(const Request& request, const CancelToken& cancel, Sink& sink) {
    CancelSource both(cancel);
    const CancelToken stop = stop_.token();
    const std::uint64_t id = stop.OnCancel([&] { both.Cancel(stop.reason()); });
    Failure failure;
    Result<Reply> reply = Run(request, both.token(), &failure);
    stop.Forget(id);
    if (!reply) {
      sink.OnFailure(failure);
    } else {
      EstimateMissingUsage(request, &*reply);
      reply->resolved_model = preset_.name;
      if (!reply->text.empty()) sink.OnDelta(reply->text);
    }
    sink.OnDone(std::move(reply));
  }

  Result<Reply> Run(const Request& request, const CancelToken& cancel, Failure* failure) const {
    DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("dossier-command"));
    DOSSIER_ASSIGN_OR_RETURN(const ProcessSpec spec, Spec(request, folder.path()));
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult ran, RunProcess(spec, cancel));
    const std::string& program = preset_.argv[0];
    if (ran.timed_out) {
      failure->retry = Failure::Retry::kYes;
      failure->sent = Failure::Sent::kYes;
      return MakeError(ErrorCode::kTimeout, "{}: the deadline of {:.1f} s reached after {} bytes",
                       program, static_cast<double>(request.deadline.count()) / 1000.0,
                       ran.out.size());
    }
    if (ran.out_dropped > 0) {
      return MakeError(ErrorCode::kNetwork, "{}: malformed reply: larger than 64 MiB", program);
    }
    auto reply = ReadOutput(preset_, ran.out);
    if (ran.exit_code == 0 || (!reply && reply.error().code == ErrorCode::kFailed)) {
      if (!reply && reply.error().code != ErrorCode::kFailed) {
        return MakeError(reply.error().code, "{}: {}", program, reply.error().message);
      }
      return reply;
    }
    return MakeError(ErrorCode::kFailed, "{} ended with {} {}: {}", program,
                     ran.signal ? "signal" : "status", ran.signal ? ran.signal : ran.exit_code,
                     Excerpt(ran.err.empty() ? ran.out : ran.err, ""));
  }

  Result<ProcessSpec> Spec(const Request& request, const std::string& folder) const {
    ProcessSpec spec{.argv = preset_.argv,
                     .folder = folder,
                     .environment = environment_,
                     .max_output = kMaxReplyBytes,
                     .timeout = request.deadline};
    const std::string prompt =
        PromptText(request.messages) + (request.schema ? WordsForSchema(*request.schema) : "");
    const std::string file = folder + "/prompt.txt";
    if (preset_.prompt == CommandPreset::Prompt::kFile) {
      DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(file, prompt, 0600));
    } else {
      spec.input = prompt;
    }
    for (std::string& word : spec.argv) {
      word = ReplaceAll(word, "{model}", options_.model.empty() ? preset_.model : options_.model);
      word = ReplaceAll(word, "{prompt_file}", file);
    }
    return spec;
  }

  const CommandPreset preset_;
  const CommandOptions options_;
  std::vector<std::string> environment_;
  CancelSource stop_;
  std::mutex mutex_;
  std::list<std::thread> threads_;
  std::set<std::thread::id> ended_;  // of threads_, to be joined
};

}  // namespace

std::string PromptText(const assembly::Messages& messages) {
  std::string text = messages.SystemText();
  const auto add = [&](std::string_view part) {
    if (!text.empty()) text += "\n\n";
    text += part;
  };
  if (messages.turns.size() == 1) {
    add(messages.turns[0].Text());
    return text;
  }
  for (const assembly::Turn& turn : messages.turns) {
    add(fmt::format("<{0}>\n{1}\n</{0}>", assembly::RoleName(turn.role), turn.Text()));
  }
  return text;
}

Result<std::shared_ptr<Client>> MakeCommandClient(CommandPreset preset, CommandOptions options) {
  for (const std::string& name : preset.billing) {
    if (name == options.key_env || !Variable(options.environment, name)) continue;
    return MakeError(
        ErrorCode::kRefused,
        "{} is set: {} would bill that key instead of its login; unset it, or ask for it "
        "by --key-env {}",
        name, preset.argv[0], name);
  }
  if (!FindProgram(preset.argv[0])) {
    return MakeError(ErrorCode::kNotFound, "command/{}: {} is not on the PATH", preset.name,
                     preset.argv[0]);
  }
  return std::make_shared<CommandClient>(std::move(preset), std::move(options));
}

}  // namespace dossier::model
