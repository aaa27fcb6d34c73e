#include "chat/turn/resume.h"

#include <algorithm>
#include <set>

#include "base/files/file.h"
#include "store/content.h"

namespace dossier::chat {
namespace {

Result<Json> ReadJsonBody(store::Journal& journal, const Json& data, std::string_view key) {
  const Json* body = Find(data, key);
  if (!body) return MakeError(ErrorCode::kDamaged, "the journal's event has no {}", key);
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, journal.ReadBody(*body));
  return ParseJson(text, /*max_depth=*/200);
}

std::vector<assembly::Block> ImagesOf(const Json& json) {
  std::vector<assembly::Block> images;
  if (!json.is_array()) return images;
  for (const Json& one : json.get_array()) {
    images.push_back({.type = assembly::Block::Type::kImage,
                      .text = TextAt(one, "data"),
                      .media_type = TextAt(one, "media_type"),
                      .url = TextAt(one, "url")});
  }
  return images;
}

Result<InterruptedTurn> ReadTurn(store::Journal& journal, const std::string& run) {
  InterruptedTurn turn{.run = run};
  DOSSIER_ASSIGN_OR_RETURN(turn.status, journal.StatusOf(run));
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<store::Event> events, journal.Events(run));
  for (const store::Event& event : events) {
    const Json data(event.data);
    if (event.type == "run.started") {
      const Json* prompt = Find(data, "prompt");
      if (!prompt || FindBool(*prompt, "left_out").value_or(false)) {
        return MakeError(ErrorCode::kNotFound,
                         "the journal holds no text of that turn (--no-log); ask again");
      }
      DOSSIER_ASSIGN_OR_RETURN(turn.prompt, journal.ReadBody(*prompt));
      if (Find(data, "images")) {
        DOSSIER_ASSIGN_OR_RETURN(const Json images, ReadJsonBody(journal, data, "images"));
        turn.images = ImagesOf(images);
      }
    } else if (event.type == "context.started") {
      turn.programs = StringsOf(Find(data, "commands"));
    } else if (event.type == "context.ready") {
      DOSSIER_ASSIGN_OR_RETURN(const Json json, ReadJsonBody(journal, data, "context"));
      DOSSIER_ASSIGN_OR_RETURN(turn.gathered, GatheredOf(json));
    } else if (event.type == "answer.accepted") {
      DOSSIER_ASSIGN_OR_RETURN(const Json json, ReadJsonBody(journal, data, "answer"));
      DOSSIER_ASSIGN_OR_RETURN(turn.answer, AnswerOf(json));
    }
  }
  return turn;
}

}  // namespace

Json ImagesJson(const std::vector<assembly::Block>& images) {
  JsonArray list;
  for (const assembly::Block& image : images) {
    list.push_back(
        JsonObject{{"data", image.text}, {"media_type", image.media_type}, {"url", image.url}});
  }
  return list;
}

Json ToJson(const AcceptedAnswer& answer) {
  JsonArray messages;
  for (const JsonObject& message : answer.messages) messages.push_back(message);
  JsonObject json{{"text", answer.text},     {"model", answer.model},
                  {"finish", answer.finish}, {"messages", std::move(messages)},
                  {"usage", answer.usage},   {"tools", answer.tools}};
  if (!answer.with_block.empty()) json["with_block"] = answer.with_block;
  return json;
}

Result<AcceptedAnswer> AnswerOf(const Json& json) {
  AcceptedAnswer answer{.text = TextAt(json, "text"),
                        .model = TextAt(json, "model"),
                        .finish = TextAt(json, "finish"),
                        .with_block = TextAt(json, "with_block")};
  const Json* messages = Find(json, "messages");
  const Json* usage = Find(json, "usage");
  const Json* tools = Find(json, "tools");
  if (!messages || !messages->is_array() || !usage || !usage->is_object() || !tools ||
      !tools->is_array()) {
    return MakeError(ErrorCode::kDamaged, "the journal's record of the answer is damaged");
  }
  for (const Json& message : messages->get_array()) {
    if (!message.is_object()) {
      return MakeError(ErrorCode::kDamaged, "the journal's record of the answer is damaged");
    }
    answer.messages.push_back(message.get_object());
  }
  answer.usage = usage->get_object();
  answer.tools = tools->get_array();
  return answer;
}

Result<InterruptedTurn> FindInterrupted(store::Journal& journal, const ConversationPlace& place) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> runs, RunsOf(journal, place));
  if (!runs.empty()) return ReadTurn(journal, runs.front());
  return MakeError(ErrorCode::kNotFound, "the journal holds no turn of conversation '{}'",
                   place.id);
}

Result<std::vector<std::string>> RunsOf(store::Journal& journal, const ConversationPlace& place) {
  return journal.RunsStartedWith(
      {{"kind", std::string(kChatRun)}, {"conversation", place.id}, {"folder", place.folder}});
}

namespace {

struct Traces {
  std::set<std::string> runs, contexts;  // ids; SHA-256
  std::vector<std::string> former_ids;

  bool empty() const { return runs.empty() && contexts.empty(); }
};

Traces TracesOf(const Stored& stored) {
  Traces traces{.runs = {}, .contexts = {}, .former_ids = stored.former_ids};
  for (const TurnRecord& turn : stored.turns) {
    if (!turn.run.empty()) traces.runs.insert(turn.run);
  }
  if (!stored.context || !stored.context->history.is_array()) return traces;
  for (const Json& one : stored.context->history.get_array()) {
    if (const auto sha256 = FindString(one, "sha256")) traces.contexts.emplace(*sha256);
  }
  return traces;
}

// Finds everything that `ids` left. The journal also has turns that failed.
Result<Traces> TracesOf(const ForgetParts& parts, std::span<const std::string> ids) {
  Traces all;
  for (const std::string& id : ids) {
    std::vector<std::string> names{id};
    if (const auto loaded = parts.store.Load(id)) {
      Traces own = TracesOf(loaded->stored);
      all.runs.merge(own.runs);
      all.contexts.merge(own.contexts);
      for (std::string& name : own.former_ids) {
        // Another conversation may have taken the id.
        if (!Exists(PathOf(parts.store.folder(), name))) names.push_back(std::move(name));
      }
    }
    if (!parts.journal) continue;
    for (const std::string& name : names) {
      DOSSIER_ASSIGN_OR_RETURN(
          const std::vector<std::string> runs,
          RunsOf(*parts.journal, {.folder = parts.store.folder(), .id = name}));
      all.runs.insert(runs.begin(), runs.end());
    }
  }
  return all;
}

Status KeepWhatOthersName(const ConversationStore& store, std::span<const std::string> gone,
                          Traces* traces) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> ids, store.Ids());
  for (const std::string& id : ids) {
    if (std::find(gone.begin(), gone.end(), id) != gone.end()) continue;
    const auto loaded = store.Load(id);
    if (!loaded) continue;  // damaged, or gone by now
    const Traces named = TracesOf(loaded->stored);
    for (const std::string& run : named.runs) traces->runs.erase(run);
    for (const std::string& sha256 : named.contexts) traces->contexts.erase(sha256);
  }
  return {};
}

}  // namespace

Status ForgetTraces(const ForgetParts& parts, std::span<const std::string> ids) {
  DOSSIER_ASSIGN_OR_RETURN(Traces traces, TracesOf(parts, ids));
  if (traces.empty()) return {};
  DOSSIER_RETURN_IF_ERROR(KeepWhatOthersName(parts.store, ids, &traces));
  if (!traces.contexts.empty() && Exists(parts.content_folder)) {
    DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(parts.content_folder));
    for (const std::string& sha256 : traces.contexts) {
      DOSSIER_RETURN_IF_ERROR(content->Remove(sha256));
    }
  }
  if (traces.runs.empty() || !parts.journal) return {};
  const std::vector<std::string> runs(traces.runs.begin(), traces.runs.end());
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const std::size_t bodies,
                           parts.journal->EraseTexts(runs));
  return {};
}

}  // namespace dossier::chat
