// The client of provider `command`: it runs a program for each request.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto client, MakeCommandClient(preset, {.environment = environment}));
//
// The prompt is passed on stdin or as a file with mode 0600; the program gets a scrubbed
// environment, an empty working folder and a process group, which a cancellation or the deadline
// ends. No shell is used. Thread-safety: as model::Client; one thread per request in flight.

#ifndef DOSSIER_MODEL_PROVIDERS_COMMAND_CLIENT_H_
#define DOSSIER_MODEL_PROVIDERS_COMMAND_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog/keys.h"
#include "model/client/client.h"

namespace dossier::model {

// A model behind a program: how to start it, and where its output has the reply.
//
//   DOSSIER_ASSIGN_OR_RETURN(CommandPreset preset, LoadPreset("claude", config_folder));
//   DOSSIER_ASSIGN_OR_RETURN(Reply reply, ReadOutput(preset, result.out));
//
// A preset is data/commands/NAME.yaml, or the user's COMMANDS_FOLDER/NAME.yaml, which wins. Its
// format is in docs/formats/commands.md. Thread-safety: pure functions over files.

struct CommandPreset {
  std::string name;
  std::vector<std::string> argv;  // "{model}" and "{prompt_file}" are replaced within words
  std::string model;              // the default of "{model}"
  enum class Prompt { kStdin, kFile } prompt = Prompt::kStdin;
  // kText: the whole output. kJson: one value. kJsonLines: for each path the last line that has it.
  enum class Form { kText, kJson, kJsonLines } form = Form::kText;
  // JSON pointers; empty: not available. `written`: tokens written to the provider's cache. A step
  // `*` of a pointer means every key. `cost`: US dollars.
  std::string text, finish, failed, input, cached, written, output, cost;
  // If several lines of kJsonLines have a number: the last one counts, or their sum.
  enum class Counts { kLast, kSum } counts = Counts::kLast;
  // Whether `input` includes the tokens at `cached` and `written`, or they are counted beside it.
  enum class Cached { kBeside, kPart } counted = Cached::kBeside;
  std::vector<std::string> pass_env;  // variables beyond PATH, HOME and the like
  std::vector<std::string> billing;   // variables that would be billed instead of the login
  // kNone: the program only contacts this machine, so it may run with --offline.
  enum class Network { kNeeded, kNone } network = Network::kNeeded;
  std::int64_t window = 32768, max_output = 4096;  // tokens
};

// Errors: kConfig (no such preset, with the nearest names; FILE:LINE:COL of a mistake).
Result<CommandPreset> LoadPreset(const std::string& name, const std::string& folder);
Result<CommandPreset> ParsePreset(std::string_view yaml, std::string_view file);

// Returns the names of all presets, sorted.
std::vector<std::string> PresetNames(const std::string& folder);

// Converts the output to a reply; usage is estimated if the preset or the output has none. Errors:
// kNetwork ("malformed reply", with the first 200 characters), kFailed if `failed` is true.
Result<Reply> ReadOutput(const CommandPreset& preset, std::string_view output);

// The final report of a program that is not a model: its last text, and its usage. Unset if the
// output does not tell. `preset` needs only the fields about replies.
struct ProgramReport {
  std::optional<std::string> text;
  std::optional<Usage> usage;
  // A reported value that is not a count: "total_cost_usd is -5"; empty if there is none.
  std::string bad_cost, bad_tokens;
};
ProgramReport ReadReport(const CommandPreset& preset, std::string_view output);

struct CommandOptions {
  std::string model;        // for "{model}"; empty: the preset's own
  std::string key_env;      // a billing variable that the user named explicitly
  Environment environment;  // looks a variable up
};

// Errors: kRefused if a billing variable is set that was not requested; kNotFound (no such
// program).
Result<std::shared_ptr<Client>> MakeCommandClient(CommandPreset preset, CommandOptions options);

// Returns the messages as one text, for a program that accepts no other form.
std::string PromptText(const assembly::Messages& messages);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_PROVIDERS_COMMAND_CLIENT_H_
