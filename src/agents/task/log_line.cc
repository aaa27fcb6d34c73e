#include "agents/task/log_line.h"

namespace dossier::agents {
namespace {

constexpr int kLogVersion = 1;
constexpr std::size_t kMaxDepth = 200;  // the journal's limit

}  // namespace

std::string LogLine(const store::Event& event) {
  JsonObject line{{"v", kLogVersion},
                  {"run", event.run},
                  {"seq", event.seq},
                  {"time", event.time},
                  {"event", event.type}};
  for (const auto& [key, value] : event.data) line.emplace(key, value);
  return ToJson(Json(std::move(line))) + "\n";
}

std::optional<ParsedEvent> ParseLogLine(std::string_view line) {
  auto value = ParseJson(line, kMaxDepth);
  if (!value || !value->is_object()) return std::nullopt;
  const auto text = [&](std::string_view key) { return TextAt(*value, key); };
  ParsedEvent parsed{.run = text("run"), .event = text("event"), .time = text("time")};
  parsed.seq = FindInt(*value, "seq").value_or(0);
  if (parsed.event.empty()) {
    // AgentNet has only result lines.
    if (!FindString(*value, "task-id") || !FindString(*value, "status")) return std::nullopt;
    parsed.event = "task.finished";
  }
  parsed.data = std::move(value->get_object());
  return parsed;
}

}  // namespace dossier::agents
