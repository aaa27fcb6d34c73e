// One request to a model. "local" or "gpt-5-mini" in place of the script asks a real one.

#include <dossier/model.h>

#include <fstream>
#include <iostream>

int main() {
  std::ofstream("replies.yaml") << "- {when: capital, reply: Paris, times: always}\n";
  const auto model = dossier::Model::Open("script:replies.yaml");
  if (!model) {
    std::cerr << model.error().message << "\n";
    return dossier::ExitCode(model.error().code);
  }
  const auto reply = model->Complete({{.role = "system", .text = "Answer in one word."},
                                      {.role = "user", .text = "The capital of France?"}});
  if (!reply) return dossier::ExitCode(reply.error().code);
  std::cout << reply->text << " (" << reply->finish << ", " << reply->usage.calls << " call)\n";
  return 0;
}
