#include "cli/memory/memory_call.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/files/file.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/memory_flags.h"
#include "cli/wiring/prompt_input.h"

namespace dossier::cli {

using memory::OpenMode;
using memory::Store;

Result<MemoryCall> MemoryCall::Make(const MemoryArguments& arguments, const config::Config& config,
                                    const Context& context) {
  MemoryCall call(arguments, config, context);
  DOSSIER_ASSIGN_OR_RETURN(call.settings_, app::ReadMemoryConfig(config));
  DOSSIER_ASSIGN_OR_RETURN(call.clock_, ClockOf(arguments.now));
  return call;
}

memory::Micros MemoryCall::now() const {
  return std::chrono::floor<std::chrono::microseconds>(clock_->WallNow().time_since_epoch())
      .count();
}

Result<std::unique_ptr<Store>> MemoryCall::Open(OpenMode mode) const {
  const std::string path = MemoryStorePath(arguments_.store, config_, mode);
  if (mode == OpenMode::kCreate) {
    const std::string folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  }
  DOSSIER_ASSIGN_OR_RETURN(memory::StoreOptions options, StoreOptionsOf(settings_, config_, path));
  options.mode = mode;
  options.clock = clock_;
  DOSSIER_ASSIGN_OR_RETURN(auto store, Store::Open(std::move(options)));
  if (!context_.flags.quiet) {
    for (const std::string& warning : store->warnings()) PrintWarning(context_.err, warning);
  }
  return store;
}

Result<memory::View> MemoryCall::Look(const Store& store) const {
  return store.Snapshot(arguments_.branch, arguments_.at);
}

Status MemoryCall::Write(Store& store, const Store::Work& work) const {
  return store.Transact(arguments_.branch, {.node_id = arguments_.node, .phase = arguments_.phase},
                        work);
}

void MemoryCall::PrintJson(JsonObject members) const {
  JsonObject object{{"schema", fmt::format("dossier.memory.{}/1", context_.command.name())}};
  for (auto& member : members) object[member.key()] = std::move(member.value());
  context_.out << ToJson(object) << "\n";
}

void MemoryCall::PrintSeq(memory::Seq seq) const {
  if (arguments_.json) {
    PrintJson({{"seq", seq}});
  } else {
    context_.out << seq << "\n";
  }
}

void MemoryCall::Warn(const std::vector<memory::Notice>& notices) const {
  for (const memory::Notice& notice : notices) {
    PrintWarning(context_.err, fmt::format("{}: {}", notice.name, notice.text));
  }
}

void MemoryCall::WarnOfSecrets(std::int64_t redacted) const {
  if (redacted == 0) return;
  PrintWarning(context_.err, fmt::format("{} of the text {} like a secret and {} stored as ***",
                                         redacted, redacted == 1 ? "part looks" : "parts look",
                                         redacted == 1 ? "is" : "are"));
}

void MemoryCall::Log(std::string_view op, std::string_view memory_type, JsonObject details) const {
  AppendWith([&](const memory::MemoryCallLog& log, memory::LoggedCall call) {
    call.op = op;
    call.layer = "command";
    call.memory_type = memory_type;
    call.details = std::move(details);
    return log.Append(std::move(call));
  });
}

void MemoryCall::LogOperations(const memory::UpdateResult& result) const {
  AppendWith([&](const memory::MemoryCallLog& log, const memory::LoggedCall& call) {
    return memory::AppendOperations(log, call, result.operations_log);
  });
}

void MemoryCall::AppendWith(const std::function<Status(const memory::MemoryCallLog& log,
                                                       memory::LoggedCall call)>& append) const {
  if (!settings_.log_enabled) return;
  const std::string path = MemoryStorePath(arguments_.store, config_, OpenMode::kExisting);
  const Status logged =
      append(CallLogOf(settings_, path, clock_),
             {.branch = arguments_.branch, .node = arguments_.node, .phase = arguments_.phase});
  if (!logged && !context_.flags.quiet) {
    PrintWarning(context_.err, fmt::format("not logged: {}", logged.error().message));
  }
}

Result<std::string> MemoryCall::ReadInput(const std::string& name) const {
  if (name != "-") return ReadFile(name);
  StdinStream in;
  std::string text;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const auto ready, in.Wait(std::nullopt, context_.cancel));
    if (ready == InputStream::Ready::kClosed) return text;
    DOSSIER_ASSIGN_OR_RETURN(const std::string part, in.Read());
    if (part.empty()) return text;
    text += part;
  }
}

Result<std::string> MemoryCall::ReadText(const std::string& text) const {
  if (text != "-") return text;
  DOSSIER_ASSIGN_OR_RETURN(std::string read, ReadInput("-"));
  if (read.ends_with('\n')) read.pop_back();
  if (read.ends_with('\r')) read.pop_back();
  return read;
}

}  // namespace dossier::cli
