#include "cli/system/doctor_checks.h"

#include "cli/wiring/model_flags.h"
#include "model/catalog/catalog.h"
#include "model/providers/probe.h"

namespace dossier::cli {
namespace {

using State = DoctorCheck::State;

void AddKeys(const model::Catalog& catalog, std::vector<DoctorCheck>* checks) {
  for (const model::Provider& provider : catalog.providers()) {
    for (const std::string& variable : provider.key_variables) {
      if (Environment(variable)) {
        checks->push_back({variable, State::kOk, fmt::format("set, for {}", provider.name)});
      }
    }
  }
}

}  // namespace

std::vector<DoctorCheck> ModelChecks() {
  std::vector<DoctorCheck> checks;
  const auto data = LoadModelData();
  if (!data) {
    checks.push_back({"models", State::kFailed, data.error().message});
    return checks;
  }
  AddKeys(data->catalog, &checks);
  if (checks.empty()) {
    checks.push_back({"keys", State::kInfo, "no provider key is set; the local model answers"});
  }
  for (const model::LocalServer& server :
       model::ProbeLocalServers(model::kUsualPorts, Millis(200))) {
    checks.push_back(
        {fmt::format("port {}", server.port), State::kInfo,
         fmt::format("an OpenAI-compatible server; use it with --base-url {}", server.base_url)});
  }
  return checks;
}

}  // namespace dossier::cli
