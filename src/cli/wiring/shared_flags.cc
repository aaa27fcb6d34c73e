#include "cli/wiring/shared_flags.h"

#include <array>
#include <filesystem>

#include "base/files/file.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "cli/wiring/value_kinds.h"
#include "store/postgres/connection.h"

namespace dossier::cli {
namespace {

constexpr ValueKind kPrice{"PRICE"}, kUrl{"URL"};
// A message from the session holds it whole, with the answer beside it.
constexpr std::uint64_t kMostCellOutput = 56u << 20;  // bytes

}  // namespace

void AddLimitFlags(const Flags& flags, LimitFlags* to) {
  Flags limits = flags.In("Limits");
  limits.Add("--max-cost", &to->max_cost, "of the whole run, in USD").NotNegative();
  limits.Add("--max-tokens", &to->max_tokens, "of the whole run").Positive();
  limits.Add("--max-seconds", &to->max_seconds, "of the whole run").Positive();
  AddPriceFlag(limits, &to->prices);
}

void AddModelFlags(const Flags& flags, ModelFlags* to) {
  Flags model = flags.In("Model");
  model.Add("-m,--model", &to->model, "model, as [PROVIDER/]NAME").Kind(kModel).Often();
  model.Add("--sub-model", &to->sub_model, "the model that its code asks (default: the same)")
      .Kind(kModel);
  model.Add("--temperature", &to->temperature, "0 to 2").Between(0, 2);
  model.Add("--max-output", &to->max_output, "tokens of one reply").Positive();
  model.Add("--param", &to->params, "NAME=VALUE, passed to the provider as it is");
  model
      .Add("--concurrency", &to->concurrency,
           "requests at the same time (16; to the local server what it can take)")
      .Between(1, 10000);
  AddConnectionFlags(model, to);
}

void AddPriceFlag(Flags flags, std::vector<std::string>* prices) {
  flags
      .Add("--price", prices,
           "price of a model that has none: IN/OUT or NAME=IN/OUT, in USD for a million tokens")
      .Kind(kPrice);
}

void AddEndpointFlags(Flags flags, std::string* base_url, std::string* key_env) {
  flags.Add("--base-url", base_url, "address of any server that speaks as OpenAI's").Kind(kUrl);
  flags.Add("--key-env", key_env, "environment variable that holds the key").Kind(kName);
}

void AddScriptFlag(Flags flags, std::string* script) {
  flags.Add("--script", script, "file with the replies of the model `scripted`, for tests")
      .Kind(kPath);
}

void AddConnectionFlags(const Flags& flags, ModelFlags* to) {
  Flags model = flags.In("Model");
  AddEndpointFlags(model, &to->base_url, &to->key_env);
  AddScriptFlag(model, &to->script);
  model.Add("--timeout", &to->timeout, "how long one request may take").Kind(kTime).ShowDefault();
  model.Add("--idle-timeout", &to->idle_timeout, "how long one request may stay silent")
      .Kind(kTime)
      .ShowDefault();
  model.Add("--retries", &to->retries, "attempts after the first that failed")
      .Between(0, 20)
      .ShowDefault();
  model.Add("--record", &to->record, "write requests and replies to this file").Kind(kPath);
  model.Add("--replay", &to->replay, "answer from a recorded file: no key, no network").Kind(kPath);
}

void AddContentFlags(Flags flags, ContentFlags* to) {
  flags.Add("--format", &to->format, "force the format");
  flags.Add("--encoding", &to->encoding, "force the encoding");
  flags.Add("--delimiter", &to->delimiter, "force the delimiter; \\t is a tab");
  flags.Add("--header", &to->header, "yes, no or auto").ShowDefault();
  flags
      .Add("--comment", &to->comment,
           "what lines of comment in a CSV file begin with, none or auto")
      .ShowDefault();
}

void AddMemoryFlags(Flags flags, MemoryFlags* to) {
  flags.Add("--memory", &to->store, "remember from run to run; =STORE names the file")
      .Implies(std::string(kAnyStore));
  flags.Add("--memory-branch", &to->branch, "which branch of the memory (root)");
  flags.Add("--no-memory", &to->off, "no memory, whatever the configuration says");
}

void AddExecFlags(Flags flags, std::string help, ContextFlags* to) {
  flags.Add("--exec", &to->exec, std::move(help)).Kind(kShellCommand).Often();
  flags.Add("--context-jobs", &to->jobs, "commands that run at the same time")
      .Between(1, 1000)
      .ShowDefault();
  flags.Add("--context-timeout", &to->timeout, "of all commands together")
      .Kind(kTime)
      .ShowDefault();
}

void AddContextFlags(const Flags& flags, ContextFlags* to) {
  Flags context = flags.In("Context");
  AddExecFlags(context, "run CMD in a shell and put its output in the prompt (repeat)", to);
  context.Add("-D,--var", &to->variables, "KEY=VALUE for templates in commands (repeat)")
      .Kind(kVariable);
}

void AddSandboxFlags(const Flags& flags, SandboxFlags* to) {
  Flags sandbox = flags.In("Sandbox");
  sandbox
      .Add("--sandbox", &to->mode,
           "strict refuses to run code where a wall is missing, degraded runs it")
      .OneOf({"strict", "degraded"})
      .ShowDefault();
  sandbox.Add("--cell-time", &to->cell_time,
              "how long a code block may take (60s in which it does not work), without the model's "
              "replies");
  sandbox.Add("--cell-cpu", &to->cell_cpu, "processor time that a code block may take")
      .ShowDefault();
  sandbox.Add("--cell-memory", &to->cell_memory, "memory that the code may take, beside its data")
      .ShowDefault();
  sandbox.Add("--cell-output", &to->cell_output, "output that is kept of a code block, at most 56M")
      .ShowDefault();
  sandbox
      .Add("--context-string-max", &to->context_string_max,
           "largest data that the code gets as one text")
      .ShowDefault();
  sandbox.Add("--sandbox-read", &to->read_folders, "a folder that the code may read").Kind(kFolder);
}

namespace {

// The values of a flag as typed; there is none if the flag was not given.
struct ValueWords {
  std::vector<std::string> operator()(const bool* value) const { return OfSwitch(*value); }
  std::vector<std::string> operator()(const std::optional<bool>* value) const {
    return OfSwitch(value->value_or(false));
  }
  std::vector<std::string> operator()(const std::string* value) const { return {*value}; }
  std::vector<std::string> operator()(const std::vector<std::string>* value) const {
    return *value;
  }
  template <typename Value>
  std::vector<std::string> operator()(const std::optional<Value>* value) const {
    return *value ? (*this)(&**value) : std::vector<std::string>();
  }
  template <typename Value>
  std::vector<std::string> operator()(const Value* value) const {
    return {fmt::format("{}", *value)};
  }

 private:
  static std::vector<std::string> OfSwitch(bool given) {
    return given ? std::vector<std::string>{""} : std::vector<std::string>();
  }
};

Flags DeclareModelAndSandbox(ModelFlags* model, SandboxFlags* sandbox) {
  Flags flags;
  AddModelFlags(flags, model);
  AddPriceFlag(flags, &model->prices);
  AddSandboxFlags(flags, sandbox);
  return flags;
}

}  // namespace

std::vector<std::string> WordsOf(const ModelFlags& model, const SandboxFlags& sandbox) {
  ModelFlags given_model = model, default_model;
  SandboxFlags given_sandbox = sandbox, default_sandbox;
  const Flags given = DeclareModelAndSandbox(&given_model, &given_sandbox);
  const Flags defaults = DeclareModelAndSandbox(&default_model, &default_sandbox);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < given.list().size(); ++i) {
    const Flag& flag = given.list()[i];
    const auto values = std::visit(ValueWords(), flag.to());
    if (values == std::visit(ValueWords(), defaults.list()[i].to())) continue;
    for (std::string value : values) {
      words.push_back(flag.name());
      if (flag.IsSwitch()) continue;
      if (flag.kind().files != ValueKind::Files::kNone && !value.empty()) {
        std::error_code error;
        const auto whole = std::filesystem::absolute(value, error);
        if (!error) value = whole.string();
      }
      words.push_back(std::move(value));
    }
  }
  return words;
}

std::vector<std::string> AskLineOf(ModelFlags model, const SandboxFlags& sandbox) {
  model.model.clear();
  model.temperature.reset();
  std::vector<std::string> line{"dossier", "ask"};
  const std::vector<std::string> words = WordsOf(model, sandbox);
  line.insert(line.end(), words.begin(), words.end());
  return line;
}

Result<SandboxChoice> ParseSandboxFlags(const SandboxFlags& flags) {
  SandboxChoice choice;
  choice.pool.mode = flags.mode == "degraded" ? sandbox::IsolationMode::kDegraded
                                              : sandbox::IsolationMode::kStrict;
  for (const std::string& folder : flags.read_folders) {
    if (Exists(folder)) continue;
    return MakeError(ErrorCode::kNotFound, "--sandbox-read {}: there is no such folder", folder);
  }
  choice.pool.read_folders = flags.read_folders;
  choice.limits.counts = sandbox::Limits::Counts::kIdle;
  if (!flags.cell_time.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(choice.limits.silence, ReadTimeFlag("--cell-time", flags.cell_time));
    choice.limits.counts = sandbox::Limits::Counts::kWall;
  }
  DOSSIER_ASSIGN_OR_RETURN(choice.limits.cpu, ReadTimeFlag("--cell-cpu", flags.cell_cpu));
  DOSSIER_ASSIGN_OR_RETURN(choice.limits.memory, ReadSizeFlag("--cell-memory", flags.cell_memory));
  DOSSIER_ASSIGN_OR_RETURN(choice.limits.output, ReadSizeFlag("--cell-output", flags.cell_output));
  if (choice.limits.output > kMostCellOutput) {
    return MakeError(ErrorCode::kUsage, "--cell-output {}: at most {}M", flags.cell_output,
                     kMostCellOutput >> 20);
  }
  DOSSIER_ASSIGN_OR_RETURN(
      choice.context_string_max,
      ReadSizeFlag("--context-string-max", flags.context_string_max, Zero::kTaken));
  return choice;
}

namespace {

template <typename Value>
Result<Value> Named(std::string_view flag, std::string_view text, Result<Value> read, Zero zero) {
  if (!read) return MakeError(ErrorCode::kUsage, "{} {}", flag, read.error().message);
  if (zero == Zero::kRefused && *read == Value(0)) {
    return MakeError(ErrorCode::kUsage, "{} {}: must be above 0", flag, text);
  }
  return read;
}

}  // namespace

Result<Millis> ReadTimeFlag(std::string_view flag, const std::string& text, Zero zero) {
  return Named(flag, text, ParseDuration(text), zero);
}

Result<std::uint64_t> ReadSizeFlag(std::string_view flag, const std::string& text, Zero zero) {
  return Named(flag, text, ParseSize(text), zero);
}

namespace {

// Returns all but the last, "binary", which cannot be requested.
std::vector<std::string> EncodingNames() {
  const std::vector<std::string_view> names = inspect::EncodingNames();
  return {names.begin(), names.end() - 1};
}

Status SetDelimiter(const std::string& delimiter, inspect::Options* options) {
  if (delimiter == "\\t") {
    options->delimiter = '\t';
  } else if (delimiter.size() == 1 &&
             std::string_view("\"\r\n").find(delimiter) == std::string_view::npos) {
    options->delimiter = delimiter[0];
  } else if (!delimiter.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "--delimiter {}: must be one byte that is no quote or line end, or \\t",
                     delimiter);
  }
  return {};
}

Status SetComment(const std::string& comment, inspect::Options* options) {
  if (comment == "auto") return {};
  if (comment == "none") {
    options->comment = "";
    return {};
  }
  if (comment.empty() || comment.size() > 8 ||
      comment.find_first_of("\"\r\n") != std::string::npos) {
    return MakeError(
        ErrorCode::kUsage,
        "--comment {}: must be what comment lines begin with (such as #), none or auto", comment);
  }
  options->comment = comment;
  return {};
}

}  // namespace

Status ApplyContentFlags(const ContentFlags& flags, inspect::Options* options) {
  if (!flags.format.empty()) {
    options->format = inspect::FormatFromName(flags.format);
    if (!options->format) {
      return MakeError(ErrorCode::kUsage, "--format {}: unknown; {}", flags.format,
                       OneOf(flags.format, inspect::FormatNames()));
    }
  }
  if (!flags.encoding.empty()) {
    options->encoding = inspect::EncodingFromName(ToLowerAscii(flags.encoding));
    if (!options->encoding || *options->encoding == inspect::EncodingKind::kBinary) {
      return MakeError(ErrorCode::kUsage, "--encoding {}: unknown; {}", flags.encoding,
                       OneOf(flags.encoding, EncodingNames()));
    }
  }
  DOSSIER_RETURN_IF_ERROR(SetDelimiter(flags.delimiter, options));
  if (flags.header == "yes") {
    options->header = inspect::HeaderRow::kYes;
  } else if (flags.header == "no") {
    options->header = inspect::HeaderRow::kNo;
  } else if (flags.header != "auto") {
    return MakeError(ErrorCode::kUsage, "--header {}: must be {}", flags.header,
                     OneOf(flags.header, std::array{"yes", "no", "auto"}));
  }
  return SetComment(flags.comment, options);
}

Flag& AddStoreFlag(Flags flags, std::string* store) {
  return flags
      .Add("--store", store, "the shared store: postgresql://HOST/DATABASE, without a password")
      .Kind(kUrl);
}

Status CheckStoreFlag(const std::string& store) {
  if (!store::IsPostgresAddress(store)) {
    // The value is not repeated: it may contain a password.
    return MakeError(ErrorCode::kUsage,
                     "--store: a store that machines share is named postgresql://HOST/DATABASE; "
                     "what was given does not begin with postgresql://");
  }
  return store::RefusePasswordIn("--store", store);
}

}  // namespace dossier::cli
