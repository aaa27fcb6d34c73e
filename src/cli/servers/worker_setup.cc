#include "cli/servers/worker_setup.h"

#include <memory>
#include <mutex>

#include "base/files/locations.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

Result<std::string> WorkerFolder() {
  DOSSIER_ASSIGN_OR_RETURN(const std::string cache, CacheFolder());
  return cache + "/worker";
}

std::function<void(std::string_view line)> SayOn(Context& context) {
  if (context.flags.quiet) return {};
  return [&context, lines = std::make_shared<std::mutex>()](std::string_view line) {
    const std::lock_guard lock(*lines);
    context.err << "dossier: " << Safe(line) << "\n" << std::flush;
  };
}

}  // namespace dossier::cli
