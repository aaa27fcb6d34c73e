#include "cli/texts/inspect_command.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "base/files/file.h"
#include "base/files/walk.h"
#include "base/json/json.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/commands.h"
#include "cli/tree/command.h"
#include "cli/wiring/prompt_input.h"
#include "cli/wiring/shared_flags.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"

namespace dossier::cli {
namespace {

using inspect::Description;

constexpr int kOk = 0, kUnreadable = 4, kTooMany = 10, kStrict = 15, kBroken = 141;
constexpr int kInterrupted = 130;

enum class View : std::uint8_t { kReport, kHint, kMeta, kJson, kJsonLines };

// The checked arguments.
struct Plan {
  View view = View::kReport;
  inspect::Runtime runtime = inspect::Runtime::kPython;
  inspect::Options options;
};

Status CheckRange(std::string_view flag, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return {};
  return MakeError(ErrorCode::kUsage, "{} {}: must be {} to {}", flag, value, low, high);
}

Result<View> ChooseView(const InspectArguments& arguments) {
  const int chosen = arguments.json + arguments.jsonl + arguments.hint + !arguments.meta.empty();
  if (chosen > 1) {
    return MakeError(ErrorCode::kUsage, "inspect: give one of --json, --jsonl, --hint and --meta");
  }
  if (arguments.json) return View::kJson;
  if (arguments.jsonl) return View::kJsonLines;
  if (arguments.hint) return View::kHint;
  return arguments.meta.empty() ? View::kReport : View::kMeta;
}

Status SetLimits(const InspectArguments& arguments, inspect::Options* options) {
  constexpr std::int64_t kMany = 1'000'000;
  DOSSIER_RETURN_IF_ERROR(CheckRange("--depth", arguments.depth, 0, 8));
  DOSSIER_RETURN_IF_ERROR(CheckRange("--fields", arguments.fields, 0, kMany));
  DOSSIER_RETURN_IF_ERROR(CheckRange("--sample-records", arguments.sample_records, 1, kMany));
  DOSSIER_RETURN_IF_ERROR(CheckRange("--sample-chars", arguments.sample_chars, 0, kMany));
  DOSSIER_RETURN_IF_ERROR(CheckRange("--threads", arguments.threads, 0, 64));
  DOSSIER_RETURN_IF_ERROR(CheckRange("--members", arguments.members, 0, kMany));
  DOSSIER_RETURN_IF_ERROR(CheckRange("--max-files", arguments.max_files, 1, 100 * kMany));
  options->depth = static_cast<int>(arguments.depth);
  options->fields = static_cast<std::uint32_t>(arguments.fields);
  options->sample_records = static_cast<std::uint32_t>(arguments.sample_records);
  options->sample_chars = static_cast<std::uint32_t>(arguments.sample_chars);
  options->threads = static_cast<int>(arguments.threads);
  options->members = static_cast<std::uint32_t>(arguments.members);
  options->hash = arguments.hash;
  DOSSIER_ASSIGN_OR_RETURN(options->inside_limit,
                           ReadSizeFlag("--inside-limit", arguments.inside_limit, Zero::kTaken));
  if (!arguments.max_scan.empty()) {
    const auto bytes = ReadSizeFlag("--max-scan", arguments.max_scan);
    if (!bytes) return tl::unexpected(bytes.error());
    options->max_scan = *bytes;
  }
  return {};
}

// Accepts a variable as in code, also a member of an object: `context`, `__vars.context`.
bool IsVariable(std::string_view name) {
  const auto parts = Split(name, '.');
  return std::ranges::all_of(parts, [](std::string_view part) {
    return !part.empty() && !IsDigit(part[0]) && std::ranges::all_of(part, [](char c) {
      return IsAlnum(c) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
    });
  });
}

Result<Plan> MakePlan(const InspectArguments& arguments) {
  if (arguments.paths.empty()) {
    return MakeError(ErrorCode::kUsage, "inspect: name a file, a directory, or - for stdin");
  }
  if (std::count(arguments.paths.begin(), arguments.paths.end(), "-") > 1) {
    return MakeError(ErrorCode::kUsage, "inspect: - can be read only once");
  }
  if (!IsVariable(arguments.variable)) {
    return MakeError(ErrorCode::kUsage,
                     "--variable '{}': must be the name of a variable, such as context",
                     arguments.variable);
  }
  Plan plan;
  DOSSIER_ASSIGN_OR_RETURN(plan.view, ChooseView(arguments));
  if (arguments.meta == "javascript") {
    plan.runtime = inspect::Runtime::kJavascript;
  } else if (!arguments.meta.empty() && arguments.meta != "python") {
    return MakeError(ErrorCode::kUsage, "--meta {}: must be python or javascript", arguments.meta);
  }
  DOSSIER_RETURN_IF_ERROR(ApplyContentFlags(arguments.content, &plan.options));
  DOSSIER_RETURN_IF_ERROR(SetLimits(arguments, &plan.options));
  return plan;
}

// Malformed, inexact or unknown (--strict).
bool IsDoubtful(const Description& description) {
  constexpr std::string_view kHarmless[] = {"empty", "duplicate-names", "duplicate-keys",
                                            "nul-bytes"};
  const bool noted = std::any_of(
      description.notes.begin(), description.notes.end(), [&](const inspect::Note& note) {
        return std::find(std::begin(kHarmless), std::end(kHarmless), note.code) ==
               std::end(kHarmless);
      });
  const bool bound =
      description.counts.exactness == inspect::Exactness::kBound ||
      (description.records && description.records->exactness == inspect::Exactness::kBound);
  return noted || bound || !description.stable || description.format == inspect::Format::kUnknown ||
         description.encoding.kind == inspect::EncodingKind::kUnknown8Bit;
}

struct FormatTotal {
  std::uint64_t files = 0, bytes = 0;
};
using Totals = std::map<std::string, FormatTotal>;  // by the name of the format

struct Failure {
  std::string path;
  Error error;
};

class Inspecting {
 public:
  Inspecting(const InspectArguments& arguments, const Plan& plan, std::ostream& out,
             std::ostream& err)
      : arguments_(arguments), plan_(plan), out_(out), err_(err) {}

  int Run() {
    for (const std::string& path : arguments_.paths) {
      if (cancelled_ || !out_) break;
      if (path != "-" && IsFolder(path)) {
        InspectFolder(path);
      } else {
        InspectFile(path, nullptr);
      }
    }
    PrintCollected();
    PrintFailures();
    out_.flush();
    return ExitCode();
  }

 private:
  void InspectFolder(const std::string& folder) {
    const WalkOptions options{
        .hidden = arguments_.hidden ? HiddenFiles::kInclude : HiddenFiles::kSkip,
        .ignore = arguments_.no_ignore ? IgnoreRules::kDisregard : IgnoreRules::kApply,
        .links = arguments_.follow ? SymbolicLinks::kFollowOnce : SymbolicLinks::kSkip,
        .max_files = static_cast<std::size_t>(arguments_.max_files)};
    auto found = WalkFolder(folder, options, arguments_.cancel);
    if (!found) {
      Fail(folder, found.error());
      return;
    }
    Totals totals;
    for (const std::string& path : found->files) {
      if (cancelled_ || !out_) break;
      InspectFile(path, &totals);
    }
    for (SkippedPath& skipped : found->skipped) {
      if (skipped.reason == "permission denied") {
        Fail(skipped.path, {ErrorCode::kPermission, skipped.path + ": permission denied"});
      } else {
        err_ << skipped.path << ": skipped (" << skipped.reason << ")\n";
        skipped_.push_back(std::move(skipped));
      }
    }
    if (found->stopped) {
      stopped_ = true;
      err_ << fmt::format("stopped at {} files; raise --max-files\n",
                          GroupDigits(found->files.size()));
    }
    if (plan_.view != View::kReport) return;
    if (totals.empty() && !cancelled_) {
      Separate();
      out_ << fmt::format("{}: no file to describe{}\n", utf8::CleanForTerminal(folder),
                          arguments_.hidden && arguments_.no_ignore
                              ? ""
                              : " (hidden and ignored ones: --hidden, --no-ignore)");
    }
    PrintTotals(totals);
  }

  // `totals` belongs to the folder in which the file was found.
  void InspectFile(const std::string& path, Totals* totals) {
    auto described = Describe(path);
    if (!described) {
      Fail(path, described.error());
      return;
    }
    described->path = path;
    doubtful_ = doubtful_ || IsDoubtful(*described);
    ++described_;
    bytes_ += described->counts.bytes;
    if (described->read_error) {
      failures_.push_back({path, {ErrorCode::kIo, *described->read_error}});
    }
    const std::string format(inspect::FormatName(described->format));
    // People see the name of a binary file's kind: "PNG image".
    const std::string& shown = described->kind.empty() ? format : described->kind;
    for (const auto& [all, name] : {std::pair(totals, &shown), std::pair(&totals_, &format)}) {
      if (!all) continue;
      ++(*all)[*name].files;
      (*all)[*name].bytes += described->counts.bytes;
    }
    Show(std::move(*described), totals != nullptr);
  }

  Result<Description> Describe(const std::string& path) {
    if (path == "-") {
      return inspect::Describe(*inspect::StdinSource(arguments_.name), plan_.options,
                               arguments_.cancel);
    }
    DOSSIER_ASSIGN_OR_RETURN(const auto source, inspect::OpenFileSource(path));
    return inspect::Describe(*source, plan_.options, arguments_.cancel);
  }

  void Show(Description description, bool in_folder) {
    switch (plan_.view) {
      case View::kReport:
        if (in_folder) return;
        Separate();
        out_ << inspect::RenderReport(description,
                                      {.variable = arguments_.variable, .max_chars = 1u << 20});
        break;
      case View::kMeta:
        out_ << ToJson(inspect::ContextMeta(description, plan_.runtime)) << '\n';
        break;
      case View::kJsonLines:
        out_ << ToJson(inspect::ToJson(description)) << '\n';
        break;
      case View::kJson:
        files_.push_back(inspect::ToJson(description));
        break;
      case View::kHint:
        documents_.push_back(std::move(description));
        break;
    }
    out_.flush();
  }

  void Separate() {
    if (printed_) out_ << '\n';
    printed_ = true;
  }

  void PrintTotals(const Totals& totals) {
    if (totals.empty()) return;
    std::size_t name_width = 0, count_width = 0;
    const auto files = [](const FormatTotal& total) {
      return fmt::format("{} {}", GroupDigits(total.files), total.files == 1 ? "file" : "files");
    };
    for (const auto& [name, total] : totals) {
      name_width = std::max(name_width, name.size());
      count_width = std::max(count_width, files(total).size());
    }
    Separate();
    for (const auto& [name, total] : totals) {
      out_ << fmt::format("{:<{}}  {:<{}}  {}\n", name, name_width, files(total), count_width,
                          FormatSize(total.bytes));
    }
  }

  void PrintCollected() {
    if (plan_.view == View::kHint && !documents_.empty()) {
      out_ << inspect::RenderHint(std::span<const Description>(documents_),
                                  {.variable = arguments_.variable})
           << '\n';
    }
    if (plan_.view != View::kJson) return;
    JsonObject by_format;
    for (const auto& [name, total] : totals_) by_format[name] = total.files;
    JsonArray skipped, errors;
    for (const SkippedPath& path : skipped_) {
      skipped.push_back(JsonObject{{"path", path.path}, {"reason", path.reason}});
    }
    for (const Failure& failure : failures_) {
      errors.push_back(JsonObject{{"path", failure.path},
                                  {"code", ErrorName(failure.error.code)},
                                  {"message", failure.error.message}});
    }
    const Json all = JsonObject{
        {"schema", "dossier.inspect/1"},
        {"files", std::move(files_)},
        {"totals",
         JsonObject{{"files", described_}, {"bytes", bytes_}, {"by_format", std::move(by_format)}}},
        {"skipped", std::move(skipped)},
        {"errors", std::move(errors)}};
    out_ << ToJson(all) << '\n';
  }

  void Fail(const std::string& path, const Error& error) {
    if (error.code == ErrorCode::kCancelled) {
      cancelled_ = true;
      return;
    }
    failures_.push_back({path, error});
  }

  // Printed at the end, when all other results are known.
  void PrintFailures() {
    for (const Failure& failure : failures_) {
      err_ << failure.error.message;
      if (failure.error.code == ErrorCode::kPermission && described_ > 0) {
        err_ << (described_ == 1
                     ? std::string("; the other file is described")
                     : fmt::format("; the other {} files are described", GroupDigits(described_)));
      }
      err_ << '\n';
    }
  }

  int ExitCode() const {
    if (!out_) return kBroken;
    if (cancelled_) return kInterrupted;
    if (!failures_.empty()) return kUnreadable;
    if (stopped_) return kTooMany;
    return arguments_.strict && doubtful_ ? kStrict : kOk;
  }

  const InspectArguments& arguments_;
  const Plan& plan_;
  std::ostream& out_;
  std::ostream& err_;
  bool printed_ = false, stopped_ = false, cancelled_ = false, doubtful_ = false;
  std::uint64_t described_ = 0, bytes_ = 0;
  Totals totals_;
  std::vector<Failure> failures_;
  std::vector<SkippedPath> skipped_;
  std::vector<Description> documents_;
  JsonArray files_;
};

void DeclareInspect(Flags& flags, InspectArguments& to) {
  flags.Add("path", &to.paths, "files, folders, or - for stdin").Kind(kPath);
  flags.Add("--json", &to.json, "one object for all inputs");
  flags.Add("--jsonl", &to.jsonl, "one object a line, as soon as it is ready");
  flags.Add("--hint", &to.hint, "exactly the text a model would get");
  flags.Add("--variable", &to.variable, "the variable's name in the hint").ShowDefault();
  flags.Add("--meta", &to.meta, "print the description as a value of python or javascript");
  flags.Add("--name", &to.name, "name for stdin");
  AddContentFlags(flags, &to.content);
  flags.Add("--depth", &to.depth, "object levels in field paths, 0 to 8").ShowDefault();
  flags.Add("--fields", &to.fields, "fields listed").ShowDefault();
  flags.Add("--sample-records", &to.sample_records, "records looked at").ShowDefault();
  flags.Add("--sample-chars", &to.sample_chars, "length of the sample; 0: none").ShowDefault();
  flags.Add("--max-scan", &to.max_scan, "stop after SIZE bytes of each input");
  flags
      .Add("--inside-limit", &to.inside_limit,
           "unpacked bytes looked at in a compressed file; 0: none")
      .ShowDefault();
  flags.Add("--members", &to.members, "members of an archive that are listed").ShowDefault();
  flags.Add("--threads", &to.threads, "0: one a core, at most 8").ShowDefault();
  flags.Add("--hash", &to.hash, "add the SHA-256 of the bytes");
  flags.Add("--hidden", &to.hidden, "folders: hidden files too");
  flags.Add("--no-ignore", &to.no_ignore, "folders: files that git ignores too");
  flags.Add("--follow", &to.follow, "folders: symbolic links, once each");
  flags.Add("--max-files", &to.max_files, "folders: stop after so many").ShowDefault();
  flags.Add("--strict", &to.strict,
            "end with exit code 15 if anything is malformed, inexact or unknown");
}

Result<int> RunInspect(const InspectArguments& given, Context& context) {
  InspectArguments arguments = given;
  arguments.cancel = context.cancel;
  if (arguments.paths.empty() && StdinIsPiped(context.flags)) {
    arguments.paths = {"-"};
  }
  const int code = RunInspect(arguments, context.out, context.err);
  WarnOfUnreadStdin(arguments.paths, context.flags, context.err);
  return code;
}

}  // namespace

int RunInspect(const InspectArguments& arguments, std::ostream& out, std::ostream& err) {
  const auto plan = MakePlan(arguments);
  if (!plan) {
    return Fail(plan.error(), FormOf(arguments.json), out, err);
  }
  return Inspecting(arguments, *plan, out, err).Run();
}

Command InspectCommand() {
  return {.name = "inspect",
          .summary = "say what a file is before a model reads it",
          .examples =
              "dossier inspect data.csv\n"
              "    format, size, fields, a sample\n"
              "dossier inspect --hint records.ndjson\n"
              "    the text that a model would get",
          .binding = Bind(DeclareInspect, RunInspect)};
}

}  // namespace dossier::cli
