// Writes the prompts of a run to files that a person can read.
//
//   PromptLogs logs(run_folder);
//   DOSSIER_ASSIGN_OR_RETURN(const std::string name, logs.WritePrompt(entry, prompt));
//   // logs/phase_logs/node_3f9a/prompt_logs/0007_draft_a1_r2_prompt.json and .md
//   DOSSIER_RETURN_IF_ERROR(logs.WriteReply(entry, reply, text));
//   DOSSIER_RETURN_IF_ERROR(logs.Alias(entry, "phase2_prompt"));
//
// Files are written immediately and never overwritten: a file left by a process that ended before
// its journal recorded it stays. Secrets are redacted. Thread-safety: all methods from any thread.

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

// Identifies a call, and holds what its log reports.
struct PromptEntry {
  std::string node;  // node id; "": a call of the run
  std::string label;
  std::int64_t counter = 1;
  int attempt = 1, round = 1;
  JsonObject meta;  // further fields of `meta`: stage, timestamp, model, …
};

class PromptLogs {
 public:
  explicit PromptLogs(std::string run_folder) : run_folder_(std::move(run_folder)) {}

  // Returns "0007_draft_a1_r2": the start of the file names.
  static std::string NameOf(const PromptEntry& entry);
  // Returns the folder relative to the run folder.
  static std::string FolderOf(std::string_view node);

  // Writes NAME_prompt.json and .md. `parts`: further content of the JSON file: response_format,
  // memory, resources. Errors: kIo, kPermission.
  Status WritePrompt(const PromptEntry& entry, const assembly::Assembled& prompt, JsonObject parts);
  // Writes NAME_response.json and .txt.
  Status WriteReply(const PromptEntry& entry, const JsonObject& reply, std::string_view text);
  // Writes NAME_memory_ops.json.
  Status WriteOperations(const PromptEntry& entry, const JsonObject& operations);
  // Links ALIAS.json and ALIAS.md to the prompt.
  Status Alias(const PromptEntry& entry, std::string_view alias);
  // Appends one line to logs/memory/NAME ("memory_operations.jsonl").
  Status Append(std::string_view name, const JsonObject& line);

 private:
  Status Create(const PromptEntry& entry, std::string_view ending, std::string_view content);

  const std::string run_folder_;
  std::mutex append_;
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_PROMPT_LOGS_H_
