#include "ask/exchange/trajectory.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kDepth = 100;    // of nested calls in a file
constexpr std::size_t kPreview = 499;  // code points of a local variable
constexpr std::string_view kImported = "run.imported";
constexpr std::string_view kQuestion = "question";  // in environment_kwargs
// Field of run.started: the bytes from which it was imported.
constexpr std::string_view kImportedFrom = "imported_from";

// A value from an imported file takes precedence over one made from the journal.
Json Or(const JsonObject& given, std::string_view field, Json made) {
  const Json* value = given.if_contains(field);
  return value ? *value : std::move(made);
}

// Returns "2026-01-28T17:46:11.123", as the reference writes it: no zone.
std::string WithoutZone(std::string_view time) {
  return std::string(time.ends_with('Z') ? time.substr(0, time.size() - 1) : time);
}

JsonObject UsageSummary(const std::string& model, const TaleUsage& usage, std::int64_t calls) {
  return {{"model_usage_summaries",
           JsonObject{{model, JsonObject{{"total_calls", calls},
                                         {"total_input_tokens", usage.input},
                                         {"total_output_tokens", usage.output}}}}}};
}

JsonObject MetadataOf(const RunTale& tale) {
  const Json started(tale.started.data);
  const Json* limits = Find(started, "limits");
  const auto limit = [&](std::string_view name) {
    const auto value = limits ? FindInt(*limits, name) : std::nullopt;
    return value ? Json(*value) : Json(nullptr);
  };
  const JsonObject& given = [&]() -> const JsonObject& {
    static const JsonObject kNone;
    const Json* metadata = Find(tale.started.data, "trajectory");
    return metadata && metadata->is_object() ? metadata->get_object() : kNone;
  }();
  const std::string model = TextAt(started, "model");
  JsonObject line{
      {"type", "metadata"},
      {"timestamp", Or(given, "timestamp", Json(WithoutZone(tale.started.time)))},
      {"root_model", Or(given, "root_model", Json(model))},
      {"max_depth", Or(given, "max_depth", limit("depth"))},
      {"max_iterations", Or(given, "max_iterations", limit("iterations"))},
      {"backend", Or(given, "backend", Json("dossier"))},
      {"backend_kwargs", Or(given, "backend_kwargs", Json(JsonObject{{"model_name", model}}))},
      {"environment_type", Or(given, "environment_type", Json("dossier"))},
      {"environment_kwargs", Or(given, "environment_kwargs",
                                Json(JsonObject{{"dialect", TextAt(started, "dialect")},
                                                {std::string(kQuestion), tale.question}}))},
      {"other_backends", Or(given, "other_backends", nullptr)}};
  return line;
}

class TrajectoryWriter {
 public:
  explicit TrajectoryWriter(const RunTale& tale) : tale_(tale) {}

  JsonObject Iteration(const TaleTurn& turn, std::size_t number) const {
    JsonArray prompt, blocks;
    for (const TaleMessage& message : turn.prompt) {
      prompt.push_back(JsonObject{{"role", message.role}, {"content", message.text}});
    }
    for (const TaleBlock& block : turn.blocks) blocks.push_back(Block(block, turn));
    return {{"type", "iteration"},
            {"iteration", number},
            {"timestamp", Or(turn.given, "timestamp", Json(WithoutZone(turn.time)))},
            {"prompt", std::move(prompt)},
            {"response", turn.reply},
            {"code_blocks", std::move(blocks)},
            {"final_answer", turn.answer ? Json(*turn.answer) : Json(nullptr)},
            {"iteration_time", Or(turn.given, "iteration_time", Json(turn.seconds))}};
  }

 private:
  JsonObject Block(const TaleBlock& block, const TaleTurn& turn) const {
    JsonObject locals;
    for (const Json& variable : block.variables) {
      locals[TextAt(variable, "name")] = utf8::Prefix(TextAt(variable, "preview"), kPreview);
    }
    // In the order in which code made them.
    std::multimap<std::int64_t, JsonObject> made;
    for (const TaleRequest& request : block.requests) made.emplace(request.seq, Request(request));
    for (const std::int64_t child : block.children) {
      if (const TaleCall* call = Find(child)) made.emplace(call->seq, Child(*call));
    }
    JsonArray calls;
    for (auto& [seq, call] : made) calls.push_back(std::move(call));
    const bool final = block.status == "final" && turn.answer;
    return {{"code", block.code},
            {"result",
             JsonObject{{"stdout", block.output},
                        {"stderr", block.error},
                        {"locals", Or(block.given, "locals", Json(std::move(locals)))},
                        {"execution_time", Or(block.given, "execution_time", Json(block.seconds))},
                        {"rlm_calls", std::move(calls)},
                        {"final_answer", Or(block.given, "final_answer",
                                            final ? Json(*turn.answer) : Json(nullptr))}}}};
  }

  static JsonObject Request(const TaleRequest& request) {
    const JsonObject& given = request.given;
    JsonObject call{
        {"root_model", Or(given, "root_model", Json(request.model))},
        {"prompt", request.prompt},
        {"response", request.reply},
        {"usage_summary",
         Or(given, "usage_summary", Json(UsageSummary(request.model, request.usage, 1)))},
        {"execution_time", Or(given, "execution_time", Json(request.seconds))},
        {"prompt_tokens", Or(given, "prompt_tokens", Json(request.usage.input))},
        {"completion_tokens", Or(given, "completion_tokens", Json(request.usage.output))}};
    if (const Json* metadata = given.if_contains("metadata")) call["metadata"] = *metadata;
    if (!request.error.empty()) call["error"] = request.error;
    return call;
  }

  JsonObject Child(const TaleCall& call) const {
    double seconds = 0;
    JsonArray iterations;
    for (const TaleTurn& turn : call.turns) {
      iterations.push_back(Iteration(turn, iterations.size() + 1));
      seconds += turn.seconds;
    }
    const TaleUsage usage = call.usage();
    return {{"root_model", call.model},
            {"prompt", call.question},
            {"response", call.answer},
            {"usage_summary", UsageSummary(call.model, usage, call.answered())},
            {"execution_time", seconds},
            {"prompt_tokens", usage.input},
            {"completion_tokens", usage.output},
            {"metadata", JsonObject{{"run_metadata",
                                     JsonObject{{"root_model", call.model}, {"depth", call.depth}}},
                                    {"iterations", std::move(iterations)}}}};
  }

  const TaleCall* Find(std::int64_t number) const {
    const auto call = std::ranges::find(tale_.calls, number, &TaleCall::call);
    return call == tale_.calls.end() ? nullptr : &*call;
  }

  const RunTale& tale_;
};

}  // namespace

std::string TrajectoryLines(const RunTale& tale) {
  std::string lines = ToJson(MetadataOf(tale)) + "\n";
  const TrajectoryWriter writer(tale);
  std::size_t number = 0;
  for (const TaleTurn& turn :
       tale.calls.empty() ? std::vector<TaleTurn>() : tale.calls.front().turns) {
    if (turn.purpose.empty()) continue;  // steps of the loop before its first turn
    lines += ToJson(writer.Iteration(turn, ++number)) + "\n";
  }
  return lines;
}

namespace {

bool IsStored(const Json& value) {
  const JsonObject* object = value.if_object();
  return object && object->size() == 2 && object->contains("sha256") && object->contains("bytes") &&
         object->at("sha256").is_string();
}

// Replaces references to texts by the texts.
Status Expand(store::Journal& journal, Json* value) {
  if (IsStored(*value)) {
    if (auto text = journal.ReadBody(*value)) *value = JsonObject{{"text", *text}};
    return {};
  }
  if (JsonObject* object = value->if_object()) {
    for (auto& [key, below] : *object) DOSSIER_RETURN_IF_ERROR(Expand(journal, &below));
  } else if (JsonArray* array = value->if_array()) {
    for (Json& below : *array) DOSSIER_RETURN_IF_ERROR(Expand(journal, &below));
  }
  return {};
}

// The reverse: stores a text that is too long for an event as a body.
Status Shrink(store::Journal& journal, Json* value) {
  JsonObject* object = value->if_object();
  if (object && object->size() == 1 && object->contains("text") && object->at("text").is_string()) {
    DOSSIER_ASSIGN_OR_RETURN(*value, journal.Body(object->at("text").get_string()));
  } else if (object) {
    for (auto& [key, below] : *object) DOSSIER_RETURN_IF_ERROR(Shrink(journal, &below));
  } else if (JsonArray* array = value->if_array()) {
    for (Json& below : *array) DOSSIER_RETURN_IF_ERROR(Shrink(journal, &below));
  }
  return {};
}

}  // namespace

Result<std::string> EventLines(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<store::Event> events, journal.Events(run));
  std::string lines;
  std::int64_t seq = 0;
  for (const store::Event& event : events) {
    if (event.type == kImported) continue;
    Json data(event.data);
    DOSSIER_RETURN_IF_ERROR(Expand(journal, &data));
    if (event.type == "run.started") {
      data.get_object().erase("imported");
      data.get_object().erase(kImportedFrom);
    }
    lines += ToJson(JsonObject{{"seq", ++seq},
                               {"time", event.time},
                               {"call", event.call},
                               {"type", event.type},
                               {"data", std::move(data)}}) +
             "\n";
  }
  return lines;
}

namespace {

tl::unexpected<Error> NotARun(std::string_view name, std::size_t line, std::string_view expected) {
  return MakeError(ErrorCode::kDamaged, "{}, line {}: {} was expected; nothing is imported", name,
                   line, expected);
}

// Collects the events of one run from a trajectory.
class TrajectoryReader {
 public:
  TrajectoryReader(store::Journal& journal, const Json& metadata) : journal_(journal) {
    time_ = TimeOf(metadata);
    const Json* environment = Find(metadata, "environment_kwargs");
    if (environment) question_ = TextAt(*environment, kQuestion);
    const JsonObject given = metadata.is_object() ? metadata.get_object() : JsonObject();
    JsonObject limits;
    if (const auto depth = FindInt(metadata, "max_depth")) limits["depth"] = *depth;
    if (const auto turns = FindInt(metadata, "max_iterations")) limits["iterations"] = *turns;
    Add("run.started", {{"question", ""},
                        {"model", TextAt(metadata, "root_model")},
                        {"limits", std::move(limits)},
                        {"contexts", JsonArray()},
                        {"trajectory", given},
                        {"imported", true}});
  }

  static bool IsIteration(const Json& line) {
    const Json *prompt = Find(line, "prompt"), *blocks = Find(line, "code_blocks");
    return TextAt(line, "type") == "iteration" && FindInt(line, "iteration") &&
           FindString(line, "response") && prompt && prompt->is_array() && blocks &&
           blocks->is_array();
  }

  Status Iteration(const Json& line) {
    time_ = TimeOf(line);
    ++turn_;
    if (question_.empty() && turn_ == 1) question_ = QuestionIn(*Find(line, "prompt"));
    JsonObject given;
    for (const char* field : {"timestamp", "iteration_time"}) {
      if (const Json* value = line.get_object().if_contains(field)) given[field] = *value;
    }
    Add("turn.started", {{"turn", turn_}, {"trajectory", std::move(given)}});
    JsonArray messages;
    for (const Json& message : Find(line, "prompt")->get_array()) {
      DOSSIER_ASSIGN_OR_RETURN(Json body, journal_.Body(TextAt(message, "content")));
      messages.push_back(JsonObject{{"role", TextAt(message, "role")}, {"body", std::move(body)}});
    }
    Add("request.sent", {{"purpose", "root"}, {"turn", turn_}, {"messages", std::move(messages)}});
    DOSSIER_ASSIGN_OR_RETURN(Json reply, journal_.Body(TextAt(line, "response")));
    Add("reply.received",
        {{"purpose", "root"}, {"turn", turn_}, {"body", std::move(reply)}, {"finish", "stop"}});
    const auto answer = AnswerOf(line);
    for (const Json& block : Find(line, "code_blocks")->get_array()) {
      DOSSIER_RETURN_IF_ERROR(Block(block));
    }
    if (!answer) return {};
    DOSSIER_ASSIGN_OR_RETURN(answer_, journal_.Body(*answer));
    Add("answer.offered", {{"source", "final"}, {"value", *answer_}});
    Add("answer.accepted", {{"source", "final"}, {"status", "final"}});
    return {};
  }

  std::int64_t turns() const { return turn_; }

  // `from`: as kImportedFrom.
  Result<std::string> Store(const std::string& from) {
    DOSSIER_ASSIGN_OR_RETURN(events_.front().data["question"], journal_.Body(question_));
    events_.front().data[kImportedFrom] = from;
    JsonObject finished{{"status", answer_ ? "final" : "none"}, {"turns", turn_}};
    finished["answer"] = answer_ ? *answer_ : Json(JsonObject{{"text", ""}});
    Add("run.finished", std::move(finished));
    Add(kImported, {{"form", "reference-jsonl"}});
    return journal_.AddRun(events_);
  }

 private:
  // Files of other programs, and of our earlier versions, have the question only in the first
  // prompt.
  static std::string QuestionIn(const Json& prompt) {
    constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
        {"\n\nQuestion: ", ""}, {"to answer the original prompt: \"", "\".\n\n"}};
    for (const Json& message : prompt.get_array()) {
      const std::string text = TextAt(message, "content");
      for (const auto& [before, behind] : kMarks) {
        const std::size_t at = text.find(before);
        if (at == std::string::npos) continue;
        const std::string rest = text.substr(at + before.size());
        return rest.substr(0, behind.empty() ? std::string::npos : rest.find(behind));
      }
    }
    return {};
  }

  std::string TimeOf(const Json& line) {
    const auto time = ParseTime(TextAt(line, "timestamp") + "Z");
    return FormatTime(time.value_or(Clock::Wall()));
  }

  // Reads a text, or a pair of how it was handed in and the text.
  static std::optional<std::string> AnswerOf(const Json& line) {
    const Json* answer = Find(line, "final_answer");
    if (answer && answer->is_string()) return std::string(answer->get_string());
    const JsonArray* pair = answer ? answer->if_array() : nullptr;
    if (!pair || pair->size() != 2 || !(*pair)[1].is_string()) return std::nullopt;
    return std::string((*pair)[1].get_string());
  }

  Status Block(const Json& block) {
    const Json* found = Find(block, "result");
    const Json result = found ? *found : Json(JsonObject());
    DOSSIER_ASSIGN_OR_RETURN(Json code, journal_.Body(TextAt(block, "code")));
    Add("block.started", {{"block", ++blocks_}, {"code", std::move(code)}});
    if (const Json* calls = Find(result, "rlm_calls"); calls && calls->is_array()) {
      for (const Json& call : calls->get_array()) DOSSIER_RETURN_IF_ERROR(Request(call));
    }
    JsonObject given;
    for (const char* field : {"locals", "execution_time", "final_answer"}) {
      const Json* value = result.is_object() ? result.get_object().if_contains(field) : nullptr;
      if (value) given[field] = *value;
    }
    DOSSIER_ASSIGN_OR_RETURN(Json output, journal_.Body(TextAt(result, "stdout")));
    const std::string error = TextAt(result, "stderr");
    JsonObject done{{"block", blocks_},
                    {"status", error.empty() ? "ok" : "error"},
                    {"output", std::move(output)},
                    {"trajectory", std::move(given)}};
    if (!error.empty()) done["error"] = error;
    Add("block.done", std::move(done));
    return {};
  }

  Status Request(const Json& call) {
    const std::int64_t id = ++requests_;
    JsonObject given;
    for (const char* field : {"root_model", "usage_summary", "execution_time", "prompt_tokens",
                              "completion_tokens", "metadata"}) {
      const Json* value = call.is_object() ? call.get_object().if_contains(field) : nullptr;
      if (value) given[field] = *value;
    }
    const Json* prompt = Find(call, "prompt");
    std::string text = TextAt(call, "prompt");
    if (prompt && !prompt->is_string()) text = ToJson(*prompt);
    DOSSIER_ASSIGN_OR_RETURN(Json body, journal_.Body(text));
    Add("request.sent", {{"request", id},
                         {"purpose", "subcall"},
                         {"model", TextAt(call, "root_model")},
                         {"messages", std::move(body)},
                         {"trajectory", std::move(given)}});
    DOSSIER_ASSIGN_OR_RETURN(Json reply, journal_.Body(TextAt(call, "response")));
    Add("reply.received", {{"request", id},
                           {"purpose", "subcall"},
                           {"body", std::move(reply)},
                           {"finish", "stop"},
                           {"input", FindInt(call, "prompt_tokens").value_or(0)},
                           {"output", FindInt(call, "completion_tokens").value_or(0)}});
    if (const auto error = FindString(call, "error")) {
      Add("request.failed",
          {{"request", id}, {"purpose", "subcall"}, {"kind", "failed"}, {"message", *error}});
    }
    return {};
  }

  void Add(std::string_view type, JsonObject data) {
    events_.push_back({.time = time_, .type = std::string(type), .data = std::move(data)});
  }

  store::Journal& journal_;
  std::string time_, question_;
  std::vector<store::Event> events_;
  std::int64_t turn_ = 0, blocks_ = 0, requests_ = 0;
  std::optional<Json> answer_;
};

using Lines = std::vector<std::pair<std::size_t, std::string_view>>;  // line number, text

Lines LinesOf(std::string_view text) {
  Lines lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = TrimSpace(text.substr(0, end));
    if (!line.empty()) lines.emplace_back(number, line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Returns the run that was already imported from the same bytes; empty: there is none.
Result<std::string> KnownAs(store::Journal& journal, const std::string& from) {
  DOSSIER_ASSIGN_OR_RETURN(const auto runs,
                           journal.RunsStartedWith({{std::string(kImportedFrom), from}}));
  return runs.empty() ? std::string() : runs.front();
}

Result<ImportedRuns> ImportTrajectories(store::Journal& journal, const Lines& lines,
                                        std::string_view name, const std::string& hash) {
  ImportedRuns imported;
  Json metadata;
  std::optional<TrajectoryReader> reader;
  const auto store = [&]() -> Status {
    if (!reader || reader->turns() == 0) return {};
    const std::string from = fmt::format("{}#{}", hash, imported.runs.size());
    DOSSIER_ASSIGN_OR_RETURN(std::string run, KnownAs(journal, from));
    if (run.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(run, reader->Store(from));
    } else {
      imported.known.push_back(run);
    }
    imported.runs.push_back(std::move(run));
    return {};
  };
  for (const auto& [number, text] : lines) {
    const auto line = ParseJson(text, kDepth);
    if (line && TextAt(*line, "type") == "metadata") {
      DOSSIER_RETURN_IF_ERROR(store());
      metadata = *line;
      reader.emplace(journal, metadata);
    } else if (line && TrajectoryReader::IsIteration(*line)) {
      if (!reader || (FindInt(*line, "iteration") == 1 && reader->turns() > 0)) {
        DOSSIER_RETURN_IF_ERROR(store());
        reader.emplace(journal, metadata);
      }
      DOSSIER_RETURN_IF_ERROR(reader->Iteration(*line));
    } else {
      ++imported.skipped;
    }
  }
  DOSSIER_RETURN_IF_ERROR(store());
  if (imported.runs.empty()) return NotARun(name, lines.front().first, "an iteration of a run");
  return imported;
}

Result<ImportedRuns> ImportEvents(store::Journal& journal, const Lines& lines,
                                  std::string_view name, const std::string& hash) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string known, KnownAs(journal, hash));
  if (!known.empty()) return ImportedRuns{.runs = {known}, .known = {known}};
  std::vector<store::Event> events;
  for (const auto& [number, text] : lines) {
    const auto line = ParseJson(text, kDepth);
    const Json* data = line ? Find(*line, "data") : nullptr;
    const auto type = line ? FindString(*line, "type") : std::nullopt;
    const auto time = line ? FindString(*line, "time") : std::nullopt;
    const bool first = events.empty();
    if (!type || !time || !ParseTime(*time) || !data || !data->is_object() ||
        first != (*type == "run.started")) {
      return NotARun(name, number, first ? "the event run.started" : "an event of the same run");
    }
    // Runs of other commands name folders of the machine that they ran on.
    if (first && FindString(*data, "kind").value_or("ask") != "ask") {
      return NotARun(name, number, "a run of ask");
    }
    Json kept = *data;
    DOSSIER_RETURN_IF_ERROR(Shrink(journal, &kept));
    if (first) {
      kept.get_object()["imported"] = true;
      kept.get_object()[kImportedFrom] = hash;
    }
    events.push_back({.time = std::string(*time),
                      .call = FindInt(*line, "call").value_or(0),
                      .type = std::string(*type),
                      .data = std::move(kept.get_object())});
  }
  events.push_back(
      {.time = events.back().time, .type = std::string(kImported), .data = {{"form", "events"}}});
  DOSSIER_ASSIGN_OR_RETURN(std::string run, journal.AddRun(events));
  return ImportedRuns{.runs = {std::move(run)}};
}

}  // namespace

Result<ImportedRuns> ImportRuns(store::Journal& journal, std::string_view text,
                                std::string_view name) {
  const Lines lines = LinesOf(text);
  if (lines.empty()) return NotARun(name, 1, "a run");
  const auto first = ParseJson(lines.front().second, kDepth);
  const std::string type = first ? TextAt(*first, "type") : "";
  const std::string hash = Sha256Hex(text);
  if (type == "run.started") return ImportEvents(journal, lines, name, hash);
  if (type == "metadata" || (first && TrajectoryReader::IsIteration(*first))) {
    return ImportTrajectories(journal, lines, name, hash);
  }
  return NotARun(name, lines.front().first,
                 "the metadata or an iteration of a run, or run.started");
}

}  // namespace dossier::ask
