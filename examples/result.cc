// Errors: their names for programs, their messages for people, and exit codes for both.

#include <dossier/inspect.h>
#include <dossier/result.h>

#include <iostream>

int main() {
  const auto about = dossier::Inspect("there/is/no/such.csv");
  if (about) return 1;
  std::cout << dossier::ErrorName(about.error().code) << ", exit code "
            << dossier::ExitCode(about.error().code) << "\n";
  return 0;
}
