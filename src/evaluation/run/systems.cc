#include "evaluation/run/systems.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/net/http_get.h"
#include "base/process/process.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "base/yaml/yaml.h"
#include "inspect/describe/describe.h"
#include "inspect/text/encoding.h"

namespace dossier::evaluation {
namespace {

namespace fs = std::filesystem;
using Kind = SystemInfo::Kind;

constexpr std::array kSystems = std::to_array<SystemInfo>({
    {"direct", "one plain call; a context that is too long scores 0", Kind::kDirect, ""},
    {"direct-cut", "one plain call; a context that is too long loses its middle", Kind::kDirect,
     ""},
    {"dossier", "this program: dossier, or dossier:FLAGS of `dossier ask`", Kind::kDossier, ""},
    {"rlms", "recursive engine in Python", Kind::kCommand, "rlms"},
    {"dspy-deno", "dspy's RLM, its code in Deno", Kind::kCommand, "dspy", "deno"},
    {"dspy-local", "dspy's RLM, its code in this Python", Kind::kCommand, "dspy"},
    {"droste", "recursive engine in Python, as a command", Kind::kCommand, "droste"},
    {"minrlm", "recursive engine in Python", Kind::kCommand, "minrlm"},
    {"recursive-llm", "recursive engine in Python", Kind::kCommand, "recursive-llm"},
    {"floor", "no model: words that labels have", Kind::kSolver, ""},
    {"blind", "no model: sees the question alone", Kind::kSolver, ""},
    {"chance", "no model: guesses among the legal answers", Kind::kSolver, ""},
    {"oracle", "no model: reads the labels; scores 1 or the set is wrong", Kind::kSolver, ""},
});
constexpr std::string_view kPeersAsset = "data/eval_peers.py";
constexpr std::array<std::string_view, 2> kSettings = {"shipped", "matched"};
constexpr std::size_t kMostAnswerFile = 64u << 20;

const SystemInfo* FindSystem(std::string_view name) {
  const auto found = std::find_if(kSystems.begin(), kSystems.end(),
                                  [&](const SystemInfo& one) { return one.name == name; });
  return found == kSystems.end() ? nullptr : &*found;
}

Answer Ended(RowStatus status, std::string detail) {
  return {.status = status, .detail = std::move(detail)};
}

RowStatus StatusOfError(ErrorCode code) {
  switch (code) {
    case ErrorCode::kTimeout:
      return RowStatus::kTimeout;
    case ErrorCode::kNetwork:
    case ErrorCode::kAuth:
    case ErrorCode::kRateLimited:
      return RowStatus::kProviderError;
    case ErrorCode::kTooLong:
      return RowStatus::kContextTooLong;
    default:
      return RowStatus::kHarnessError;
  }
}

Result<std::string> ReadTextFile(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  if (text.find('\0') == std::string::npos && utf8::IsValid(text)) return text;
  // Text in another encoding is decoded as in `dossier ask`.
  const auto source = inspect::MemorySource(text, path);
  DOSSIER_ASSIGN_OR_RETURN(const inspect::Description found,
                           inspect::Describe(*source, {.inside_limit = 0}, {}));
  if (const Status is_text = inspect::RefuseBinary(found, path); !is_text) {
    return MakeError(ErrorCode::kInvalidArgument, "{}", is_text.error().message);
  }
  std::string decoded;
  const std::size_t mark = inspect::BomBytes(found.encoding.kind, text);
  inspect::Decode(found.encoding.kind, std::string_view(text).substr(mark),
                  inspect::LastBytes::kYes, &decoded);
  return decoded;
}

// One call of the model with the whole context.
class DirectSystem final : public System {
 public:
  enum class TooLong : std::uint8_t { kFails, kIsCut };
  DirectSystem(TooLong too_long, const SystemParts& parts)
      : too_long_(too_long), loop_(parts.loop), count_(parts.count) {}

  Answer Ask(const Asking& asking, const CancelToken& cancel) const override {
    auto prompt = DirectPrompt(*asking.asked);
    if (!prompt) {
      return Ended(prompt.error().code == ErrorCode::kInvalidArgument ? RowStatus::kError
                                                                      : RowStatus::kHarnessError,
                   prompt.error().message);
    }
    const std::int64_t room = asking.window - asking.max_output;
    if (asking.window > 0) {
      const std::int64_t tokens = count_(*prompt);
      if (tokens > room && too_long_ == TooLong::kFails) {
        return Ended(RowStatus::kContextTooLong,
                     fmt::format("{} tokens do not fit into {}", tokens, room));
      }
      *prompt = CutMiddle(*prompt, room, count_);
    }
    return Send(*prompt, asking, cancel);
  }

 private:
  Answer Send(const std::string& prompt, const Asking& asking, const CancelToken& cancel) const {
    JsonObject body{{"model", asking.model},
                    {"messages", JsonArray{JsonObject{{"role", "user"}, {"content", prompt}}}}};
    const auto answer = AskHttp(*loop_,
                                {.url = asking.url + "/chat/completions",
                                 .headers = {"Content-Type: application/json"},
                                 .body = ToJson(body),
                                 .deadline = asking.limit,
                                 .idle_limit = asking.limit},
                                kMostAnswerFile, cancel);
    if (!answer) return Ended(StatusOfError(answer.error().code), answer.error().message);
    if (answer->status != 200) {
      return Ended(RowStatus::kProviderError,
                   fmt::format("status {}: {}", answer->status, utf8::Prefix(answer->body, 200)));
    }
    const auto value = ParseJson(answer->body, 512);
    const Json* choices = value ? Find(*value, "choices") : nullptr;
    if (choices == nullptr || !choices->is_array() || choices->get_array().empty()) {
      return Ended(RowStatus::kProviderError, "the reply holds no choice");
    }
    const Json& choice = choices->get_array()[0];
    const Json* message = Find(choice, "message");
    Answer found{.text = message ? TextAt(*message, "content") : "",
                 .status = RowStatus::kOk,
                 .turns = 1,
                 .sub_calls = 0,
                 .ended = TextAt(choice, "finish_reason")};
    if (message != nullptr && !TextAt(*message, "refusal").empty()) {
      found.status = RowStatus::kRefused;
    } else if (TrimSpace(found.text).empty()) {
      found.status = RowStatus::kEmpty;
    }
    return found;
  }

  const TooLong too_long_;
  const std::shared_ptr<HttpLoop> loop_;
  const std::function<std::int64_t(std::string_view)> count_;
};

// The private folder of one question: a home, with the files under their own names.
class Workplace {
 public:
  static Result<Workplace> Make(const AskedTask& asked) {
    DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("dossier-eval"));
    Workplace place(std::move(folder));
    for (std::size_t i = 0; i < asked.files.size(); ++i) {
      DOSSIER_RETURN_IF_ERROR(place.Copy(asked, i));
    }
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(place.In("question.txt"), asked.task.question));
    return place;
  }

  const std::string& path() const { return folder_.path(); }
  std::string In(std::string_view name) const { return path() + "/" + std::string(name); }
  const std::vector<std::string>& files() const { return files_; }

  // Returns one file for systems that take one: the only file, else all texts after their names.
  Result<std::string> OneFile(const AskedTask& asked) const {
    if (files_.size() == 1) return files_[0];
    AskedTask all = asked;
    all.files = files_;
    all.task.question.clear();
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, DirectPrompt(all));
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(In("context.txt"), text));
    return In("context.txt");
  }

 private:
  explicit Workplace(TempFolder folder) : folder_(std::move(folder)) {}

  // The original location of the files must not be visible, but their folders below the set are.
  Status Copy(const AskedTask& asked, std::size_t index) {
    fs::path relative = fs::path(asked.task.contexts[index].path).lexically_normal();
    if (relative.is_absolute() || *relative.begin() == "..") relative = relative.filename();
    const fs::path goal = fs::path(path()) / "files" / relative;
    DOSSIER_RETURN_IF_ERROR(MakeFolders(goal.parent_path().string()));
    std::error_code failure;
    if (fs::exists(goal, failure)) {
      return MakeError(ErrorCode::kConfig, "two contexts have the name {}", relative.string());
    }
    fs::copy_file(asked.files[index], goal, failure);
    if (failure) return MakeErrnoError(failure.value(), asked.files[index]);
    files_.push_back(goal.string());
    return {};
  }

  TempFolder folder_;
  std::vector<std::string> files_;
};

// Returns the content of a file that a system wrote; empty if there is none.
std::string Written(const std::string& path) {
  auto text = ReadRegularFile(path, kMostAnswerFile);
  return text ? std::move(*text) : "";
}

// Returns the end of what a program complained of, from the start of a word.
std::string LastWords(std::string_view err) {
  const std::string_view all = TrimSpace(err), end = utf8::Suffix(all, 300);
  return std::string(end.substr(end.size() < all.size() ? end.find_first_of(" \n") + 1 : 0));
}

// Any program, given by its words.
class CommandSystem final : public System {
 public:
  CommandSystem(Arm arm, std::string peers_file)
      : arm_(std::move(arm)), peers_file_(std::move(peers_file)) {}

  Answer Ask(const Asking& asking, const CancelToken& cancel) const override {
    auto place = Workplace::Make(*asking.asked);
    if (!place) return Ended(RowStatus::kHarnessError, place.error().message);
    const auto context = place->OneFile(*asking.asked);
    if (!context) return Ended(RowStatus::kError, context.error().message);
    const std::string answer_file = place->In("answer.txt"), meta_file = place->In("meta.json");
    SystemCommand command{.argv = FillWords(arm_.argv,
                                            {{"context", *context},
                                             {"question", asking.asked->task.question},
                                             {"question_file", place->In("question.txt")},
                                             {"base_url", asking.url},
                                             {"model", asking.model},
                                             {"answer_file", answer_file},
                                             {"meta", meta_file},
                                             {"peers_file", peers_file_}},
                                            place->files()),
                          .environment = arm_.environment,
                          .folder = place->path(),
                          .limit = asking.limit};
    // Read by OpenAI clients; the real key is in the proxy.
    command.environment.emplace("OPENAI_API_KEY", "eval");
    command.environment.emplace("OPENAI_BASE_URL", asking.url);
    const auto end = RunCommand(command, cancel);
    if (!end) {
      return Ended(RowStatus::kHarnessError,
                   end.error().message + (arm_.install.empty() ? "" : "; " + arm_.install));
    }
    Answer answer = Judge(*end, Written(answer_file));
    if (const auto meta = ParseJson(Written(meta_file))) {
      answer.turns = FindInt(*meta, "turns");
      answer.sub_calls = FindInt(*meta, "sub_calls");
      if (answer.ended.empty()) answer.ended = TextAt(*meta, "ended");
      answer.run = TextAt(*meta, "run");
    }
    return answer;
  }

 private:
  static Answer Judge(const CommandEnd& end, std::string written) {
    Answer answer{.text = written.empty() ? end.out : std::move(written)};
    if (end.out_cut) answer.detail = "the answer is longer than 64 MiB; the rest was dropped";
    if (end.timed_out) answer.ended = "timeout";
    answer.at_limit = end.timed_out;
    const bool said = !TrimSpace(answer.text).empty();
    const std::string last = LastWords(end.err);
    if (end.timed_out) {
      answer.status = said ? RowStatus::kOk : RowStatus::kTimeout;
    } else if (end.signal != 0) {
      answer.status = RowStatus::kCrashed;
      answer.detail = fmt::format("ended by signal {}; {}", end.signal, last);
    } else if (end.exit_code != 0) {
      answer.status = RowStatus::kError;
      answer.detail = fmt::format("exit code {}; {}", end.exit_code, last);
    } else {
      answer.status = said ? RowStatus::kOk : RowStatus::kEmpty;
    }
    return answer;
  }

  const Arm arm_;
  const std::string peers_file_;
};

// This program, started as a user would.
class DossierSystem final : public System {
 public:
  DossierSystem(Arm arm, std::string program)
      : arm_(std::move(arm)), program_(std::move(program)) {}

  Answer Ask(const Asking& asking, const CancelToken& cancel) const override {
    auto place = Workplace::Make(*asking.asked);
    if (!place) return Ended(RowStatus::kHarnessError, place.error().message);
    SystemCommand command{.argv = {program_, "ask", "--json", "--no-memory", "--progress", "none",
                                   "--base-url", asking.url, "-m", asking.model},
                          .environment = arm_.environment,
                          .folder = place->path(),
                          .input = asking.asked->task.question,
                          .limit = asking.limit};
    if (asking.window > 0) {
      command.argv.insert(command.argv.end(), {"--window", std::to_string(asking.window)});
    }
    command.argv.insert(command.argv.end(), arm_.argv.begin(), arm_.argv.end());
    for (const std::string& file : place->files()) {
      command.argv.insert(command.argv.end(), {"-c", file});
    }
    command.argv.emplace_back("-");
    const auto end = RunCommand(command, cancel);
    if (!end) return Ended(RowStatus::kHarnessError, end.error().message);
    Answer answer = Judge(*end);
    if (asking.events == Asking::Events::kYes && !answer.run.empty()) {
      answer.result = ParseJson(end->out, 512).value_or(Json());
      command.argv = {program_, "runs", "show", answer.run, "--json"};
      const auto shown = RunCommand(command, cancel);
      const auto journal = shown ? ParseJson(shown->out, 512) : Result<Json>(Json());
      if (const Json* events = journal ? Find(*journal, "events") : nullptr)
        answer.events = *events;
    }
    answer.run.clear();  // its journal goes with its home
    return answer;
  }

 private:
  static Answer Judge(const CommandEnd& end) {
    const auto value = ParseJson(end.out, 512);
    if (!value) {
      const std::string last = LastWords(end.err);
      if (end.timed_out) return Ended(RowStatus::kTimeout, last);
      if (end.signal != 0) return Ended(RowStatus::kCrashed, last);
      return Ended(RowStatus::kError, fmt::format("exit code {}; {}", end.exit_code, last));
    }
    Answer answer{.text = TextAt(*value, "answer"),
                  .status = RowStatus::kOk,
                  .turns = FindInt(*value, "turns"),
                  .ended = TextAt(*value, "source"),
                  .run = TextAt(*value, "run")};
    const Json* limits = Find(*value, "limits_hit");
    answer.at_limit = limits != nullptr && limits->is_array() && !limits->get_array().empty();
    if (const Json* error = Find(*value, "error")) answer.detail = TextAt(*error, "message");
    if (const Json* calls = Find(*value, "calls"); calls != nullptr && answer.turns) {
      answer.sub_calls =
          std::max<std::int64_t>(0, FindInt(*calls, "sent").value_or(0) - *answer.turns);
    }
    if (!TrimSpace(answer.text).empty()) return answer;
    constexpr std::pair<int, RowStatus> kByExit[] = {
        {6, RowStatus::kProviderError},  {7, RowStatus::kTimeout}, {8, RowStatus::kProviderError},
        {9, RowStatus::kContextTooLong}, {10, RowStatus::kLimit},  {12, RowStatus::kRefused},
        {13, RowStatus::kNoAnswer},      {0, RowStatus::kEmpty}};
    answer.status = end.signal != 0 ? RowStatus::kCrashed : RowStatus::kError;
    for (const auto& [code, status] : kByExit) {
      if (code == end.exit_code) answer.status = status;
    }
    return answer;
  }

  const Arm arm_;
  const std::string program_;
};

class SolverSystem final : public System {
 public:
  SolverSystem(std::string name, SolveTask solve)
      : name_(std::move(name)), solve_(std::move(solve)) {}

  Answer Ask(const Asking& asking, const CancelToken&) const override {
    auto text = solve_(name_, *asking.asked);
    if (!text) return Ended(RowStatus::kNoAnswer, text.error().message);
    const RowStatus status = TrimSpace(*text).empty() ? RowStatus::kEmpty : RowStatus::kOk;
    return {.text = std::move(*text), .status = status};
  }

 private:
  const std::string name_;
  const SolveTask solve_;
};

// "droste-matched": a peer and its setting.
std::optional<Arm> PeerArm(std::string_view text) {
  std::string_view name = text, setting = kSettings[0];
  for (const std::string_view one : kSettings) {
    if (text.ends_with("-" + std::string(one))) {
      setting = one;
      name.remove_suffix(one.size() + 1);
    }
  }
  const SystemInfo* info = FindSystem(name);
  if (info == nullptr || info->package.empty()) return std::nullopt;
  return Arm{.name = fmt::format("{}-{}", name, setting),
             .system = std::string(name),
             .setting = std::string(setting)};
}

Result<std::unique_ptr<System>> MakePeer(Arm arm, const SystemParts& parts) {
  const std::string python = fmt::format("{}/{}/bin/python", parts.peers_folder, arm.system);
  if (const std::string missing = MissingOf(*FindSystem(arm.system), parts.peers_folder);
      !missing.empty()) {
    return MakeError(ErrorCode::kUnavailable, "{} is not installed; {}", arm.system, missing);
  }
  const std::string peers_file = parts.peers_folder + "/adapter.py";
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(peers_file, BuiltInAsset(kPeersAsset).value_or("")));
  arm.argv = {python,          "{peers_file}",    arm.system,   arm.setting,
              "{context}",     "{question_file}", "{base_url}", "{model}",
              "{answer_file}", "{meta}"};
  return std::make_unique<CommandSystem>(std::move(arm), peers_file);
}

Result<Arm> ReadArm(const YamlEntry& entry, const std::string& path) {
  Arm arm{.name = entry.key, .system = "command"};
  const auto wrong = [&](const YamlNode& node, std::string_view what) {
    return tl::unexpected(PlaceError(path, node.line, node.column, what));
  };
  for (const YamlEntry& field : entry.value.entries) {
    const bool is_text = field.value.kind == YamlNode::Kind::kScalar;
    constexpr std::array<std::pair<std::string_view, std::string Arm::*>, 4> kTexts = {
        {{"system", &Arm::system},
         {"install", &Arm::install},
         {"setting", &Arm::setting},
         {"model", &Arm::model}}};
    const auto text = std::find_if(kTexts.begin(), kTexts.end(),
                                   [&](const auto& one) { return one.first == field.key; });
    if (text != kTexts.end()) {
      if (!is_text) return wrong(field.value, field.key + ": a text is wanted");
      arm.*(text->second) = field.value.scalar;
    } else if (field.key == "argv") {
      for (const YamlNode& word : field.value.items) arm.argv.push_back(word.scalar);
    } else if (field.key == "env") {
      for (const YamlEntry& one : field.value.entries) arm.environment[one.key] = one.value.scalar;
    } else {
      constexpr std::array<std::string_view, 6> kNames = {"system",  "argv",    "env",
                                                          "install", "setting", "model"};
      return wrong(field.value,
                   fmt::format("no such field: {}{}", field.key, DidYouMean(field.key, kNames)));
    }
  }
  if (arm.system == "command" && arm.argv.empty()) {
    return wrong(entry.value, fmt::format("{} needs `argv: [PROGRAM, …]`", arm.name));
  }
  if (arm.system != "command" && FindSystem(arm.system) == nullptr) {
    return wrong(entry.value, fmt::format("no such system: {}", arm.system));
  }
  return arm;
}

}  // namespace

std::span<const SystemInfo> Systems() { return kSystems; }

std::string MissingOf(const SystemInfo& info, const std::string& peers_folder) {
  if (!info.package.empty() && !Exists(fmt::format("{}/{}/bin/python", peers_folder, info.name))) {
    return fmt::format("bench/eval_peers install {}", info.name);
  }
  const std::string program(info.program);
  if (program.empty() || FindProgram(program)) return "";
  return fmt::format("it needs {}, which is not on this machine; install {}", program, program);
}

Result<Arm> ParseArm(std::string_view text, const std::map<std::string, Arm>& known) {
  if (const auto found = known.find(std::string(text)); found != known.end()) return found->second;
  if (auto peer = PeerArm(text)) return *std::move(peer);
  const std::string_view name = text.substr(0, text.find(':'));
  const SystemInfo* info = FindSystem(name);
  if (info == nullptr || (name != text && info->kind != Kind::kDossier)) {
    std::vector<std::string> names;
    for (const SystemInfo& one : kSystems) names.emplace_back(one.name);
    for (const auto& [own, arm] : known) names.push_back(own);
    return MakeError(ErrorCode::kConfig, "no such arm: {}{}; `dossier eval arms` shows all", text,
                     DidYouMean(name, names));
  }
  Arm arm{.name = std::string(text), .system = std::string(name)};
  if (name == text) return arm;
  for (const std::string_view word : Split(text.substr(name.size() + 1), ' ')) {
    if (!word.empty()) arm.argv.emplace_back(word);
  }
  return arm;
}

Result<std::map<std::string, Arm>> LoadArms(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxYamlBytes));
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, path));
  std::map<std::string, Arm> arms;
  for (const YamlEntry& entry : root.entries) {
    DOSSIER_ASSIGN_OR_RETURN(arms[entry.key], ReadArm(entry, path));
  }
  return arms;
}

Result<std::unique_ptr<System>> MakeSystem(const Arm& arm, const SystemParts& parts) {
  if (arm.system == "command") return std::make_unique<CommandSystem>(arm, "");
  const SystemInfo* info = FindSystem(arm.system);
  if (info == nullptr) return MakeError(ErrorCode::kConfig, "no such system: {}", arm.system);
  switch (info->kind) {
    case Kind::kDirect: {
      using TooLong = DirectSystem::TooLong;
      return std::make_unique<DirectSystem>(
          arm.system == "direct" ? TooLong::kFails : TooLong::kIsCut, parts);
    }
    case Kind::kDossier:
      return std::make_unique<DossierSystem>(arm,
                                             arm.program.empty() ? parts.program : arm.program);
    case Kind::kCommand:
      return MakePeer(arm, parts);
    case Kind::kSolver:
      if (!parts.solve) {
        return MakeError(ErrorCode::kUnavailable, "{} answers task sets only", arm.system);
      }
      return std::make_unique<SolverSystem>(arm.system, parts.solve);
  }
  return MakeError(ErrorCode::kInternal, "a system without a kind");
}

Result<std::string> DirectPrompt(const AskedTask& asked) {
  std::string prompt;
  for (std::size_t i = 0; i < asked.files.size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(asked.files[i]));
    if (asked.files.size() > 1) {
      prompt +=
          fmt::format("=== {} ===\n", i < asked.task.contexts.size() ? asked.task.contexts[i].path
                                                                     : asked.files[i]);
    }
    prompt += text;
    if (!text.ends_with('\n')) prompt += '\n';
  }
  if (!asked.task.question.empty()) prompt += "\n" + asked.task.question;
  return prompt;
}

std::string CutMiddle(const std::string& prompt, std::int64_t tokens,
                      const std::function<std::int64_t(std::string_view)>& count) {
  constexpr std::string_view kGap = "\n[…]\n";
  if (count(prompt) <= tokens) return prompt;
  // Searches for the share of bytes to keep: tokens grow with bytes, but not evenly.
  std::size_t low = 0, high = prompt.size();
  std::string best;
  while (low + 1 < high) {
    const std::size_t kept = (low + high) / 2;
    std::string cut = prompt.substr(0, utf8::FloorBoundary(prompt, kept / 2));
    cut += kGap;
    cut += prompt.substr(utf8::FloorBoundary(prompt, prompt.size() - kept / 2));
    if (count(cut) <= tokens) {
      best = std::move(cut);
      low = kept;
    } else {
      high = kept;
    }
  }
  return best;
}

}  // namespace dossier::evaluation
