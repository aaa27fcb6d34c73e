// The client of provider `command`: each request runs a program.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto client, MakeCommandClient(preset, {.environment = environment}));
//
// The prompt goes in on stdin or as a file of mode 0600; the program gets a scrubbed environment,
// an empty working folder of its own and a process group that a cancellation or the deadline ends.
// No shell takes part. Thread-safety: as model::Client; one thread for each request in flight.

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

// A model behind a program: how it is started, and where its reply stands in its output.
//
//   DOSSIER_ASSIGN_OR_RETURN(CommandPreset preset, LoadPreset("claude", config_folder));
//   DOSSIER_ASSIGN_OR_RETURN(Reply reply, ReadOutput(preset, result.out));
//
// A preset is data/commands/NAME.yaml, or COMMANDS_FOLDER/NAME.yaml of the user, which wins. Its
// form is in docs/formats/commands.md. Thread-safety: pure functions over files.

struct CommandPreset {
  std::string name;
  std::vector<std::string> argv;  // "{model}" and "{prompt_file}" are replaced inside words
  std::string model;              // the default for "{model}"
  enum class Prompt { kStdin, kFile } prompt = Prompt::kStdin;
  // kText: all of the output. kJson: one value. kJsonLines: for each path the last line that has
  // it.
  enum class Form { kText, kJson, kJsonLines } form = Form::kText;
  // JSON pointers; empty: not said. `written`: tokens written to the provider's cache.
  // A step `*` of a pointer is every key. `cost`: US dollars.
  std::string text, finish, failed, input, cached, written, output, cost;
  // Of numbers in several lines of kJsonLines: the last counts, or all together.
  enum class Counts { kLast, kSum } counts = Counts::kLast;
  // Whether `input` counts the tokens at `cached` and `written` too, or they stand beside it.
  enum class Cached { kBeside, kPart } counted = Cached::kBeside;
  std::vector<std::string> pass_env;  // variables beside PATH, HOME and their like
  std::vector<std::string> billing;   // variables that would bill instead of the login
  // kNone: the program asks nobody but this machine, so --offline lets it run.
  enum class Network { kNeeded, kNone } network = Network::kNeeded;
  std::int64_t window = 32768, max_output = 4096;  // tokens
};

// Errors: kConfig (no such preset, the nearest names; FILE:LINE:COL of a mistake).
Result<CommandPreset> LoadPreset(const std::string& name, const std::string& folder);
Result<CommandPreset> ParsePreset(std::string_view yaml, std::string_view file);

// The names of all presets, sorted.
std::vector<std::string> PresetNames(const std::string& folder);

// What the program printed, as a reply; usage is estimated where the preset or the output has none.
// Errors: kNetwork ("malformed reply", with the first 200 characters), kFailed if `failed` is true.
Result<Reply> ReadOutput(const CommandPreset& preset, std::string_view output);

// What a program that is no model said at its end: its last text, and what it used. Unset where the
// output does not tell. `preset` needs only what is said of replies.
struct ProgramReport {
  std::optional<std::string> text;
  std::optional<Usage> usage;
  // What it says and is no count: "total_cost_usd is -5"; empty if there is none.
  std::string bad_cost, bad_tokens;
};
ProgramReport ReadReport(const CommandPreset& preset, std::string_view output);

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
