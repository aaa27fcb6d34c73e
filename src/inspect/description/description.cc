#include "inspect/description/description.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace dossier::inspect {
namespace {

struct FormatRow {
  Format format;
  std::string_view name;
  std::string_view title;
  RecordForm form;
  bool records;
};

constexpr FormatRow kFormats[] = {
    {Format::kPlainText, "plain-text", "Plain text", RecordForm::kNone, false},
    {Format::kNdjson, "ndjson", "NDJSON (newline-delimited JSON)", RecordForm::kJson, true},
    {Format::kJson, "json", "JSON object", RecordForm::kJson, false},
    {Format::kJsonArray, "json-array", "JSON array", RecordForm::kJson, true},
    {Format::kJsonSeq, "json-seq", "JSON text sequence", RecordForm::kJson, true},
    {Format::kJsonConcat, "json-concat", "Concatenated JSON", RecordForm::kJson, true},
    {Format::kJsonc, "jsonc", "JSON with comments", RecordForm::kJson, false},
    {Format::kCsv, "csv", "CSV", RecordForm::kTable, true},
    {Format::kTsv, "tsv", "TSV", RecordForm::kTable, true},
    {Format::kDeb822, "deb822", "Field: value records", RecordForm::kStanzas, true},
    {Format::kLog, "log", "Log", RecordForm::kLog, true},
    {Format::kCalendar, "icalendar", "Calendar (iCalendar)", RecordForm::kItems, true},
    {Format::kVcard, "vcard", "Address cards (vCard)", RecordForm::kItems, true},
    {Format::kBibtex, "bibtex", "References (BibTeX)", RecordForm::kItems, true},
    {Format::kRis, "ris", "References (RIS)", RecordForm::kItems, true},
    {Format::kSubtitles, "subtitles", "Subtitles", RecordForm::kItems, true},
    {Format::kLedger, "ledger", "Journal of postings (ledger)", RecordForm::kItems, true},
    {Format::kGitLog, "git-log", "Commits (git log)", RecordForm::kItems, true},
    {Format::kFixedWidth, "fixed-width", "Table of fixed width", RecordForm::kItems, true},
    {Format::kMarkdown, "markdown", "Markdown", RecordForm::kPipes, false},
    {Format::kXml, "xml", "XML", RecordForm::kItems, false},
    {Format::kHtml, "html", "HTML", RecordForm::kItems, false},
    {Format::kYaml, "yaml", "YAML", RecordForm::kNone, false},
    {Format::kToml, "toml", "TOML", RecordForm::kItems, false},
    {Format::kIni, "ini", "INI", RecordForm::kItems, false},
    {Format::kConfig, "config", "Configuration", RecordForm::kItems, false},
    {Format::kDiff, "diff", "Diff", RecordForm::kNone, false},
    {Format::kMail, "mail", "Mail", RecordForm::kItems, false},
    {Format::kSource, "source", "Source code", RecordForm::kNone, false},
    {Format::kBinary, "binary", "Binary", RecordForm::kNone, false},
    {Format::kUnknown, "unknown", "Unknown text", RecordForm::kNone, false},
};

// Rows are accessed by position.
constexpr bool InOrder() {
  for (std::size_t i = 0; i < std::size(kFormats); ++i) {
    if (kFormats[i].format != static_cast<Format>(i)) return false;
  }
  return std::size(kFormats) == static_cast<std::size_t>(Format::kUnknown) + 1;
}
static_assert(InOrder(), "each Format has its row, in the order of the enumeration");
static_assert(std::ranges::none_of(kFormats,
                                   [](const FormatRow& row) { return row.title.empty(); }),
              "each Format has a title");

struct EncodingRow {
  EncodingKind kind;
  std::string_view name;
};

constexpr EncodingRow kEncodings[] = {
    {EncodingKind::kUtf8, "utf-8"},
    {EncodingKind::kUtf16Le, "utf-16le"},
    {EncodingKind::kUtf16Be, "utf-16be"},
    {EncodingKind::kUtf32Le, "utf-32le"},
    {EncodingKind::kUtf32Be, "utf-32be"},
    {EncodingKind::kWindows1252, "windows-1252"},
    {EncodingKind::kWindows1250, "windows-1250"},
    {EncodingKind::kWindows1251, "windows-1251"},
    {EncodingKind::kIso8859Part2, "iso-8859-2"},
    {EncodingKind::kKoi8R, "koi8-r"},
    {EncodingKind::kShiftJis, "shift_jis"},
    {EncodingKind::kEucJp, "euc-jp"},
    {EncodingKind::kGbk, "gbk"},
    {EncodingKind::kBig5, "big5"},
    {EncodingKind::kEucKr, "euc-kr"},
    {EncodingKind::kUnknown8Bit, "unknown-8bit"},
    {EncodingKind::kBinary, "binary"},
};

constexpr EncodingRow kOtherNames[] = {
    {EncodingKind::kUtf8, "utf8"},          {EncodingKind::kWindows1252, "cp1252"},
    {EncodingKind::kWindows1250, "cp1250"}, {EncodingKind::kWindows1251, "cp1251"},
    {EncodingKind::kShiftJis, "shift-jis"}, {EncodingKind::kShiftJis, "sjis"},
    {EncodingKind::kShiftJis, "cp932"},     {EncodingKind::kEucJp, "eucjp"},
    {EncodingKind::kGbk, "gb2312"},         {EncodingKind::kGbk, "cp936"},
    {EncodingKind::kEucKr, "cp949"},        {EncodingKind::kUnknown8Bit, "iso-8859-1"},
    {EncodingKind::kUnknown8Bit, "latin1"},
};

constexpr std::string_view kTypeNames[] = {"string",   "integer", "number", "boolean", "date",
                                           "datetime", "null",    "array",  "object",  "empty"};

}  // namespace

std::string_view FormatName(Format format) {
  return kFormats[static_cast<std::size_t>(format)].name;
}

std::string_view FormatTitle(Format format) {
  return kFormats[static_cast<std::size_t>(format)].title;
}

std::optional<Format> FormatFromName(std::string_view name) {
  for (const FormatRow& row : kFormats) {
    if (row.name == name) return row.format;
  }
  return std::nullopt;
}

std::vector<std::string_view> FormatNames() {
  std::vector<std::string_view> names;
  for (const FormatRow& row : kFormats) names.push_back(row.name);
  return names;
}

bool HasRecords(const Description& description) {
  if (HasRecords(description.format)) return true;
  if (description.records_beside) return false;
  return description.records && description.records->records > 0;
}

bool HasRecords(Format format) { return kFormats[static_cast<std::size_t>(format)].records; }

RecordForm FormOf(Format format) { return kFormats[static_cast<std::size_t>(format)].form; }

std::string_view EncodingName(EncodingKind kind) {
  return kEncodings[static_cast<std::size_t>(kind)].name;
}

std::optional<EncodingKind> EncodingFromName(std::string_view name) {
  for (const std::span<const EncodingRow> rows :
       {std::span<const EncodingRow>(kEncodings), std::span<const EncodingRow>(kOtherNames)}) {
    for (const EncodingRow& row : rows) {
      if (row.name == name) return row.kind;
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> EncodingNames() {
  std::vector<std::string_view> names;
  for (const EncodingRow& row : kEncodings) names.push_back(row.name);
  return names;
}

std::string_view TypeName(FieldType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

std::vector<FieldType> TypeSet::List() const {
  std::vector<FieldType> types;
  for (std::size_t i = 0; i < std::size(kTypeNames); ++i) {
    if (Has(static_cast<FieldType>(i))) types.push_back(static_cast<FieldType>(i));
  }
  return types;
}

bool HaveSameFields(const Description& one, const Description& other) {
  return one.fields_total == other.fields_total &&
         std::equal(one.fields.begin(), one.fields.end(), other.fields.begin(), other.fields.end(),
                    [](const Field& a, const Field& b) { return a.shown == b.shown; });
}

}  // namespace dossier::inspect
