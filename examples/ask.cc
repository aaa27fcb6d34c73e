// A question over a file. The scripted model does what a real one does: it writes code, which runs
// in the sandbox over the records of the file, and hands in what it found.

#include <dossier/ask.h>

#include <fstream>
#include <iostream>

int main() {
  std::ofstream sales("sales.ndjson");
  for (int i = 1; i <= 300; ++i) sales << "{\"shop\": " << i % 7 << ", \"sum\": " << i << "}\n";
  sales.close();
  std::ofstream("replies.yaml") << "- reply: |\n"
                                   "    ```repl\n"
                                   "    total = sum(r['sum'] for r in records)\n"
                                   "    FINAL(total)\n"
                                   "    ```\n";
  const auto model = dossier::Model::Open("script:replies.yaml");
  if (!model) return dossier::ExitCode(model.error().code);

  int events = 0;
  const auto answer = dossier::Ask("What do all sums add up to?", {dossier::File("sales.ndjson")},
                                   {.model = *model,
                                    .mode = dossier::AskOptions::Mode::kRecursive,
                                    .max_calls = 10,
                                    .on_event = [&events](const auto&) { ++events; }});
  if (!answer) {
    std::cerr << answer.error().message << "\n";
    return dossier::ExitCode(answer.error().code);
  }
  std::cout << answer->text << " (" << dossier::AnswerStatusName(answer->status) << ", "
            << answer->usage.calls << " call)\n";
  return events > 0 && !answer->run.empty() ? 0 : 1;
}
