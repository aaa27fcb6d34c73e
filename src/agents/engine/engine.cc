#include "agents/engine/engine.h"

#include <fmt/format.h>

namespace dossier::agents {

std::string_view RoleName(Role role) { return role == Role::kEngineer ? "engineer" : "reviewer"; }

Json EngineOutcome::ExitJson() const {
  switch (end) {
    case ProcessOutcome::End::kExit:
      return exit_code;
    case ProcessOutcome::End::kTimeout:
      return "timeout";
    case ProcessOutcome::End::kSignal:
      return Json(fmt::format("signal {}", signal));
    case ProcessOutcome::End::kCancelled:
      break;
  }
  return nullptr;
}

}  // namespace dossier::agents
