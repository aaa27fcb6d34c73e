// What a file is, before a model reads it.

#include <dossier/inspect.h>

#include <fstream>
#include <iostream>

int main() {
  std::ofstream file("cities.csv");
  file << "name,population,coast\n";
  for (int i = 0; i < 250; ++i) file << "city " << i << "," << 1000 * i << "," << i % 2 << "\n";
  file.close();

  const auto about = dossier::Inspect("cities.csv");
  if (!about) {
    std::cerr << about.error().message << "\n";
    return dossier::ExitCode(about.error().code);
  }
  std::cout << about->format << ", " << about->records.value_or(0) << " records\n";
  for (const dossier::Field& field : about->fields) {
    std::cout << field.name << ": " << field.types.front() << "\n";
  }
  return about->hint.empty() ? 1 : 0;
}
