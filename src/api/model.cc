#include <dossier/model.h>
#include <fmt/format.h>

#include "api/access.h"
#include "app/load_config.h"
#include "app/open_model.h"
#include "base/clock.h"
#include "base/net/url.h"
#include "base/result.h"

namespace dossier {
namespace {

constexpr std::string_view kScript = "script:";
constexpr std::string_view kScriptedModel = "scripted";

// "http://HOST/v1#NAME" and "script:FILE" are settings of their own.
Status TakeName(std::string_view name, app::ModelSettings* settings) {
  if (name.starts_with(kScript)) {
    settings->script = name.substr(kScript.size());
    settings->model = kScriptedModel;
    return {};
  }
  if (!IsWebAddress(name)) {
    settings->model = name;
    return {};
  }
  const std::size_t mark = name.find('#');
  if (mark == std::string_view::npos || mark + 1 == name.size()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the model {} has no name: write it as ADDRESS#NAME", name);
  }
  settings->base_url = name.substr(0, mark);
  settings->model = name.substr(mark + 1);
  return {};
}

Result<app::ModelSettings> SettingsOf(std::string_view name, const ModelOptions& options) {
  app::ModelSettings settings;
  settings.base_url = options.base_url;
  settings.key_env = options.key_env;
  settings.script = options.script;
  settings.temperature = options.temperature;
  settings.max_output = options.max_output;
  settings.window = options.window;
  settings.concurrency = options.concurrency;
  settings.deadline = options.deadline;
  settings.idle_limit = options.idle_limit;
  settings.retries = options.retries;
  settings.record = options.record;
  settings.replay = options.replay;
  settings.offline = options.network == ModelOptions::Network::kNone;
  DOSSIER_RETURN_IF_ERROR(TakeName(name, &settings));
  if (options.price_input.has_value() != options.price_output.has_value()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "a price needs both price_input and price_output; 0 if it costs nothing");
  }
  if (options.price_input) {
    settings.prices.push_back(fmt::format("{}/{}", *options.price_input, *options.price_output));
  }
  if (options.deadline.count() <= 0 || options.idle_limit.count() <= 0 || options.retries < 0) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "deadline and idle_limit must be above 0, retries not below");
  }
  return settings;
}

Reply ModelReplyOf(model::Reply reply, const model::Ledger& ledger) {
  return {.text = std::move(reply.text),
          .finish = std::string(model::FinishName(reply.finish)),
          .usage = UsageOf(ledger.use())};
}

const std::string kNoName;

}  // namespace

Result<Model> Model::Open(std::string_view name, const ModelOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(app::ModelSettings settings, SettingsOf(name, options));
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, app::LoadOwnConfig());
  const app::ModelSettings asked = settings;
  DOSSIER_RETURN_IF_ERROR(app::ApplyConfig(config, &settings));
  const auto say = [&options](std::string_view line) {
    if (options.progress) options.progress(line);
  };
  auto impl = std::make_shared<Impl>();
  DOSSIER_ASSIGN_OR_RETURN(impl->opened, app::OpenModel(settings, say, options.cancel));
  impl->temperature = settings.temperature;
  impl->stored = app::StoredName(asked, impl->opened);
  return Model(std::move(impl));
}

const std::string& Model::name() const { return impl_ ? impl_->opened.root.name : kNoName; }

std::string Model::provider() const { return impl_ ? impl_->opened.provider : ""; }

std::string Model::description() const { return impl_ ? impl_->opened.description : ""; }

std::int64_t Model::window() const {
  return impl_ ? impl_->opened.root.entry.capability.window : 0;
}

bool Model::has_price() const {
  if (!impl_) return false;
  const model::Entry& entry = impl_->opened.root.entry;
  return entry.price_input && entry.price_output;
}

Result<Reply> Model::Complete(std::string_view prompt, const CompleteOptions& options) const {
  return Complete({{.role = "user", .text = std::string(prompt)}}, options);
}

Result<Reply> Model::Complete(const std::vector<Message>& messages,
                              const CompleteOptions& options) const {
  DOSSIER_ASSIGN_OR_RETURN(const auto impl, ModelAccess::Of(*this));
  const app::OpenedModel& opened = impl->opened;
  model::Request request{.model = opened.root.name,
                         .sampling = opened.root.sampling,
                         .purpose = model::Purpose::kDirect,
                         .deadline = opened.root.deadline,
                         .idle_limit = opened.root.idle_limit};
  DOSSIER_ASSIGN_OR_RETURN(request.messages, PromptOf(messages));
  request.sampling.temperature = impl->temperature;
  if (options.max_output) request.sampling.max_output = options.max_output;
  model::Ledger ledger({}, SystemClock());
  DOSSIER_ASSIGN_OR_RETURN(
      model::Reply reply,
      opened.root.gate->Complete(std::move(request), ledger, model::Stage::kNormal, options.cancel,
                                 options.on_text));
  return ModelReplyOf(std::move(reply), ledger);
}

}  // namespace dossier
