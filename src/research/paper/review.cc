#include "research/paper/review.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/text/text.h"
#include "research/files/image_files.h"
#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/paper/latex.h"
#include "research/paper/latex_build.h"
#include "research/paper/writeup.h"

namespace dossier::research {
namespace {

constexpr std::uint64_t kMaxPaper = 4u << 20;  // bytes

std::string_view BiasText(std::string_view bias) {
  if (bias == "strict") return "If you are unsure, give the lower score and reject.";
  if (bias == "lenient") return "If you are unsure, give the higher score and accept.";
  return "";
}

class Reviewer {
 public:
  Reviewer(const Services& services, const RunResults& results, std::string tex,
           const CancelToken& cancel)
      : services_(services), results_(results), tex_(std::move(tex)), cancel_(cancel) {}

  Result<Reviewed> Review() {
    DOSSIER_RETURN_IF_ERROR(ReviewText());
    DOSSIER_RETURN_IF_ERROR(ReviewFigures());
    return std::move(done_);
  }

 private:
  std::string Asset(std::string_view name) const {
    return std::string(BuiltInAsset(fmt::format("data/research/{}", name)).value_or(""));
  }

  CallRequest Request(std::string_view site, std::string label) const {
    return {.site = std::string(site),
            .scope = {.branch = results_.memory_branch},
            .label = std::move(label),
            .prefix = results_.prefix};
  }

  // Returns the answer, or nothing with a warning.
  Result<std::optional<Json>> Ask(const CallRequest& request) {
    DOSSIER_ASSIGN_OR_RETURN(const CallOutcome called, services_.caller->Call(request, cancel_));
    std::ranges::copy(called.warnings, std::back_inserter(done_.warnings));
    if (called.failure) {
      done_.warnings.push_back(fmt::format("{}: {}", request.label, FailureText(*called.failure)));
      return std::optional<Json>();
    }
    DOSSIER_ASSIGN_OR_RETURN(Json reply, ParseJson(called.payload));
    return std::optional<Json>(std::move(reply));
  }

  Result<std::optional<Json>> AskForReview(CallRequest request) {
    request.variables = {{"bias", std::string(BiasText(services_.config->review_bias))}};
    request.check = [](std::string_view payload) -> Status {
      DOSSIER_ASSIGN_OR_RETURN(const Json reply, ParseJson(payload));
      DOSSIER_ASSIGN_OR_RETURN(const JsonObject review, ReadReview(reply));
      static_cast<void>(review);
      return {};
    };
    DOSSIER_ASSIGN_OR_RETURN(std::optional<Json> reply, Ask(request));
    if (!reply) return reply;
    DOSSIER_ASSIGN_OR_RETURN(JsonObject review, ReadReview(*reply));
    return std::optional<Json>(std::move(review));
  }

  Json Examples() const {
    const Result<Json> examples = ParseJson(Asset("review_examples.json"));
    JsonArray shown;
    if (!examples || !examples->is_array()) return shown;
    for (const Json& example : examples->as_array()) {
      if (shown.size() < static_cast<std::size_t>(services_.config->review_examples)) {
        shown.push_back(example);
      }
    }
    return shown;
  }

  // Runs one reviewer: a review, then as many revisions as configured (reflections).
  Result<std::optional<Json>> OneReview(int number) {
    std::optional<Json> review;
    for (int look = 1; look <= std::max(1, services_.config->review_reflections); ++look) {
      CallRequest request =
          Request("review", look == 1 ? fmt::format("review_{}", number)
                                      : fmt::format("review_{}_reflection_{}", number, look));
      request.sections = {{.name = "form", .value = Json(Asset("review_form.md"))},
                          {.name = "examples", .value = Examples()},
                          {.name = "paper", .value = Json(WithoutComments(tex_))}};
      if (review) request.sections.push_back({.name = "earlier", .value = *review});
      DOSSIER_ASSIGN_OR_RETURN(std::optional<Json> next, AskForReview(std::move(request)));
      if (!next) break;
      review = std::move(next);
    }
    return review;
  }

  Status ReviewText() {
    std::vector<Json> reviews;
    for (int i = 1; i <= services_.config->review_ensemble; ++i) {
      DOSSIER_ASSIGN_OR_RETURN(std::optional<Json> review, OneReview(i));
      if (review) reviews.push_back(*std::move(review));
    }
    if (reviews.empty()) return {};
    done_.review = reviews[0].as_object();
    if (reviews.size() > 1) DOSSIER_RETURN_IF_ERROR(SumUp(reviews));
    return WriteArtefact(services_, fmt::format("{}/review.json", run_files::kPaper),
                         ToPrettyJson(*done_.review) + "\n");
  }

  Status SumUp(const std::vector<Json>& reviews) {
    CallRequest request = Request("meta_review", "meta_review");
    request.sections = {{.name = "form", .value = Json(Asset("review_form.md"))},
                        {.name = "reviews", .value = JsonArray(reviews.begin(), reviews.end())},
                        {.name = "paper", .value = Json(WithoutComments(tex_))}};
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<Json> meta, AskForReview(std::move(request)));
    done_.review = WithMeanScores(meta ? meta->as_object() : reviews[0].as_object(), reviews);
    return {};
  }

  Status ReviewFigures() {
    DOSSIER_ASSIGN_OR_RETURN(
        const FoundImages found,
        FindImages(fmt::format("{}/{}", services_.run_folder, run_files::kFigures)));
    for (const ImageFile& image : found.images) images_.emplace(image.name, image.bytes);
    const JsonArray duplicates = Duplicates();
    if (services_.vision == Services::Vision::kNo) {
      done_.warnings.emplace_back("figure_review: skipped, the model of role vlm takes no images");
    } else {
      DOSSIER_RETURN_IF_ERROR(LookAtFigures());
      DOSSIER_RETURN_IF_ERROR(RemoveFigures());
    }
    JsonArray removed;
    for (const std::string& name : done_.removed) removed.emplace_back(name);
    const JsonObject all{{"schema", "dossier.research.figure_review/1"},
                         {"figures", done_.figures},
                         {"removed", std::move(removed)},
                         {"duplicates", duplicates}};
    return WriteArtefact(services_, fmt::format("{}/figure_review.json", run_files::kPaper),
                         ToPrettyJson(all) + "\n");
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : images_) names.push_back(name);
    return names;
  }

  // Finds files with the same bytes, and files that the paper shows twice.
  JsonArray Duplicates() const {
    std::map<std::string, std::vector<std::string>> by_bytes;
    for (const auto& [name, bytes] : images_) by_bytes[bytes].push_back(name);
    std::map<std::string, int> shown;
    const std::vector<std::string> names = Names();
    for (const PaperFigure& figure : FiguresOf(tex_)) {
      for (const std::string& image : figure.images) ++shown[FigureOf(image, names)];
    }
    JsonArray duplicates;
    for (const auto& [bytes, same] : by_bytes) {
      if (same.size() > 1) duplicates.push_back(JsonArray(same.begin(), same.end()));
    }
    for (const auto& [name, times] : shown) {
      if (times > 1 && !name.empty()) duplicates.push_back(JsonArray{name, name});
    }
    return duplicates;
  }

  Status LookAtFigures() {
    const std::vector<std::string> names = Names();
    const std::string abstract = AbstractOf(tex_);
    for (const PaperFigure& figure : FiguresOf(tex_)) {
      for (const std::string& argument : figure.images) {
        const std::string name = FigureOf(argument, names);
        if (name.empty()) continue;
        DOSSIER_RETURN_IF_ERROR(LookAt(figure, name, abstract));
      }
    }
    return {};
  }

  Status LookAt(const PaperFigure& figure, const std::string& name, const std::string& abstract) {
    CallRequest request =
        Request("figure_review", fmt::format("figure_review_{}", done_.figures.size() + 1));
    JsonArray references;
    for (const std::string& text : figure.references) references.emplace_back(text);
    DOSSIER_ASSIGN_OR_RETURN(auto blocks, ImageBlocks(name, images_.find(name)->second));
    request.sections = {{.name = "abstract", .value = Json(abstract)},
                        {.name = "caption", .value = Json(figure.caption)},
                        {.name = "references", .value = std::move(references)},
                        {.name = "image", .parts = std::move(blocks)}};
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<Json> reply, Ask(request));
    if (!reply) return {};
    JsonObject review{{"image", name}, {"label", figure.label}};
    for (const std::string_view field :
         {"Img_description", "Img_review", "Caption_review", "Figrefs_review"}) {
      review[field] = FindString(*reply, field).value_or("");
    }
    constexpr std::string_view kRemove = "REMOVE_IMAGE:";
    const bool removes =
        TrimSpace(FindString(*reply, "Img_review").value_or("")).starts_with(kRemove);
    if (removes && std::ranges::find(done_.removed, name) == done_.removed.end()) {
      done_.removed.push_back(name);
    }
    done_.figures.push_back(std::move(review));
    return {};
  }

  // Removes the figures from the paper, if it still compiles.
  Status RemoveFigures() {
    if (done_.removed.empty()) return {};
    std::string tex = tex_;
    for (const std::string& name : done_.removed) tex = WithoutFigure(tex, name);
    std::vector<std::string> left = Names();
    std::erase_if(left, [this](const std::string& name) {
      return std::ranges::find(done_.removed, name) != done_.removed.end();
    });
    const auto bibtex =
        ReadFile(fmt::format("{}/{}/references.bib", services_.run_folder, run_files::kPaper));
    DOSSIER_ASSIGN_OR_RETURN(
        const LatexBuild built,
        BuildLatex(services_, {.tex = tex, .bibtex = bibtex ? *bibtex : "", .figures = left},
                   cancel_));
    if (built.state == LatexBuild::State::kFailed) {
      done_.warnings.push_back(
          fmt::format("figure_review: the paper does not compile without {}; it was left as it is",
                      Join(done_.removed, ", ")));
      done_.removed.clear();
      return {};
    }
    for (const std::string& name : done_.removed) {
      DOSSIER_RETURN_IF_ERROR(RemoveAll(
          fmt::format("{}/{}/figures/{}", services_.run_folder, run_files::kPaper, name)));
    }
    return KeepPaper(services_, tex, built.pdf, left);
  }

  const Services& services_;
  const RunResults& results_;
  const std::string tex_;
  const CancelToken& cancel_;
  std::map<std::string, std::string> images_;  // figures/: name to bytes
  Reviewed done_;
};

}  // namespace

Result<Reviewed> ReviewPaper(const Services& services, const RunResults& results,
                             const CancelToken& cancel) {
  const std::string path = fmt::format("{}/{}/paper.tex", services.run_folder, run_files::kPaper);
  if (results.models == Models::kNone || !Exists(path)) {
    return Reviewed{.warnings = {results.models == Models::kNone
                                     ? "review: skipped, no model is asked any more"
                                     : "review: skipped, there is no paper"}};
  }
  DOSSIER_ASSIGN_OR_RETURN(std::string tex, ReadFile(path, kMaxPaper));
  const std::vector<std::string> unwritten = UnwrittenParts(tex, "");
  if (!unwritten.empty()) {
    return Reviewed{.warnings = {fmt::format("review: skipped, the paper is not written: {}",
                                             Join(unwritten, "; "))}};
  }
  return Reviewer(services, results, std::move(tex), cancel).Review();
}

namespace {

enum class Kind : std::uint8_t { kText, kList, kScore, kFlag, kDecision };
struct Field {
  std::string_view name;
  Kind kind = Kind::kText;
  int highest = 0;  // highest score; the lowest is 1
};
// In the order of the form.
constexpr Field kFields[] = {{"Summary"},
                             {"Strengths", Kind::kList},
                             {"Weaknesses", Kind::kList},
                             {"Originality", Kind::kScore, 4},
                             {"Quality", Kind::kScore, 4},
                             {"Clarity", Kind::kScore, 4},
                             {"Significance", Kind::kScore, 4},
                             {"Questions", Kind::kList},
                             {"Limitations", Kind::kList},
                             {"Ethical Concerns", Kind::kFlag},
                             {"Soundness", Kind::kScore, 4},
                             {"Presentation", Kind::kScore, 4},
                             {"Contribution", Kind::kScore, 4},
                             {"Overall", Kind::kScore, 10},
                             {"Confidence", Kind::kScore, 5},
                             {"Decision", Kind::kDecision}};

// Returns a score in its range: a whole number, also as text ("3", "3: good").
std::optional<std::int64_t> ScoreOf(const Json& value, int highest) {
  double number = 0;
  if (value.is_string()) {
    const std::string_view text(value.as_string());
    std::size_t digits = 0;
    for (; digits < text.size() && digits < 3 && text[digits] >= '0' && text[digits] <= '9';
         ++digits) {
      number = number * 10 + (text[digits] - '0');
    }
    if (digits == 0) return {};
  } else if (value.is_number()) {
    number = value.to_number<double>();
  } else {
    return {};
  }
  if (!(number >= 1 && number <= highest) || number != std::floor(number)) return {};
  return static_cast<std::int64_t>(number);
}

// Returns the value with its field's type; else null, with what is expected.
Json Typed(const Field& field, const Json& value, std::string* fault) {
  const auto wrong = [&](std::string_view due) {
    *fault = fmt::format("{} must be {}", field.name, due);
    return Json();
  };
  switch (field.kind) {
    case Kind::kText:
      return value.is_string() ? value : wrong("a text");
    case Kind::kList:
      if (value.is_string()) return JsonArray{value};
      return value.is_array() ? value : wrong("a list");
    case Kind::kScore: {
      const auto score = ScoreOf(value, field.highest);
      return score ? Json(*score)
                   : wrong(fmt::format("a whole number from 1 to {}", field.highest));
    }
    case Kind::kFlag:
      return value.is_bool() ? value : wrong("true or false");
    case Kind::kDecision: {
      const std::string decision =
          value.is_string() ? ToLowerAscii(TrimSpace(std::string_view(value.as_string()))) : "";
      if (decision == "accept") return Json("Accept");
      return decision == "reject" ? Json("Reject") : wrong("Accept or Reject");
    }
  }
  return {};
}

}  // namespace

Result<JsonObject> ReadReview(const Json& reply) {
  JsonObject review;
  std::vector<std::string> faults;
  for (const Field& field : kFields) {
    const Json* value = Find(reply, field.name);
    if (value == nullptr) {
      faults.push_back(fmt::format("{} is missing", field.name));
      continue;
    }
    std::string fault;
    review[field.name] = Typed(field, *value, &fault);
    if (!fault.empty()) faults.push_back(std::move(fault));
  }
  if (faults.empty()) return review;
  return MakeError(ErrorCode::kInvalidArgument, "{}", Join(faults, "; "));
}

JsonObject WithMeanScores(JsonObject meta, std::span<const Json> reviews) {
  for (const Field& field : kFields) {
    if (field.kind != Kind::kScore) continue;
    std::int64_t sum = 0;
    std::int64_t count = 0;
    for (const Json& review : reviews) {
      const Json* value = Find(review, field.name);
      const auto score = value ? ScoreOf(*value, field.highest) : std::nullopt;
      if (!score) continue;
      sum += *score;
      ++count;
    }
    if (count > 0) meta[field.name] = (2 * sum + count) / (2 * count);
  }
  return meta;
}

}  // namespace dossier::research
