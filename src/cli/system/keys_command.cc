// keys: manages the files of providers' keys. A key is read from stdin or from a hidden prompt,
// never from an argument, because every process can see arguments.

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "base/json/json.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "model/catalog/keys.h"

namespace dossier::cli {
namespace {

using model::Provider;

struct KeysArguments {
  std::string provider;
  bool json = false;
};

constexpr std::size_t kLongestKey = 16 << 10;

// Hides what is typed on a terminal, until it is destroyed.
class HiddenInput {
 public:
  HiddenInput() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    hides_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0;
  }
  ~HiddenInput() {
    if (hides_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  HiddenInput(const HiddenInput&) = delete;
  HiddenInput& operator=(const HiddenInput&) = delete;

 private:
  termios before_{};
  bool hides_ = false;
};

// Reads the first line of stdin, without surrounding blanks.
Result<std::string> ReadLine(const CancelToken& cancel) {
  constexpr int kLook = 100;  // poll interval for `cancel`, in ms
  std::string line;
  while (line.find('\n') == std::string::npos && line.size() < kLongestKey) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "no key was stored");
    pollfd wait{STDIN_FILENO, POLLIN, 0};
    if (poll(&wait, 1, kLook) == 0) continue;
    char block[1024];
    const ssize_t got = read(STDIN_FILENO, block, sizeof(block));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    line.append(block, static_cast<std::size_t>(got));
  }
  return std::string(TrimSpace(FirstLine(line)));
}

Result<std::string> ReadKey(const Provider& provider, Context& context) {
  if (!isatty(STDIN_FILENO)) return ReadLine(context.cancel);
  if (!MayAsk(context.flags)) {
    return MakeError(ErrorCode::kUsage, "the key comes from stdin: dossier keys set {} < FILE",
                     provider.name);
  }
  const HiddenInput hidden;  // before the question: a quick answer is hidden, too
  context.err << fmt::format("Key of {} (it is not shown): ", Safe(provider.name)) << std::flush;
  auto key = ReadLine(context.cancel);
  context.err << "\n" << std::flush;
  return key;
}

// Errors: kConfig: no such provider, or one without keys.
Result<Provider> FindProvider(const ModelData& data, const std::string& name) {
  std::vector<std::string> names;
  for (const Provider& provider : data.catalog.providers()) {
    if (provider.key_variables.empty()) continue;
    if (provider.name == name) return provider;
    names.push_back(provider.name);
  }
  // The value may be the key itself, so it is not repeated.
  return MakeError(ErrorCode::kConfig,
                   "there is no provider of that name with a key; there are {}{}",
                   Join(names, ", "), DidYouMean(name, names));
}

Status SetKey(const KeysArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData());
  DOSSIER_ASSIGN_OR_RETURN(const Provider provider, FindProvider(data, arguments.provider));
  DOSSIER_ASSIGN_OR_RETURN(std::string key, ReadKey(provider, context));
  DOSSIER_RETURN_IF_ERROR(model::WriteKeyFile(Environment, provider.name, std::move(key)));
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, model::KeyFile(Environment, provider.name));
  context.out << fmt::format("the key of {} is in {}\n", provider.name, Safe(path));
  const auto variable =
      model::KeyPlace(provider, model::KeyPlaces::kVariables, Environment, data.config);
  if (variable) PrintWarning(context.err, *variable + ", and counts before the file");
  return {};
}

Status ListKeys(const KeysArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData());
  JsonArray list;
  for (const Provider& provider : data.catalog.providers()) {
    if (provider.key_variables.empty()) continue;
    std::optional<std::string> place;
    for (const auto places : {model::KeyPlaces::kVariables, model::KeyPlaces::kFiles}) {
      if (!place) place = model::KeyPlace(provider, places, Environment, data.config);
    }
    if (arguments.json) {
      list.push_back(
          JsonObject{{"provider", provider.name}, {"place", place ? Json(*place) : Json(nullptr)}});
    } else {
      context.out << fmt::format("{:<12} {}\n", provider.name, place ? Safe(*place) : "no key");
    }
  }
  if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.keys/1"}, {"keys", std::move(list)}})
                << "\n";
  }
  return {};
}

Status RemoveKey(const KeysArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const ModelData data, LoadModelData());
  DOSSIER_ASSIGN_OR_RETURN(const Provider provider, FindProvider(data, arguments.provider));
  DOSSIER_ASSIGN_OR_RETURN(const bool was, model::RemoveKeyFile(Environment, provider.name));
  if (!was) return MakeError(ErrorCode::kNotFound, "no key of {} is stored", provider.name);
  context.out << fmt::format("the key of {} is removed\n", provider.name);
  return {};
}

void DeclareProvider(Flags& flags, KeysArguments& to) {
  flags.Add("provider", &to.provider, "whose key: openai, anthropic, gemini, openrouter, …")
      .Required()
      .Kind(kName);
}

void DeclareList(Flags& flags, KeysArguments& to) { flags.Add("--json", &to.json, "one object"); }

}  // namespace

Command KeysCommand() {
  return {
      .name = "keys",
      .summary = "store the key of a provider of models, or say where it is",
      .examples =
          "dossier keys set openai\n"
          "    asks for the key without showing it; in a pipe it is the first line of stdin\n"
          "dossier keys list\n"
          "    where each provider's key would come from",
      .commands = {
          {.name = "set",
           .summary = "store a key, typed unseen or from stdin, in a file that only you can read",
           .binding = Bind(DeclareProvider, SetKey)},
          {.name = "list",
           .summary = "where each key is; never the key",
           .binding = Bind(DeclareList, ListKeys)},
          {.name = "remove",
           .summary = "remove the file with a key",
           .binding = Bind(DeclareProvider, RemoveKey)}}};
}

}  // namespace dossier::cli
