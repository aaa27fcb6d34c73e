// What a file is: the plain data that Describe fills and that hint, --json and contextMeta show.
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
  kConfig,  // settings, one a line, in no wider known form
  kDiff,
  kMail,
  kSource,
  kBinary,
  kUnknown,  // the name promises a format that the content does not have
};

// "ndjson": the name in --format, --json and contextMeta.
std::string_view FormatName(Format format);
// "Markdown": what people read; labels add what is known besides.
std::string_view FormatTitle(Format format);
std::optional<Format> FormatFromName(std::string_view name);
// All names, in the order of the enum.
std::vector<std::string_view> FormatNames();
// Whether a text of this format yields records (NDJSON, JSON array, CSV, deb822, log …).
bool HasRecords(Format format);

// How the records of a text are written, which decides who splits and reads them.
enum class RecordForm : std::uint8_t { kNone, kJson, kTable, kPipes, kStanzas, kLog, kItems };
RecordForm FormOf(Format format);

enum class Exactness : std::uint8_t { kExact, kBound };  // kBound is shown as "≥ N"

struct Counts {
  std::uint64_t bytes = 0;  // as stored, BOM included
  std::uint64_t chars = 0;  // code points of the decoded text, BOM excluded
  std::uint64_t utf16_units = 0;
  std::uint64_t lines = 0;
  std::uint64_t blank_lines = 0;         // nothing but spaces and tabs
  std::uint64_t longest_line_bytes = 0;  // decoded as UTF-8, without its end
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
// "utf-8", "utf-16le", … "unknown-8bit", "binary".
std::string_view EncodingName(EncodingKind kind);
// All names, in the order of the enum.
std::vector<std::string_view> EncodingNames();
// Common other names are known too: sjis, cp1252, latin1.
std::optional<EncodingKind> EncodingFromName(std::string_view name);

struct TextEncoding {
  EncodingKind kind = EncodingKind::kUtf8;
  bool bom = false;
  bool guessed = false;                    // the bytes fit it, and would fit others
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
  kEmpty,  // a CSV cell without content
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
  // In the order of the enum.
  std::vector<FieldType> List() const;
  bool operator==(const TypeSet&) const = default;

 private:
  static std::uint16_t Bit(FieldType type) {
    return static_cast<std::uint16_t>(1u << static_cast<unsigned>(type));
  }
  std::uint16_t bits_ = 0;
};

enum class DecimalMark : std::uint8_t { kUnknown, kDot, kComma };

// How a column of a table writes its numbers, where that is not as in JSON.
struct NumberStyle {
  DecimalMark mark = DecimalMark::kDot;  // of decimals; the other one, if any, parts thousands
  std::string written;     // one of them as it stands; empty: those that were seen are as in JSON
  bool undecided = false;  // 1.234 may be 1234 or 1.234, and nothing tells: the cells are texts
};

struct Field {
  std::vector<std::string> path;  // {"authorProfile", "displayName"}
  std::string shown;              // authorProfile.displayName; embed.external{…}; "a.b"
  TypeSet types;
  std::uint32_t present = 0;  // of `sampled` records
  std::uint32_t sampled = 0;
  std::string example;  // first non-empty value, at most 40 chars, cleaned and redacted
  // For small models: every distinct value of the sampled records if there are at most 12 of them,
  // in first-seen order, each cleaned and at most 40 chars; empty if there are more.
  std::vector<std::string> values;
  std::optional<double> min, max;  // of numbers
  std::optional<NumberStyle> style;
  std::string unit;  // of a column: what stands in the line between its name and its cells
  std::uint64_t median_chars = 0;  // of string values; by it the main text field is found
};

// The field of a row that is made of a JSON value without names: 5 is the row {"value": 5}.
inline constexpr std::string_view kRowValue = "value";
// The field with the name that a row has as a member of an object; more underscores if its row has
// such a field itself.
inline constexpr std::string_view kRowKey = "_key";

struct RecordSummary {
  std::uint64_t records = 0, malformed = 0, non_object = 0, ragged = 0;
  std::uint64_t non_finite = 0;        // numbers in JSON that are NaN, Infinity or -Infinity
  std::uint64_t comments = 0;          // lines of CSV that are none
  std::uint64_t comments_between = 0;  // of these, those that were found between the rows
  std::uint64_t footers = 0;           // rows behind those of a table: totals, empty ones, notes
  std::uint64_t tables = 0;            // of a document: those whose rows are the records
  bool first_alone = false;            // the first shares no field with the others: a header, maybe
  bool sums_last = false;              // the last record holds sums of the others: a total, maybe
  Exactness exactness = Exactness::kExact;
  bool operator==(const RecordSummary&) const = default;
};

struct TableShape {
  char delimiter = ',';
  bool header = true;
  std::uint32_t columns = 0;
  std::vector<std::string> raw_names;  // as in the header row
  // Cells of a second header line: units, or the second half of the names.
  std::vector<std::string> below;
  bool below_is_name = false;
  std::string comment;            // what lines that are no rows begin with; empty: there are none
  bool header_commented = false;  // the header row begins with it too: #CHROM
  std::uint64_t marked_row_cells = 0;  // such lines of so many cells are rows; 0: none is
  std::uint64_t start_offset = 0;      // decoded bytes in front of the first row: comments, sep=
  std::uint64_t end_offset = 0;        // decoded bytes in front of the footer; 0: there is none
};

// What a binary file says of itself besides, for --json: {"width", 640}.
struct Detail {
  std::string name;
  std::variant<std::uint64_t, std::string, std::vector<std::uint64_t>, bool> value;
};

// Of a compressed file, of which everything but `bytes`, notes and hash is that of its inside.
struct Compression {
  std::string kind;                // "gzip", "zstd", "bzip2", "xz", "lz4"
  std::uint64_t inside_bytes = 0;  // that were looked at
  bool complete = true;            // false: a limit or damage stopped it
};

// A file inside an archive. Filled by the container readers.
struct ArchiveMember {
  std::string path;
  std::uint64_t bytes = 0, compressed_bytes = 0;
  Format format = Format::kUnknown;
};

// A list of records of a JSON object whose elements are not its records.
struct ListBeside {
  std::vector<std::string> path;  // names that lead to it
  std::uint64_t records = 0;
};

// Codes: empty, invalid-encoding, guessed-encoding, lone-surrogate, nul-bytes, unstable, max-scan,
// malformed, comments, footer, two-line-header, header-of-values, named-but-not, broken, too-deep,
// duplicate-keys, ragged, too-wide, stray-quote, open-quote, duplicate-names, forced, read-error,
// damaged, inside-limit, not-unpacked, hostile-names, encrypted, overlapping, write-ahead-log,
// unpacked (of a context), source (of whoever brought the text).
struct Note {
  std::string code;
  std::optional<std::uint64_t> offset;  // stored bytes
  std::optional<std::uint64_t> line;    // from 1
  std::string text;
};

// Which part of a larger text a text is.
struct Part {
  std::string of;                      // the name of the whole
  std::uint64_t index = 0, count = 0;  // from 1; 0: the parts are not known
  std::uint64_t start = 0, end = 0;    // chars of the whole, end exclusive
  std::uint64_t total = 0;             // chars of the whole
  enum class Cut : std::uint8_t { kAnywhere, kAtRecords } cut = Cut::kAnywhere;
  // Of the whole: the value of its Format line, its fields.
  std::string format;
  std::vector<Field> fields;
  std::uint64_t fields_total = 0;
};

struct Description {
  std::string name;  // base name; empty: unnamed content
  std::string path;  // as given
  Format format = Format::kPlainText;
  std::optional<Format> named_format;  // what the extension says
  bool certain = false;                // the content proves the format, whatever the name
  std::string extension;               // ".json", in lower case
  std::string flavour;                 // geojson, notebook, string, number, boolean, null; of
                                       // stanzas how they are parted: loose, ruled, titled; of
                                       // XML the name of the elements that are its records
  std::string language;                // of source code: "C++"
  std::string log_shape;               // of Format::kLog: the id that DetectLog gave
  TextEncoding encoding;
  Counts counts;
  LineEnds line_ends;
  std::optional<RecordSummary> records;
  bool records_beside = false;  // they are the smaller part of a text, such as tables in prose
  std::vector<std::string> records_in;  // of a JSON object: names, as in the text, that lead to the
                                        // array whose elements are its records
  std::vector<ListBeside> other_lists;  // of a JSON object: lists that could be records as well
  std::string records_key;              // of a JSON object whose members, or those of the object in
                                        // records_in, are its records: the field with their names
  std::string element_type;             // of an array of scalars: "number", "mixed"
  std::vector<Field> fields;            // at most Options::fields
  std::uint64_t fields_total = 0;
  std::string sample;                   // ready to show, without the "… (of N chars)" tail
  std::uint64_t sample_full_chars = 0;  // of the sample before it was cut
  bool sample_cut = false;
  std::string main_text_field;  // `shown` of the field; empty: none
  std::optional<TableShape> table;
  std::string kind;         // of a binary file, as people call it: "PNG image"
  std::string kind_detail;  // what is worth saying beside it: "640 × 480"
  std::vector<Detail> details;
  std::optional<Compression> compression;
  std::vector<ArchiveMember> members;  // at most Options::members
  std::uint64_t members_total = 0;
  std::uint64_t members_bytes = 0;  // unpacked, of all
  bool members_exact = true;        // false: the list could not be read to its end
  std::vector<Note> notes;
  std::optional<Part> part;
  bool stable = true;  // false: the file changed while it was read
  std::string sha256;  // hex; empty unless asked for
  // A read error in the middle: counts are bounds up to here.
  std::optional<std::string> read_error;
};

// Whether code gets records of this text: by its format, or because it is one JSON object that
// holds a list of them (GeoJSON, the reply of an API). Not of a text that is more than its records.
bool HasRecords(const Description& description);
// The same names in the same order, whatever their types.
bool HaveSameFields(const Description& one, const Description& other);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_DESCRIPTION_H_
