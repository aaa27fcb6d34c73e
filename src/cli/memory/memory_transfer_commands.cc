// load, export, import.

#include <algorithm>

#include "base/files/output_file.h"
#include "cli/memory/memory_call.h"
#include "cli/memory/memory_view.h"
#include "cli/terminal/terminal.h"
#include "memory/transfer/transfer.h"

namespace dossier::cli {
namespace {

using memory::LineFault;

void DeclareLoad(Flags& flags, MemoryArguments& to) {
  flags.Add("file", &to.file, "a line of JSON each, - for stdin").Kind(kPath).Required();
  flags.Add("--tier", &to.tier, "events, or texts found by search (recall)")
      .OneOf({"recall", "archival"});
  AddStoreFlags(flags, StoreFlags::kBranch, &to);
}

// Reports rejected lines; only the first ones in words.
void TellFaults(const MemoryCall& call, const std::vector<LineFault>& faults) {
  constexpr std::size_t kTold = 20;
  for (std::size_t i = 0; i < std::min(faults.size(), kTold); ++i) {
    const LineFault& fault = faults[i];
    PrintError(call.err(), {ErrorCode::kPartial, fmt::format("line {}, byte {}: {}", fault.line,
                                                             fault.byte, fault.message)});
  }
  if (faults.size() > kTold) {
    PrintError(call.err(),
               {ErrorCode::kPartial,
                fmt::format("… and {} more lines; --json names them all", faults.size() - kTold)});
  }
}

JsonArray FaultsJson(const std::vector<LineFault>& faults) {
  JsonArray list;
  for (const LineFault& fault : faults) {
    list.push_back(
        JsonObject{{"line", fault.line}, {"byte", fault.byte}, {"message", fault.message}});
  }
  return list;
}

int CodeOf(bool whole) { return whole ? 0 : ExitCode(ErrorCode::kPartial); }

Result<int> RunLoad(const MemoryCall& call) {
  const MemoryArguments& arguments = call.arguments();
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, call.ReadInput(arguments.file));
  const memory::Tier tier = memory::FindTier(arguments.tier).value_or(memory::Tier::kRecall);
  DOSSIER_ASSIGN_OR_RETURN(
      const memory::LoadResult loaded,
      memory::LoadLines(*store, arguments.branch, text,
                        {.tier = tier, .context = {.actor = memory::Actor::kUser}}));
  call.Log("load", memory::TierName(tier),
           {{"added", loaded.added}, {"unchanged", loaded.unchanged}});
  if (arguments.json) {
    call.PrintJson({{"added", loaded.added},
                    {"unchanged", loaded.unchanged},
                    {"redacted", loaded.redacted},
                    {"faults", FaultsJson(loaded.faults)}});
  } else {
    call.out() << fmt::format("added {}, unchanged {}\n", loaded.added, loaded.unchanged);
    call.WarnOfSecrets(loaded.redacted);
    TellFaults(call, loaded.faults);
  }
  return CodeOf(loaded.faults.empty());
}

void DeclareExport(Flags& flags, MemoryArguments& to) {
  flags.Add("--format", &to.format, "jsonl for `import`, json as one object, md for people")
      .OneOf({"jsonl", "json", "md"})
      .ShowDefault();
  flags.Add("--all", &to.all, "every row of every branch, with what was replaced or hidden");
  flags.Add("-o,--out", &to.out_file, "write to this file").Kind(kPath);
  AddStoreFlags(flags, StoreFlags::kView, &to);
}

Result<int> RunExport(const MemoryCall& call) {
  const MemoryArguments& arguments = call.arguments();
  memory::ExportOptions options{.branch = arguments.branch, .at = arguments.at};
  if (arguments.format == "json" || arguments.json) options.format = memory::ExportFormat::kJson;
  if (arguments.format == "md") options.format = memory::ExportFormat::kMarkdown;
  if (arguments.all) options.scope = memory::ExportScope::kAll;
  if (arguments.all && arguments.at) {
    return MakeError(ErrorCode::kUsage, "--all and --at exclude each other: --all is every write");
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  std::string text;
  const bool to_file = !arguments.out_file.empty();
  const auto sink = [&](std::string_view part) -> Status {
    if (to_file) {
      text += part;
    } else {
      call.out() << part;
    }
    return {};
  };
  DOSSIER_RETURN_IF_ERROR(memory::ExportStore(*store, options, sink));
  call.Log("export", "store", {{"format", arguments.format}, {"all", arguments.all}});
  if (to_file) DOSSIER_RETURN_IF_ERROR(WriteOutput(arguments.out_file, {text}, {.mode = 0600}));
  return 0;
}

void DeclareImport(Flags& flags, MemoryArguments& to) {
  flags.Add("file", &to.file, "what `export` wrote, - for stdin").Kind(kPath).Required();
  AddStoreFlags(flags, StoreFlags::kNone, &to);
}

Result<int> RunImport(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, call.ReadInput(call.arguments().file));
  DOSSIER_ASSIGN_OR_RETURN(const memory::ImportResult imported,
                           memory::ImportLines(*store, text, {.actor = memory::Actor::kUser}));
  call.Log("import", "store", {{"added", imported.added}, {"unchanged", imported.unchanged}});
  if (call.arguments().json) {
    call.PrintJson({{"added", imported.added},
                    {"unchanged", imported.unchanged},
                    {"redacted", imported.redacted},
                    {"conflicts", TextArray(imported.conflicts)},
                    {"faults", FaultsJson(imported.faults)}});
  } else {
    call.out() << fmt::format("added {}, unchanged {}, conflicts {}\n", imported.added,
                              imported.unchanged, imported.conflicts.size());
    call.WarnOfSecrets(imported.redacted);
    for (const std::string& conflict : imported.conflicts) PrintWarning(call.err(), conflict);
    TellFaults(call, imported.faults);
  }
  return CodeOf(imported.conflicts.empty() && imported.faults.empty());
}

}  // namespace

std::vector<Command> MemoryTransferCommands() {
  return {
      {.name = "load",
       .summary = "many records, a line of JSON each",
       .examples = "dossier memory load turns.jsonl\n"
                   "    one {\"text\", \"kind\", \"thread\", \"ref\", \"time\", \"tags\"} a line; "
                   "only text is "
                   "needed",
       .binding = BindMemory(DeclareLoad, RunLoad)},
      {.name = "export",
       .summary = "memory as text",
       .examples = "dossier memory export --all --out memory.jsonl\n"
                   "    everything, to be read by `dossier memory import`\n"
                   "dossier memory export --format md\n"
                   "    one branch, for people",
       .binding = BindMemory(DeclareExport, RunExport)},
      {.name = "import",
       .summary = "what `export` wrote, into this store; what it has already stays",
       .binding = BindMemory(DeclareImport, RunImport)},
  };
}

}  // namespace dossier::cli
