// The prompts of a run as files a person can read.
//
//   PromptLogs logs(run_folder);
//   DOSSIER_ASSIGN_OR_RETURN(const std::string name, logs.WritePrompt(entry, prompt));
//   // logs/phase_logs/node_3f9a/prompt_logs/0007_draft_a1_r2_prompt.json and .md
//   DOSSIER_RETURN_IF_ERROR(logs.WriteReply(entry, reply, text));
//   DOSSIER_RETURN_IF_ERROR(logs.Alias(entry, "phase2_prompt"));
//
// Files are made at once and never overwritten: one that is there, from a process that was ended
// before its journal knew of it, stays. Secrets are redacted. Thread-safety: all methods from any
// thread.

#ifndef DOSSIER_RESEARCH_CALL_PROMPT_LOGS_H_
#define DOSSIER_RESEARCH_CALL_PROMPT_LOGS_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "assembly/assemble.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::research {

// Which call it is, and what is told of it.
struct PromptEntry {
  std::string node;  // id; "": a call of the run
  std::string label;
  std::int64_t counter = 1;
  int attempt = 1, round = 1;
  JsonObject meta;  // what stands in `meta` beside those: stage, timestamp, model, …
};

class PromptLogs {
 public:
  explicit PromptLogs(std::string run_folder) : run_folder_(std::move(run_folder)) {}

  // "0007_draft_a1_r2": the start of the names of its files.
  static std::string NameOf(const PromptEntry& entry);
  // Relative to the run folder.
  static std::string FolderOf(std::string_view node);

  // NAME_prompt.json and .md. `parts`: what the file says beside the prompt: response_format,
  // memory, resources. Errors: kIo, kPermission.
  Status WritePrompt(const PromptEntry& entry, const assembly::Assembled& prompt, JsonObject parts);
  // NAME_response.json and .txt.
  Status WriteReply(const PromptEntry& entry, const JsonObject& reply, std::string_view text);
  // NAME_memory_ops.json.
  Status WriteOperations(const PromptEntry& entry, const JsonObject& operations);
  // Links ALIAS.json and ALIAS.md to the prompt.
  Status Alias(const PromptEntry& entry, std::string_view alias);
  // One line more in logs/memory/NAME ("memory_operations.jsonl").
  Status Append(std::string_view name, const JsonObject& line);

 private:
  Status Create(const PromptEntry& entry, std::string_view ending, std::string_view content);

  const std::string run_folder_;
  std::mutex append_;
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_PROMPT_LOGS_H_
