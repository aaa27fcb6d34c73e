// Prompt logs: each prompt that was sent, as a pair of files for people and scripts to read.
//
//   PromptLog log("logs");
//   const PromptCall call{.session = "run7", .label = "draft", .time = "2026-11-21T23:36:43.123Z"};
//   auto name = log.Write(call, prompt);      // run7_001_draft_attempt1_round1 .md, then .json
//   if (!name) Warn(name.error().message);    // never a reason to fail the call
//
// Files are created, never overwritten. If a .json exists, its complete .md does too, even if the
// process was killed. Secrets are redacted in both. Thread-safety: one owner; several processes may
// write to one folder.

#ifndef DOSSIER_ASSEMBLY_FIT_PROMPT_LOG_H_
#define DOSSIER_ASSEMBLY_FIT_PROMPT_LOG_H_

#include <string>
#include <string_view>

#include "assembly/assemble.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::assembly {

// Files of a log: created once, in full or not at all, and never overwritten.
//
//   DOSSIER_RETURN_IF_ERROR(CreateWhole(folder + "/0001_draft.md", text));   // kLocked: it exists
//   DOSSIER_RETURN_IF_ERROR(PointAlias(folder, "newest.md", "0001_draft.md"));
//
// Thread-safety: functions over files; several processes may use one folder.

// Name prefix of a file while it is written; a killed process may leave one behind.
inline constexpr std::string_view kPartialFile = ".partial-";

// Replaces characters outside [A-Za-z0-9_.-] and a leading dot by '_'; keeps at most 100.
std::string SafeFileName(std::string_view text);

// Creates `path` with `content`, mode 0600. Errors: kLocked if it exists; kIo, kPermission.
Status CreateWhole(const std::string& path, std::string_view content,
                   Durability durability = Durability::kSurvivesPowerLoss);

// Points the link `alias` in `folder` to `target`, which is in the same folder. A regular file of
// that name is left alone. Errors: kFailed (such a file), kIo.
Status PointAlias(const std::string& folder, const std::string& alias, const std::string& target);

// Identifies the call. Characters outside [A-Za-z0-9_.-] become '_' in file names.
struct PromptCall {
  std::string session, label;
  int attempt = 1, round = 1;
  std::string stage, model;
  std::string time;   // RFC 3339
  std::string alias;  // name of links to the newest pair: "phase0_prompt"; empty: none
};

class PromptLog {
 public:
  // The first write creates the folder.
  explicit PromptLog(std::string folder) : folder_(std::move(folder)) {}

  // Returns NAME: SESSION_NNN_LABEL_attemptA_roundR. NNN is one more than the session's highest. If
  // another process took the name, the next number is tried. Errors: kIo, kPermission.
  Result<std::string> Write(const PromptCall& call, const Assembled& prompt);

  // Writes NAME_response.json and NAME_response.txt. Errors: kIo; kLocked if they exist.
  Status WriteReply(std::string_view name, const Json& reply, std::string_view text);

 private:
  std::string folder_;
};

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_PROMPT_LOG_H_
