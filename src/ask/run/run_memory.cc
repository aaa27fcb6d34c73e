#include "ask/run/run_memory.h"

#include <algorithm>
#include <array>

#include "ask/documents/document_arguments.h"
#include "base/text/text.h"
#include "memory/blocks/rounds.h"

namespace dossier::ask {
namespace {

constexpr std::array<std::string_view, 3> kMethods = {"memory_search", "memory_get",
                                                      "memory_write"};
constexpr std::uint64_t kDefaultHits = 10, kMostHits = 200;
constexpr std::int64_t kHitChars = 8'000;  // code points, as much as archival_get shows
constexpr std::size_t kLongestBranch = 128;
constexpr std::string_view kPhase = "ask";

JsonObject RecordJson(const memory::Record& record, std::string text) {
  return {{"id", record.id},
          {"tier", memory::TierName(record.tier)},
          {"kind", record.kind},
          {"text", std::move(text)},
          {"tags", JsonArray(record.tags.begin(), record.tags.end())},
          {"ref", record.ref},
          {"time", memory::FormatMicrosTime(record.at)}};
}

// Returns a list of texts; a single text counts as one.
Result<std::vector<std::string>> TagsOf(const JsonObject& args) {
  std::vector<std::string> tags;
  const Json* given = Find(args, "tags");
  if (!given || given->is_null()) return tags;
  if (given->is_string()) {
    tags.emplace_back(given->get_string());
    return tags;
  }
  const JsonArray* list = given->if_array();
  const bool texts =
      list && std::ranges::all_of(*list, [](const Json& tag) { return tag.is_string(); });
  if (!texts) {
    return MakeError(ErrorCode::kInvalidArgument, "memory_write: tags must be a list of texts");
  }
  for (const Json& tag : *list) tags.emplace_back(tag.get_string());
  return tags;
}

}  // namespace

Result<RunMemory> RunMemory::Open(const driver::MemoryUse& memory) {
  DOSSIER_ASSIGN_OR_RETURN(driver::MemoryPort port,
                           driver::MemoryPort::Open(memory, memory.branch, kPhase));
  return RunMemory(std::move(port));
}

Result<RunMemory> RunMemory::ForSubSession(std::string_view run, std::string_view path) const {
  DOSSIER_ASSIGN_OR_RETURN(
      driver::MemoryPort below,
      port_.Fork(fmt::format("ask:{}:{}", run, path).substr(0, kLongestBranch)));
  return RunMemory(std::move(below));
}

Result<RunMemory::Shown> RunMemory::Show(const std::string& question,
                                         const tokens::Counter& counter, std::int64_t max_tokens,
                                         Writes writes) const {
  Shown shown;
  if (writes == Writes::kYes) {
    DOSSIER_ASSIGN_OR_RETURN(const auto made, port_.MakeRoom());
    if (made && !made->done.actions_taken.empty()) {
      shown.said.push_back(Join(made->done.actions_taken, ", "));
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, port_.Snapshot());
  DOSSIER_ASSIGN_OR_RETURN(
      memory::Rendered rendered,
      memory::Render(view, port_.limits(), port_.RequestFor(question, counter, max_tokens)));
  shown.text = std::move(rendered.text);
  shown.accounting = std::move(rendered.accounting);
  return shown;
}

bool RunMemory::Knows(std::string_view method) {
  return std::ranges::find(kMethods, method) != kMethods.end();
}

Result<Json> RunMemory::Handle(std::string_view method, const JsonObject& args) const {
  if (method == "memory_search") return Search(args);
  if (method == "memory_get") return Get(args);
  if (method == "memory_write") return Write(args);
  return MakeError(ErrorCode::kNotFound, "there is no method {}", method);
}

Result<Json> RunMemory::Search(const JsonObject& args) const {
  const Arguments arguments("memory_search", args);
  DOSSIER_RETURN_IF_ERROR(arguments.Only({"query", "k"}));
  DOSSIER_ASSIGN_OR_RETURN(const std::string_view query, arguments.Text("query"));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t k,
                           arguments.Whole("k", {.otherwise = kDefaultHits, .max = kMostHits}));
  if (k == 0) {
    return MakeError(ErrorCode::kInvalidArgument, "memory_search: k must be 1 to {}", kMostHits);
  }
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, port_.Snapshot());
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<memory::Hit> hits,
                           view.Search({.text = std::string(query), .k = static_cast<int>(k)}));
  JsonArray list;
  for (const memory::Hit& hit : hits) {
    JsonObject json = RecordJson(hit.record, memory::CutText(hit.record.text, kHitChars));
    json["score"] = hit.score;
    list.push_back(std::move(json));
  }
  return JsonObject{{"hits", std::move(list)}};
}

Result<Json> RunMemory::Get(const JsonObject& args) const {
  const Arguments arguments("memory_get", args);
  DOSSIER_RETURN_IF_ERROR(arguments.Only({"id"}));
  DOSSIER_ASSIGN_OR_RETURN(
      const std::uint64_t id,
      arguments.Whole("id", {.max = std::numeric_limits<std::int64_t>::max()}));
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, port_.Snapshot());
  DOSSIER_ASSIGN_OR_RETURN(const auto record, view.Find(static_cast<std::int64_t>(id)));
  if (!record) return JsonObject{{"record", nullptr}};
  return JsonObject{{"record", RecordJson(*record, record->text)}};
}

Result<Json> RunMemory::Write(const JsonObject& args) const {
  const Arguments arguments("memory_write", args);
  DOSSIER_RETURN_IF_ERROR(arguments.Only({"text", "tags"}));
  DOSSIER_ASSIGN_OR_RETURN(const std::string_view text, arguments.Text("text"));
  memory::Record record{.tier = memory::Tier::kArchival, .text = std::string(text)};
  DOSSIER_ASSIGN_OR_RETURN(record.tags, TagsOf(args));
  memory::RecordWrite written;
  DOSSIER_RETURN_IF_ERROR(
      port_.Write(memory::Actor::kModel, [&](memory::BranchTransaction& session) -> Status {
        DOSSIER_ASSIGN_OR_RETURN(written, session.Add(record));
        return {};
      }));
  return JsonObject{{"id", written.id}, {"unchanged", written.unchanged}};
}

Status RunMemory::Keep(const Answer& answer) const {
  std::vector<std::string> names;
  for (const Json& source : answer.sources) {
    names.emplace_back(FindString(source, "name").value_or(""));
  }
  memory::Record event{
      .tier = memory::Tier::kRecall,
      .kind = "answer",
      .text = fmt::format("Question: {}\nAnswer: {}", answer.question, answer.text),
      .thread = "ask",
      .ref = answer.run};
  if (!names.empty()) event.text += "\nSources: " + Join(names, ", ");
  event.meta = {{"status", answer.status}, {"sources", answer.sources}};
  return port_.Write(memory::Actor::kSystem, [&](memory::BranchTransaction& session) -> Status {
    return session.Add(event).map([](const memory::RecordWrite&) {});
  });
}

}  // namespace dossier::ask
