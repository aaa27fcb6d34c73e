// assemble: builds one prompt from a layout, with a report of its contents.

#include <charconv>

#include "app/open_model.h"
#include "assembly/fit/prompt_log.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/output_file.h"
#include "base/random.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/commands.h"
#include "cli/terminal/terminal.h"
#include "cli/texts/assembly_table.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/run_setup.h"
#include "cli/wiring/value_kinds.h"
#include "driver/section_reader.h"
#include "model/catalog/catalog.h"
#include "model/dialects/dialect.h"
#include "sources/repository/repo_facts.h"
#include "tokens/files/open.h"

namespace dossier::cli {
namespace {

struct AssembleArguments {
  std::string layout;
  std::vector<std::string> sources;                    // --source NAME=REF
  std::vector<std::string> variables;                  // -D NAME=VALUE
  std::string model;                                   // -m
  std::string tokenizer;                               // --tokenizer
  std::optional<std::int64_t> budget, reserve_output;  // tokens
  std::optional<double> window_share;
  std::string out = "messages";  // --render: messages, request, text, markdown
  bool json = false;             // --json
  bool explain = false;          // --explain
  std::string report, log_dir, previous, layouts_dir;
  std::string now;                    // --now
  std::optional<std::uint64_t> seed;  // --seed
};

using assembly::Assembled;

// Reads "NAME=VALUE" pairs of a flag. Errors: kUsage, also for a name given twice.
Result<std::map<std::string, std::string>> ReadPairs(const std::vector<std::string>& words,
                                                     std::string_view flag) {
  std::map<std::string, std::string> out;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return MakeError(ErrorCode::kUsage, "{} {}: write it as NAME=VALUE", flag, word);
    }
    if (!out.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
      return MakeError(ErrorCode::kUsage, "{} {}: given twice", flag, word.substr(0, equals));
    }
  }
  return out;
}

// Uses --tokenizer, else the model's entry, as the engine does.
Result<std::shared_ptr<const tokens::Counter>> CounterOf(const std::string& wanted,
                                                         const model::Entry& entry,
                                                         std::vector<std::string>* warnings) {
  if (wanted == "estimate") {
    return tokens::MakeEstimator(
        {.bytes_per_token = entry.bytes_per_token, .margin = entry.margin});
  }
  const tokens::DataPaths paths = tokens::DefaultDataPaths();
  DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened, wanted.empty()
                                                      ? model::OpenTokenizer(entry, paths)
                                                      : tokens::Open(wanted, paths));
  if (!opened.warning.empty()) warnings->push_back(std::move(opened.warning));
  return std::move(opened.counter);
}

// Reads a report, or an output or log that contains one.
Result<Json> ReadPrevious(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 256ull << 20));
  if (const auto json = ParseJson(text)) {
    const Json* report = Find(*json, "report") ? Find(*json, "report") : &*json;
    if (FindString(*report, "schema") == "dossier.assembly/1") return *report;
  }
  return MakeError(ErrorCode::kConfig,
                   "--previous {}: is no report of `dossier assemble --report FILE` or --json",
                   path);
}

// Accepts "2026-11-21", with or without a time after it.
Status CheckTime(std::string_view time) {
  const bool date = time.size() >= 10 && time[4] == '-' && time[7] == '-' &&
                    time.substr(0, 10).find_first_not_of("0123456789-") == time.npos &&
                    time.substr(5, 2) >= "01" && time.substr(5, 2) <= "12" &&
                    time.substr(8, 2) >= "01" && time.substr(8, 2) <= "31" &&
                    (time.size() == 10 || time[10] == 'T');
  if (date) return {};
  return MakeError(ErrorCode::kUsage, "--now {}: write it as 2026-11-21T23:36:43Z", time);
}

// A date alone means its first second.
std::string WithTime(const std::string& time) {
  return time.size() == 10 ? time + "T00:00:00Z" : time;
}

class Assembling {
 public:
  Assembling(const AssembleArguments& arguments, Context& context)
      : arguments_(arguments),
        flags_(context.flags),
        cancel_(context.cancel),
        in_(context.in),
        out_(context.out),
        err_(context.err) {}

  Status Run() {
    now_ = arguments_.now.empty() ? FormatTime(SystemClock()->WallNow()) : arguments_.now;
    DOSSIER_RETURN_IF_ERROR(CheckTime(now_));
    DOSSIER_ASSIGN_OR_RETURN(model::Choice choice, app::ChooseWithoutKey(arguments_.model));
    for (const std::string& warning : choice.warnings) PrintWarning(err_, warning);
    entry_ = std::move(choice.entry);
    dialect_ = std::move(choice.provider.dialect);
    DOSSIER_ASSIGN_OR_RETURN(const Assembled prompt, Assemble());
    for (const Json& warning : Find(prompt.report, "warnings")->get_array()) {
      PrintWarning(err_, FindString(warning, "text").value_or(""));
    }
    DOSSIER_RETURN_IF_ERROR(Print(prompt));
    if (!arguments_.log_dir.empty()) WriteLog(prompt);
    const bool show = arguments_.explain || Terminal::Detect().err == Terminal::Kind::kTerminal;
    if (show) err_ << ReportTable(prompt.report) << std::flush;
    return {};
  }

 private:
  Result<Assembled> Assemble() {
    DOSSIER_ASSIGN_OR_RETURN(const assembly::AssetFolders folders,
                             AssetFoldersFor(arguments_.layouts_dir, flags_, err_));
    DOSSIER_ASSIGN_OR_RETURN(
        const assembly::Layout layout,
        assembly::FindLayout(arguments_.layout, folders, entry_.capability.profile));
    DOSSIER_ASSIGN_OR_RETURN(auto variables, ReadPairs(arguments_.variables, "-D"));
    DOSSIER_ASSIGN_OR_RETURN(const auto sources, ReadPairs(arguments_.sources, "--source"));
    std::vector<std::string> warnings;
    DOSSIER_ASSIGN_OR_RETURN(const auto counter,
                             CounterOf(arguments_.tokenizer, entry_, &warnings));
    for (const std::string& warning : warnings) PrintWarning(err_, warning);
    driver::SectionReader reader(
        layout, {.makers = SectionMakersFor(
                     {.flags = flags_, .cancel = cancel_, .err = err_, .now = WithTime(now_)}),
                 .values = variables,
                 .counter = counter,
                 .cancel = cancel_});
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<assembly::Section> sections,
                             reader.ReadAll(sources, in_));
    for (const std::string& warning : reader.warnings()) PrintWarning(err_, warning);
    assembly::AssembleOptions options{.variables = std::move(variables),
                                      .model = entry_.name,
                                      .today = now_.substr(0, 10),
                                      .unused_values = assembly::AssembleOptions::Unused::kWarn};
    DOSSIER_RETURN_IF_ERROR(SetBoundary(layout, &options));
    if (!arguments_.previous.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(options.previous, ReadPrevious(arguments_.previous));
    }
    assembly::Capability capability = entry_.capability;
    // Characters and bytes are counted without framing; only tokens include the provider's framing.
    if (arguments_.tokenizer == "chars" || arguments_.tokenizer == "bytes") {
      capability.tokens_per_message = capability.tokens_per_request = 0;
    }
    return assembly::Assemble(layout, sections,
                              {.tokens = arguments_.budget,
                               .window_share = arguments_.window_share,
                               .reserve_output = arguments_.reserve_output},
                              capability, *counter, options);
  }

  Status SetBoundary(const assembly::Layout& layout, assembly::AssembleOptions* options) const {
    if (arguments_.seed) {
      options->boundary_seed = arguments_.seed;
      options->boundary = assembly::MakeBoundary(*arguments_.seed);
    } else if (layout.boundary == assembly::Layout::Boundary::kProject) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string state, sources::ProjectStateFolder("."));
      DOSSIER_ASSIGN_OR_RETURN(options->boundary, sources::ProjectBoundary(state));
    } else {
      options->boundary = RandomHex(32);
    }
    return {};
  }

  Status Print(const Assembled& prompt) {
    if (!arguments_.report.empty()) {
      const Status written = WriteOutput(arguments_.report, {ToPrettyJson(prompt.report) + "\n"});
      if (!written) {
        return MakeError(written.error().code,
                         "--report {}: it cannot be written; is its folder there?",
                         arguments_.report);
      }
    }
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.assemble/1"},
                                {"messages", assembly::ToCanonicalJson(prompt.messages)},
                                {"report", prompt.report}})
           << "\n";
    } else if (arguments_.out == "request") {
      DOSSIER_RETURN_IF_ERROR(PrintRequest(prompt));
    } else if (arguments_.out == "text") {
      out_ << Joined(prompt, [](std::string_view, std::string text) { return text; });
    } else if (arguments_.out == "markdown") {
      out_ << Joined(prompt, [](std::string_view role, const std::string& text) {
        return fmt::format("## {}\n\n{}", role, text);
      });
    } else {
      out_ << ToJson(assembly::ToCanonicalJson(prompt.messages)) << "\n";
    }
    out_.flush();
    if (!out_) return MakeError(ErrorCode::kIo, "standard output was closed");
    return {};
  }

  template <typename Format>
  static std::string Joined(const Assembled& prompt, const Format& format) {
    std::string text;
    const auto add = [&](std::string_view role, const std::string& body) {
      if (body.empty()) return;
      if (!text.empty()) text += "\n\n";
      text += format(role, body);
    };
    add("system", prompt.messages.SystemText());
    for (const assembly::Turn& turn : prompt.messages.turns) {
      add(assembly::RoleName(turn.role), turn.Text());
    }
    return text + "\n";
  }

  // Prints the body as the provider receives it; keys are in headers, never in the body.
  Status PrintRequest(const Assembled& prompt) {
    const model::Request request{.model = entry_.name, .messages = prompt.messages};
    const model::WireRequest wire =
        model::DialectOf(dialect_).build(request, {.entry = entry_, .provider = entry_.provider});
    for (const std::string& warning : wire.warnings) PrintWarning(err_, warning);
    out_ << wire.body << "\n";
    return {};
  }

  // Failing to write the log never fails the call.
  void WriteLog(const Assembled& prompt) {
    const auto name = assembly::PromptLog(arguments_.log_dir)
                          .Write({.session = "assemble",
                                  .label = arguments_.layout,
                                  .stage = arguments_.layout,
                                  .model = entry_.name,
                                  .time = now_,
                                  .alias = "newest"},
                                 prompt);
    if (!name) PrintWarning(err_, "the prompt log was not written: " + name.error().message);
  }

  const AssembleArguments& arguments_;
  const GlobalFlags& flags_;
  const CancelToken& cancel_;
  std::istream& in_;
  std::ostream& out_;
  std::ostream& err_;
  model::Entry entry_;
  std::string dialect_;  // the dialect of its provider
  std::string now_;      // RFC 3339
};

Status RunAssemble(const AssembleArguments& given, Context& context) {
  return Assembling(given, context).Run();
}

void DeclareAssemble(Flags& flags, AssembleArguments& to) {
  flags.Add("layout", &to.layout, "name of a layout (see `dossier prompts list`)")
      .Required()
      .Kind(kLayout);
  flags.Add("--source", &to.sources,
            "NAME=REF: content of a section: @FILE, -, dir:PATH, text:TEXT");
  flags.Add("-D,--var", &to.variables, "KEY=VALUE: a variable of the layout").Kind(kVariable);
  flags.Add("-m,--model", &to.model, "model, as [PROVIDER/]NAME").Kind(kModel);
  flags.Add("--budget", &to.budget, "tokens of the whole prompt").Positive();
  flags.Add("--window-share", &to.window_share, "share of the model's window, 0 to 1")
      .Between(0, 1);
  flags.Add("--reserve-output", &to.reserve_output, "tokens kept for the reply").NotNegative();
  flags.Add("--tokenizer", &to.tokenizer, "encoding (default: the model's)");
  flags.Add("--render", &to.out, "messages, request, text or markdown")
      .OneOf({"messages", "request", "text", "markdown"})
      .ShowDefault()
      .Formerly("--out");
  flags.Add("--json", &to.json, "one object: schema, messages, report");
  flags.Add("--report", &to.report, "FILE for the report as JSON").Kind(kPath);
  flags.Add("--explain", &to.explain,
            "the report as a table on stderr, also when that is no terminal");
  flags.Add("--log-dir", &to.log_dir, "folder for a log of the prompt").Kind(kFolder);
  flags
      .Add("--previous", &to.previous,
           "report of an earlier call: say what changed and what is cached")
      .Kind(kPath);
  flags.Add("--layouts-dir", &to.layouts_dir, "folder with layouts/ and prompts/ of your own")
      .Kind(kFolder);
  flags.Add("--now", &to.now, "the time to go by: 2026-11-21T23:36:43Z").Kind(kTime);
  flags.Add("--seed", &to.seed, "fixed boundaries: the same bytes each time");
}

}  // namespace

Command AssembleCommand() {
  return {.name = "assemble",
          .summary = "build a prompt from a layout, and say what it is made of",
          .examples =
              "dossier assemble worked --source notes=@notes.txt --explain\n"
              "    one prompt from a layout, and where its tokens went",
          .binding = Bind(DeclareAssemble, RunAssemble)};
}

}  // namespace dossier::cli
