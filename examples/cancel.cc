// A request that another thread stops.

#include <dossier/cancel.h>
#include <dossier/model.h>

#include <fstream>
#include <iostream>
#include <thread>

int main() {
  std::ofstream("slow.yaml") << "- {reply: too late, delay: 60s}\n";
  const auto model = dossier::Model::Open("script:slow.yaml");
  if (!model) return dossier::ExitCode(model.error().code);
  dossier::CancelSource source;
  std::thread stopper([&source] { source.Cancel("the user pressed stop"); });
  const auto reply = model->Complete("Hello?", {.cancel = source.token()});
  stopper.join();
  std::cout << (reply ? "answered" : dossier::ErrorName(reply.error().code)) << "\n";
  return 0;
}
