// The first phase of a staged run, and how the run stands afterwards.

#include <dossier/research.h>

#include <fstream>
#include <iostream>

int main() {
  std::ofstream("idea.md") << "# Title\nSorting\n## Abstract\nTwo ways.\n## Short Hypothesis\n"
                              "One wins.\n## Experiments\nTime both.\n"
                              "## Risk Factors and Limitations\nNoise.\n";
  std::ofstream("replies.yaml")
      << R"([{"reply": "{\"plan\": {\"goal_summary\": \"sort\"}}", "times": "always"}])" << "\n";
  const auto model = dossier::Model::Open("script:replies.yaml");
  if (!model) return dossier::ExitCode(model.error().code);
  const auto run =
      dossier::RunResearch({.idea = "idea.md",
                            .model = *model,
                            .settings = {"memory.enabled=false", "agent.num_workers=1"},
                            .until = "phase0"});
  if (!run) {
    std::cerr << run.error().message << "\n";
    return dossier::ExitCode(run.error().code);
  }
  std::cout << "end: " << run->end << "\n";
  const auto status = dossier::GetResearchStatus(run->folder);
  if (!status) return dossier::ExitCode(status.error().code);
  std::cout << status->title << ": " << status->state << "\n";
  return 0;
}
