// init, get, set, del, add: core facts and single records.

#include <algorithm>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "cli/memory/memory_call.h"
#include "cli/memory/memory_view.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/memory_flags.h"
#include "cli/wiring/value_kinds.h"
#include "memory/blocks/block.h"

namespace dossier::cli {
namespace {

using memory::BranchTransaction;
using memory::Notice;
using memory::View;

void DeclareInit(Flags& flags, MemoryArguments& to) {
  AddStoreFlags(flags, StoreFlags::kNone, &to);
}

Result<int> RunInit(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open(memory::OpenMode::kCreate));
  if (call.arguments().json) {
    call.PrintJson({{"path", store->path()}, {"store_id", store->store_id()}});
  } else {
    call.out() << store->path() << "\n";
  }
  return 0;
}

void DeclareGet(Flags& flags, MemoryArguments& to) {
  flags.Add("key", &to.key, "name of a core fact").Required().Kind(kMemoryKey);
  AddStoreFlags(flags, StoreFlags::kView, &to);
}

Error NoKey(const View& view, const std::string& key) {
  std::vector<std::string> keys;
  for (const memory::CoreEntry& entry : view.AllCore()) keys.push_back(entry.key);
  const auto near = NearestNames(key, keys, 1);
  return {ErrorCode::kNotFound,
          fmt::format("no key \"{}\" in branch \"{}\"{}", key, view.branch(),
                      near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near[0]))};
}

Result<int> RunGet(const MemoryCall& call) {
  const std::string& key = *call.arguments().key;
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(const View view, call.Look(*store));
  const auto entry = view.Core(key);
  call.Log("core_get", "core", {{"key", key}, {"found", entry.has_value()}});
  if (!entry) return tl::unexpected(NoKey(view, key));
  if (call.arguments().json) {
    call.PrintJson(EntryJson(*entry));
  } else {
    call.out() << OutputText(entry->value, Terminal::Detect().out);
  }
  return 0;
}

void DeclareSet(Flags& flags, MemoryArguments& to) {
  flags.Add("key", &to.key, "name of a core fact").Required().Kind(kMemoryKey);
  flags.Add("value", &to.value, "its text, - for stdin").Required();
  flags.Add("--importance", &to.importance, "1 to 5: the least important makes room first (3)");
  flags.Add("--ttl", &to.ttl, "how long it holds: 30s 10m 2h 7d 4w, or a time").Kind(kTime);
  flags.Add("--pin", &to.pin, "never make room with it");
  AddStoreFlags(flags, StoreFlags::kBranch, &to);
}

// Omits what cannot be read, as in a block from a model.
memory::CoreValue ValueOf(const MemoryCall& call, std::string text, std::vector<Notice>* notices) {
  const MemoryArguments& arguments = call.arguments();
  memory::CoreValue value{.value = std::move(text), .pinned = arguments.pin};
  if (!arguments.importance.empty()) {
    const std::string& given = arguments.importance;
    if (const auto number = ParseNumber(given)) {
      value.importance = static_cast<int>(std::clamp(*number, 1.0, 5.0));
      if (*number < 1 || *number > 5) {
        notices->push_back(
            {"importance_ignored",
             fmt::format("\"{}\" is not from 1 to 5; {} is stored", given, *value.importance)});
      }
    } else {
      value.importance = 3;
      notices->push_back(
          {"importance_ignored", fmt::format("\"{}\" is no number; 3 is stored", given)});
    }
  }
  if (!arguments.ttl.empty()) {
    if (const auto ttl = memory::ParseTtl(arguments.ttl)) {
      value.expires_at = ttl->ExpiryAt(call.now());
    } else {
      notices->push_back(
          {"ttl_ignored", fmt::format("\"{}\" is neither a span like 30s 10m 2h 7d 4w nor a time; "
                                      "stored without expiry",
                                      arguments.ttl)});
    }
  }
  return value;
}

void PrintSet(const MemoryCall& call, const memory::CoreWrite& written,
              const std::vector<Notice>& notices) {
  if (call.arguments().json) {
    return call.PrintJson(
        {{"seq", written.seq},
         {"unchanged", written.unchanged},
         {"evicted", TextArray(written.evicted)},
         {"archived_whole", written.archived_whole ? Json(*written.archived_whole) : Json()},
         {"redacted", written.redacted},
         {"warnings", memory::NoticesJson(notices)}});
  }
  call.Warn(notices);
  call.WarnOfSecrets(written.redacted);
  if (!written.evicted.empty()) {
    PrintWarning(call.err(), fmt::format("core is full; moved to archival memory: {}",
                                         Join(written.evicted, ", ")));
  }
  if (written.archived_whole) {
    PrintWarning(call.err(), fmt::format("the value is too long for core: whole in record #{}",
                                         *written.archived_whole));
  }
  call.out() << fmt::format("{} is kept (write {})\n", Safe(*call.arguments().key), written.seq);
}

Result<int> RunSet(const MemoryCall& call) {
  const std::string& key = *call.arguments().key;
  DOSSIER_ASSIGN_OR_RETURN(std::string text, call.ReadText(call.arguments().value));
  std::vector<Notice> notices;
  const memory::CoreValue value = ValueOf(call, std::move(text), &notices);
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  memory::CoreWrite written;
  DOSSIER_RETURN_IF_ERROR(call.Write(*store, [&](BranchTransaction& session) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(written, session.SetCore(key, value));
    return {};
  }));
  call.Log("core_set", "core", {{key, value.value}});
  PrintSet(call, written, notices);
  return 0;
}

void DeclareDel(Flags& flags, MemoryArguments& to) {
  flags.Add("key", &to.key, "name of a core fact").Required().Kind(kMemoryKey);
  AddStoreFlags(flags, StoreFlags::kBranch, &to);
}

Result<int> RunDel(const MemoryCall& call) {
  const std::string& key = *call.arguments().key;
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  memory::Seq seq = 0;
  DOSSIER_RETURN_IF_ERROR(call.Write(*store, [&](BranchTransaction& session) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(seq, session.DeleteCore(key));
    return {};
  }));
  call.Log("core_delete", "core", {{"key", key}});
  call.PrintSeq(seq);
  return 0;
}

void DeclareAdd(Flags& flags, MemoryArguments& to) {
  flags.Add("text", &to.text, "what to keep, - for stdin").Required();
  flags.Add("--tier", &to.tier, "an event, or a text found by search (recall)")
      .OneOf({"recall", "archival"});
  flags.Add("--kind", &to.kind, "of an event (note)");
  flags.Add("--tag", &to.tags, "may be repeated");
  flags.Add("--thread", &to.thread, "records of one thread are neighbours");
  flags.Add("--ref", &to.ref, "your own name for it");
  flags.Add("--time", &to.time, "when it happened (now)").Kind(kTime);
  flags.Add("--supersedes", &to.supersedes, "id of the record it replaces").Positive();
  AddStoreFlags(flags, StoreFlags::kBranch, &to);
}

Result<memory::Record> RecordOf(const MemoryCall& call) {
  const MemoryArguments& arguments = call.arguments();
  DOSSIER_ASSIGN_OR_RETURN(std::string text, call.ReadText(arguments.text));
  memory::Record record{.tier = memory::FindTier(arguments.tier).value_or(memory::Tier::kRecall),
                        .kind = arguments.kind,
                        .text = std::move(text),
                        .thread = arguments.thread.value_or(""),
                        .ref = arguments.ref,
                        .supersedes = arguments.supersedes,
                        .tags = arguments.tags};
  // What a person writes is not an insight of a model.
  if (record.kind.empty() && record.tier == memory::Tier::kRecall) record.kind = "note";
  if (!arguments.time.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(record.at, ReadMoment("--time", arguments.time, DayEdge::kBegin));
  }
  return record;
}

Result<int> RunAdd(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const memory::Record record, RecordOf(call));
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  memory::RecordWrite written;
  DOSSIER_RETURN_IF_ERROR(call.Write(*store, [&](BranchTransaction& session) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(written, session.Add(record));
    return {};
  }));
  call.Log("add", memory::TierName(record.tier), {{"id", written.id}, {"text", record.text}});
  if (call.arguments().json) {
    call.PrintJson({{"id", written.id},
                    {"seq", written.seq},
                    {"unchanged", written.unchanged},
                    {"redacted", written.redacted}});
  } else {
    call.WarnOfSecrets(written.redacted);
    call.out() << written.id << "\n";
  }
  return 0;
}

}  // namespace

std::vector<Command> MemoryEntryCommands() {
  return {
      {.name = "init",
       .summary = "makes the store; one that is there stays as it is",
       .binding = BindMemory(DeclareInit, RunInit)},
      {.name = "get",
       .summary = "the value of a core fact",
       .examples = "dossier memory get compiler --at 12\n"
                   "    what it was after write 12",
       .binding = BindMemory(DeclareGet, RunGet)},
      {.name = "set",
       .summary = "keeps a core fact: a short text that every prompt shows",
       .examples = "dossier memory set queue short --ttl 2h\n"
                   "    a fact that holds for two hours\n"
                   "make -n | dossier memory set build -\n"
                   "    from stdin",
       .binding = BindMemory(DeclareSet, RunSet)},
      {.name = "del",
       .summary = "forgets a core fact, here and in later forks",
       .binding = BindMemory(DeclareDel, RunDel)},
      {.name = "add",
       .summary = "keeps an event, or a text that is found by search",
       .examples =
           "dossier memory add \"The linker needs -lfftw3 after -lm\" --tier archival --tag build\n"
           "    a text that is found by search\n"
           "dossier memory add \"Run 12 converged\" --kind result --ref run-12\n"
           "    an event",
       .binding = BindMemory(DeclareAdd, RunAdd)},
  };
}

}  // namespace dossier::cli
