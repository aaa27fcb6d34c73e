#include <algorithm>

#include "memory/blocks/block.h"
#include "memory/records/types.h"
#include "memory/transfer/transfer.h"

namespace dossier::memory {
namespace {

// Lines per transaction: enough to make its cost small, few enough to let others take a turn.
constexpr std::size_t kLinesTogether = 5000;

Result<Record> RecordOf(const Json& value, Tier tier) {
  std::vector<Notice> warnings;
  BlockOperation read = CheckValue(OperationOf(OperationId::kRecallAppend), "$", value, warnings);
  if (const auto* bad = std::get_if<BadValue>(&read.value)) {
    return MakeError(ErrorCode::kInvalidArgument, "{}", bad->Text());
  }
  Record record = std::move(std::get<NewRecords>(read.value).records.front());
  record.tier = tier;
  if (tier != Tier::kRecall && !Find(value, "kind")) record.kind.clear();
  return record;
}

class Loading {
 public:
  Loading(Store& store, std::string_view branch, const LoadOptions& options)
      : store_(store), branch_(branch), options_(options) {}

  Status Take(const ImportLine& line) {
    tl::expected<Json, LineFault> value = ReadObject(line);
    if (!value) {
      result_.faults.push_back(std::move(value).error());
      return {};
    }
    Result<Record> record = RecordOf(*value, options_.tier);
    if (!record) {
      AddFault(line, record.error());
      return {};
    }
    batch_.push_back({line, *std::move(record)});
    return batch_.size() < kLinesTogether ? Status() : Flush();
  }

  Status Flush() {
    LoadResult added;
    const auto work = [&](BranchTransaction& session) -> Status {
      added = {};
      for (const auto& [line, record] : batch_) {
        DOSSIER_RETURN_IF_ERROR(Add(session, line, record, &added));
      }
      return {};
    };
    if (!batch_.empty()) {
      DOSSIER_RETURN_IF_ERROR(store_.Transact(branch_, options_.context, work));
    }
    batch_.clear();
    result_.added += added.added;
    result_.unchanged += added.unchanged;
    result_.redacted += added.redacted;
    std::ranges::move(added.faults, std::back_inserter(result_.faults));
    return {};
  }

  LoadResult Finish() {
    std::ranges::sort(result_.faults, {}, &LineFault::line);
    return std::move(result_);
  }

 private:
  struct Waiting {
    ImportLine line;
    Record record;
  };

  void AddFault(const ImportLine& line, const Error& error) {
    result_.faults.push_back({line.number, line.byte, error.message});
  }

  // A rejected line fails alone; a disk error ends the load.
  static Status Add(BranchTransaction& session, const ImportLine& line, const Record& record,
                    LoadResult* added) {
    const Result<RecordWrite> written = session.Add(record);
    if (written) {
      ++(written->unchanged ? added->unchanged : added->added);
      added->redacted += written->redacted;
      return {};
    }
    const ErrorCode code = written.error().code;
    if (code != ErrorCode::kInvalidArgument && code != ErrorCode::kNotFound) {
      return tl::unexpected(written.error());
    }
    added->faults.push_back({line.number, line.byte, written.error().message});
    return {};
  }

  Store& store_;
  const std::string_view branch_;
  const LoadOptions& options_;
  std::vector<Waiting> batch_;
  LoadResult result_;
};

}  // namespace

Result<Record> ReadLoadLine(std::string_view line, Tier tier) {
  const tl::expected<Json, LineFault> value = ReadObject({line, 1, 0});
  if (!value) {
    return MakeError(ErrorCode::kInvalidArgument, "byte {}: {}", value.error().byte,
                     value.error().message);
  }
  return RecordOf(*value, tier);
}

Result<LoadResult> LoadLines(Store& store, std::string_view branch, std::string_view text,
                             const LoadOptions& options) {
  // Reports a missing branch before reading any line.
  DOSSIER_RETURN_IF_ERROR(store.Snapshot(branch));
  Loading loading(store, branch, options);
  ImportReader lines(text);
  for (auto line = lines.Next(); line; line = lines.Next()) {
    DOSSIER_RETURN_IF_ERROR(loading.Take(*line));
  }
  DOSSIER_RETURN_IF_ERROR(loading.Flush());
  return loading.Finish();
}

}  // namespace dossier::memory
