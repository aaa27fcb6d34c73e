#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/files/file.h"
#include "base/random.h"
#include "benches.h"
#include "measure.h"
#include "memory/store/store.h"
#include "memory/transfer/transfer.h"
#include "store/sqlite.h"

namespace dossier::bench {
namespace {

constexpr int kRounds = 5;
constexpr int kTexts = 100'000;
constexpr std::size_t kTextBytes = 74;
constexpr int kProcesses = 8;
constexpr int kSingleWrites = 250;  // of each process
constexpr int kForks = 200;

constexpr std::string_view kBareTable =
    "CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61 remove_diacritics 2')";

// Words by a skewed draw, as those of a language are.
std::string Text(Random* random) {
  std::string text;
  while (text.size() < kTextBytes) {
    const std::uint64_t rank = random->Below(random->Below(20'000) + 1);
    text += fmt::format("{}w{:x}", text.empty() ? "" : " ", rank);
  }
  text.resize(kTextBytes);
  return text;
}

std::vector<std::string> Texts(int count) {
  Random random(/*seed=*/11);
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) texts.push_back(Text(&random));
  return texts;
}

Result<store::Database> OpenBare(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, store::Database::Open(path));
  DOSSIER_RETURN_IF_ERROR(db.Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"));
  return db;
}

Status InsertBare(const std::string& path, const std::vector<std::string>& texts) {
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, OpenBare(path));
  DOSSIER_RETURN_IF_ERROR(db.Execute(std::string(kBareTable)));
  DOSSIER_ASSIGN_OR_RETURN(store::Transaction transaction, store::Transaction::Begin(db));
  {
    DOSSIER_ASSIGN_OR_RETURN(store::Statement insert, db.Prepare("INSERT INTO t VALUES(?)"));
    for (const std::string& text : texts) DOSSIER_RETURN_IF_ERROR(insert.With(text).Done());
  }
  return transaction.Commit();
}

Result<std::unique_ptr<memory::Store>> OpenStore(const std::string& path) {
  return memory::Store::Open({.path = path, .mode = memory::OpenMode::kCreate});
}

Status MeasureLoad() {
  const std::vector<std::string> texts = Texts(kTexts);
  std::string lines;
  for (const std::string& text : texts) lines += fmt::format("{{\"text\": \"{}\"}}\n", text);
  Samples load, bare;
  for (int round = 0; round < kRounds; ++round) {
    DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("bench"));
    double start = CpuSeconds();
    DOSSIER_RETURN_IF_ERROR(InsertBare(folder.path() + "/bare", texts));
    bare.Add(CpuSeconds() - start);
    start = CpuSeconds();
    {
      DOSSIER_ASSIGN_OR_RETURN(const auto store, OpenStore(folder.path() + "/store"));
      DOSSIER_RETURN_IF_ERROR(memory::LoadLines(*store, "root", lines, {}));
    }
    load.Add(CpuSeconds() - start);
  }
  Report("memory.load", load);
  Report("memory.fts5_load", bare);
  return {};
}

// Wall seconds until all of kProcesses processes that run `work` have ended.
Result<double> InProcesses(const std::function<Status(int process)>& work) {
  Samples wall;
  bool failed = false;
  wall.Time([&] {
    std::vector<pid_t> children;
    for (int process = 0; process < kProcesses; ++process) {
      const pid_t child = fork();
      if (child == 0) _exit(work(process) ? 0 : 1);
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = 0;
      failed |= waitpid(child, &status, 0) != child || status != 0;
    }
  });
  if (failed) return MakeError(ErrorCode::kFailed, "a writer failed");
  return wall.Median();
}

std::string SingleText(int process, int i) {
  return fmt::format("process {} wrote {}", process, i);
}

Status WriteSingly(const std::string& path, int process) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, OpenStore(path));
  for (int i = 0; i < kSingleWrites; ++i) {
    DOSSIER_RETURN_IF_ERROR(
        store->Transact("root", {}, [&](memory::BranchTransaction& session) -> Status {
          DOSSIER_RETURN_IF_ERROR(
              session.Add({.tier = memory::Tier::kRecall, .text = SingleText(process, i)}));
          return {};
        }));
  }
  return {};
}

Status WriteBareSingly(const std::string& path, int process) {
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, OpenBare(path));
  DOSSIER_ASSIGN_OR_RETURN(store::Statement insert, db.Prepare("INSERT INTO t VALUES(?)"));
  for (int i = 0; i < kSingleWrites; ++i) {
    const std::string text = SingleText(process, i);
    DOSSIER_ASSIGN_OR_RETURN(store::Transaction transaction, store::Transaction::Begin(db));
    DOSSIER_RETURN_IF_ERROR(insert.With(text).Done());
    DOSSIER_RETURN_IF_ERROR(transaction.Commit());
  }
  return {};
}

Status MeasureSingleWrites() {
  Samples ours, bare;
  for (int round = 0; round < kRounds; ++round) {
    DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("bench"));
    const std::string bare_path = folder.path() + "/bare", path = folder.path() + "/store";
    DOSSIER_RETURN_IF_ERROR(InsertBare(bare_path, {}));
    DOSSIER_RETURN_IF_ERROR(OpenStore(path));
    DOSSIER_ASSIGN_OR_RETURN(const double bare_time, InProcesses([&](int process) {
                               return WriteBareSingly(bare_path, process);
                             }));
    DOSSIER_ASSIGN_OR_RETURN(const double time,
                             InProcesses([&](int process) { return WriteSingly(path, process); }));
    bare.Add(bare_time);
    ours.Add(time);
  }
  Report("memory.single", ours);
  Report("memory.fts5_single", bare);
  return {};
}

Result<double> ForkSeconds(memory::Store& store, std::string_view prefix) {
  const double start = CpuSeconds();
  for (int i = 0; i < kForks; ++i) {
    const std::string name = fmt::format("{}-{}", prefix, i);
    DOSSIER_RETURN_IF_ERROR(store.Fork("root", name, {}));
    DOSSIER_RETURN_IF_ERROR(store.Snapshot(name));
  }
  return (CpuSeconds() - start) / kForks;
}

Status MeasureForks() {
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("bench"));
  DOSSIER_ASSIGN_OR_RETURN(const auto empty, OpenStore(folder.path() + "/empty"));
  DOSSIER_ASSIGN_OR_RETURN(const auto full, OpenStore(folder.path() + "/full"));
  std::string lines;
  for (const std::string& text : Texts(kTexts))
    lines += fmt::format("{{\"text\": \"{}\"}}\n", text);
  DOSSIER_RETURN_IF_ERROR(memory::LoadLines(*full, "root", lines, {}));
  Samples of_empty, of_full;
  for (int round = 0; round < kRounds; ++round) {
    const std::string prefix = fmt::format("r{}", round);
    DOSSIER_ASSIGN_OR_RETURN(const double empty_time, ForkSeconds(*empty, prefix));
    DOSSIER_ASSIGN_OR_RETURN(const double full_time, ForkSeconds(*full, prefix));
    of_empty.Add(empty_time);
    of_full.Add(full_time);
  }
  Report("memory.fork_empty", of_empty);
  Report("memory.fork_full", of_full);
  return {};
}

}  // namespace

Status RunMemoryStoreBench() {
  DOSSIER_RETURN_IF_ERROR(MeasureLoad());
  DOSSIER_RETURN_IF_ERROR(MeasureSingleWrites());
  return MeasureForks();
}

}  // namespace dossier::bench
