// Judges a file read that an assistant is about to make: a file that would fill its window is
// refused, with what it is and how to read it instead.
//
//   if (const auto denied = JudgeRead(stdin_text, {})) std::cout << DenialJson(*denied);
//
// In doubt nothing is refused: what cannot be read, is bounded by offset or limit, is small, is no
// text, or is no such message at all passes. Only the first bytes of the file are looked at.
// Thread-safety: a function over files that are only read.

#ifndef DOSSIER_SERVER_CLIENTS_READ_HOOK_H_
#define DOSSIER_SERVER_CLIENTS_READ_HOOK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dossier::clients {

struct ReadLimits {
  std::uint64_t bytes = 200u << 10;  // of a text or a file of records
};

// Why the read is refused, for the model; unset: it passes.
std::optional<std::string> JudgeRead(std::string_view message, const ReadLimits& limits);
// What the assistant's program expects of a hook that refuses.
std::string DenialJson(std::string_view reason);

}  // namespace dossier::clients

#endif  // DOSSIER_SERVER_CLIENTS_READ_HOOK_H_
