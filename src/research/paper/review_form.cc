#include <cmath>

#include "base/text/text.h"
#include "research/paper/review.h"

namespace dossier::research {
namespace {

enum class Kind : std::uint8_t { kText, kList, kScore, kFlag, kDecision };
struct Field {
  std::string_view name;
  Kind kind = Kind::kText;
  int highest = 0;  // of a score; the lowest is 1
};
// In the order in which the form asks for them.
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

// A score in its range: a whole number, also as text ("3", "3: good").
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

// The value in the type of its field; else null and what is due.
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
