// What a model says of commands: the words of a shell line, the rules over them, downloads, plans,
// install steps, a queue's ids.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "research/exec/command_rules.h"
#include "research/exec/exec_slurm.h"
#include "research/exec/phase_log.h"
#include "research/node/phase0.h"
#include "research/node/phase1.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using dossier::research::SandboxFacts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& command : dossier::research::ShellCommands(text)) {
    if (command.words.empty()) std::abort();
    for (const auto& word : command.words) {
      if (word.begin > word.end || word.end > text.size()) std::abort();
    }
  }
  for (const auto root : {SandboxFacts::Root::kNo, SandboxFacts::Root::kYes}) {
    static_cast<void>(dossier::research::ApplyCommandRules({.command = std::string(text)}, root));
  }
  static_cast<void>(dossier::research::Downloads(text));
  static_cast<void>(dossier::research::ParsePlan(text));
  static_cast<void>(dossier::research::ParseInstallReply(text));
  static_cast<void>(dossier::research::ParseJobId(text));
  return 0;
}
