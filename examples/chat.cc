// A conversation that a second object goes on with, as another process would.

#include <dossier/chat.h>

#include <fstream>
#include <iostream>

int main() {
  std::ofstream("replies.yaml") << "- Hello, Ada.\n- You are Ada.\n";
  const auto model = dossier::Model::Open("script:replies.yaml");
  if (!model) return dossier::ExitCode(model.error().code);
  for (const char* message : {"I am Ada.", "Who am I?"}) {
    auto conversation =
        dossier::Conversation::Open({.model = *model, .id = "example", .folder = "conversations"});
    if (!conversation) {
      std::cerr << conversation.error().message << "\n";
      return dossier::ExitCode(conversation.error().code);
    }
    const auto reply = conversation->Send(message);
    if (!reply) return dossier::ExitCode(reply.error().code);
    if (reply->error) {
      std::cerr << reply->error->message << "\n";
      return 1;
    }
    std::cout << reply->turn << ": " << reply->text << "\n";
    const auto history = conversation->History();
    if (!history) return dossier::ExitCode(history.error().code);
    std::cout << history->size() << " messages\n";
  }
  return 0;
}
