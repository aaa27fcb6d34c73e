#include "evaluation/run/judge.h"

#include <re2/re2.h>

#include "base/files/locations.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "evaluation/run/systems.h"

namespace dossier::evaluation {
namespace {

// The same parts in both orders.
constexpr std::string_view kJudgePrompts[] = {"data/eval_judge.md", "data/eval_judge_turned.md"};
constexpr std::size_t kMostOpinion = 4u << 20;
constexpr double kBestOpinion = 10;

std::string JudgePrompt(std::string_view asset, const AskedTask& asked, std::string_view answer) {
  std::string rubric = TextAt(Json(asked.task.meta), "rubric");
  if (rubric.empty()) rubric = "The answer says the same as the reference.";
  const std::vector<std::string> gold = StringsOf(&asked.task.gold);
  return FillWords({std::string(BuiltInAsset(asset).value_or(""))},
                   {{"question", asked.task.question},
                    {"rubric", std::move(rubric)},
                    {"gold", gold.empty() ? "(none)" : Join(gold, "\n")},
                    {"answer", std::string(answer)}},
                   {})
      .front();
}

Result<std::string> AskOnce(const Judge& judge, const std::string& prompt,
                            const CancelToken& cancel) {
  std::vector<std::string> headers = judge.model.headers;
  headers.emplace_back("Content-Type: application/json");
  const JsonObject body{{"model", judge.model.model},
                        {"messages", JsonArray{JsonObject{{"role", "user"}, {"content", prompt}}}}};
  DOSSIER_ASSIGN_OR_RETURN(const auto reply,
                           AskHttp(*judge.loop,
                                   {.url = judge.model.base_url + "/chat/completions",
                                    .headers = std::move(headers),
                                    .body = ToJson(body),
                                    .deadline = judge.limit,
                                    .idle_limit = judge.limit},
                                   kMostOpinion, cancel));
  if (reply.status != 200) {
    return MakeError(ErrorCode::kInvalidArgument, "status {}: {}", reply.status,
                     utf8::Prefix(reply.body, 200));
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseJson(reply.body, 512));
  const Json* choices = Find(value, "choices");
  if (choices == nullptr || !choices->is_array() || choices->get_array().empty()) return "";
  const Json* message = Find(choices->get_array()[0], "message");
  return message ? TextAt(*message, "content") : "";
}

}  // namespace

std::optional<double> ReadOpinion(std::string_view reply) {
  const RE2 pattern(R"((?i)score\W{1,6}(\d+(?:\.\d+)?))");
  re2::StringPiece rest(reply.data(), reply.size());
  std::string number;
  std::optional<double> last;
  while (RE2::FindAndConsume(&rest, pattern, &number)) last = ParseNumber(number).value_or(-1);
  if (!last || *last < 0 || *last > kBestOpinion) return std::nullopt;
  return *last / kBestOpinion;
}

Result<double> AskJudge(const Judge& judge, const AskedTask& asked, std::string_view answer,
                        const CancelToken& cancel) {
  double sum = 0;
  for (const std::string_view asset : kJudgePrompts) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string reply,
                             AskOnce(judge, JudgePrompt(asset, asked, answer), cancel));
    const auto opinion = ReadOpinion(reply);
    if (!opinion) {
      return MakeError(ErrorCode::kFailed, "the judge's reply to {} ends in no `Score: N`: {}",
                       asked.task.id, utf8::Prefix(reply, 120));
    }
    sum += *opinion;
  }
  return sum / static_cast<double>(std::size(kJudgePrompts));
}

}  // namespace dossier::evaluation
