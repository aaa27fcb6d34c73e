#include "app/open_chat_model.h"

#include "model/dialects/dialect.h"

namespace dossier::app {
namespace {

using driver::BoundModel;

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

std::string AskedName(const ModelSettings& asked) {
  ModelSettings split = asked;
  SplitAddress(&split);
  if (split.model.empty() || split.base_url.empty()) return split.model;
  return model::WholeAddress(split.base_url) + "#" + split.model;
}

std::string StoredName(const ModelSettings& asked, const OpenedModel& opened) {
  ModelSettings named = asked;
  if (!named.base_url.empty() && named.model.empty()) named.model = opened.root.name;
  if (std::string name = AskedName(named); !name.empty()) return name;
  const std::string& provider = opened.root.entry.provider;
  if (provider == "local" || provider == "scripted") return provider;
  // A bare name that the model data do not have would not be found again.
  const bool found_by_name = opened.root.entry.known || provider == "openai-compatible";
  return found_by_name ? opened.root.name : opened.provider + "/" + opened.root.name;
}

BoundModel ChatModelOf(const OpenedModel& opened, std::string stored) {
  BoundModel model = opened.root;
  model.stored = std::move(stored);
  model.wire = WireOf(opened);
  return model;
}

Result<BoundModel> OpenChatModel(ModelSettings settings, const config::Config& config,
                                 const std::function<void(std::string_view)>& say,
                                 const CancelToken& cancel) {
  const ModelSettings asked = settings;
  DOSSIER_RETURN_IF_ERROR(ApplyConfig(config, &settings));
  DOSSIER_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(settings, say, cancel));
  BoundModel model = ChatModelOf(opened, StoredName(asked, opened));
  model.sampling.temperature = settings.temperature;
  if (config.debug || settings.announce == ModelSettings::Announce::kYes) {
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

}  // namespace dossier::app
