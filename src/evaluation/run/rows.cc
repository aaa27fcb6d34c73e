#include "evaluation/run/rows.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "base/json/json.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kRowSchema = "dossier.evalrow/1";
constexpr std::uint64_t kMostRowBytes = 8ull << 30;

constexpr std::array<std::string_view, 11> kStatusNames = {
    "ok",    "empty",          "timeout",      "crashed",
    "error", "refused",        "no_answer",    "context_too_long",
    "limit", "provider_error", "harness_error"};

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

struct ReadLines {
  std::vector<Row> rows;
  std::size_t whole = 0;  // bytes up to the end of the last whole line
};

Result<ReadLines> ParseRows(std::string_view text, const std::string& path) {
  ReadLines read;
  std::map<RowKey, std::size_t> places;
  std::size_t line = 0;
  for (std::size_t end = 0; (end = text.find('\n', read.whole)) != text.npos;) {
    ++line;
    const std::string_view one = text.substr(read.whole, end - read.whole);
    read.whole = end + 1;
    auto value = ParseJson(one);
    auto row = value ? RowFromJson(*value) : Result<Row>(tl::unexpected(value.error()));
    if (!row) {
      return MakeError(ErrorCode::kDamaged, "{}:{}: {}", path, line, row.error().message);
    }
    const auto [place, fresh] = places.emplace(row->key(), read.rows.size());
    if (fresh) {
      read.rows.push_back(std::move(*row));
    } else {
      read.rows[place->second] = std::move(*row);
    }
  }
  return read;
}

// Reads the name of the lock's holder, which the holder wrote for others.
std::string HolderOf(const std::string& lock_path) {
  const auto text = ReadFile(lock_path, 64);
  const std::string_view pid = text ? TrimSpace(*text) : std::string_view();
  return pid.empty() ? "another process" : fmt::format("process {}", pid);
}

}  // namespace

std::string_view StatusName(RowStatus status) {
  return kStatusNames.at(static_cast<std::size_t>(status));
}

std::optional<RowStatus> StatusOf(std::string_view name) {
  for (std::size_t i = 0; i < kStatusNames.size(); ++i) {
    if (kStatusNames.at(i) == name) return static_cast<RowStatus>(i);
  }
  return std::nullopt;
}

Json RowToJson(const Row& row) {
  return JsonObject{{"schema", kRowSchema},
                    {"arm", row.arm},
                    {"task", row.task},
                    {"repeat", row.repeat},
                    {"status", StatusName(row.status)},
                    {"answer", Redact(utf8::Sanitize(row.answer))},
                    {"detail", TextOrNull(Redact(utf8::Sanitize(row.detail)))},
                    {"official", OrNull(row.official)},
                    {"lenient", OrNull(row.lenient)},
                    {"opinion", OrNull(row.opinion)},
                    {"parsed", TextOrNull(Redact(row.parsed))},
                    {"rule", TextOrNull(row.rule)},
                    {"cause", TextOrNull(row.cause)},
                    {"seconds", row.seconds},
                    {"calls", row.calls},
                    {"tokens", JsonObject{{"input", row.tokens.input},
                                          {"cached", row.tokens.cached},
                                          {"output", row.tokens.output},
                                          {"counted", row.tokens.counted}}},
                    {"cost_nanousd", OrNull(row.cost_nano_usd)},
                    {"turns", OrNull(row.turns)},
                    {"sub_calls", OrNull(row.sub_calls)},
                    {"ended", TextOrNull(row.ended)},
                    {"at_limit", row.at_limit},
                    {"run", TextOrNull(row.run)}};
}

Result<Row> RowFromJson(const Json& value) {
  if (TextAt(value, "schema") != kRowSchema) {
    return MakeError(ErrorCode::kDamaged, "the row's \"schema\" is not {}", kRowSchema);
  }
  const auto status = StatusOf(TextAt(value, "status"));
  if (!status) {
    return MakeError(ErrorCode::kDamaged, "no such status: \"{}\"", TextAt(value, "status"));
  }
  Row row{.arm = TextAt(value, "arm"),
          .task = TextAt(value, "task"),
          .repeat = static_cast<int>(FindInt(value, "repeat").value_or(0)),
          .status = *status,
          .answer = TextAt(value, "answer"),
          .detail = TextAt(value, "detail"),
          .official = FindNumber(value, "official"),
          .lenient = FindNumber(value, "lenient"),
          .opinion = FindNumber(value, "opinion"),
          .parsed = TextAt(value, "parsed"),
          .rule = TextAt(value, "rule"),
          .cause = TextAt(value, "cause"),
          .seconds = FindNumber(value, "seconds").value_or(0),
          .calls = FindInt(value, "calls").value_or(0)};
  if (row.arm.empty() || row.task.empty()) {
    return MakeError(ErrorCode::kDamaged, "the row names no arm or no task");
  }
  if (const Json* tokens = Find(value, "tokens")) {
    row.tokens = {.input = FindInt(*tokens, "input").value_or(0),
                  .cached = FindInt(*tokens, "cached").value_or(0),
                  .output = FindInt(*tokens, "output").value_or(0),
                  .counted = FindBool(*tokens, "counted").value_or(false)};
  }
  row.cost_nano_usd = FindInt(value, "cost_nanousd");
  row.turns = FindInt(value, "turns");
  row.sub_calls = FindInt(value, "sub_calls");
  row.ended = TextAt(value, "ended");
  row.run = TextAt(value, "run");
  row.at_limit = FindBool(value, "at_limit").value_or(false);
  return row;
}

Result<std::vector<Row>> ReadRows(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostRowBytes));
  DOSSIER_ASSIGN_OR_RETURN(ReadLines read, ParseRows(text, path));
  return std::move(read.rows);
}

Result<FileLock> LockRows(const std::string& folder) {
  const std::string holder = folder + "/rows.jsonl.pid";
  auto lock = FileLock::Take(folder + "/.rows.lock", Millis(0), {});
  if (!lock && lock.error().code == ErrorCode::kLocked) {
    return MakeError(ErrorCode::kLocked, "{}: {} writes there; wait for it, or use another --out",
                     folder, HolderOf(holder));
  }
  if (!lock) return tl::unexpected(std::move(lock).error());
  DOSSIER_RETURN_IF_ERROR(ReplaceFile(holder, {std::to_string(getpid()) + "\n"},
                                      {.durability = Durability::kSurvivesCrash}));
  return lock;
}

RowFile::RowFile(std::string path, UniqueFd fd, std::vector<Row> rows)
    : path_(std::move(path)), fd_(std::move(fd)), rows_(std::move(rows)) {
  for (std::size_t i = 0; i < rows_.size(); ++i) places_.emplace(rows_[i].key(), i);
  for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
    if (row->status != RowStatus::kProviderError) break;
    open_.insert(row->key());
  }
}

Result<std::unique_ptr<RowFile>> RowFile::Open(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadAll(fd.get(), path, kMostRowBytes));
  DOSSIER_ASSIGN_OR_RETURN(ReadLines read, ParseRows(text, path));
  if (ftruncate(fd.get(), static_cast<off_t>(read.whole)) != 0 ||
      lseek(fd.get(), 0, SEEK_END) < 0) {
    return MakeErrnoError(errno, path);
  }
  return std::unique_ptr<RowFile>(new RowFile(path, std::move(fd), std::move(read.rows)));
}

bool RowFile::Has(const RowKey& key) const {
  const std::lock_guard lock(mutex_);
  return places_.contains(key) && !open_.contains(key);
}

std::vector<Row> RowFile::rows() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

Status RowFile::Append(const Row& row) {
  const std::string line = ToJson(RowToJson(row)) + "\n";
  const std::lock_guard lock(mutex_);
  const off_t before = lseek(fd_.get(), 0, SEEK_CUR);
  Status written = WriteAll(fd_.get(), line);
  if (written && fdatasync(fd_.get()) != 0) written = MakeErrnoError(errno, path_);
  if (!written) {
    struct stat info{};
    const off_t reached = fstat(fd_.get(), &info) == 0 ? info.st_size : before;
    const bool cut = ftruncate(fd_.get(), before) == 0 && lseek(fd_.get(), before, SEEK_SET) >= 0;
    return MakeError(ErrorCode::kFailed,
                     "{}: {} of {} bytes could not be written ({}); the {} rows so far are {}",
                     path_, static_cast<off_t>(line.size()) - (reached - before), line.size(),
                     written.error().message, rows_.size(), cut ? "kept" : "there");
  }
  open_.erase(row.key());
  const auto [place, fresh] = places_.emplace(row.key(), rows_.size());
  if (fresh) {
    rows_.push_back(row);
  } else {
    rows_[place->second] = row;
  }
  return {};
}

}  // namespace dossier::evaluation
