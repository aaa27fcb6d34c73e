// A file's description: plain data that Describe fills and that hint, --json and contextMeta show.
//
//   Description description = DescribeText("{\"a\":1}\n{\"a\":2}\n", "feed.ndjson", {});
//   description.format == Format::kNdjson && description.records->records == 2;
//
// Counts, fields and samples refer to the decoded text; byte offsets in notes to the stored bytes.
// Thread-safety: values.

#ifndef DOSSIER_INSPECT_DESCRIPTION_DESCRIPTION_H_
#define DOSSIER_INSPECT_DESCRIPTION_DESCRIPTION_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dossier::inspect {

enum class Format : std::uint8_t {
  kPlainText,
  kNdjson,
  kJson,  // one object, string, number or literal
  kJsonArray,
  kJsonSeq,
  kJsonConcat,
  kJsonc,
  kCsv,
  kTsv,
  kDeb822,
  kLog,
  kCalendar,
  kVcard,
  kBibtex,
  kRis,
  kSubtitles,
  kLedger,
  kGitLog,
  kFixedWidth,
  kMarkdown,
  kXml,
  kHtml,
  kYaml,
  kToml,
  kIni,
  kConfig,  // settings, one per line, in no better known form
  kDiff,
  kMail,
  kSource,
  kBinary,
  kUnknown,  // the name promises a format that the content lacks
};

// Returns the name in --format, --json and contextMeta: "ndjson".
std::string_view FormatName(Format format);
// Returns the name for people, "Markdown"; labels add further details.
std::string_view FormatTitle(Format format);
std::optional<Format> FormatFromName(std::string_view name);
// Returns all names in enum order.
std::vector<std::string_view> FormatNames();
// Returns true if a text of this format yields records (NDJSON, JSON array, CSV, deb822, log …).
bool HasRecords(Format format);

// The form of a text's records; it decides which code splits and reads them.
enum class RecordForm : std::uint8_t { kNone, kJson, kTable, kPipes, kStanzas, kLog, kItems };
RecordForm FormOf(Format format);

enum class Exactness : std::uint8_t { kExact, kBound };  // kBound is shown as "≥ N"

struct Counts {
  std::uint64_t bytes = 0;  // as stored, including the BOM
  std::uint64_t chars = 0;  // code points of the decoded text, without the BOM
  std::uint64_t utf16_units = 0;
  std::uint64_t lines = 0;
  std::uint64_t blank_lines = 0;         // only spaces and tabs
  std::uint64_t longest_line_bytes = 0;  // decoded as UTF-8, without the line end
  std::uint64_t nul_bytes = 0;
  Exactness exactness =
      Exactness::kExact;  // a bound after --max-scan; `bytes` stays exact if known
  bool operator==(const Counts&) const = default;
};

struct LineEnds {
  std::uint64_t lf = 0, crlf = 0, cr = 0;
  bool operator==(const LineEnds&) const = default;
};

enum class EncodingKind : std::uint8_t {
  kUtf8,
  kUtf16Le,
  kUtf16Be,
  kUtf32Le,
  kUtf32Be,
  kWindows1252,  // from here to kUnknown8Bit: legacy_encoding.h
  kWindows1250,
  kWindows1251,
  kIso8859Part2,
  kKoi8R,
  kShiftJis,
  kEucJp,
  kGbk,
  kBig5,
  kEucKr,
  kUnknown8Bit,  // decoded as ISO-8859-1
  kBinary,
};
// Returns "utf-8", "utf-16le", … "unknown-8bit", "binary".
std::string_view EncodingName(EncodingKind kind);
// Returns all names in enum order.
std::vector<std::string_view> EncodingNames();
// Also accepts common other names: sjis, cp1252, latin1.
std::optional<EncodingKind> EncodingFromName(std::string_view name);

struct TextEncoding {
  EncodingKind kind = EncodingKind::kUtf8;
  bool bom = false;
  bool guessed = false;                    // the bytes also fit other encodings
  bool ascii = true;                       // no byte >= 0x80 in UTF-8
  std::uint64_t invalid = 0;               // parts replaced by U+FFFD
  std::uint64_t first_invalid_offset = 0;  // stored bytes; only if invalid > 0
  bool operator==(const TextEncoding&) const = default;
};

enum class FieldType : std::uint8_t {
  kString,
  kInteger,
  kNumber,
  kBoolean,
  kDate,
  kDatetime,
  kNull,
  kArray,
  kObject,
  kEmpty,  // an empty CSV cell
};
std::string_view TypeName(FieldType type);  // "string", "integer", …

class TypeSet {
 public:
  TypeSet() = default;
  TypeSet(std::initializer_list<FieldType> types) {
    for (FieldType type : types) Add(type);
  }
  void Add(FieldType type) { bits_ = static_cast<std::uint16_t>(bits_ | Bit(type)); }
  bool Has(FieldType type) const { return (bits_ & Bit(type)) != 0; }
  bool empty() const { return bits_ == 0; }
  // Returns the types in enum order.
  std::vector<FieldType> List() const;
  bool operator==(const TypeSet&) const = default;

 private:
  static std::uint16_t Bit(FieldType type) {
    return static_cast<std::uint16_t>(1u << static_cast<unsigned>(type));
  }
  std::uint16_t bits_ = 0;
};

enum class DecimalMark : std::uint8_t { kUnknown, kDot, kComma };

// The number format of a table column, if not as in JSON.
struct NumberStyle {
  DecimalMark mark = DecimalMark::kDot;  // for decimals; the other one, if any, separates thousands
  std::string written;                   // an example; empty: all that were seen are as in JSON
  bool undecided = false;  // 1.234 may be 1234 or 1.234, and nothing decides: cells are texts
};

struct Field {
  std::vector<std::string> path;  // {"authorProfile", "displayName"}
  std::string shown;              // authorProfile.displayName; embed.external{…}; "a.b"
  TypeSet types;
  std::uint32_t present = 0;  // in `sampled` records
  std::uint32_t sampled = 0;
  std::string example;  // first non-empty value, at most 40 chars, cleaned and redacted
  // For small models: the distinct values of the sampled records if at most 12, in first-seen
  // order, each cleaned and at most 40 chars; else empty.
  std::vector<std::string> values;
  std::optional<double> min, max;  // of numbers
  std::optional<NumberStyle> style;
  std::string unit;                // of a column: the line between its name and its cells
  std::uint64_t median_chars = 0;  // of string values; used to find the main text field
};

// The field of a row made from a JSON value without names: 5 becomes the row {"value": 5}.
inline constexpr std::string_view kRowValue = "value";
// The field that holds a row's name as a member of an object; gets more underscores if the row has
// such a field itself.
inline constexpr std::string_view kRowKey = "_key";

struct RecordSummary {
  std::uint64_t records = 0, malformed = 0, non_object = 0, ragged = 0;
  std::uint64_t non_finite = 0;        // JSON numbers that are NaN, Infinity or -Infinity
  std::uint64_t comments = 0;          // CSV lines that are not rows
  std::uint64_t comments_between = 0;  // those of them found between the rows
  std::uint64_t footers = 0;           // rows after a table's records: totals, empty ones, notes
  std::uint64_t tables = 0;            // of a document: those whose rows are the records
  bool first_alone = false;            // the first shares no field with others: perhaps a header
  bool sums_last = false;              // the last record has sums of the others: perhaps a total
  Exactness exactness = Exactness::kExact;
  bool operator==(const RecordSummary&) const = default;
};

struct TableShape {
  char delimiter = ',';
  bool header = true;
  std::uint32_t columns = 0;
  std::vector<std::string> raw_names;  // as in the header row
  // Cells of a second header line: units, or the second half of names.
  std::vector<std::string> below;
  bool below_is_name = false;
  std::string comment;                 // prefix of lines that are not rows; empty: none
  bool header_commented = false;       // the header row has that prefix too: #CHROM
  std::uint64_t marked_row_cells = 0;  // prefixed lines with this many cells are rows; 0: none
  std::uint64_t start_offset = 0;      // decoded bytes before the first row: comments, sep=
  std::uint64_t end_offset = 0;        // decoded bytes before the footer; 0: none
};

// A further property of a binary file, for --json: {"width", 640}.
struct Detail {
  std::string name;
  std::variant<std::uint64_t, std::string, std::vector<std::uint64_t>, bool> value;
};

// The compression of a file; everything else except `bytes`, notes and hash describes its content.
struct Compression {
  std::string kind;                // "gzip", "zstd", "bzip2", "xz", "lz4"
  std::uint64_t inside_bytes = 0;  // number of bytes examined
  bool complete = true;            // false: stopped by a limit or damage
};

// A file inside an archive. The container readers fill it.
struct ArchiveMember {
  std::string path;
  std::uint64_t bytes = 0, compressed_bytes = 0;
  Format format = Format::kUnknown;
};

// Another list of records in a JSON object, besides the one in use.
struct ListBeside {
  std::vector<std::string> path;  // the names on the way to it
  std::uint64_t records = 0;
};

// Codes: empty, invalid-encoding, guessed-encoding, lone-surrogate, nul-bytes, unstable, max-scan,
// malformed, comments, footer, two-line-header, header-of-values, named-but-not, broken, too-deep,
// duplicate-keys, ragged, too-wide, stray-quote, open-quote, duplicate-names, forced, read-error,
// damaged, inside-limit, not-unpacked, hostile-names, encrypted, overlapping, write-ahead-log,
// unpacked (for a context), source (from whoever provided the text).
struct Note {
  std::string code;
  std::optional<std::uint64_t> offset;  // stored bytes
  std::optional<std::uint64_t> line;    // from 1
  std::string text;
};

// The part of a larger text that a text is.
struct TextExcerpt {
  std::string of;                      // the name of the whole
  std::uint64_t index = 0, count = 0;  // from 1; 0: unknown
  std::uint64_t start = 0, end = 0;    // chars of the whole, end exclusive
  std::uint64_t total = 0;             // chars of the whole
  enum class Cut : std::uint8_t { kAnywhere, kAtRecords } cut = Cut::kAnywhere;
  // Of the whole: the value of its Format line, and its fields.
  std::string format;
  std::vector<Field> fields;
  std::uint64_t fields_total = 0;
};

struct Description {
  std::string name;  // base name; empty: unnamed content
  std::string path;  // as given
  Format format = Format::kPlainText;
  std::optional<Format> named_format;  // according to the extension
  bool certain = false;                // the content proves the format, whatever the name
  std::string extension;               // ".json", in lower case
  std::string flavour;                 // geojson, notebook, string, number, boolean, null; of
                                       // stanzas how they are parted: loose, ruled, titled; of
                                       // XML the name of the elements that are its records
  std::string language;                // of source code: "C++"
  std::string log_shape;               // of Format::kLog: the id from DetectLog
  TextEncoding encoding;
  Counts counts;
  LineEnds line_ends;
  std::optional<RecordSummary> records;
  bool records_beside = false;  // they are the smaller part of the text, such as tables in prose
  std::vector<std::string> records_in;  // of a JSON object: names, as in the text, that lead to the
                                        // array whose elements are its records
  std::vector<ListBeside> other_lists;  // of a JSON object: lists that could be records as well
  std::string records_key;              // of a JSON object whose members, or those of the object in
                                        // records_in, are its records: the field with their names
  std::string element_type;             // of an array of scalars: "number", "mixed"
  std::vector<Field> fields;            // at most Options::fields
  std::uint64_t fields_total = 0;
  std::string sample;                   // ready to show, without the "… (of N chars)" suffix
  std::uint64_t sample_full_chars = 0;  // of the sample before it was cut
  bool sample_cut = false;
  std::string main_text_field;  // `shown` of the field; empty: none
  std::optional<TableShape> table;
  std::string kind;         // of a binary file, for people: "PNG image"
  std::string kind_detail;  // details worth showing: "640 × 480"
  std::vector<Detail> details;
  std::optional<Compression> compression;
  std::vector<ArchiveMember> members;  // at most Options::members
  std::uint64_t members_total = 0;
  std::uint64_t members_bytes = 0;  // unpacked, of all members
  bool members_exact = true;        // false: the list could not be read completely
  std::vector<Note> notes;
  std::optional<TextExcerpt> part;
  bool stable = true;  // false: the file changed during the read
  std::string sha256;  // hex; empty unless requested
  // A read error in the middle: counts are lower bounds.
  std::optional<std::string> read_error;
};

// True if code gets records of this text: by its format, or because it is a JSON object with a list
// of records (GeoJSON, an API reply). False for a text that is more than its records.
bool HasRecords(const Description& description);
// Returns true if the field names and their order are equal, whatever their types.
bool HaveSameFields(const Description& one, const Description& other);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_DESCRIPTION_H_
