// Every secret in the files named on standard input, one a line, as JSON:
// {"path", "line", "kind", "offset", "length"}; {"path", "bytes"} of a file that has none or was
// searched. Files with a NUL byte are passed over.

#include <iostream>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/text/redact.h"

int main() {
  using namespace dossier;
  constexpr std::size_t kMost = 64 << 20;
  for (std::string path; std::getline(std::cin, path);) {
    const auto text = ReadFile(path, kMost);
    if (!text || text->find('\0') != std::string::npos) continue;
    const std::vector<Secret> found = FindSecrets(*text);
    const std::vector<std::size_t> lines = LinesOf(*text, found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::cout << ToJson(JsonObject{{"path", path},
                                     {"line", lines[i]},
                                     {"kind", found[i].kind},
                                     {"offset", found[i].offset},
                                     {"length", found[i].length}})
                << "\n";
    }
    std::cout << ToJson(JsonObject{{"path", path}, {"bytes", text->size()}}) << "\n";
  }
  return 0;
}
