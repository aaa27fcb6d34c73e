#include "server/clients/read_hook.h"

#include <sys/stat.h>

#include "base/json/json.h"
#include "base/text/text.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"

namespace dossier::clients {
namespace {

constexpr std::uint64_t kLookedAt = 64u << 10;  // bytes: reading them must be fast
constexpr std::size_t kHintChars = 1200;

}  // namespace

std::optional<std::string> JudgeRead(std::string_view message, const ReadLimits& limits) {
  const auto call = ParseJson(message);
  const Json* input = call ? Find(*call, "tool_input") : nullptr;
  if (!input || TextAt(*call, "tool_name") != "Read") return std::nullopt;
  const auto given = [&](std::string_view key) {
    const Json* value = Find(*input, key);
    return value && !value->is_null();
  };
  if (given("offset") || given("limit")) return std::nullopt;
  std::string path = TextAt(*input, "file_path");
  if (path.empty()) return std::nullopt;
  if (path[0] != '/') path = TextAt(*call, "cwd") + "/" + path;
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(info.st_size) <= limits.bytes) return std::nullopt;
  const auto source = inspect::OpenFileSource(path);
  if (!source) return std::nullopt;
  const auto about = inspect::Describe(**source,
                                       {.sample_records = 20,
                                        .max_scan = kLookedAt,
                                        .inside_limit = 0,  // an assistant reads no compressed file
                                        .threads = 1},
                                       {});
  if (!about || about->encoding.kind == inspect::EncodingKind::kBinary) return std::nullopt;
  const std::string quoted = ToJson(Json(path));
  return fmt::format(
      "{} has {}: reading all of it would fill your window. What it is:\n{}\n"
      "Instead: open it as a context, which costs nothing: open {{\"paths\": [{}]}} (the MCP "
      "server "
      "dossier), then search or read places of it. Or ask about all of it in a shell: dossier ask "
      "-c {} \"QUESTION\". To read a part here, give offset and limit.",
      path, FormatSize(static_cast<std::uint64_t>(info.st_size)),
      inspect::RenderHint(*about, {.max_chars = kHintChars}), quoted, ShellQuote(path));
}

std::string DenialJson(std::string_view reason) {
  return ToJson(
      JsonObject{{"hookSpecificOutput", JsonObject{{"hookEventName", "PreToolUse"},
                                                   {"permissionDecision", "deny"},
                                                   {"permissionDecisionReason", reason}}}});
}

}  // namespace dossier::clients
