#include "model/providers/command_client.h"

#include <cmath>
#include <filesystem>
#include <list>
#include <mutex>
#include <set>
#include <thread>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/process/process.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "model/catalog/catalog_reader.h"
#include "model/client/http_failure.h"
#include "model/client/timer.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

// What programs need to find their login and to speak the user's language.
constexpr std::string_view kPassed[] = {
    "PATH",          "HOME",           "USER",          "LOGNAME",
    "LANG",          "LC_ALL",         "TMPDIR",        "XDG_CONFIG_HOME",
    "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"};

class CommandClient final : public Client {
 public:
  CommandClient(CommandPreset preset, CommandOptions options)
      : preset_(std::move(preset)), options_(std::move(options)) {
    for (const std::string_view name : kPassed) Pass(name);
    for (const std::string& name : preset_.pass_env) Pass(name);
    if (!options_.key_env.empty()) Pass(options_.key_env);
  }
  ~CommandClient() override {
    stop_.Cancel("the program ends");
    std::list<std::thread> threads;
    {
      std::lock_guard lock(mutex_);
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }

  void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
              std::shared_ptr<Sink> sink) override {
    std::lock_guard lock(mutex_);
    std::erase_if(threads_, [this](std::thread& thread) {
      const bool ended = ended_.erase(thread.get_id()) > 0;
      if (ended) thread.join();
      return ended;
    });
    threads_.emplace_back(
        [this, request = std::move(request), cancel = std::move(cancel), sink = std::move(sink)] {
          Work(*request, cancel, *sink);
          std::lock_guard ended(mutex_);
          ended_.insert(std::this_thread::get_id());
        });
  }

 private:
  void Pass(std::string_view name) {
    if (const auto value = options_.environment(name)) {
      environment_.push_back(fmt::format("{}={}", name, *value));
    }
  }

  void Work(const Request& request, const CancelToken& cancel, Sink& sink) {
    CancelSource both(cancel);
    const CancelToken stop = stop_.token();
    const std::uint64_t id = stop.OnCancel([&] { both.Cancel(stop.reason()); });
    Failure failure;
    Result<Reply> reply = Run(request, both.token(), &failure);
    stop.Forget(id);
    if (!reply) {
      sink.OnFailure(failure);
    } else {
      EstimateMissingUsage(request, &*reply);
      reply->resolved_model = preset_.name;
      if (!reply->text.empty()) sink.OnDelta(reply->text);
    }
    sink.OnDone(std::move(reply));
  }

  Result<Reply> Run(const Request& request, const CancelToken& cancel, Failure* failure) const {
    DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("dossier-command"));
    DOSSIER_ASSIGN_OR_RETURN(const ProcessSpec spec, Spec(request, folder.path()));
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult ran, RunProcess(spec, cancel));
    const std::string& program = preset_.argv[0];
    if (ran.timed_out) {
      failure->retry = Failure::Retry::kYes;
      failure->sent = Failure::Sent::kYes;
      return MakeError(ErrorCode::kTimeout, "{}: the deadline of {:.1f} s reached after {} bytes",
                       program, static_cast<double>(request.deadline.count()) / 1000.0,
                       ran.out.size());
    }
    if (ran.out_dropped > 0) {
      return MakeError(ErrorCode::kNetwork, "{}: malformed reply: larger than 64 MiB", program);
    }
    auto reply = ReadOutput(preset_, ran.out);
    if (ran.exit_code == 0 || (!reply && reply.error().code == ErrorCode::kFailed)) {
      if (!reply && reply.error().code != ErrorCode::kFailed) {
        return MakeError(reply.error().code, "{}: {}", program, reply.error().message);
      }
      return reply;
    }
    return MakeError(ErrorCode::kFailed, "{} ended with {} {}: {}", program,
                     ran.signal ? "signal" : "status", ran.signal ? ran.signal : ran.exit_code,
                     Excerpt(ran.err.empty() ? ran.out : ran.err, ""));
  }

  Result<ProcessSpec> Spec(const Request& request, const std::string& folder) const {
    ProcessSpec spec{.argv = preset_.argv,
                     .folder = folder,
                     .environment = environment_,
                     .max_output = kMaxReplyBytes,
                     .timeout = request.deadline};
    const std::string prompt =
        PromptText(request.messages) + (request.schema ? WordsForSchema(*request.schema) : "");
    const std::string file = folder + "/prompt.txt";
    if (preset_.prompt == CommandPreset::Prompt::kFile) {
      DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(file, prompt, 0600));
    } else {
      spec.input = prompt;
    }
    for (std::string& word : spec.argv) {
      word = ReplaceAll(word, "{model}", options_.model.empty() ? preset_.model : options_.model);
      word = ReplaceAll(word, "{prompt_file}", file);
    }
    return spec;
  }

  const CommandPreset preset_;
  const CommandOptions options_;
  std::vector<std::string> environment_;
  CancelSource stop_;
  std::mutex mutex_;
  std::list<std::thread> threads_;
  std::set<std::thread::id> ended_;  // of threads_, to be joined
};

}  // namespace

std::string PromptText(const assembly::Messages& messages) {
  std::string text = messages.SystemText();
  const auto add = [&](std::string_view part) {
    if (!text.empty()) text += "\n\n";
    text += part;
  };
  if (messages.turns.size() == 1) {
    add(messages.turns[0].Text());
    return text;
  }
  for (const assembly::Turn& turn : messages.turns) {
    add(fmt::format("<{0}>\n{1}\n</{0}>", assembly::RoleName(turn.role), turn.Text()));
  }
  return text;
}

Result<std::shared_ptr<Client>> MakeCommandClient(CommandPreset preset, CommandOptions options) {
  for (const std::string& name : preset.billing) {
    if (name == options.key_env || !Variable(options.environment, name)) continue;
    return MakeError(
        ErrorCode::kRefused,
        "{} is set: {} would bill that key instead of its login; unset it, or ask for it "
        "by --key-env {}",
        name, preset.argv[0], name);
  }
  if (!FindProgram(preset.argv[0])) {
    return MakeError(ErrorCode::kNotFound, "command/{}: {} is not on the PATH", preset.name,
                     preset.argv[0]);
  }
  return std::make_shared<CommandClient>(std::move(preset), std::move(options));
}

namespace {

constexpr std::string_view kFolder = "data/commands/";

void ReadReply(const YamlPlace& node, CommandPreset& preset) {
  if (!node) return;
  using Form = CommandPreset::Form;
  CheckKeys(node, {"form", "text", "finish", "failed", "input", "cached", "written",
                   "cached_counts", "output"});
  ReadWord<Form>(node["form"],
                 {{"text", Form::kText}, {"json", Form::kJson}, {"json_lines", Form::kJsonLines}},
                 preset.form);
  using Cached = CommandPreset::Cached;
  ReadWord<Cached>(node["cached_counts"], {{"beside", Cached::kBeside}, {"part", Cached::kPart}},
                   preset.counted);
  const std::pair<const char*, std::string*> paths[] = {
      {"text", &preset.text},    {"finish", &preset.finish}, {"failed", &preset.failed},
      {"input", &preset.input},  {"cached", &preset.cached}, {"written", &preset.written},
      {"output", &preset.output}};
  for (const auto& [key, path] : paths) {
    ReadText(node[key], *path);
    if (!path->empty() && (*path)[0] != '/') FailAt(node[key], "a JSON pointer starts with /");
  }
  if (preset.form != Form::kText && preset.text.empty()) FailAt(node, "text: where is the text?");
}

CommandPreset ReadPreset(const YamlPlace& root) {
  CheckKeys(root, {"schema", "argv", "model", "prompt", "reply", "pass_env", "billing", "network",
                   "window", "max_output", "as_of", "source", "status"});
  std::string schema;
  ReadText(root["schema"], schema);
  if (schema != "dossier.command/1") FailAt(root, "schema: dossier.command/1 is wanted");
  CommandPreset preset;
  ReadTexts(root["argv"], preset.argv);
  if (preset.argv.empty()) FailAt(root, "argv is a program and its arguments");
  ReadText(root["model"], preset.model);
  using Prompt = CommandPreset::Prompt;
  ReadWord<Prompt>(root["prompt"], {{"stdin", Prompt::kStdin}, {"file", Prompt::kFile}},
                   preset.prompt);
  ReadReply(root["reply"], preset);
  ReadTexts(root["pass_env"], preset.pass_env);
  ReadTexts(root["billing"], preset.billing);
  using Network = CommandPreset::Network;
  ReadWord<Network>(root["network"], {{"needed", Network::kNeeded}, {"none", Network::kNone}},
                    preset.network);
  ReadCount(root["window"], preset.window);
  ReadCount(root["max_output"], preset.max_output);
  return preset;
}

// The values at JSON pointer `path`, one step at a time: nothing hostile can make it throw.
std::vector<const Json*> AllAt(const Json& value, std::string_view path) {
  std::vector<const Json*> found = {&value};
  for (const std::string_view step : Split(path.substr(1), '/')) {
    std::vector<const Json*> next;
    for (const Json* at : found) {
      boost::system::error_code error;
      if (step != "*") {
        // With "~1" for a slash in a key; a word is no place in a list.
        const Json* inner = at->find_pointer("/" + std::string(step), error);
        if (inner) next.push_back(inner);
      } else if (const auto* list = at->if_array()) {
        for (const Json& inner : *list) next.push_back(&inner);
      } else if (const auto* map = at->if_object()) {
        for (const auto& [key, inner] : *map) next.push_back(&inner);
      }
    }
    found = std::move(next);
  }
  return found;
}

// The documents of an output; the last that has a path is the one that counts for it.
class Documents {
 public:
  static Result<Documents> Parse(CommandPreset::Form form, std::string_view output) {
    Documents documents;
    if (form == CommandPreset::Form::kJson) {
      DOSSIER_ASSIGN_OR_RETURN(Json value, ParseLenient(TrimSpace(output), documents.warnings_));
      documents.values_.push_back(std::move(value));
      return documents;
    }
    for (const std::string_view line : Split(output, '\n')) {
      if (TrimSpace(line).substr(0, 1) != "{") continue;
      auto value = ParseLenient(TrimSpace(line), documents.warnings_);
      if (value) documents.values_.push_back(std::move(*value));  // programs print other lines too
    }
    return documents;
  }

  const Json* Last(std::string_view path) const {
    if (path.empty()) return nullptr;
    for (auto value = values_.rbegin(); value != values_.rend(); ++value) {
      if (const auto found = AllAt(*value, path); !found.empty()) return found.back();
    }
    return nullptr;
  }
  // The sum of what stands at `path`; unset if no number does. What stands there and counts nothing
  // (a text, less than 0, more than `most`) is told in `unusable`.
  std::optional<double> Number(std::string_view path, CommandPreset::Counts counts, double most,
                               std::string* unusable) const {
    std::optional<double> sum;
    if (path.empty()) return sum;
    for (auto value = values_.rbegin(); value != values_.rend(); ++value) {
      for (const Json* found : AllAt(*value, path)) {
        if (found->is_null()) continue;
        const double number = found->is_number() ? found->to_number<double>() : -1;
        if (number >= 0 && sum.value_or(0) + number < most) {
          sum = sum.value_or(0) + number;
        } else if (unusable->empty()) {
          *unusable = fmt::format("{} is {}", path, Excerpt(ToJson(*found), ""));
        }
      }
      if (sum && counts == CommandPreset::Counts::kLast) break;
    }
    return sum;
  }
  std::vector<std::string>& warnings() { return warnings_; }

 private:
  std::vector<Json> values_;
  std::vector<std::string> warnings_;
};

Finish FinishOf(const Json* value) {
  if (!value || !value->is_string()) return Finish::kStop;
  const std::string_view reason = value->as_string();
  const bool cut = reason == "length" || reason == "max_tokens" || reason == "MAX_TOKENS";
  return cut ? Finish::kLength : Finish::kStop;
}

// Unset if the program does not tell.
void ReadUsage(const CommandPreset& preset, const Documents& documents, ProgramReport* report) {
  constexpr double kMostTokens = 1e12, kMostUsd = 1e6;  // of one program
  const auto tokens = [&](const std::string& path) {
    return static_cast<std::int64_t>(
        documents.Number(path, preset.counts, kMostTokens, &report->bad_tokens).value_or(0));
  };
  const auto cost = documents.Number(preset.cost, preset.counts, kMostUsd, &report->bad_cost);
  Usage usage{.input = tokens(preset.input),
              .output = tokens(preset.output),
              .cached = tokens(preset.cached),
              .cache_write = tokens(preset.written)};
  if (usage.output == 0 && !cost) return;
  const std::int64_t beside = usage.cached + usage.cache_write;
  usage.input = preset.counted == CommandPreset::Cached::kBeside ? usage.input + beside
                                                                 : std::max(usage.input, beside);
  constexpr double kNanoPerUsd = 1e9;
  if (cost) usage.cost_nano_usd = static_cast<std::int64_t>(std::llround(*cost * kNanoPerUsd));
  report->usage = usage;
}

}  // namespace

ProgramReport ReadReport(const CommandPreset& preset, std::string_view output) {
  ProgramReport report;
  if (preset.form == CommandPreset::Form::kText) return report;
  const auto documents = Documents::Parse(preset.form, output);
  if (!documents) return report;
  if (const Json* text = documents->Last(preset.text); text && text->is_string()) {
    report.text = text->as_string();
  }
  ReadUsage(preset, *documents, &report);
  return report;
}

Result<CommandPreset> ParsePreset(std::string_view yaml, std::string_view file) {
  CommandPreset preset;
  DOSSIER_RETURN_IF_ERROR(
      ReadYamlFile(yaml, file, [&](const YamlPlace& root) { preset = ReadPreset(root); }));
  return preset;
}

std::vector<std::string> PresetNames(const std::string& folder) {
  std::set<std::string> names;
  for (const std::string_view path : BuiltInAssets(kFolder)) {
    names.insert(std::filesystem::path(path).stem());
  }
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".yaml") names.insert(entry.path().stem());
  }
  return {names.begin(), names.end()};
}

Result<CommandPreset> LoadPreset(const std::string& name, const std::string& folder) {
  const std::vector<std::string> names = PresetNames(folder);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return MakeError(ErrorCode::kConfig, "there is no command preset {}; there are {}{}", name,
                     Join(names, ", "), DidYouMean(name, names, 3));
  }
  const std::string path = folder + "/" + name + ".yaml";
  std::string text(BuiltInAsset(fmt::format("{}{}.yaml", kFolder, name)).value_or(""));
  const bool own = Exists(path);
  if (own) {
    DOSSIER_ASSIGN_OR_RETURN(text, ReadFile(path, 1 << 20));
  }
  DOSSIER_ASSIGN_OR_RETURN(CommandPreset preset,
                           ParsePreset(text, own ? path : fmt::format("{}{}.yaml", kFolder, name)));
  preset.name = name;
  return preset;
}

Result<Reply> ReadOutput(const CommandPreset& preset, std::string_view output) {
  Reply reply;
  reply.provider_data = JsonObject();
  reply.usage.estimated = true;
  if (preset.form == CommandPreset::Form::kText) {
    reply.text = std::string(CleanText(TrimSpace(output)).as_string());
    if (reply.text.empty()) return MalformedReply("the program printed nothing");
    return reply;
  }
  DOSSIER_ASSIGN_OR_RETURN(Documents documents, Documents::Parse(preset.form, output));
  const Json* text = documents.Last(preset.text);
  const Json* failed = documents.Last(preset.failed);
  if (failed && failed->is_bool() && failed->as_bool()) {
    return MakeError(ErrorCode::kFailed, "{} reports: {}", preset.argv[0],
                     Excerpt(text && text->is_string() ? text->as_string() : output, ""));
  }
  if (!text || !text->is_string()) {
    return MalformedReply(fmt::format("no text at {}: {}", preset.text, Excerpt(output, "")));
  }
  reply.text = text->as_string();
  reply.finish = FinishOf(documents.Last(preset.finish));
  reply.warnings = std::move(documents.warnings());
  ProgramReport report;
  ReadUsage(preset, documents, &report);
  for (const std::string& bad : {report.bad_tokens, report.bad_cost}) {
    if (bad.empty()) continue;
    reply.warnings.push_back(
        fmt::format("what the program says that it used is no count ({})", bad));
  }
  if (report.usage && report.bad_tokens.empty()) reply.usage = *report.usage;
  return reply;
}

}  // namespace dossier::model
