// The client of provider `command`: each request runs a program.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto client, MakeCommandClient(preset, {.environment = environment}));
//
// The prompt goes in on stdin or as a file of mode 0600; the program gets a scrubbed environment,
// an empty working folder of its own and a process group that a cancellation or the deadline ends.
// No shell takes part. Thread-safety: as model::Client; one thread for each request in flight.

#ifndef DOSSIER_MODEL_PROVIDERS_COMMAND_CLIENT_H_
#define DOSSIER_MODEL_PROVIDERS_COMMAND_CLIENT_H_

#include <memory>
#include <string>

#include "model/catalog/keys.h"
#include "model/providers/command_preset.h"

namespace dossier::model {

struct CommandOptions {
  std::string model;        // for "{model}"; empty: the preset's own
  std::string key_env;      // a billing variable that the user asks for by name
  Environment environment;  // looks a variable up
};

// Errors: kRefused if a billing variable is set that was not asked for; kNotFound (no such
// program).
Result<std::shared_ptr<Client>> MakeCommandClient(CommandPreset preset, CommandOptions options);

// The messages as one text, for a program that takes no other form.
std::string PromptText(const assembly::Messages& messages);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_PROVIDERS_COMMAND_CLIENT_H_
