// The whole output of one command as one stream: stdout and then, if it is not blank, LF and
// stderr.
//
//   CommandOutput output(command, CommandRules::kDossier, store);
//   output.AddOut(block);  output.AddErr(block);
//   DOSSIER_RETURN_IF_ERROR(std::move(output).Finish(&result));   // bytes, sha256, text, kept,
//   notes
//
// stdout is hashed, cleaned and capped as it comes; stderr waits for its end, in memory and above
// 64 KiB in a file without a name. Thread-safety: one owner.

#ifndef DOSSIER_SOURCES_COMMANDS_COMMAND_OUTPUT_H_
#define DOSSIER_SOURCES_COMMANDS_COMMAND_OUTPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/hash.h"
#include "sources/commands/command_text.h"
#include "sources/commands/context_command.h"
#include "store/content_writer.h"

namespace dossier::sources {

// Bytes that wait; above 64 KiB on disk.
class Spool {
 public:
  Status Add(std::string_view bytes);
  // Calls visit(block) for all bytes in order.
  template <typename Visit>
  Status ForEachBlock(Visit visit) const;

 private:
  Status Spill();

  std::string memory_;
  UniqueFd file_;
};

class CommandOutput {
 public:
  // `store` keeps the whole output of commands with keep_full; it may be null for others.
  CommandOutput(const ContextCommand& command, CommandRules rules,
                const store::ContentStore* store);

  // Errors of the disk: kIo.
  Status AddOut(std::string_view bytes);
  Status AddErr(std::string_view bytes);
  Status Finish(CommandResult* result) &&;

 private:
  Status Take(std::string_view bytes);

  const ContextCommand& command_;
  const store::ContentStore* store_;
  CommandText text_;
  Sha256 hash_;
  std::uint64_t bytes_ = 0;
  Spool err_;
  bool err_blank_ = true;
  std::optional<store::ContentWriter> writer_;
};

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_COMMAND_OUTPUT_H_
