#include <dossier/research.h>

#include <map>

#include "api/access.h"
#include "app/load_config.h"
#include "app/open_model.h"
#include "base/files/file.h"
#include "base/result.h"
#include "research/files/run_folder.h"
#include "research/paper/literature.h"
#include "research/resources/resources.h"
#include "research/run.h"
#include "research/run/forecast.h"
#include "research/run/idea.h"
#include "research/run/own_run.h"
#include "research/run/run_history.h"
#include "research/run/run_record.h"
#include "research/run/run_status.h"
#include "research/run/run_steering.h"
#include "research/setup/role_models.h"

namespace dossier {
namespace {

using research::RunOrder;

constexpr std::uint64_t kMaxConfigBytes = 256 << 10;

// Uses the caller's model for all roles, else the configured one for each.
driver::OpenModel RoleOpener(const ResearchOptions& options, const research::RunConfig& config,
                             const config::Config& own) {
  if (options.model) {
    return [given = options.model](const std::string&) -> Result<driver::BoundModel> {
      DOSSIER_ASSIGN_OR_RETURN(const auto impl, ModelAccess::Of(given));
      return ChatModelOf(*impl);
    };
  }
  return research::OpenByRole(config, [own, cancel = options.cancel](const std::string& name) {
    return app::OpenChatModel({.model = name}, own, [](std::string_view) {}, cancel);
  });
}

Result<research::RunConfig> ReadSettings(const std::string& path, const ResearchOptions& options) {
  std::string text;
  if (!path.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(text, ReadFile(path, kMaxConfigBytes));
  }
  return research::ReadConfig(text, path.empty() ? "the configuration" : path, options.settings,
                              research::AbsolutePath("."));
}

Result<std::vector<RunOrder::Skip>> SkipsOf(const std::vector<std::string>& names) {
  const std::map<std::string_view, RunOrder::Skip> known = {
      {"plots", RunOrder::Skip::kPlots},
      {"citations", RunOrder::Skip::kCitations},
      {"writeup", RunOrder::Skip::kWriteup},
      {"review", RunOrder::Skip::kReview}};
  std::vector<RunOrder::Skip> skips;
  for (const std::string& name : names) {
    const auto found = known.find(name);
    if (found == known.end()) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "skip: there is no step {}; plots, citations, writeup and review are", name);
    }
    skips.push_back(found->second);
  }
  return skips;
}

// Sets up what start and resume share: models, machine, folders, environment.
Status FillPorts(const ResearchOptions& options, RunOrder* order) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config own, app::LoadOwnConfig());
  order->open_model = RoleOpener(options, order->config, own);
  DOSSIER_ASSIGN_OR_RETURN(order->assets, app::UserAssetFolders(""));
  order->makers = SectionMakersOf(own, options.cancel);
  DOSSIER_RETURN_IF_ERROR(research::UseOwnMachine(own.user, order));
  if (options.network == ResearchOptions::Network::kAllowed) {
    order->fetch = research::HttpFetch();
  }
  order->progress = options.progress;
  order->watch = WatchOf(options.on_event);
  if (!options.until.empty()) {
    order->until = research::FindStep(options.until);
    if (!order->until) {
      return MakeError(ErrorCode::kInvalidArgument, "until: there is no step {}", options.until);
    }
  }
  return {};
}

Result<RunOrder> NewOrder(const ResearchOptions& options) {
  RunOrder order;
  DOSSIER_ASSIGN_OR_RETURN(order.idea, ReadFile(options.idea, research::kMaxIdeaBytes));
  DOSSIER_ASSIGN_OR_RETURN(
      order.config,
      ReadSettings(options.config.empty() ? "" : research::AbsolutePath(options.config), options));
  DOSSIER_ASSIGN_OR_RETURN(order.stages, research::ParseStages(options.stages));
  DOSSIER_ASSIGN_OR_RETURN(order.skip, SkipsOf(options.skip));
  order.resources_path = order.config.exec.resources;
  if (!order.resources_path.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(order.resources,
                             ReadFile(order.resources_path, research::kMaxResourceFileBytes));
  }
  return order;
}

Result<ResearchRun> Work(const RunOrder& order, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(research::RunOutcome outcome, research::Run(order, cancel));
  return ResearchRun{.folder = order.folder,
                     .end = std::string(research::RunEndName(outcome.end)),
                     .reason = std::move(outcome.reason),
                     .best_node = std::move(outcome.best_node),
                     .report = std::move(outcome.report_path),
                     .warnings = std::move(outcome.warnings)};
}

}  // namespace

Result<ResearchRun> RunResearch(const ResearchOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(RunOrder order, NewOrder(options));
  DOSSIER_ASSIGN_OR_RETURN(const research::Idea idea, research::ReadIdea(order.idea, options.idea));
  DOSSIER_ASSIGN_OR_RETURN(
      order.folder,
      research::MakeRunFolder({.out = options.out,
                               .name = options.name.empty() ? idea.title : options.name,
                               .time = SystemClock()->WallNow()}));
  if (const Status ready = FillPorts(options, &order); !ready) {
    static_cast<void>(RemoveAll(order.folder));  // it is empty
    return tl::unexpected(ready.error());
  }
  using research::OwnRun;
  DOSSIER_ASSIGN_OR_RETURN(const OwnRun own, OwnRun::Of(order.folder, OwnRun::Trust::kApproved));
  order.approve = own.Approver();
  return Work(order, options.cancel);
}

Result<ResearchRun> ResumeResearch(const std::string& folder, const ResearchOptions& options) {
  using research::OwnRun;
  DOSSIER_ASSIGN_OR_RETURN(const OwnRun own,
                           OwnRun::Of(folder, options.trust == ResearchOptions::Trust::kFolder
                                                  ? OwnRun::Trust::kGiven
                                                  : OwnRun::Trust::kApproved));
  DOSSIER_RETURN_IF_ERROR(own.Check());
  const std::string whole = research::AbsolutePath(folder);
  DOSSIER_ASSIGN_OR_RETURN(
      research::RunConfig config,
      ReadSettings(fmt::format("{}/{}", whole, research::run_files::kConfig), options));
  DOSSIER_ASSIGN_OR_RETURN(RunOrder order, research::StoredOrder(whole, std::move(config)));
  DOSSIER_RETURN_IF_ERROR(FillPorts(options, &order));
  order.approve = own.Approver();
  return Work(order, options.cancel);
}

Result<ResearchStatus> GetResearchStatus(const std::string& folder) {
  DOSSIER_ASSIGN_OR_RETURN(const research::RunHistory history, research::ReadRunHistory(folder));
  research::ResearchProgress status = research::StatusOf(history, *SystemClock());
  return ResearchStatus{.run = std::move(status.run),
                        .folder = std::move(status.folder),
                        .title = std::move(status.title),
                        .state = std::string(research::RunStateName(status.state)),
                        .stage = std::move(status.stage),
                        .done = status.nodes.done,
                        .good = status.nodes.good,
                        .buggy = status.nodes.buggy,
                        .running = status.running,
                        .best_node = std::move(status.best_id),
                        .best_metric = std::move(status.best_metric),
                        .reason = std::move(status.reason)};
}

Result<ResearchPlan> PlanResearch(const ResearchOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(RunOrder order, NewOrder(options));
  const auto fill = [&](RunOrder* scratch) { return FillPorts(options, scratch); };
  DOSSIER_ASSIGN_OR_RETURN(const research::Forecast forecast,
                           research::Foresee(std::move(order), options.out, fill, options.cancel));
  const auto range = [](const std::optional<research::Range>& from) {
    return from ? ResearchPlan::Range{from->least, from->most} : ResearchPlan::Range{};
  };
  return ResearchPlan{.nodes = range(forecast.nodes),
                      .calls = range(forecast.calls),
                      .tokens = range(forecast.tokens),
                      .usd = range(forecast.usd),
                      .hours = range(forecast.hours),
                      .bytes = range(forecast.bytes),
                      .text = research::ForecastText(forecast)};
}

Result<std::string> SteerResearch(const std::string& folder, std::string_view kind,
                                  const std::string& node, const std::string& text) {
  const auto known = research::FindSteerKind(kind);
  if (!known) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{}: there is no such order; pin, prune, free, hint and name are", kind);
  }
  DOSSIER_ASSIGN_OR_RETURN(
      research::Steered done,
      research::SteerRun(folder, {.kind = *known, .node = node, .text = text}, *SystemClock()));
  return std::move(done.line);
}

}  // namespace dossier
