#include "chat/turn/resume.h"

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

}  // namespace dossier::chat
