#include "sandbox/session/session_open.h"

namespace dossier::sandbox {
namespace {

Json ContextJson(const ContextText& context) {
  JsonObject json{{"name", context.name},
                  {"bytes", context.bytes},
                  {"characters", context.characters},
                  {"meta", context.meta}};
  if (context.kind == ContextText::Kind::kDatabase) json["database"] = true;
  return json;
}

Result<ContextText> ReadContext(const Json& value) {
  const auto name = FindString(value, "name");
  const auto bytes = FindInt(value, "bytes");
  const auto characters = FindInt(value, "characters");
  if (!name || !bytes || !characters || *bytes < 0 || *characters < 0) {
    return MakeError(ErrorCode::kProtocol, "bridge: open with a context that has no name or size");
  }
  ContextText context{.name = std::string(*name),
                      .bytes = static_cast<std::uint64_t>(*bytes),
                      .characters = static_cast<std::uint64_t>(*characters)};
  if (const Json* meta = Find(value, "meta")) context.meta = *meta;
  if (FindBool(value, "database").value_or(false)) context.kind = ContextText::Kind::kDatabase;
  return context;
}

}  // namespace

Message MakeOpenMessage(const SessionSpec& spec, std::uint64_t id) {
  Message message{.type = MessageType::kOpen, .id = id};
  JsonArray contexts;
  for (const ContextText& context : spec.contexts) contexts.push_back(ContextJson(context));
  JsonArray names(spec.named_models.begin(), spec.named_models.end());
  message.json = {{"dialect", DialectName(spec.dialect)},
                  {"seed", spec.seed},
                  {"limits", spec.limits.ToJson()},
                  {"names", std::move(names)},
                  {"tools", JsonArray()},
                  {"contexts", std::move(contexts)},
                  {"features", spec.features},
                  {"context_string_max", static_cast<std::int64_t>(spec.context_string_max)}};
  return message;
}

Result<SessionOpening> ReadOpenMessage(const Message& message) {
  if (message.type != MessageType::kOpen) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} before open", MessageTypeName(message.type));
  }
  SessionOpening opening;
  const Json& seed = message.json.at("seed");
  if (!seed.is_int64() && !seed.is_uint64()) {
    return MakeError(ErrorCode::kProtocol, "bridge: open with a seed that is no integer");
  }
  opening.seed =
      seed.is_uint64() ? seed.get_uint64() : static_cast<std::uint64_t>(seed.get_int64());
  DOSSIER_ASSIGN_OR_RETURN(opening.limits, Limits::FromJson(message.json.at("limits")));
  for (const Json& value : message.json.at("contexts").get_array()) {
    DOSSIER_ASSIGN_OR_RETURN(ContextText context, ReadContext(value));
    opening.contexts.push_back(std::move(context));
  }
  opening.features = message.json.at("features").get_object();
  opening.features["seed"] = opening.seed;
  opening.features["limits"] = message.json.at("limits");
  opening.features["named_models"] = message.json.at("names");
  opening.features["context_string_max"] = message.json.at("context_string_max");
  return opening;
}

}  // namespace dossier::sandbox
