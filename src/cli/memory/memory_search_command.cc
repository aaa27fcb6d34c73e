// search: runs one query, or a file of queries.

#include <algorithm>
#include <ranges>

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "cli/memory/memory_call.h"
#include "cli/memory/memory_view.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/memory_flags.h"
#include "memory/transfer/transfer.h"

namespace dossier::cli {
namespace {

using memory::Query;
using memory::SearchTier;

void DeclareSearch(Flags& flags, MemoryArguments& to) {
  flags.Add("query", &to.query, "words, taken literally");
  flags
      .Add("--queries", &to.queries_file,
           "a file of {\"id\", \"query\", \"k\"}, one a line, - for stdin; answers in the same "
           "order, a line of JSON each")
      .Kind(kPath)
      .Excludes("query");
  flags.Add("--k", &to.k, "hits at most").Positive().ShowDefault();
  flags.Add("--tier", &to.tier, "where to look: recall,archival,core (recall,archival)")
      .Kind(kList);
  flags.Add("--tag", &to.tags, "only records with this tag, and each other one");
  flags.Add("--kind", &to.kind, "only events of this kind");
  flags.Add("--thread", &to.thread, "only records of this thread");
  flags.Add("--since", &to.since, "not older: a day, or a time").Kind(kTime);
  flags.Add("--until", &to.until, "not newer: a day, or a time").Kind(kTime);
  flags.Add("--explain", &to.explain, "how each score came about");
  AddStoreFlags(flags, StoreFlags::kView, &to);
}

Result<std::vector<SearchTier>> ReadTiers(const std::string& list) {
  constexpr std::pair<std::string_view, SearchTier> kTiers[] = {{"recall", SearchTier::kRecall},
                                                                {"archival", SearchTier::kArchival},
                                                                {"core", SearchTier::kCore}};
  std::vector<SearchTier> tiers;
  for (const std::string_view word : Split(list, ',')) {
    const auto* tier =
        std::ranges::find(kTiers, TrimSpace(word), &std::pair<std::string_view, SearchTier>::first);
    if (tier == std::end(kTiers)) {
      return MakeError(ErrorCode::kUsage, "--tier: \"{}\" is none of recall, archival, core{}",
                       word, DidYouMean(word, kTiers | std::views::keys));
    }
    tiers.push_back(tier->second);
  }
  return tiers;
}

// Returns what the flags request, without the words.
Result<Query> QueryOf(const MemoryArguments& arguments) {
  Query query{.k = arguments.k, .tags = arguments.tags, .thread = arguments.thread};
  if (!arguments.tier.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(query.tiers, ReadTiers(arguments.tier));
  }
  if (!arguments.kind.empty()) query.kind = arguments.kind;
  if (!arguments.since.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(query.since, ReadMoment("--since", arguments.since, DayEdge::kBegin));
  }
  if (!arguments.until.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(query.until, ReadMoment("--until", arguments.until, DayEdge::kEnd));
  }
  return query;
}

Explain ExplainOf(const MemoryArguments& arguments) {
  return arguments.explain ? Explain::kYes : Explain::kNo;
}

Result<int> RunOne(const MemoryCall& call, const memory::View& view, Query query) {
  query.text = *call.arguments().query;
  DOSSIER_ASSIGN_OR_RETURN(const auto hits, view.Search(query));
  call.Log("search", "records", {{"query", query.text}, {"k", query.k}, {"hits", hits.size()}});
  if (call.arguments().json) {
    call.PrintJson({{"query", query.text},
                    {"branch", view.branch()},
                    {"seq", view.at()},
                    {"hits", HitsJson(hits, ExplainOf(call.arguments()))}});
  } else {
    PrintHits(hits, ExplainOf(call.arguments()), Terminal::Detect(), call.out());
  }
  return 0;
}

// Reads a line of the file; it overrides the flags.
Result<Query> ReadQuery(const Json& line, Query query) {
  const auto text = FindString(line, "query");
  if (!text) return MakeError(ErrorCode::kInvalidArgument, "there is no text \"query\"");
  query.text = *text;
  if (const Json* k = Find(line, "k")) {
    const auto wanted = FindInt(line, "k");
    constexpr std::int64_t kMost = 1'000'000;
    if (!wanted || *wanted < 1 || *wanted > kMost) {
      return MakeError(ErrorCode::kInvalidArgument, "\"k\" is {}; it must be a whole number from 1",
                       ToJson(*k));
    }
    query.k = static_cast<int>(*wanted);
  }
  if (const auto kind = FindString(line, "kind")) query.kind = std::string(*kind);
  if (const auto thread = FindString(line, "thread")) query.thread = std::string(*thread);
  return query;
}

Result<JsonObject> Answer(const memory::View& view, const Json& line, const Query& defaults,
                          Explain explain) {
  DOSSIER_ASSIGN_OR_RETURN(const Query query, ReadQuery(line, defaults));
  DOSSIER_ASSIGN_OR_RETURN(const auto hits, view.Search(query));
  const Json* id = Find(line, "id");
  return AnswerJson(id ? *id : Json(), hits, explain);
}

// An invalid query gets an answer line, too, so that the lines stay in step.
Result<JsonObject> AnswerLine(const memory::View& view, const memory::ImportLine& line,
                              const Query& defaults, Explain explain) {
  const auto value = memory::ReadObject(line);
  if (!value) {
    return JsonObject{{"id", nullptr},
                      {"error", fmt::format("line {}, byte {}: {}", value.error().line,
                                            value.error().byte, value.error().message)}};
  }
  Result<JsonObject> answer = Answer(view, *value, defaults, explain);
  if (answer) return answer;
  const ErrorCode code = answer.error().code;
  if (code != ErrorCode::kInvalidArgument && code != ErrorCode::kUsage) return answer;
  const Json* id = Find(*value, "id");
  return JsonObject{{"id", id ? *id : Json()},
                    {"error", fmt::format("line {}: {}", line.number, answer.error().message)}};
}

Result<int> RunMany(const MemoryCall& call, const memory::View& view, const Query& defaults) {
  const bool json = call.arguments().json;
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, call.ReadInput(call.arguments().queries_file));
  std::int64_t count = 0, faults = 0;
  JsonArray answers;
  memory::ImportReader lines(text);
  for (auto line = lines.Next(); line; line = lines.Next()) {
    if (call.cancel().cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
    DOSSIER_ASSIGN_OR_RETURN(JsonObject answer,
                             AnswerLine(view, *line, defaults, ExplainOf(call.arguments())));
    ++count;
    if (const Json* error = Find(answer, "error")) {
      ++faults;
      if (!json) PrintError(call.err(), {ErrorCode::kPartial, std::string(error->as_string())});
    }
    if (json) {
      answers.push_back(std::move(answer));
    } else {
      call.out() << ToJson(answer) << "\n";
    }
  }
  call.Log("search", "records", {{"queries", count}, {"faults", faults}});
  if (json) {
    call.PrintJson(
        {{"branch", view.branch()}, {"seq", view.at()}, {"answers", std::move(answers)}});
  }
  return faults > 0 ? ExitCode(ErrorCode::kPartial) : 0;
}

Result<int> RunSearch(const MemoryCall& call) {
  const MemoryArguments& arguments = call.arguments();
  if (!arguments.query && arguments.queries_file.empty()) {
    return MakeError(ErrorCode::kUsage, "nothing to search for: give a query, or --queries FILE");
  }
  if (arguments.query && TrimSpace(*arguments.query).empty()) {
    return MakeError(ErrorCode::kUsage, "query is empty");
  }
  DOSSIER_ASSIGN_OR_RETURN(Query query, QueryOf(arguments));
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, call.Look(*store));
  if (!arguments.queries_file.empty()) return RunMany(call, view, query);
  return RunOne(call, view, std::move(query));
}

}  // namespace

std::vector<Command> MemorySearchCommands() {
  return {
      {.name = "search",
       .summary = "ranked records: id, score, time, ref, text",
       .examples = "dossier memory search \"Where did Ann move?\" --k 5 --explain\n"
                   "    with what each score is made of\n"
                   "dossier memory search --queries questions.jsonl > hits.jsonl\n"
                   "    many at once: {\"id\": \"q1\", \"query\": \"Where did Ann move?\", \"k\": "
                   "10} a line",
       .binding = BindMemory(DeclareSearch, RunSearch)},
  };
}

}  // namespace dossier::cli
