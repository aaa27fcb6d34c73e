#include "research/node/plots.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/text.h"
#include "research/files/image_files.h"
#include "research/files/npy.h"
#include "research/files/replies.h"
#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/node/python_script.h"
#include "research/node/results.h"

namespace dossier::research {
namespace {

constexpr std::string_view kPlotScript = "plot.py";
constexpr std::string_view kSeedPlotScript = "seed_plot.py";

// Data shared by every call of these parts.
struct Place {
  const Services& services;
  const CallOrigin& scope;
  const PrefixSections& prefix;
  const CancelToken& cancel;
};

CallRequest Request(const Place& place, std::string_view site) {
  return {.site = std::string(site), .scope = place.scope, .prefix = place.prefix};
}

// Calls, and adds the call's warnings. A failure is a warning, too.
Result<CallOutcome> Ask(const Place& place, const CallRequest& request, PlotOutcome* outcome) {
  DOSSIER_ASSIGN_OR_RETURN(CallOutcome called, place.services.caller->Call(request, place.cancel));
  std::ranges::copy(called.warnings, std::back_inserter(outcome->warnings));
  if (called.failure) {
    outcome->warnings.push_back(fmt::format("{}: {}", request.site, FailureText(*called.failure)));
  }
  return called;
}

// Asks for a script until one ran and drew something; its figures are in `images`.
class Drawing {
 public:
  Drawing(const Place& place, WorkspacePlace workspace, std::string_view file)
      : place_(place), workspace_(std::move(workspace)), file_(file) {}

  Result<std::vector<ImageFile>> Draw(CallRequest request, PlotOutcome* outcome) {
    request.check = [this](std::string_view payload) { return Try(payload); };
    DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, Ask(place_, request, outcome));
    // A fault of the sandbox, not of the script, ends the run.
    if (broken_) return tl::unexpected(*broken_);
    std::ranges::copy(warnings_, std::back_inserter(outcome->warnings));
    if (called.failure) return std::vector<ImageFile>{};
    outcome->plan = plan_;
    outcome->code = code_;
    return std::move(images_);
  }

 private:
  Status Try(std::string_view payload) {
    DOSSIER_ASSIGN_OR_RETURN(PlanAndScript parts, ReadPython(payload));
    Result<ScriptRun> run =
        RunScript(place_.services, workspace_, file_, parts.script, place_.cancel);
    if (!run) {
      broken_ = run.error();
      return {};
    }
    if (!run->repair.empty()) warnings_.push_back("payload_repaired: " + run->repair);
    if (!run->failure.empty()) return MakeError(ErrorCode::kFailed, "{}", run->failure);
    Result<FoundImages> found = FindImages(workspace_.workspace);
    if (!found) {
      broken_ = found.error();
      return {};
    }
    if (found->images.empty()) {
      return MakeError(ErrorCode::kFailed, "the script wrote no PNG file that decodes.{}{}",
                       found->warnings.empty() ? "" : " " + Join(found->warnings, "; "),
                       run->output.empty() ? "" : "\n" + run->output);
    }
    plan_ = std::move(parts.plan);
    code_ = std::move(run->code);
    images_ = std::move(found->images);
    std::ranges::move(found->warnings, std::back_inserter(warnings_));
    return {};
  }

  const Place place_;
  const WorkspacePlace workspace_;
  const std::string_view file_;
  std::string plan_, code_;
  std::vector<ImageFile> images_;
  std::vector<std::string> warnings_;
  std::optional<Error> broken_;
};

Status KeepImages(const Place& place, std::string_view node, const std::vector<ImageFile>& images,
                  PlotOutcome* outcome) {
  for (const ImageFile& image : images) {
    const std::string path = run_files::Plots(node) + "/" + image.name;
    DOSSIER_RETURN_IF_ERROR(WriteArtefact(place.services, path, image.bytes));
    outcome->plots.push_back(path);
  }
  if (!images.empty()) outcome->state = PlotOutcome::Plots::kValid;
  return {};
}

std::vector<std::string> SelectedPaths(const CallOutcome& called) {
  if (called.failure) return {};
  const Result<Json> reply = ParseJson(called.payload);
  return reply ? StringsOf(Find(*reply, "selected_plots")) : std::vector<std::string>();
}

// Selects the images for the vision model: all, or those that a model names.
Result<std::vector<const ImageFile*>> SelectPlots(const Place& place,
                                                  const std::vector<ImageFile>& images,
                                                  PlotOutcome* outcome) {
  std::vector<const ImageFile*> selected;
  if (images.size() > kMaxAnalysedPlots) {
    JsonArray paths;
    for (const std::string& path : outcome->plots) paths.emplace_back(path);
    CallRequest request = Request(place, "plot_selection");
    request.sections = {{.name = "plot_paths", .value = std::move(paths)}};
    DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, Ask(place, request, outcome));
    for (const std::string& path : SelectedPaths(called)) {
      // All are in one folder, so that the name of a file tells it.
      const std::string name = "/" + path.substr(path.rfind('/') + 1);
      const auto at = std::ranges::find_if(
          outcome->plots, [&](const std::string& plot) { return plot.ends_with(name); });
      if (at == outcome->plots.end() || selected.size() == kMaxAnalysedPlots) continue;
      const ImageFile* image = &images[static_cast<std::size_t>(at - outcome->plots.begin())];
      if (std::ranges::find(selected, image) == selected.end()) selected.push_back(image);
    }
  }
  if (!selected.empty()) return selected;
  if (images.size() > kMaxAnalysedPlots) {
    outcome->warnings.emplace_back("plot_selection: no plot was chosen, the first ones are shown");
  }
  for (const ImageFile& image : images) {
    if (selected.size() < kMaxAnalysedPlots) selected.push_back(&image);
  }
  return selected;
}

void TakeAnalyses(const Json& reply, PlotOutcome* outcome) {
  if (const Json* analyses = Find(reply, "plot_analyses"); analyses && analyses->is_array()) {
    for (const Json& analysis : analyses->as_array()) {
      if (const auto text = FindString(analysis, "analysis")) outcome->analyses.emplace_back(*text);
    }
  }
  outcome->vlm_feedback_summary = FindString(reply, "vlm_feedback_summary").value_or("");
  if (!FindBool(reply, "valid_plots_received").value_or(false)) {
    outcome->state = PlotOutcome::Plots::kBuggy;
  }
}

Status Analyse(const Place& place, const std::vector<ImageFile>& images, PlotOutcome* outcome) {
  if (place.services.vision == Services::Vision::kNo) {
    outcome->warnings.emplace_back("vlm_analysis: skipped, the model of role vlm takes no images");
    return {};
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto selected, SelectPlots(place, images, outcome));
  CallRequest request = Request(place, "vlm_analysis");
  OwnSection section{.name = "images"};
  for (const ImageFile* image : selected) {
    DOSSIER_ASSIGN_OR_RETURN(auto blocks, ImageBlocks(image->name, image->bytes));
    std::ranges::move(blocks, std::back_inserter(section.parts));
  }
  request.sections.push_back(std::move(section));
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, Ask(place, request, outcome));
  if (called.failure) {
    outcome->state = PlotOutcome::Plots::kBuggy;
    return {};
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json reply, ParseJson(called.payload));
  TakeAnalyses(reply, outcome);
  return {};
}

constexpr std::array<std::string_view, 2> kDatasetKeys = {"REASONING",
                                                          "SUCCESSFULLY_TESTED_DATASETS"};

Status FindDatasets(const Place& place, PlotOutcome* outcome) {
  if (outcome->state == PlotOutcome::Plots::kBuggy || outcome->analyses.empty()) return {};
  CallRequest request = Request(place, "datasets_tested");
  JsonArray analyses;
  for (const std::string& text : outcome->analyses) analyses.emplace_back(text);
  request.sections = {{.name = "plot_analyses", .value = std::move(analyses)},
                      {.name = "vlm_summary", .value = Json(outcome->vlm_feedback_summary)},
                      {.name = "plot_code", .value = Json(outcome->code)}};
  request.check = [](std::string_view payload) -> Status {
    if (ReadKeywords(payload, kDatasetKeys)[1]) return {};
    return MakeError(ErrorCode::kInvalidArgument, "a line `SUCCESSFULLY_TESTED_DATASETS:` is due");
  };
  DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, Ask(place, request, outcome));
  if (called.failure) return {};
  const std::string names = ReadKeywords(called.payload, kDatasetKeys)[1].value_or("");
  for (const std::string_view name : Split(names, ',')) {
    if (!TrimSpace(name).empty()) outcome->datasets.emplace_back(TrimSpace(name));
  }
  return {};
}

}  // namespace

Result<PlotOutcome> MakeNodePlots(const Services& services, const PlotWork& work,
                                  const CancelToken& cancel) {
  const Place place{services, work.scope, work.prefix, cancel};
  PlotOutcome outcome;
  CallRequest request = Request(place, "plotting_code");
  DOSSIER_ASSIGN_OR_RETURN(Json arrays, NpyList(work.workspace));
  request.sections = {{.name = "npy", .value = std::move(arrays)},
                      {.name = "code", .value = Json(work.node->code)}};
  if (!work.base_plot_code.empty()) {
    request.sections.push_back({.name = "base_plot_code", .value = Json(work.base_plot_code)});
  }
  Drawing drawing(
      place, {.worker = work.worker, .workspace = work.workspace, .image = work.node->worker_image},
      kPlotScript);
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<ImageFile> images,
                           drawing.Draw(std::move(request), &outcome));
  if (images.empty()) return outcome;
  DOSSIER_RETURN_IF_ERROR(KeepImages(place, work.node->id, images, &outcome));
  DOSSIER_RETURN_IF_ERROR(Analyse(place, images, &outcome));
  DOSSIER_RETURN_IF_ERROR(FindDatasets(place, &outcome));
  return outcome;
}

void KeepPlots(const PlotOutcome& outcome, Node* node) {
  node->plots = outcome.plots;
  node->plot_code = outcome.code;
  node->plot_plan = outcome.plan;
  node->plot_analyses = outcome.analyses;
  node->vlm_feedback_summary = outcome.vlm_feedback_summary;
  node->datasets_successfully_tested = outcome.datasets;
  node->is_buggy_plots = outcome.state == PlotOutcome::Plots::kBuggy;
}

Result<PlotOutcome> MakeSeedPlot(const Services& services, const SeedPlotWork& work,
                                 const CancelToken& cancel) {
  const Place place{services, work.scope, work.prefix, cancel};
  PlotOutcome outcome;
  WorkspacePlace workspace{
      .worker = work.worker,
      .workspace = fmt::format("{}/{}", services.run_folder, run_files::Workspace(work.node_id)),
      .image = work.best->worker_image};
  DOSSIER_RETURN_IF_ERROR(ShowNodes(services, &workspace));
  JsonArray paths;
  for (const Node* rerun : work.reruns) {
    for (const std::string& path : DataFiles(services, *rerun)) paths.emplace_back(path);
  }
  CallRequest request = Request(place, "seed_plot");
  request.sections = {{.name = "plot_code", .value = Json(work.best->plot_code)},
                      {.name = "code", .value = Json(work.best->code)},
                      {.name = "data_paths", .value = std::move(paths)}};
  Drawing drawing(place, std::move(workspace), kSeedPlotScript);
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<ImageFile> images,
                           drawing.Draw(std::move(request), &outcome));
  DOSSIER_RETURN_IF_ERROR(KeepImages(place, work.node_id, images, &outcome));
  return outcome;
}

}  // namespace dossier::research
