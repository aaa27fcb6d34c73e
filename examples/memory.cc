// Facts, records, search, and the text that goes into a prompt.

#include <dossier/memory.h>

#include <iostream>

int main() {
  auto memory = dossier::Memory::Open("memory.sqlite");
  if (!memory) {
    std::cerr << memory.error().message << "\n";
    return dossier::ExitCode(memory.error().code);
  }
  if (!memory->Set("compiler", "icpx 2024.2")) return 1;
  if (!memory->Add("The linker needs -lfftw3 before -lm.", {.tags = {"build"}})) return 1;
  if (!memory->Add("The cluster is down on Mondays.")) return 1;

  const auto hits = memory->Search("why did the linker fail?", 1);
  if (!hits) return dossier::ExitCode(hits.error().code);
  for (const dossier::MemoryHit& hit : *hits) std::cout << hit.text << "\n";

  auto branch = memory->Fork("experiment");  // sees what is there; what it adds stays its own
  if (!branch || !branch->Set("compiler", "g++ 12")) return 1;
  std::cout << memory->Get("compiler").value_or("") << " / " << branch->Get("compiler").value_or("")
            << "\n";

  const auto text = memory->Render({.query = "linker", .max_chars = 2000});
  if (!text) return dossier::ExitCode(text.error().code);
  return text->find("icpx 2024.2") == std::string::npos;
}
