#include "ask/documents/served_document.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ask/documents/content_cuts.h"
#include "ask/documents/document_search.h"
#include "ask/documents/sql_tables.h"
#include "base/text/text.h"
#include "inspect/description/hint.h"
#include "inspect/text/record_lines.h"

namespace dossier::ask {
namespace {

constexpr std::uint64_t kMaxMatches = 100'000;
constexpr std::uint64_t kMaxContextLines = 100;
constexpr std::uint64_t kMaxPassages = 1'000;
constexpr std::size_t kMaxConversions = 100'000;
constexpr std::uint64_t kMaxReplyBytes = 64 << 20;
constexpr std::uint64_t kMaxQueryBytes = 64 * 1024;
constexpr std::uint64_t kMaxPieces = 400'000;
// Bytes between two checks of the cancel token.
constexpr std::size_t kFindWindow = 64 << 20;

constexpr std::size_t kNotFound = std::string_view::npos;

// Returns the first `needle` at or after `from`, or kNotFound.
Result<std::size_t> FindText(std::string_view text, std::string_view needle, std::size_t from,
                             const CancelToken& cancel) {
  while (from <= text.size() && text.size() - from >= needle.size()) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "the search was stopped");
    const std::string_view window = text.substr(from, kFindWindow + needle.size());
    const void* found = ::memmem(window.data(), window.size(), needle.data(), needle.size());
    if (found) return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    from += kFindWindow + 1;
  }
  return kNotFound;
}

Json Range(std::uint64_t begin, std::uint64_t end) { return {{"at", begin}, {"len", end - begin}}; }

Json MatchJson(const GrepMatch& match, std::uint64_t context) {
  JsonObject object = {{"at", match.at},
                       {"len", match.length},
                       {"line", match.line},
                       {"line_at", match.line_at},
                       {"line_len", match.line_length}};
  if (context > 0) {
    object["context_at"] = match.context_at;
    object["context_len"] = match.context_length;
  }
  return object;
}

Json FieldJson(const inspect::Field& field) {
  JsonArray types;
  for (const inspect::FieldType type : field.types.List()) types.emplace_back(TypeName(type));
  JsonArray path(field.path.begin(), field.path.end());
  return {{"shown", field.shown},
          {"path", std::move(path)},
          {"types", std::move(types)},
          {"present", field.present},
          {"sampled", field.sampled}};
}

Result<std::pair<std::uint64_t, std::uint64_t>> FromTo(const Arguments& arguments) {
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t from, arguments.Whole("from"));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t to, arguments.Whole("to"));
  return std::pair(from, to);
}

}  // namespace

SkippedRows SkippedRowsOf(const inspect::Description& description) {
  const inspect::RecordSummary found = description.records.value_or(inspect::RecordSummary{});
  SkippedRows skipped{.count = found.malformed + found.comments_between + found.footers};
  if (found.malformed == 0) skipped.fate = "were left out";
  for (const inspect::Note& note : description.notes) {
    if (note.code == "malformed") {
      skipped.reasons = note.text.substr(note.text.find(": ") + 2);
    } else if (note.code == "comments" || (note.code == "footer" && found.footers > 0)) {
      skipped.reasons += (skipped.reasons.empty() ? "" : "; ") + note.text;
    } else if (note.code == "broken" || note.code == "too-deep") {
      ++skipped.count;
      skipped.fate = SkippedRows().fate;
      skipped.reasons = fmt::format("line {}: {}; what stands behind it is not read",
                                    GroupDigits(note.line.value_or(1)), note.text);
    }
  }
  return skipped;
}

const LineIndex& ServedDocument::LinesIndex() {
  const std::lock_guard lock(mutex_);
  if (!lines_) lines_.emplace(document_.text);
  return *lines_;
}

const CharacterIndex& ServedDocument::CharactersIndex() {
  const std::lock_guard lock(mutex_);
  if (!characters_) characters_.emplace(document_.text);
  return *characters_;
}

Result<const inspect::RecordReader*> ServedDocument::Reader(const CancelToken& cancel) {
  const std::lock_guard lock(mutex_);
  if (reader_) return &*reader_;
  auto reader = inspect::RecordReader::Open(document_.text, document_.description, cancel);
  if (!reader && reader.error().code == ErrorCode::kInvalidArgument) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{}; use context.splitlines() or doc.lines(a, b) instead",
                     reader.error().message);
  }
  if (!reader) return tl::unexpected(std::move(reader).error());
  reader_.emplace(std::move(*reader));
  return &*reader_;
}

// An index that is currently being built does not count: callers must not wait.
ServedDocument::Built ServedDocument::built() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return {};
  return {.lines = lines_.has_value(),
          .characters = characters_.has_value(),
          .records = reader_.has_value()};
}

Result<Json> ServedDocument::Info(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx"}));
  return Json{{"name", document_.name},
              {"bytes", document_.text.size()},
              {"chars", CharactersIndex().count()},
              {"lines", LinesIndex().count()}};
}

Result<Json> ServedDocument::Grep(const ServedCall& call) {
  const Arguments& arguments = call.arguments;
  DOSSIER_RETURN_IF_ERROR(
      arguments.Only({"ctx", "pattern", "max", "ignore_case", "context", "each"}));
  DOSSIER_ASSIGN_OR_RETURN(const std::string_view pattern, arguments.Text("pattern"));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t max, arguments.Whole("max", {.otherwise = 1000}));
  DOSSIER_ASSIGN_OR_RETURN(const bool ignore_case, arguments.Flag("ignore_case"));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t context,
                           arguments.Whole("context", {.otherwise = 0, .max = kMaxContextLines}));
  DOSSIER_ASSIGN_OR_RETURN(const std::string_view each,
                           arguments.Choice("each", {"line", "match"}));
  GrepOptions options{.max = std::min(max, kMaxMatches), .context = context};
  if (ignore_case) options.letter_case = GrepOptions::Case::kIgnore;
  if (each == "match") options.each = GrepOptions::Each::kMatch;
  DOSSIER_ASSIGN_OR_RETURN(const GrepResult found,
                           ask::Grep(document_.text, pattern, options, call.cancel));
  JsonArray matches;
  matches.reserve(found.matches.size());
  for (const GrepMatch& match : found.matches) matches.push_back(MatchJson(match, context));
  return Json{{"matches", std::move(matches)},
              {"total", found.total},
              {"cut", found.total > found.matches.size()}};
}

Result<Json> ServedDocument::Search(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx", "query", "k"}));
  DOSSIER_ASSIGN_OR_RETURN(const std::string_view query, call.arguments.Text("query"));
  if (query.size() > kMaxQueryBytes) {
    return MakeError(ErrorCode::kInvalidArgument, "search: query has {} bytes; at most {} are read",
                     GroupDigits(query.size()), GroupDigits(kMaxQueryBytes));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t count, call.arguments.Whole("k", {.otherwise = 10}));
  DOSSIER_ASSIGN_OR_RETURN(
      const std::vector<Passage> passages,
      SearchPassages({&document_, 1}, query, std::min(count, kMaxPassages), call.cancel));
  JsonArray out;
  for (const Passage& passage : passages) {
    out.push_back({{"at", passage.at}, {"len", passage.length}, {"score", passage.score}});
  }
  return Json{{"hits", std::move(out)}};
}

Result<Json> ServedDocument::Count(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx", "text"}));
  DOSSIER_ASSIGN_OR_RETURN(const std::string_view wanted, call.arguments.Text("text"));
  // As "".count in Python: between all characters, and at both ends.
  if (wanted.empty()) return Json{{"count", CharactersIndex().count() + 1}};
  std::uint64_t count = 0;
  for (std::size_t at = 0;; ++count) {
    DOSSIER_ASSIGN_OR_RETURN(at, FindText(document_.text, wanted, at, call.cancel));
    if (at == kNotFound) return Json{{"count", count}};
    at += wanted.size();
  }
}

Result<Json> ServedDocument::Cuts(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx", "size", "from_byte", "to_byte"}));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t size, call.arguments.Whole("size"));
  const std::uint64_t bytes = document_.text.size();
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t from,
                           call.arguments.Whole("from_byte", {.otherwise = 0, .max = bytes}));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t to,
                           call.arguments.Whole("to_byte", {.otherwise = bytes, .max = bytes}));
  const std::string_view text = document_.text.substr(from, std::max(from, to) - from);
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> cuts,
                           ContentCuts(text, {.size = size, .most = kMaxPieces}, call.cancel));
  JsonArray ends;
  ends.reserve(cuts.size());
  for (const std::uint64_t cut : cuts) ends.emplace_back(from + cut);
  return Json{{"ends", std::move(ends)}};
}

Result<Json> ServedDocument::Find(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx", "text", "from_byte", "to_byte"}));
  DOSSIER_ASSIGN_OR_RETURN(const std::string_view wanted, call.arguments.Text("text"));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t from,
                           call.arguments.Whole("from_byte", {.otherwise = 0}));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t to,
                           call.arguments.Whole("to_byte", {.otherwise = document_.text.size()}));
  const std::string_view text = document_.text.substr(0, std::min(to, document_.text.size()));
  if (from > text.size()) return Json{{"at", -1}};
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t at, FindText(text, wanted, from, call.cancel));
  return at == kNotFound ? Json{{"at", -1}} : Json{{"at", at}};
}

Result<Json> ServedDocument::Lines(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx", "from", "to"}));
  DOSSIER_ASSIGN_OR_RETURN(const auto range, FromTo(call.arguments));
  const std::uint64_t begin = LinesIndex().Start(range.first);
  return Range(begin, std::max(begin, LinesIndex().Start(range.second)));
}

Result<Json> ServedDocument::LineCount(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx"}));
  return Json{{"count", LinesIndex().count()}};
}

Result<Json> ServedDocument::Records(const ServedCall& call) {
  const Arguments& arguments = call.arguments;
  DOSSIER_RETURN_IF_ERROR(
      arguments.Only({"ctx", "from", "max_records", "max_bytes", "names_only", "read"}));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t from, arguments.Whole("from", {.otherwise = 0}));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t max_records,
                           arguments.Whole("max_records", {.otherwise = 1000}));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t max_bytes,
                           arguments.Whole("max_bytes", {.otherwise = 4 << 20}));
  DOSSIER_ASSIGN_OR_RETURN(const inspect::RecordReader* reader, Reader(call.cancel));
  if (from > reader->count()) {
    return MakeError(ErrorCode::kInvalidArgument, "records: from is {}; there are {} records",
                     GroupDigits(from), GroupDigits(reader->count()));
  }
  std::uint64_t next = from;
  DOSSIER_ASSIGN_OR_RETURN(
      call.raw_out,
      reader->ReadJson(from, max_records, std::min(max_bytes, kMaxReplyBytes), &next));
  return Json{{"rows", {{"blob", JsonArray{0, call.raw_out.size()}}}},
              {"first", from},
              {"next", next},
              {"count", reader->count()}};
}

Result<Json> ServedDocument::RecordsInfo(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx"}));
  const auto reader = Reader(call.cancel);
  if (!reader && reader.error().code != ErrorCode::kInvalidArgument) {
    return tl::unexpected(reader.error());
  }
  JsonArray fields;
  for (const inspect::Field& field : document_.description.fields) {
    if (reader) fields.push_back(FieldJson(field));
  }
  const auto& records = document_.description.records;
  JsonObject info = {{"count", reader ? Json((*reader)->count()) : Json(nullptr)},
                     {"format", FormatName(document_.description.format)},
                     {"fields", std::move(fields)}};
  if (SkippedRows skipped = SkippedRowsOf(document_.description); skipped.count > 0) {
    info["skipped"] = {
        {"count", skipped.count}, {"reasons", std::move(skipped.reasons)}, {"fate", skipped.fate}};
  }
  if (document_.description.records_beside) info["beside"] = true;
  if (!reader) {
    const bool text = document_.stands_for.empty();
    info["label"] = text ? FormatLabel(document_.description) : document_.stands_for;
    if (!document_.way.empty()) info["way"] = document_.way;
  }
  if (records && records->non_finite > 0) info["non_finite"] = records->non_finite;
  return Json(std::move(info));
}

Result<Json> ServedDocument::Columns(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx"}));
  DOSSIER_ASSIGN_OR_RETURN(const inspect::RecordReader* reader, Reader(call.cancel));
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<SqlColumn> columns,
                           AllSqlColumns(*reader, document_.description, call.cancel));
  JsonArray list;
  for (const SqlColumn& column : columns) {
    list.push_back(JsonArray{column.name, column.field, column.type});
  }
  return Json{{"columns", std::move(list)}};
}

Result<Json> ServedDocument::RecordSpan(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx", "from", "to"}));
  DOSSIER_ASSIGN_OR_RETURN(const auto range, FromTo(call.arguments));
  DOSSIER_ASSIGN_OR_RETURN(const inspect::RecordReader* reader, Reader(call.cancel));
  if (range.first > range.second || range.second > reader->count()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "record_span: from {} and to {} must be in order and at most {}",
                     GroupDigits(range.first), GroupDigits(range.second),
                     GroupDigits(reader->count()));
  }
  DOSSIER_ASSIGN_OR_RETURN(const inspect::ByteRange span, reader->Span(range.first, range.second));
  return Range(span.begin, span.end);
}

Result<Json> ServedDocument::Locate(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx", "byte"}));
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t byte,
                           call.arguments.Whole("byte", {.max = document_.text.size()}));
  return Json{{"char", CharactersIndex().ToCharacter(byte)}, {"line", LinesIndex().LineAt(byte)}};
}

Result<Json> ServedDocument::CharToByte(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx", "chars"}));
  const CharacterIndex& index = CharactersIndex();
  DOSSIER_ASSIGN_OR_RETURN(const auto chars,
                           call.arguments.Wholes("chars", kMaxConversions, index.count()));
  JsonArray bytes;
  for (const std::uint64_t character : chars) bytes.emplace_back(index.ToByte(character));
  return Json{{"bytes", std::move(bytes)}};
}

Result<Json> ServedDocument::ByteToChar(const ServedCall& call) {
  DOSSIER_RETURN_IF_ERROR(call.arguments.Only({"ctx", "bytes"}));
  const CharacterIndex& index = CharactersIndex();
  DOSSIER_ASSIGN_OR_RETURN(const auto bytes,
                           call.arguments.Wholes("bytes", kMaxConversions, document_.text.size()));
  JsonArray chars;
  for (const std::uint64_t byte : bytes) chars.emplace_back(index.ToCharacter(byte));
  return Json{{"chars", std::move(chars)}};
}

namespace {

bool StartsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// Counts characters that start in `text`: all bytes except continuation bytes, eight at a time.
std::uint64_t CountStarts(std::string_view text) {
  constexpr std::uint64_t kLowBits = 0x0101010101010101;
  std::uint64_t continuations = 0;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    word = (word >> 7) & (~word >> 6) & kLowBits;
    continuations += static_cast<std::uint64_t>(std::popcount(word));
  }
  for (; at < text.size(); ++at) continuations += StartsCharacter(text[at]) ? 0 : 1;
  return text.size() - continuations;
}

}  // namespace

LineIndex::LineIndex(std::string_view text) : text_(text) {
  for (std::size_t at = 0; at < text.size(); ++count_) {
    if (count_ % kStride == 0) starts_.push_back(at);
    at = inspect::NextLine(text, at).next;
  }
  starts_.shrink_to_fit();
}

std::uint64_t LineIndex::Start(std::uint64_t line) const {
  if (line >= count_) return text_.size();
  std::size_t at = starts_[line / kStride];
  for (std::uint64_t skip = line % kStride; skip > 0; --skip) {
    at = inspect::NextLine(text_, at).next;
  }
  return at;
}

std::uint64_t LineIndex::LineAt(std::uint64_t offset) const {
  if (count_ == 0) return 0;
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto entry = static_cast<std::uint64_t>(after - starts_.begin()) - 1;
  std::uint64_t line = entry * kStride;
  for (std::size_t at = starts_[entry]; line + 1 < count_; ++line) {
    at = inspect::NextLine(text_, at).next;
    if (at > offset) break;
  }
  return line;
}

CharacterIndex::CharacterIndex(std::string_view text) : text_(text) {
  before_.reserve(text.size() / kBlock + 1);
  for (std::size_t at = 0; at < text.size(); at += kBlock) {
    before_.push_back(count_);
    count_ += CountStarts(text.substr(at, kBlock));
  }
}

std::uint64_t CharacterIndex::ToByte(std::uint64_t character) const {
  if (character >= count_) return text_.size();
  const auto after = std::upper_bound(before_.begin(), before_.end(), character);
  const auto block = static_cast<std::uint64_t>(after - before_.begin()) - 1;
  std::uint64_t left = character - before_[block];
  std::size_t at = block * kBlock;
  constexpr std::size_t kStep = 512;
  for (;; at += kStep) {
    const std::uint64_t starts = CountStarts(text_.substr(at, kStep));
    if (starts > left) break;
    left -= starts;
  }
  for (;; ++at) {
    if (StartsCharacter(text_[at]) && left-- == 0) return at;
  }
}

std::uint64_t CharacterIndex::ToCharacter(std::uint64_t offset) const {
  if (offset >= text_.size()) return count_;
  const std::uint64_t block = offset / kBlock;
  const std::size_t start = block * kBlock;
  const std::uint64_t upto = before_[block] + CountStarts(text_.substr(start, offset + 1 - start));
  return upto > 0 ? upto - 1 : 0;
}

}  // namespace dossier::ask
