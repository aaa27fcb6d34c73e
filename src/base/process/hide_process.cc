#include "base/process/hide_process.h"

#include <sys/prctl.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/files/file.h"

namespace dossier {
namespace {

constexpr char kName[] = "dossier";

void Clear(std::uintptr_t begin, std::uintptr_t end) {
  if (begin == 0 || end <= begin) return;
  std::memset(reinterpret_cast<void*>(begin), 0, end - begin);
}

}  // namespace

void HideMemory() { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void HideCommandLine() {
  const std::string text = ReadFile("/proc/self/stat", 4096).value_or("");
  // The name in front may hold anything. Behind it come the state (field 3) and 42 numbers; then
  // the bounds of the data (45 to 47), of the arguments and of the environment (48 to 51).
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return;
  std::size_t at = name_end + 2;
  for (int field = 3; field < 48; ++field) {
    at = text.find(' ', at);
    if (at == std::string::npos) return;
    ++at;
  }
  std::uintptr_t arguments[2], environment[2];
  if (std::sscanf(text.c_str() + at, "%" SCNuPTR " %" SCNuPTR " %" SCNuPTR " %" SCNuPTR,
                  &arguments[0], &arguments[1], &environment[0], &environment[1]) != 4) {
    return;
  }
  Clear(arguments[0], arguments[1]);
  Clear(environment[0], environment[1]);
  if (arguments[0] != 0 && arguments[1] - arguments[0] > sizeof(kName)) {
    std::memcpy(reinterpret_cast<void*>(arguments[0]), kName, sizeof(kName));
  }
}

}  // namespace dossier
