#include "api/access.h"

#include <dossier/sandbox.h>

#include <mutex>

#include "app/load_config.h"
#include "app/open_model.h"
#include "app/section_makers.h"

namespace dossier {
namespace {

constexpr double kNano = 1e9;

std::optional<double> DollarsOf(const std::optional<std::int64_t>& nano) {
  if (!nano) return std::nullopt;
  return static_cast<double>(*nano) / kNano;
}

std::optional<assembly::Role> RoleOf(std::string_view name) {
  for (const auto role : {assembly::Role::kSystem, assembly::Role::kUser,
                          assembly::Role::kAssistant, assembly::Role::kTool}) {
    if (assembly::RoleName(role) == name) return role;
  }
  return std::nullopt;
}

}  // namespace

Result<std::shared_ptr<const Model::Impl>> ModelAccess::Of(const Model& model) {
  if (model.impl_) return model.impl_;
  return MakeError(
      ErrorCode::kInvalidArgument,
      "no model is given: open one with Model::Open, and keep it from being moved away");
}

Usage UsageOf(const model::LedgerUse& use) {
  Usage usage = UsageOf(use.spent.total);
  usage.calls = use.calls;
  return usage;
}

Usage UsageOf(const model::Usage& usage) {
  return {.calls = 1,
          .input_tokens = usage.input,
          .output_tokens = usage.output,
          .cached_tokens = usage.cached,
          .usd = DollarsOf(usage.cost_nano_usd),
          .estimated = usage.estimated};
}

RunEvent RunEventOf(const store::Event& event) {
  return {.run = event.run,
          .type = event.type,
          .number = event.seq,
          .time = event.time,
          .data = ToJson(event.data)};
}

std::function<void(const store::Event&)> WatchOf(
    const std::function<void(const RunEvent& event)>& on_event) {
  if (!on_event) return {};
  return [on_event, mutex = std::make_shared<std::mutex>()](const store::Event& event) {
    const std::lock_guard lock(*mutex);
    on_event(RunEventOf(event));
  };
}

std::vector<Message> MessagesOf(const assembly::Messages& messages) {
  std::vector<Message> out;
  if (std::string system = messages.SystemText(); !system.empty()) {
    out.push_back({.role = "system", .text = std::move(system)});
  }
  for (const assembly::Turn& turn : messages.turns) {
    out.push_back({.role = std::string(assembly::RoleName(turn.role)), .text = turn.Text()});
  }
  return out;
}

Result<assembly::Messages> PromptOf(const std::vector<Message>& messages) {
  assembly::Messages prompt;
  for (const Message& message : messages) {
    const auto role = RoleOf(message.role);
    if (!role || *role == assembly::Role::kTool) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "a message has the role \"{}\": it must be system, user or assistant",
                       message.role);
    }
    if (*role == assembly::Role::kSystem) {
      prompt.system.push_back({.text = message.text});
    } else {
      prompt.turns.push_back({*role, {{.text = message.text}}});
    }
  }
  if (prompt.turns.empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "a prompt needs a message of the user");
  }
  return prompt;
}

driver::SectionMakers SectionMakersOf(const config::Config& config, CancelToken cancel) {
  return app::SectionMakersFor(
      {.config = [config]() -> Result<config::Config> { return config; },
       .agents = [config] { return app::LoadAgents(config, ".", app::UseIfApproved); },
       .warn = {},
       .cancel = std::move(cancel),
       .now = {}});
}

driver::BoundModel ChatModelOf(const Model::Impl& model) {
  driver::BoundModel out = app::ChatModelOf(model.opened, model.stored);
  out.sampling.temperature = model.temperature;
  return out;
}

sandbox::PoolOptions PoolOptionsOf(const SandboxOptions& options) {
  const bool strict = options.isolation == SandboxOptions::Isolation::kStrict;
  return {.mode = strict ? sandbox::IsolationMode::kStrict : sandbox::IsolationMode::kDegraded,
          .worker_path = options.worker,
          .read_folders = options.read_folders};
}

sandbox::Limits LimitsOf(const SandboxOptions& options) {
  sandbox::Limits limits;
  limits.counts = sandbox::Limits::Counts::kIdle;
  limits.silence = options.silence;
  limits.cpu = options.cpu;
  limits.memory = options.memory;
  limits.output = options.output;
  return limits;
}

}  // namespace dossier
