// Reads files that an engine left in `.agent/`; symbolic links there are not followed.
//
//   if (const auto text = ReadAgentFile(worktree.path(), "review.txt", 64 << 10)) Use(*text);
//
// Thread-safety: functions over files.

#ifndef DOSSIER_AGENTS_GIT_AGENT_FILE_H_
#define DOSSIER_AGENTS_GIT_AGENT_FILE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace dossier::agents {

// Returns nullopt if there is no regular file WORKTREE/.agent/NAME in a real folder. Errors:
// kTooLong above `max_bytes`; kIo.
Result<std::optional<std::string>> ReadAgentFile(const std::string& worktree,
                                                 const std::string& name, std::uint64_t max_bytes);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_AGENT_FILE_H_
