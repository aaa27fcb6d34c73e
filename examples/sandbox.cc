// Code behind walls: it sees a text, keeps its names between calls, and gets no further.

#include <dossier/sandbox.h>

#include <iostream>

int main() {
  auto sandbox =
      dossier::Sandbox::Open({.texts = {{"server.log", "error: disk\nok\nerror: net\n"}}});
  if (!sandbox) {
    std::cerr << sandbox.error().message << "\n";
    return dossier::ExitCode(sandbox.error().code);
  }
  const auto result = sandbox->Run("n = context.count('error')\nprint(n, 'errors')");
  if (!result) return dossier::ExitCode(result.error().code);
  std::cout << result->output;
  std::cout << "n = " << sandbox->Get("n").value_or("?") << "\n";

  const auto wrong = sandbox->Run("open('/etc/passwd')");
  if (!wrong) return dossier::ExitCode(wrong.error().code);
  std::cout << (wrong->status == dossier::CodeResult::Status::kError ? "refused" : "open") << "\n";
  return 0;
}
