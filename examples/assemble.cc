// A prompt under a budget: what may give way does, and the report says so.

#include <dossier/assemble.h>

#include <fstream>
#include <iostream>

int main() {
  std::ofstream("none.yaml") << "- hello\n";
  const auto model = dossier::Model::Open("script:none.yaml");
  if (!model) return dossier::ExitCode(model.error().code);
  const dossier::Layout layout = dossier::LayoutText(R"(
schema: dossier.layout/1
name: review
sections:
  - {name: rules, zone: system, source: text, text: "Review the log."}
  - {name: log, zone: volatile, source: data, fit: tail}
  - {name: question, zone: request, source: data, required: true}
)");
  std::string log;
  for (int i = 0; i < 500; ++i) log += "step " + std::to_string(i) + " done\n";
  const auto prompt = dossier::Assemble(
      layout, {{.name = "log", .text = log}, {.name = "question", .text = "What was last?"}},
      {.model = *model, .budget = 400, .seed = 7});
  if (!prompt) {
    std::cerr << prompt.error().message << "\n";
    return dossier::ExitCode(prompt.error().code);
  }
  for (const dossier::SectionReport& section : prompt->sections) {
    std::cout << section.name << " " << section.outcome << "\n";
  }
  const bool newest = prompt->messages.back().text.find("step 499 done") != std::string::npos;
  std::cout << (prompt->tokens <= 400 && newest ? "fits, with the newest steps" : "wrong") << "\n";
  return 0;
}
