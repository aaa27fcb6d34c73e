// runs export, import, diff, view: writes and reads a run as a file, and compares two runs.

#include "ask/exchange/run_page.h"
#include "ask/exchange/run_tale.h"
#include "ask/exchange/trajectory.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/files/missing_file.h"
#include "base/files/output_file.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/runs/runs_commands.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kLargestFile = 1u << 30;  // bytes of an imported file
constexpr Millis kLongestImport{120'000};       // wait for another process
constexpr std::size_t kShown = 60;              // code points shown of a difference

struct ExchangeArguments {
  std::string run, other;
  std::string format = "reference-jsonl";
  std::string output;  // -o
  std::string file;    // for import
  bool json = false;
};

struct Format {
  std::string_view name, short_name;
  Result<std::string> (*write)(store::Journal& journal, const std::string& run);
};

template <std::string (*kWrite)(const ask::RunTale& tale)>
Result<std::string> WriteTale(store::Journal& journal, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(const ask::RunTale tale, ask::ReadTale(journal, run));
  return kWrite(tale);
}

constexpr Format kFormats[] = {{"reference-jsonl", "rlm", WriteTale<ask::TrajectoryLines>},
                               {"events", "jsonl", ask::EventLines},
                               {"md", "", WriteTale<ask::MarkdownOf>},
                               {"html", "", WriteTale<ask::PageOf>}};

Status Deliver(const std::string& text, const std::string& path, Context& context) {
  if (!path.empty()) return WriteOutput(path, {text}, {.mode = 0600});
  context.out << text;
  return {};
}

Status RunExport(const ExchangeArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, OpenRuns());
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal->Resolve(arguments.run));
  for (const Format& format : kFormats) {
    if (arguments.format != format.name && arguments.format != format.short_name) continue;
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, format.write(*journal, run));
    return Deliver(text, arguments.output, context);
  }
  return MakeError(ErrorCode::kInternal, "no such format");  // the flag accepts no other
}

Status RunImport(const ExchangeArguments& arguments, Context& context) {
  auto text = ReadRegularFile(arguments.file, kLargestFile);
  if (!text) return tl::unexpected(ExplainMissing(std::move(text.error()), arguments.file));
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, OpenRuns());
  // Checking whether the file is known and storing it must be one step among processes.
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, FileLock::Take(data + "/runs-import.lock",
                                                               kLongestImport, context.cancel));
  DOSSIER_ASSIGN_OR_RETURN(const ask::ImportedRuns imported,
                           ask::ImportRuns(*journal, *text, arguments.file));
  if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.runs-import/1"},
                                     {"runs", boost::json::value_from(imported.runs)},
                                     {"known", boost::json::value_from(imported.known)},
                                     {"skipped", imported.skipped}})
                << "\n";
    return {};
  }
  for (const std::string& run : imported.runs) context.out << run << "\n";
  if (!imported.known.empty()) {
    PrintWarning(context.err, fmt::format("{} was imported before, as {}; that is not stored again",
                                          arguments.file, Join(imported.known, ", ")));
  }
  if (imported.skipped > 0) {
    PrintWarning(context.err, fmt::format("{} of {} are no iteration and were left out",
                                          Counted(imported.skipped, "line"), arguments.file));
  }
  return {};
}

std::string OneLine(const Json* value) {
  if (!value || value->is_null()) return "(none)";
  const std::string text = value->is_string() ? std::string(value->get_string()) : ToJson(*value);
  std::string shown = Safe(utf8::Prefix(ReplaceAll(text, "\n", "\\n"), kShown));
  return shown.size() < text.size() ? shown + "…" : shown;
}

Result<int> RunDiff(const ExchangeArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, OpenRuns());
  DOSSIER_ASSIGN_OR_RETURN(const std::string first, journal->Resolve(arguments.run));
  DOSSIER_ASSIGN_OR_RETURN(const std::string second, journal->Resolve(arguments.other));
  DOSSIER_ASSIGN_OR_RETURN(const ask::RunTale a, ask::ReadTale(*journal, first));
  DOSSIER_ASSIGN_OR_RETURN(const ask::RunTale b, ask::ReadTale(*journal, second));
  const Json diff = ask::DiffOf(a, b);
  const bool equal = FindBool(diff, "equal").value_or(false);
  if (arguments.json) {
    context.out << ToJson(diff) << "\n";
  } else {
    for (const char* part : {"question", "answer"}) {
      const JsonArray& both = diff.at(part).get_array();
      if (both[0] == both[1]) continue;
      context.out << fmt::format("{}\n  - {}\n  + {}\n", part, OneLine(&both[0]),
                                 OneLine(&both[1]));
    }
    for (const Json& turn : diff.at("turns").get_array()) {
      for (const std::string& part : StringsOf(Find(turn, "differs"))) {
        const Json *was = Find(turn, "a"), *is = Find(turn, "b");
        context.out << fmt::format(
            "turn {}: {}\n  - {}\n  + {}\n", FindInt(turn, "turn").value_or(0), part,
            OneLine(was ? Find(*was, part) : nullptr), OneLine(is ? Find(*is, part) : nullptr));
      }
    }
    if (equal) context.out << "the runs do not differ\n";
  }
  return equal ? 0 : kExitDifferences;
}

Status RunView(const ExchangeArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, OpenRuns());
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal->Resolve(arguments.run));
  DOSSIER_ASSIGN_OR_RETURN(const ask::RunTale tale, ask::ReadTale(*journal, run));
  std::string path = arguments.output;
  if (path.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
    DOSSIER_RETURN_IF_ERROR(MakeFolders(data + "/pages", 0700));
    path = fmt::format("{}/pages/{}.html", data, run);
  }
  DOSSIER_RETURN_IF_ERROR(WriteOutput(path, {ask::PageOf(tale)}, {.mode = 0600}));
  context.out << path << "\n";
  return {};
}

void DeclareExport(Flags& flags, ExchangeArguments& to) {
  flags.Add("run", &to.run, "id, the start of one, or last").Required().Kind(kRun);
  std::vector<std::string> names;
  for (const Format& format : kFormats) {
    names.emplace_back(format.name);
    if (!format.short_name.empty()) names.emplace_back(format.short_name);
  }
  flags
      .Add("--format", &to.format,
           "reference-jsonl (rlm): as the method's reference writes it; events (jsonl); md; html")
      .OneOf(std::move(names))
      .ShowDefault();
  flags.Add("-o,--out", &to.output, "write to a file").Kind(kPath);
}

void DeclareImport(Flags& flags, ExchangeArguments& to) {
  flags.Add("file", &to.file, "what `runs export` wrote as reference-jsonl or events")
      .Required()
      .Kind(kPath);
  flags.Add("--json", &to.json, "one object");
}

void DeclareDiff(Flags& flags, ExchangeArguments& to) {
  flags.Add("run", &to.run, "id, the start of one, or last").Required().Kind(kRun);
  flags.Add("other", &to.other, "the run beside it").Required().Kind(kRun);
  flags.Add("--json", &to.json, "one object");
}

void DeclareView(Flags& flags, ExchangeArguments& to) {
  flags.Add("run", &to.run, "id, the start of one, or last").Required().Kind(kRun);
  flags.Add("-o,--out", &to.output, "the file (one in the data folder)").Kind(kPath);
}

}  // namespace

std::vector<Command> ExchangeCommands() {
  return {{.name = "diff",
           .summary = "what two runs of ask differ in, turn by turn",
           .binding = Bind(DeclareDiff, RunDiff)},
          {.name = "export",
           .summary = "a run of ask as a file: for other programs, or to be read",
           .binding = Bind(DeclareExport, RunExport)},
          {.name = "import",
           .summary = "store runs from such a file; they can be looked at, not gone on with",
           .binding = Bind(DeclareImport, RunImport)},
          {.name = "view",
           .summary = "write a run of ask as one HTML page, and say where it is",
           .binding = Bind(DeclareView, RunView)}};
}

}  // namespace dossier::cli
