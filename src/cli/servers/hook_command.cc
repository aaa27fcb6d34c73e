// hook: called by coding assistants before they use a tool of their own.

#include <unistd.h>

#include <chrono>
#include <iterator>
#include <thread>

#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/tree/command.h"
#include "cli/wiring/shared_flags.h"
#include "server/clients/read_hook.h"

namespace dossier::cli {
namespace {

constexpr std::chrono::milliseconds kLongest{500};

struct HookArguments {
  std::string limit = "200K";
};

void DeclareHookRead(Flags& flags, HookArguments& to) {
  flags.Add("--limit", &to.limit, "a text up to this size may be read whole")
      .Kind(kSize)
      .ShowDefault();
}

// An assistant waits for it: whatever happens, it ends quickly and without an objection.
Status RunHookRead(const HookArguments& given, Context& context) {
  std::thread([] {
    std::this_thread::sleep_for(kLongest);
    _exit(0);
  }).detach();
  clients::ReadLimits limits;
  DOSSIER_ASSIGN_OR_RETURN(limits.bytes, ReadSizeFlag("--limit", given.limit, Zero::kTaken));
  const std::string message(std::istreambuf_iterator<char>(context.in), {});
  if (const auto reason = clients::JudgeRead(message, limits)) {
    context.out << clients::DenialJson(*reason) << "\n" << std::flush;
  }
  return {};
}

}  // namespace

Command HookCommand() {
  return {.name = "hook",
          .summary = "what coding assistants call before they use a tool of their own",
          .examples =
              "dossier mcp install claude-code --hook\n"
              "    from now on `dossier hook read` is asked before a file is read",
          .commands = {{.name = "read",
                        .summary = "refuse to read a large file whole; a JSON object on stdin says "
                                   "which",
                        .binding = Bind(DeclareHookRead, RunHookRead)}},
          .signals = Command::Signals::kLeft};
}

}  // namespace dossier::cli
