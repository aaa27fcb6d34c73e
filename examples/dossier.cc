// All together: describe a file, put the description into a prompt, ask.

#include <dossier/dossier.h>

#include <fstream>
#include <iostream>

int main() {
  std::ofstream("notes.md") << "# Notes\n\n- buy bread\n- call Ada\n";
  std::ofstream("replies.yaml") << "- {when: markdown, reply: It is a list of notes.}\n";
  const auto model = dossier::Model::Open("script:replies.yaml");
  const auto about = dossier::Inspect("notes.md");
  if (!model || !about) return 1;
  const auto count = dossier::CountTokens(about->hint, {.encoding = "bytes"});
  if (!count || count->tokens == 0) return 1;
  const auto reply = model->Complete("Of what kind is this " + about->format + "?\n" + about->hint);
  if (!reply) {
    std::cerr << reply.error().message << "\n";
    return dossier::ExitCode(reply.error().code);
  }
  std::cout << reply->text << "\n";
  return 0;
}
