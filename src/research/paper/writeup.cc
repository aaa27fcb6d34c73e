#include "research/paper/writeup.h"

#include <algorithm>
#include <utility>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/text/text.h"
#include "research/files/replies.h"
#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/paper/latex.h"
#include "research/paper/latex_build.h"
#include "research/search/summaries.h"

namespace dossier::research {
namespace {

constexpr std::string_view kTemplate = "data/research/paper.tex";

std::string PaperFile(std::string_view name) {
  return fmt::format("{}/{}", run_files::kPaper, name);
}

Result<std::string> Template(const Services& services, const RunResults& results) {
  std::string tex;
  if (services.config->writeup_template.empty()) {
    tex = BuiltInAsset(kTemplate).value_or("");
  } else {
    DOSSIER_ASSIGN_OR_RETURN(tex, ReadFile(services.config->writeup_template, 4u << 20));
  }
  return ReplaceAll(tex, kTitlePlace, EscapeLatex(results.title));
}

class PaperWriter {
 public:
  PaperWriter(const Services& services, const RunResults& results, const PaperParts& parts,
              const CancelToken& cancel)
      : services_(services), results_(results), parts_(parts), cancel_(cancel) {
    for (const BibEntry& entry : parts.citations) keys_.push_back(entry.key);
  }

  Result<Paper> Write() {
    DOSSIER_ASSIGN_OR_RETURN(summaries_, ReadSummaries(services_.run_folder));
    DOSSIER_ASSIGN_OR_RETURN(template_, Template(services_, results_));
    tex_ = template_;
    if (results_.models == Models::kNone) {
      paper_.warnings.emplace_back("writeup: the template is kept, no model is asked any more");
    } else {
      DOSSIER_RETURN_IF_ERROR(FirstVersion());
    }
    if (!written_) return KeepUnwritten();
    DOSSIER_RETURN_IF_ERROR(Build(tex_));
    DOSSIER_RETURN_IF_ERROR(Reflect());
    return Keep();
  }

 private:
  Result<CallOutcome> Ask(CallRequest request) {
    request.scope = {.branch = results_.memory_branch};
    request.prefix = results_.prefix;
    request.variables = {{"page_limit", std::to_string(services_.config->page_limit)}};
    DOSSIER_ASSIGN_OR_RETURN(CallOutcome called, services_.caller->Call(request, cancel_));
    std::ranges::copy(called.warnings, std::back_inserter(paper_.warnings));
    if (called.failure) {
      paper_.warnings.push_back(fmt::format("{}: {}",
                                            request.label.empty() ? request.site : request.label,
                                            FailureText(*called.failure)));
    }
    return called;
  }

  // Returns what must not be compiled, and what is not written yet.
  std::vector<std::string> FaultsOf(std::string_view tex) const {
    std::vector<std::string> faults = CheckLatex(tex, {.figures = parts_.figures, .keys = keys_});
    std::ranges::move(UnwrittenParts(tex, template_), std::back_inserter(faults));
    return faults;
  }

  Status FirstVersion() {
    CallRequest request{.site = "writeup", .label = Label()};
    request.sections = {
        Evidence(), Memory(),
        {.name = "aggregator", .value = Json(parts_.aggregator)},
        {.name = "plot_list", .value = TextArray(parts_.figures)},
        {.name = "figure_descriptions", .value = Descriptions()},
        {.name = "citations", .value = CitationList()},
        {.name = "latex", .value = Json(tex_)}};
    request.check = [this](std::string_view payload) -> Status {
      DOSSIER_ASSIGN_OR_RETURN(const std::string tex, ReadLatex(payload));
      const std::vector<std::string> faults = FaultsOf(tex);
      if (faults.empty()) return {};
      if (CheckLatex(tex, {.figures = parts_.figures, .keys = keys_}).empty()) partly_ = tex;
      return MakeError(ErrorCode::kInvalidArgument, "{}", Join(faults, "\n"));
    };
    DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, Ask(std::move(request)));
    if (called.failure) return {};
    DOSSIER_ASSIGN_OR_RETURN(tex_, ReadLatex(called.payload));
    written_ = true;
    return {};
  }

  OwnSection Evidence() const {
    return {.name = "summaries", .value = FilterSummaries(summaries_, SummaryFilter::kWriteup)};
  }
  OwnSection Memory() const { return {.name = "final_memory", .value = Json(parts_.final_memory)}; }

  // A failed run asks again under another label; the journal has the earlier replies.
  std::string Label() const {
    return parts_.attempt == 0 ? "" : fmt::format("writeup_retry{}", parts_.attempt);
  }

  // Keeps the incomplete paper for a person to finish.
  Result<Paper> KeepUnwritten() {
    if (!partly_.empty()) tex_ = partly_;
    const std::vector<std::string> parts = UnwrittenParts(tex_, template_);
    paper_.failure = fmt::format("{} is not written: {}", PaperFile("paper.tex"),
                                 parts.empty() ? "no reply was a paper" : Join(parts, "; "));
    DOSSIER_RETURN_IF_ERROR(KeepPaper(services_, tex_, "", parts_.figures));
    paper_.tex = PaperFile("paper.tex");
    return std::move(paper_);
  }

  // What vision models said about the plots of the best nodes, which are the source of the figures.
  Json Descriptions() const {
    JsonArray descriptions;
    for (const StageResults& stage : results_.stages) {
      const Node* best = stage.tree.Find(stage.best_node);
      if (best == nullptr) continue;
      for (const std::string& analysis : best->plot_analyses) descriptions.emplace_back(analysis);
    }
    return descriptions;
  }

  Json CitationList() const {
    JsonArray list;
    for (const BibEntry& entry : parts_.citations) {
      list.push_back(JsonObject{{"key", entry.key},
                                {"title", entry.Field("title")},
                                {"authors", entry.Field("author")},
                                {"year", entry.Field("year")}});
    }
    return list;
  }

  // Keeps this version, unless it does not compile and another one did.
  Status Build(const std::string& tex) {
    DOSSIER_ASSIGN_OR_RETURN(
        last_,
        BuildLatex(services_,
                   {.tex = tex, .bibtex = BibtexText(parts_.citations), .figures = parts_.figures},
                   cancel_));
    if (last_.state == LatexBuild::State::kFailed && !pdf_.empty()) return {};
    kept_ = tex;
    if (last_.state != LatexBuild::State::kBuilt) {
      paper_.message = last_.message;
      return {};
    }
    paper_.message.clear();
    paper_.pages = last_.pages;
    pdf_ = last_.pdf;
    return {};
  }

  Status Reflect() {
    for (int i = 1; i <= services_.config->writeup_reflections; ++i) {
      CallRequest request{.site = "writeup_reflection",
                          .label = fmt::format("writeup_reflection_{}", i)};
      request.sections = ReflectionSections();
      DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, Ask(std::move(request)));
      if (called.failure || SaysDone(called.payload)) return {};
      DOSSIER_ASSIGN_OR_RETURN(std::string tex, ReadLatex(called.payload));
      if (tex == tex_) return {};
      Remember(std::exchange(tex_, std::move(tex)));
      // A version that must not be compiled is only reported.
      if (FaultsOf(tex_).empty()) DOSSIER_RETURN_IF_ERROR(Build(tex_));
    }
    return {};
  }

  // Adds a superseded version to the history as a turn of the model.
  void Remember(const std::string& version) {
    const std::string_view asked =
        history_.empty() ? "Write the paper." : "Write a better version.";
    history_.push_back({assembly::Role::kUser, {{.text = std::string(asked)}}});
    history_.push_back(
        {assembly::Role::kAssistant, {{.text = fmt::format("```latex\n{}```\n", version)}}});
  }

  std::vector<OwnSection> ReflectionSections() const {
    std::vector<std::string> used;
    std::vector<std::string> invalid;
    for (const LatexUse& use : ScanLatex(WithoutComments(tex_))) {
      if (use.command != "includegraphics") continue;
      const std::string figure = FigureOf(use.argument, parts_.figures);
      (figure.empty() ? invalid : used).push_back(figure.empty() ? use.argument : figure);
    }
    std::vector<std::string> unused;
    for (const std::string& figure : parts_.figures) {
      if (std::ranges::find(used, figure) == used.end()) unused.push_back(figure);
    }
    std::vector<std::string> checker = FaultsOf(tex_);
    if (last_.state != LatexBuild::State::kNoLatex && !last_.message.empty()) {
      checker.push_back(last_.message);
    }
    const JsonObject pages{{"pages", last_.pages == 0 ? Json("not known") : Json(last_.pages)},
                           {"limit", services_.config->page_limit}};
    return {{.name = "history", .turns = history_},
            Evidence(),
            Memory(),
            {.name = "latex", .value = Json(tex_)},
            {.name = "unused_figures", .value = TextArray(unused)},
            {.name = "invalid_figures", .value = TextArray(invalid)},
            {.name = "pages", .value = pages},
            {.name = "checker", .value = Json(Join(checker, "\n"))}};
  }

  Result<Paper> Keep() {
    if (paper_.pages > services_.config->page_limit) {
      paper_.warnings.push_back(fmt::format("the paper has {} pages; the limit is {}", paper_.pages,
                                            services_.config->page_limit));
    }
    DOSSIER_RETURN_IF_ERROR(KeepPaper(services_, kept_, pdf_, parts_.figures));
    paper_.tex = PaperFile("paper.tex");
    if (!pdf_.empty()) paper_.pdf = PaperFile("paper.pdf");
    return std::move(paper_);
  }

  const Services& services_;
  const RunResults& results_;
  const PaperParts& parts_;
  const CancelToken& cancel_;
  std::vector<std::string> keys_;
  Json summaries_;
  std::string template_;
  std::string partly_;                   // a version that could be compiled if it were complete
  std::string tex_;                      // the newest version
  std::vector<assembly::Turn> history_;  // those before it
  std::string kept_;  // the last one that compiled; else the last one that passed the checks
  std::string pdf_;   // of kept_
  bool written_ = false;
  LatexBuild last_;
  Paper paper_;
};

}  // namespace

Status KeepPaper(const Services& services, std::string_view tex, std::string_view pdf,
                 const std::vector<std::string>& figures) {
  DOSSIER_RETURN_IF_ERROR(WriteArtefact(services, PaperFile("paper.tex"), tex));
  for (const std::string& name : figures) {
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string bytes,
        ReadFile(fmt::format("{}/{}/{}", services.run_folder, run_files::kFigures, name)));
    DOSSIER_RETURN_IF_ERROR(
        WriteArtefact(services, PaperFile(fmt::format("figures/{}", name)), bytes));
  }
  if (pdf.empty()) return RemoveAll(services.run_folder + "/" + PaperFile("paper.pdf"));
  return WriteArtefact(services, PaperFile("paper.pdf"), pdf);
}

Result<Paper> MakePaper(const Services& services, const RunResults& results,
                        const PaperParts& parts, const CancelToken& cancel) {
  return PaperWriter(services, results, parts, cancel).Write();
}

}  // namespace dossier::research
