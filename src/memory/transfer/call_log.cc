#include "memory/transfer/call_log.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/files/append_file.h"
#include "base/files/file.h"
#include "base/text/utf8.h"
#include "memory/records/operations.h"
#include "memory/records/types.h"
#include "memory/transfer/transfer.h"

namespace dossier::memory {
namespace {

void CutTexts(Json* value, std::int64_t max_chars) {
  if (auto* text = value->if_string()) {
    const std::string_view kept = utf8::Prefix(*text, static_cast<std::uint64_t>(max_chars));
    if (kept.size() < text->size()) *value = fmt::format("{}…", kept);
  } else if (auto* list = value->if_array()) {
    for (Json& item : *list) CutTexts(&item, max_chars);
  } else if (auto* object = value->if_object()) {
    for (auto& member : *object) CutTexts(&member.value(), max_chars);
  }
}

bool IsRead(std::string_view op) {
  constexpr std::string_view kReads[] = {"search", "show", "history",     // by commands
                                         "memory_search", "memory_get"};  // by code
  if (std::ranges::find(kReads, op) != std::end(kReads)) return true;
  const MemoryOperation* operation = FindOperation(op);
  return operation && operation->access == Access::kRead;
}

Micros MicrosNow(const Clock& clock) {
  return std::chrono::floor<std::chrono::microseconds>(clock.WallNow().time_since_epoch()).count();
}

}  // namespace

Status MemoryCallLog::Append(LoggedCall call) const {
  if (options_.redaction == Redaction::kOn) RedactJson(&call.details);
  Json details(std::move(call.details));
  CutTexts(&details, options_.max_chars);
  const std::string line = ToJson(JsonObject{{"ts", FormatMicrosTime(MicrosNow(*options_.clock))},
                                             {"op", call.op},
                                             {"layer", call.layer},
                                             {"memory_type", call.memory_type},
                                             {"branch_id", call.branch},
                                             {"node_id", call.node},
                                             {"phase", call.phase},
                                             {"run_id", call.run},
                                             {"details", std::move(details)}}) +
                           "\n";
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenForAppend(options_.path, 0600));
  if (const Status written = WriteAll(fd.get(), line); !written) {
    return MakeError(written.error().code, "{}: {}", options_.path, written.error().message);
  }
  return {};
}

Status AppendOperations(const MemoryCallLog& log, const LoggedCall& as,
                        const JsonArray& operations_log) {
  for (const Json& entry : operations_log) {
    LoggedCall call = as;
    call.op = FindString(entry, "type").value_or("");
    const std::string part = call.op.substr(0, call.op.find('_'));
    const bool of_part = part == "core" || part == "recall" || part == "archival";
    call.layer = "block";
    call.memory_type = of_part ? part : "store";
    call.details = entry.as_object();
    DOSSIER_RETURN_IF_ERROR(log.Append(std::move(call)));
  }
  return {};
}

Result<std::map<std::string, std::int64_t>> ReadsByPhase(const std::string& path) {
  std::map<std::string, std::int64_t> reads;
  if (!Exists(path)) return reads;
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  for (ImportReader lines(text); auto line = lines.Next();) {
    const auto call = ReadObject(*line);
    if (!call || !IsRead(FindString(*call, "op").value_or(""))) continue;
    ++reads[TextAt(*call, "phase")];
  }
  return reads;
}

std::string CallLogPath(const std::string& store_path) {
  return (std::filesystem::path(store_path).parent_path() / "memory_calls.jsonl").string();
}

}  // namespace dossier::memory
