#include "cli/wiring/open_chat_model.h"

#include "model/dialects/dialect.h"

namespace dossier::cli {
namespace {

using chat::ChatModel;

// What the conversation's file says, so that a later turn finds the model again.
std::string StoredName(const std::string& asked, const OpenedModel& opened) {
  if (!asked.empty()) return asked;
  const std::string& provider = opened.root.entry.provider;
  return provider == "local" || provider == "scripted" ? provider : opened.root.name;
}

std::function<std::string(const model::Request&)> WireOf(const OpenedModel& opened) {
  const model::Dialect* dialect = model::FindDialect(opened.dialect);
  if (!dialect) dialect = model::FindDialect("openai");
  const model::WireOptions options{
      .entry = opened.root.entry,
      .provider = opened.provider,
      .stream = opened.root.entry.streaming ? model::Streaming::kYes : model::Streaming::kNo};
  return [dialect, options](const model::Request& request) {
    model::WireOptions own = options;
    if (request.raw == model::Request::Raw::kKept) own.stream = model::Streaming::kNo;
    return dialect->build(request, own).body;
  };
}

}  // namespace

Result<ChatModel> OpenChatModel(ModelFlags flags, const config::Config& config,
                                const GlobalFlags& global,
                                const std::function<void(std::string_view)>& say,
                                const CancelToken& cancel) {
  const std::string name = flags.model;
  DOSSIER_ASSIGN_OR_RETURN(flags, WithConfig(std::move(flags), config, global));
  DOSSIER_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(flags, say, cancel));
  ChatModel model{.name = opened.root.name,
                  .stored = StoredName(name, opened),
                  .entry = opened.root.entry,
                  .counter = opened.root.counter,
                  .gate = opened.root.gate,
                  .sampling = opened.sampling,
                  .deadline = opened.deadline,
                  .idle_limit = opened.idle_limit,
                  .wire = WireOf(opened)};
  model.sampling.temperature = flags.temperature;
  if (global.verbose > 0 || config.debug) {
    say(fmt::format("model: {} ({})", opened.description, opened.why));
  }
  return model;
}

chat::CompactionLimits LimitsOf(const config::Compaction& config) {
  using Mode = chat::CompactionLimits::Mode;
  return {.mode = config.mode == config::Compaction::Mode::kOff ? Mode::kOff : Mode::kAuto,
          .soft_tokens = config.soft_tokens,
          .hard_tokens = config.hard_tokens,
          .keep_turns = config.keep_turns,
          .summary_tokens = config.summary_tokens,
          .horizon = config.horizon,
          .min_gain = config.min_gain};
}

}  // namespace dossier::cli
