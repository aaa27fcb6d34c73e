#include "research/paper/aggregation.h"

#include <algorithm>

#include "base/files/file.h"
#include "base/text/text.h"
#include "research/files/image_files.h"
#include "research/files/replies.h"
#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/node/python_script.h"
#include "research/search/summaries.h"

namespace dossier::research {
namespace {

constexpr std::string_view kWorker = "paper";
constexpr std::string_view kScript = "aggregate.py";

class Aggregator {
 public:
  Aggregator(const Services& services, const RunResults& results, Json summaries,
             const CancelToken& cancel)
      : services_(services),
        results_(results),
        summaries_(std::move(summaries)),
        cancel_(cancel),
        place_{.worker = std::string(kWorker),
               .workspace =
                   fmt::format("{}/{}/plots", services.run_folder, run_files::Worker(kWorker))} {}

  Result<Aggregation> Run() {
    DOSSIER_RETURN_IF_ERROR(ShowNodes(services_, &place_));
    for (int round = 0; round <= kAggregationReflections; ++round) {
      DOSSIER_ASSIGN_OR_RETURN(const Next next, Round(round));
      if (next == Next::kStop) break;
    }
    DOSSIER_RETURN_IF_ERROR(Keep());
    return std::move(made_);
  }

 private:
  enum class Next : std::uint8_t { kStop, kGoOn };

  Result<Next> Round(int round) {
    CallRequest request{
        .site = "plot_aggregation",
        .scope = {.branch = results_.memory_branch},
        .label = round == 0 ? "plot_aggregation" : fmt::format("plot_aggregation_r{}", round),
        .prefix = results_.prefix,
        .sections = {{.name = "summaries", .value = summaries_},
                     {.name = "best_code", .value = Json(BestCode())}},
        .variables = {{"max_figures", std::to_string(services_.config->max_figures)}}};
    if (round > 0) AddState(&request);
    DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, services_.caller->Call(request, cancel_));
    std::ranges::copy(called.warnings, std::back_inserter(made_.warnings));
    if (called.failure) {
      made_.warnings.push_back(fmt::format("{}: {}", request.label, FailureText(*called.failure)));
      return Next::kStop;
    }
    if (SaysDone(called.payload)) return images_.empty() ? Next::kGoOn : Next::kStop;
    DOSSIER_ASSIGN_OR_RETURN(const PlanAndScript parts, ReadPython(called.payload));
    if (parts.script == script_) return Next::kStop;
    return Draw(parts.script);
  }

  // Returns the code that wrote the data to be drawn.
  std::string BestCode() const {
    const Node* best = results_.Best();
    return best ? best->code : std::string();
  }

  // Adds what the model sees of the previous round.
  void AddState(CallRequest* request) const {
    JsonArray names;
    for (const ImageFile& image : images_) names.emplace_back(image.name);
    request->sections.push_back({.name = "figure_count",
                                 .value = JsonObject{{"figures", images_.size()},
                                                     {"limit", services_.config->max_figures},
                                                     {"names", std::move(names)}}});
    request->sections.push_back(
        {.name = "script_output", .value = JsonObject{{"script", script_}, {"output", output_}}});
  }

  Result<Next> Draw(const std::string& code) {
    const std::string figures = place_.workspace + "/figures";
    DOSSIER_RETURN_IF_ERROR(RemoveAll(figures));
    DOSSIER_RETURN_IF_ERROR(MakeFolders(figures));
    DOSSIER_ASSIGN_OR_RETURN(const ScriptRun run,
                             RunScript(services_, place_, kScript, code, cancel_));
    DOSSIER_ASSIGN_OR_RETURN(FoundImages found, FindImages(figures));
    script_ = run.code;
    output_ = run.failure.empty() ? run.output : run.failure;
    std::ranges::move(found.warnings, std::back_inserter(made_.warnings));
    // A version that draws nothing does not remove figures.
    if (found.images.empty()) return Next::kGoOn;
    images_ = std::move(found.images);
    made_.script = script_;
    return Next::kGoOn;
  }

  Status Keep() {
    const auto limit = static_cast<std::size_t>(std::max(0, services_.config->max_figures));
    if (images_.size() > limit) {
      made_.warnings.push_back(fmt::format("{} figures were drawn; the first {} by name are kept",
                                           images_.size(), limit));
      images_.resize(limit);
    }
    if (images_.empty()) made_.warnings.emplace_back("no figure was drawn for the paper");
    if (!made_.script.empty()) {
      DOSSIER_RETURN_IF_ERROR(
          WriteArtefact(services_, std::string(run_files::kAggregator), made_.script));
    }
    for (const ImageFile& image : images_) {
      const std::string path = fmt::format("{}/{}", run_files::kFigures, image.name);
      DOSSIER_RETURN_IF_ERROR(WriteArtefact(services_, path, image.bytes));
      made_.figures.push_back(image.name);
    }
    return {};
  }

  const Services& services_;
  const RunResults& results_;
  const Json summaries_;
  const CancelToken& cancel_;
  WorkspacePlace place_;
  std::string script_, output_;  // from the last round
  std::vector<ImageFile> images_;
  Aggregation made_;
};

}  // namespace

Result<Aggregation> AggregatePlots(const Services& services, const RunResults& results,
                                   const CancelToken& cancel) {
  if (results.models == Models::kNone) {
    return Aggregation{.warnings = {"plot_aggregation: skipped, no model is asked any more"}};
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json summaries, ReadSummaries(services.run_folder));
  return Aggregator(services, results, FilterSummaries(summaries, SummaryFilter::kPlots), cancel)
      .Run();
}

}  // namespace dossier::research
