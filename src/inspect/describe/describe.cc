#include "inspect/describe/describe.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <thread>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/containers/archive_library.h"
#include "inspect/containers/binary_kinds.h"
#include "inspect/containers/binary_marks.h"
#include "inspect/describe/census.h"
#include "inspect/describe/scan.h"
#include "inspect/description/names.h"
#include "inspect/text/legacy_encoding.h"
#include "inspect/text/text_sniff.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kGuessBytes = 64 << 10;
constexpr std::size_t kHeadBytes = 1 << 20;

int ThreadsOf(const Options& options) {
  if (options.threads > 0) return options.threads;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
}

class Describer {
 public:
  Describer(const ByteSource& source, const Options& options, const CancelToken& cancel)
      : source_(source), options_(options), cancel_(cancel) {}

  Result<Description> Run() {
    NameIt();
    const SourceState before = source_.state();
    DOSSIER_RETURN_IF_ERROR(GuessFromHead());
    DOSSIER_RETURN_IF_ERROR(PlanAhead());
    DOSSIER_ASSIGN_OR_RETURN(TextCensus census, Count());
    if (const auto guess = GuessEightBit(census)) {
      out_.encoding.kind = *guess;
      out_.encoding.guessed = true;
      DOSSIER_ASSIGN_OR_RETURN(census, Count());
    }
    SetCounts(census);
    out_.sha256 = std::move(census.sha256);
    if (out_.counts.bytes == 0) {
      AddNote(&out_, "empty", "there is nothing in it");
      // Not a compressed file at all, so that part of its name is the one to report.
      if (named_compressed_) out_.extension = ToLowerAscii(out_.name.substr(out_.name.rfind('.')));
    } else if (out_.encoding.kind == EncodingKind::kBinary) {
      DOSSIER_RETURN_IF_ERROR(DescribeBytes());
    } else {
      DOSSIER_RETURN_IF_ERROR(DescribeContent());
      AddEncodingNotes();
    }
    if (source_.state() != before) {
      out_.stable = false;
      AddNote(&out_, "unstable", "the file changed while it was read; counts are of what was read");
    }
    return std::move(out_);
  }

 private:
  void NameIt() {
    const NameGuess guess = GuessByName(source_.name());
    out_.path = source_.name();
    out_.name = guess.base_name;
    named_compressed_ = !guess.compression.empty();
    out_.extension = guess.extension;
    out_.named_format = guess.format;
    out_.language = guess.language;
    named_flavour_ = guess.flavour;
  }

  Status GuessFromHead() {
    stored_head_.resize(kGuessBytes);
    auto got = source_.ReadAt(0, std::span(stored_head_));
    if (!got) return tl::unexpected(std::move(got).error());
    stored_head_.resize(*got);
    EncodingGuess guess = GuessEncoding(stored_head_);
    looks_binary_ = guess.kind == EncodingKind::kBinary ||
                    (guess.bom_bytes == 0 && HasBinaryMark(stored_head_));
    if (looks_binary_) guess = {EncodingKind::kBinary, 0};
    // A forced format applies to the content.
    if (options_.inside_limit > 0 && looks_binary_ && IsCompression(BinaryKind(stored_head_))) {
      out_.encoding.kind = EncodingKind::kBinary;
      return {};
    }
    if (options_.encoding) guess = {*options_.encoding, BomBytes(*options_.encoding, stored_head_)};
    if (options_.format && guess.kind == EncodingKind::kBinary && !options_.encoding) {
      guess.kind = EncodingKind::kUtf8;
    }
    out_.encoding.kind = guess.kind;
    out_.encoding.bom = guess.bom_bytes > 0;
    start_ = guess.bom_bytes;
    return {};
  }

  Result<TextCensus> Count() {
    return TakeCensus(source_, {.kind = out_.encoding.kind,
                                .start = start_,
                                .max_scan = options_.max_scan,
                                .threads = ThreadsOf(options_),
                                .block_bytes = options_.block_bytes,
                                .hash = options_.hash,
                                .records = plan_.pass(),
                                .cancel = cancel_});
  }

  // Most texts are what their head promises: whole, valid UTF-8. Their records are scanned during
  // the counting pass.
  Status PlanAhead() {
    const bool plain = out_.encoding.kind == EncodingKind::kUtf8 && !options_.max_scan;
    if (!plain) return {};
    DOSSIER_RETURN_IF_ERROR(ReadHead());
    planned_ = utf8::IsValid(head_);
    if (planned_) plan_ = PlanRecords(MakeScan());
    return {};
  }

  // Returns true if the text was as PlanAhead assumed.
  bool AsPlanned() const {
    return planned_ && out_.encoding.kind == EncodingKind::kUtf8 && out_.encoding.invalid == 0 &&
           complete_;
  }

  Scan MakeScan() {
    return {.source = source_,
            .options = options_,
            .stream = StreamOptions(),
            .head = head_,
            .head_ends = head_ends_,
            .complete = complete_,
            .out = &out_};
  }

  void SetCounts(const TextCensus& census) {
    Counts& counts = out_.counts;
    complete_ = census.complete;
    counts.bytes = complete_ ? census.bytes : source_.size().value_or(census.bytes);
    counts.chars = census.text.utf8.code_points;
    counts.utf16_units = census.text.utf8.utf16_units;
    counts.lines = census.text.lines.lines();
    counts.blank_lines = census.text.lines.blank_lines();
    counts.longest_line_bytes = census.text.lines.longest_line_bytes();
    counts.nul_bytes = census.text.lines.nul_bytes;
    counts.exactness = complete_ ? Exactness::kExact : Exactness::kBound;
    out_.line_ends = {census.text.lines.lf, census.text.lines.crlf, census.text.lines.lone_cr()};
    out_.read_error = census.read_error;
    TextEncoding& encoding = out_.encoding;
    encoding.ascii = census.text.utf8.wide_code_points == 0 && encoding.kind == EncodingKind::kUtf8;
    encoding.invalid = census.invalid;
    encoding.first_invalid_offset = census.first_invalid;
    DecideEightBit(census);
  }

  // Decides between text with a few damaged places and another 8-bit encoding.
  bool IsEightBit(const TextCensus& census) const {
    const bool undecided = out_.encoding.kind == EncodingKind::kUtf8 && !options_.encoding;
    const std::uint64_t well_formed = census.text.utf8.wide_code_points - census.text.utf8.invalid;
    return undecided && census.invalid > 0 && !out_.encoding.bom &&
           well_formed < 10 * census.invalid;
  }

  std::optional<EncodingKind> GuessEightBit(const TextCensus& census) const {
    return IsEightBit(census) ? GuessLegacy(stored_head_) : std::nullopt;
  }

  void DecideEightBit(const TextCensus& census) {
    TextEncoding& encoding = out_.encoding;
    const std::uint64_t text_bytes = census.bytes - std::min(start_, census.bytes);
    if (IsEightBit(census)) encoding.kind = EncodingKind::kUnknown8Bit;
    if (encoding.kind != EncodingKind::kUnknown8Bit && encoding.kind != EncodingKind::kBinary) {
      return;
    }
    encoding.invalid = 0;
    encoding.first_invalid_offset = 0;
    out_.counts.chars = text_bytes;
    out_.counts.utf16_units = text_bytes;
  }

  Status DescribeBytes() {
    TakeBinary();
    const std::string_view kind = BinaryKind(stored_head_);
    if (IsCompression(kind) && options_.inside_limit > 0) return DescribeInside(kind);
    if (IsCompression(kind) && named_compressed_) out_.named_format.reset();
    const BinaryFile file{source_, out_.counts.bytes, stored_head_, kind, options_, cancel_};
    return DescribeBinary(file, &out_);
  }

  void TakeBinary() {
    out_.format = Format::kBinary;
    out_.certain = true;
    out_.counts = {.bytes = out_.counts.bytes,
                   .nul_bytes = out_.counts.nul_bytes,
                   .exactness = out_.counts.exactness};
    out_.line_ends = {};
  }

  // A compressed file is described by its content, except for its name, size, hash and notes.
  Status DescribeInside(std::string_view kind) {
    const std::uint64_t limit =
        std::min(options_.inside_limit, options_.max_scan.value_or(UINT64_MAX - 1));
    auto inside = OpenInside(source_, out_.counts.bytes, kind, limit, cancel_);
    if (!inside && inside.error().code == ErrorCode::kCancelled) {
      return tl::unexpected(std::move(inside).error());
    }
    if (!inside || (inside->cut == Inside::Cut::kDamage && inside->bytes == 0)) {
      AddNote(&out_, inside ? "damaged" : "not-unpacked",
              inside ? inside->why_cut : inside.error().message);
      if (named_compressed_) out_.named_format.reset();
      const Options closed;
      return DescribeBinary({source_, out_.counts.bytes, stored_head_, kind, closed, cancel_},
                            &out_);
    }
    Options own = options_;
    own.inside_limit = 0;  // doubly compressed data is opened only once
    own.hash = false;
    // One byte is left out, so that the scan sees that more follows.
    const bool cut = inside->cut != Inside::Cut::kNone;
    if (cut) own.max_scan = std::max<std::uint64_t>(inside->bytes, 1) - 1;
    DOSSIER_ASSIGN_OR_RETURN(Description about, Describer(*inside->source, own, cancel_).Run());
    std::erase_if(about.notes, [&](const Note& note) { return cut && note.code == "max-scan"; });
    if (cut) {
      AddNote(&about, inside->cut == Inside::Cut::kLimit ? "inside-limit" : "damaged",
              inside->why_cut);
      about.counts.exactness = Exactness::kBound;
      about.members_exact = false;
    }
    about.compression =
        Compression{.kind = std::string(kind), .inside_bytes = inside->bytes, .complete = !cut};
    about.counts.bytes = out_.counts.bytes;
    about.sha256 = std::move(out_.sha256);
    out_ = std::move(about);
    return {};
  }

  Status DescribeContent() {
    if (!AsPlanned()) DOSSIER_RETURN_IF_ERROR(ReadHead());
    Scan scan = MakeScan();
    if (AsPlanned()) scan.plan = &plan_;
    const Status described = options_.format ? Force(&scan) : Detect(&scan);
    if (described || described.error().code == ErrorCode::kCancelled) return described;
    // The counting pass has reported it, or the disk failed only now.
    if (!out_.read_error) out_.read_error = described.error().message;
    if (out_.records) out_.records->exactness = Exactness::kBound;
    return {};
  }

  TextStreamOptions StreamOptions() const {
    TextStreamOptions stream{.kind = out_.encoding.kind,
                             .replace_invalid = out_.encoding.invalid > 0,
                             .start = start_,
                             .block_bytes = options_.block_bytes,
                             .cancel = cancel_};
    if (options_.max_scan) stream.limit = *options_.max_scan;
    return stream;
  }

  Status ReadHead() {
    TextStreamOptions options = StreamOptions();
    options.block_bytes = std::max(options.block_bytes, std::size_t{4096});
    TextStream stream(source_, options);
    head_.clear();
    while (head_.size() < kHeadBytes) {
      const auto block = stream.Next();
      if (!block && block.error().code == ErrorCode::kCancelled) {
        return tl::unexpected(block.error());
      }
      if (!block || block->empty()) {  // the counting pass noted a read error
        head_ends_ = block && complete_ ? TextEnds::kHere : TextEnds::kLater;
        return {};
      }
      head_ += *block;
    }
    head_.resize(utf8::FloorBoundary(head_, kHeadBytes));
    head_ends_ = TextEnds::kLater;
    return {};
  }

  Status Force(Scan* scan) {
    if (looks_binary_) {
      const std::string_view kind = BinaryKind(stored_head_);
      AddNote(&out_, "forced",
              fmt::format("bytes look like {}", kind.empty() ? "binary data" : kind));
    }
    DOSSIER_RETURN_IF_ERROR(DescribeForced(scan, *options_.format));
    out_.format = *options_.format;
    return {};
  }

  static Status DescribeForced(Scan* scan, Format format) {
    const auto done = [](const Result<bool>& taken) {
      return taken ? Status() : Status(tl::unexpected(taken.error()));
    };
    switch (FormOf(format)) {
      case RecordForm::kJson:
        return DescribeForcedJson(scan, format);
      case RecordForm::kTable:
        return done(DescribeTable(scan, TableDemand::kNamed));
      case RecordForm::kPipes:
        return DescribeMarkdown(scan);
      case RecordForm::kStanzas:
      case RecordForm::kLog:
      case RecordForm::kItems:
        return done(DescribeText(scan, format));
      case RecordForm::kNone:
        break;
    }
    return {};
  }

  // First what is certain from the content, then the name, then the first format it looks like.
  Status Detect(Scan* scan) {
    DOSSIER_ASSIGN_OR_RETURN(bool taken, DescribeJson(scan));
    if (taken && out_.format != Format::kUnknown) return {};
    if (const auto markup = LooksLikeMarkup(head_)) {
      out_.certain = true;
      return TakeItems(scan, *markup);
    }
    if (taken) {
      DOSSIER_ASSIGN_OR_RETURN(const bool other, DescribeAgainstName(scan));
      return other ? TakeAgainstName(out_.format) : Status();
    }
    if (IsLeftToContent(*scan)) return DescribeUnnamed(scan);
    return DescribeNamed(scan);
  }

  Status DescribeNamed(Scan* scan) {
    const Format named = *out_.named_format;
    if (named == Format::kCsv || named == Format::kTsv) return DescribeNamedTable(scan);
    // For prose, markup and source code the name decides: they may have rows of equal length too.
    out_.format = named;
    if (named == Format::kMarkdown) return DescribeMarkdown(scan);
    if (named == Format::kXml && !TrimSpace(head_).starts_with('<')) return DescribeUnnamed(scan);
    if (FormOf(named) == RecordForm::kItems) return TakeItems(scan, named);
    if (named == Format::kJsonSeq || named == Format::kJsonc) {
      out_.format = Format::kUnknown;
      AddNote(&out_, "named-but-not",
              fmt::format("named {}, but the text is not that", out_.extension));
    }
    return {};
  }

  // Any text is a table of one column, so a name is trusted unless the content is records of
  // another kind and not a good table.
  Status DescribeNamedTable(Scan* scan) {
    if (!LooksLikeTable(*scan)) {
      DOSSIER_ASSIGN_OR_RETURN(const bool other, DescribeAgainstName(scan));
      if (other) return {};
    }
    DOSSIER_ASSIGN_OR_RETURN(const bool taken, DescribeTable(scan, TableDemand::kNamed));
    if (!taken) out_.format = *out_.named_format;
    return {};
  }

  // Records that no name can override: stanzas, logs, tables with a type contrast.
  Result<bool> DescribeAgainstName(Scan* scan) {
    DOSSIER_ASSIGN_OR_RETURN(bool taken, DescribeText(scan, Format::kDeb822));
    if (taken) return true;
    DOSSIER_ASSIGN_OR_RETURN(taken, DescribeTable(scan, TableDemand::kCertain));
    if (taken) return true;
    return DescribeText(scan, Format::kLog);
  }

  // Handles a format in which some texts contain records.
  Status TakeItems(Scan* scan, Format format) {
    DOSSIER_RETURN_IF_ERROR(TakeAgainstName(format));
    const auto taken = DescribeText(scan, format);
    return taken ? Status() : Status(tl::unexpected(taken.error()));
  }

  // Undoes what was noted about the name before the content was known.
  Status TakeAgainstName(Format format) {
    std::erase_if(out_.notes, [](const Note& note) { return note.code == "named-but-not"; });
    return Take(format);
  }

  Status DescribeUnnamed(Scan* scan) {
    if (LooksLikeElements(head_)) return TakeItems(scan, Format::kXml);
    DOSSIER_ASSIGN_OR_RETURN(bool taken, DescribeItems(scan));
    if (taken) return {};
    if (LooksLikeMail(head_)) return TakeItems(scan, Format::kMail);
    if (LooksLikeDiff(head_)) return Take(Format::kDiff);
    DOSSIER_ASSIGN_OR_RETURN(taken, DescribePipeTables(scan, TableDemand::kSniffed));
    if (taken) return {};
    const std::string_view head = head_;
    const std::string language = LanguageOfShebang(head.substr(0, head.find('\n')));
    DOSSIER_ASSIGN_OR_RETURN(taken, DescribeText(scan, Format::kDeb822));
    if (taken) return {};
    if (language.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(taken, DescribeRows(scan));
      if (taken) return {};
    }
    if (!language.empty()) {
      out_.language = language;
      return Take(Format::kSource);
    }
    if (const auto settings = LooksLikeSettings(head_)) return TakeItems(scan, *settings);
    if (LooksLikeYaml(head_)) return Take(Format::kYaml);
    if (LooksLikeConfig(head_)) return TakeItems(scan, Format::kConfig);
    if (LooksLikeMarkdown(head_)) {
      out_.format = Format::kMarkdown;
      return DescribeMarkdown(scan);
    }
    return Take(Format::kPlainText);
  }

  // Handles tables and logs. A possible table comes after a log, whose lines may happen to have the
  // same number of commas.
  Result<bool> DescribeRows(Scan* scan) {
    DOSSIER_ASSIGN_OR_RETURN(bool taken, DescribeTable(scan, TableDemand::kCertain));
    if (taken) return true;
    DOSSIER_ASSIGN_OR_RETURN(taken, DescribeText(scan, Format::kLog));
    if (taken) return true;
    return DescribeTable(scan, TableDemand::kSniffed);
  }

  Status Take(Format format) {
    out_.format = format;
    return {};
  }

  void AddEncodingNotes() {
    const TextEncoding& encoding = out_.encoding;
    if (encoding.invalid > 0) {
      const bool wide = encoding.kind != EncodingKind::kUtf8 && !IsLegacy(encoding.kind);
      Note note{.code = wide ? "lone-surrogate" : "invalid-encoding",
                .offset = encoding.first_invalid_offset};
      note.text = fmt::format("{} invalid {} replaced by U+FFFD, the first at byte {}",
                              GroupDigits(encoding.invalid),
                              encoding.invalid == 1 ? "part was" : "parts were",
                              GroupDigits(encoding.first_invalid_offset));
      out_.notes.push_back(std::move(note));
    }
    if (encoding.kind == EncodingKind::kUnknown8Bit && !options_.encoding) {
      AddNote(&out_, "invalid-encoding",
              "not UTF-8; read as ISO-8859-1: --encoding NAME sets another");
    }
    if (encoding.guessed) {
      AddNote(&out_, "guessed-encoding",
              fmt::format("not UTF-8; read as {}, which is a guess: --encoding NAME sets another",
                          EncodingName(encoding.kind)));
    }
    if (out_.counts.nul_bytes > 0) {
      AddNote(&out_, "nul-bytes",
              fmt::format("{} NUL {} in the text", GroupDigits(out_.counts.nul_bytes),
                          out_.counts.nul_bytes == 1 ? "byte" : "bytes"));
    }
    if (out_.read_error) AddNote(&out_, "read-error", *out_.read_error);
    if (!complete_ && !out_.read_error) {
      AddNote(&out_, "max-scan",
              fmt::format("only the first {} were read", FormatSize(*options_.max_scan)));
    }
  }

  const ByteSource& source_;
  const Options& options_;
  const CancelToken cancel_;
  Description out_;
  std::string named_flavour_;
  std::string stored_head_;  // bytes
  bool looks_binary_ = false;
  bool named_compressed_ = false;
  std::uint64_t start_ = 0;
  bool complete_ = true;
  std::string head_;  // decoded
  TextEnds head_ends_ = TextEnds::kHere;
  bool planned_ = false;
  RecordPlan plan_;
};

Status CheckOptions(const Options& options) {
  if (options.depth < 0 || options.depth > 8) {
    return MakeError(ErrorCode::kInvalidArgument, "depth {}: must be 0 to 8", options.depth);
  }
  if (options.encoding && IsLegacy(*options.encoding) &&
      !LegacyTableOf(*options.encoding).usable()) {
    return MakeError(ErrorCode::kInvalidArgument, "encoding {}: this system cannot convert it",
                     EncodingName(*options.encoding));
  }
  if (options.delimiter &&
      (*options.delimiter == '"' || *options.delimiter == '\n' || *options.delimiter == '\r')) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "delimiter: must be neither a quote nor a line end");
  }
  return {};
}

}  // namespace

Result<Description> Describe(const ByteSource& source, const Options& options,
                             const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(CheckOptions(options));
  return Describer(source, options, cancel).Run();
}

Description DescribeText(std::string_view utf8, std::string_view name, const Options& options) {
  Options decoded = options;
  decoded.encoding = EncodingKind::kUtf8;
  decoded.inside_limit = 0;
  decoded.depth = std::clamp(options.depth, 0, 8);
  if (!CheckOptions(decoded)) decoded.delimiter.reset();
  const auto source = MemorySource(utf8, std::string(name));
  auto described = Describer(*source, decoded, CancelToken()).Run();
  if (described) return std::move(*described);
  Description empty;  // reading memory cannot fail, and nothing else can go wrong
  empty.name = name;
  return empty;
}

Status RefuseBinary(const Description& description, std::string_view shown) {
  if (description.encoding.kind != EncodingKind::kBinary) return {};
  const std::string_view way = WayToText(description.flavour);
  if (description.kind.empty() || way.empty()) {
    return MakeError(ErrorCode::kDamaged,
                     "{}: a binary file{}, not text; `dossier inspect {}` says what it is", shown,
                     description.kind.empty() ? "" : fmt::format(" ({})", description.kind), shown);
  }
  return MakeError(ErrorCode::kDamaged, "{}: a binary file ({}), not text; {}", shown,
                   description.kind, way);
}

}  // namespace dossier::inspect
