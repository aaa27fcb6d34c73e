// What agents would do with the tasks of a repository.

#include <dossier/agents.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace {

void MakeRepository() {
  std::filesystem::create_directories("project/config");
  std::ofstream("project/dossier.yml")
      << "agents:\n"
         "  engineer: maker\n"
         "  reviewer: judge\n"
         "  engines:\n"
         "    maker: {argv: [sh, -c, 'mkdir -p src; echo done > src/parser.txt']}\n"
         "    judge: {argv: [sh, -c, 'echo no']}\n";
  std::ofstream("project/config/policy.yaml") << "allow: [\"src/**\"]\n";
  std::ofstream("project/config/tasks.json")
      << R"([{"id": "fix-parser", "summary": "Fix the parser"}])" << "\n";
}

}  // namespace

int main() {
  MakeRepository();
  const int made = std::system(
      "cd project && git init -q -b main && git add -A && "
      "git -c user.name=Ada -c user.email=ada@example.org commit -qm base");
  if (made != 0) return 1;

  dossier::AgentsOptions options{.repository = "project"};
  const auto refused = dossier::PlanAgents(options);  // its dossier.yml names programs to run
  std::cout << (refused ? "planned" : dossier::ErrorName(refused.error().code)) << "\n";

  options.trust = dossier::AgentsOptions::Trust::kRepository;
  const auto plan = dossier::PlanAgents(options);
  if (!plan) {
    std::cerr << plan.error().message << "\n";
    return dossier::ExitCode(plan.error().code);
  }
  for (const dossier::AgentsStep& step : plan->steps) {
    std::cout << step.task << ": " << step.summary << " (" << plan->engineer << ", then "
              << plan->reviewer << ")\n";
  }
  return 0;
}
