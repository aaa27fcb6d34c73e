// Judges a file read that an assistant is about to make: refuses a file that would fill its context
// window, and says what the file is and how to read it instead.
//
//   if (const auto denied = JudgeRead(stdin_text, {})) std::cout << DenialJson(*denied);
//
// When in doubt, the read passes: a file that cannot be read, a read with offset or limit, a small
// file, a file that is no text, or another kind of message. Only the file's first bytes are read.
// Thread-safety: a function over files that are only read.

#ifndef DOSSIER_SERVER_CLIENTS_READ_HOOK_H_
#define DOSSIER_SERVER_CLIENTS_READ_HOOK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dossier::clients {

struct ReadLimits {
  std::uint64_t bytes = 200u << 10;  // limit for a text or a file of records
};

// Returns the reason for refusing the read, for the model; unset: it passes.
std::optional<std::string> JudgeRead(std::string_view message, const ReadLimits& limits);
// Returns the output that the assistant's program expects of a hook that refuses.
std::string DenialJson(std::string_view reason);

}  // namespace dossier::clients

#endif  // DOSSIER_SERVER_CLIENTS_READ_HOOK_H_
