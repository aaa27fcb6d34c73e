#include "inspect/description/labels.h"

#include <algorithm>
#include <cmath>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/description/clean.h"
#include "inspect/description/hint.h"

namespace dossier::inspect {
namespace {

std::string TableLabel(const Description& description) {
  const char delimiter = description.table ? description.table->delimiter : ',';
  const std::string separated = delimiter == ','    ? "comma-separated"
                                : delimiter == ';'  ? "semicolon-separated"
                                : delimiter == '\t' ? "tab-separated"
                                : delimiter == '|'  ? "pipe-separated"
                                : delimiter == ' '  ? "space-separated"
                                                    : fmt::format("separated by {}", delimiter);
  const bool header = description.table && description.table->header;
  return fmt::format("{} ({}, {})", FormatTitle(description.format), separated,
                     !header                            ? "no header"
                     : description.table->below.empty() ? "header row"
                                                        : "header of two lines");
}

std::string JsonLabel(const Description& description) {
  if (description.flavour == "geojson") return "JSON object (GeoJSON)";
  if (description.flavour == "notebook") return "JSON object (notebook)";
  if (!description.flavour.empty()) return "JSON " + description.flavour;
  return "JSON object";
}

std::string StanzaLabel(const Description& description) {
  const std::string_view parted = description.flavour == "ruled"    ? "parted by rules"
                                  : description.flavour == "titled" ? "each below its title"
                                  : description.flavour == "loose"  ? "parted by blank lines"
                                                                    : "deb822";
  return fmt::format("{} ({})", FormatTitle(description.format), parted);
}

std::string_view XmlRecord(const Description& description) {
  const std::string_view shape = description.flavour;
  return shape.substr(0, shape.find('+'));
}

std::string WithDetail(Format format, std::string_view detail) {
  const std::string_view title = FormatTitle(format);
  return detail.empty() ? std::string(title) : fmt::format("{} ({})", title, detail);
}

std::string BaseLabel(const Description& description) {
  switch (description.format) {
    case Format::kCsv:
    case Format::kTsv:
      return TableLabel(description);
    case Format::kDeb822:
      return StanzaLabel(description);
    case Format::kJson:
      return JsonLabel(description);
    case Format::kXml:
      return WithDetail(
          description.format,
          description.flavour.empty() ? "" : fmt::format("records: {}", XmlRecord(description)));
    case Format::kSource:
      return WithDetail(description.format, description.language);
    case Format::kBinary:
      if (description.kind.empty()) return WithDetail(description.format, description.flavour);
      if (description.kind_detail.empty()) return description.kind;
      return fmt::format("{} ({})", description.kind, CleanText(description.kind_detail));
    default:
      return std::string(FormatTitle(description.format));
  }
}

// True for the extension of a picture, an archive or a document, which are never text.
bool IsBinaryName(std::string_view extension) {
  constexpr std::string_view kNames[] = {
      ".png",    ".jpg",  ".jpeg", ".gif",  ".webp", ".bmp", ".tif", ".tiff", ".pdf",
      ".zip",    ".gz",   ".tgz",  ".zst",  ".bz2",  ".xz",  ".lz4", ".7z",   ".parquet",
      ".sqlite", ".docx", ".xlsx", ".pptx", ".mp3",  ".mp4", ".wav"};
  return std::ranges::find(kNames, extension) != std::end(kNames);
}

// Returns true if the name suggests another format. `.json` covers objects and arrays.
bool NamedOtherwise(const Description& description) {
  if (description.format != Format::kBinary && IsBinaryName(description.extension)) return true;
  if (!description.named_format) return false;
  const Format named = *description.named_format, format = description.format;
  if (named == Format::kJson && format == Format::kJsonArray) return false;
  return named != format;
}

std::string EncodingLabel(EncodingKind kind) {
  if (kind == EncodingKind::kUnknown8Bit) return ", unknown 8-bit encoding";
  std::string name(EncodingName(kind));
  for (char& c : name) {
    if (IsLower(c)) c = static_cast<char>(c - 'a' + 'A');
  }
  return ", " + name;
}

std::string FaultLabel(const Description& description) {
  for (const Note& note : description.notes) {
    if (note.code != "broken" && note.code != "too-deep") continue;
    return fmt::format(
        ", {} at byte {} (line {}): {}", note.code == "broken" ? "broken" : "too deep",
        GroupDigits(note.offset.value_or(0)), GroupDigits(note.line.value_or(1)), note.text);
  }
  return "";
}

std::string PathText(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& name : path) text += "." + ShowFieldName(name);
  return text;
}

// Sizes of the content first: 3,800,000 chars (3,912,004 bytes, 412,004 compressed), 11,001 lines.
std::string CompressedSize(const Description& description) {
  const Counts& counts = description.counts;
  const Compression& compression = *description.compression;
  const Exactness exactness = compression.complete ? Exactness::kExact : Exactness::kBound;
  const std::string inside = Amount(compression.inside_bytes, "byte", "bytes", exactness);
  const std::string stored = GroupDigits(counts.bytes) + " compressed";
  if (description.format == Format::kBinary) return fmt::format("{} ({})", inside, stored);
  return fmt::format("{} ({}, {}), {}", Amount(counts.chars, "char", "chars", counts.exactness),
                     inside, stored, Amount(counts.lines, "line", "lines", counts.exactness));
}

std::string NumberText(double value) {
  if (std::floor(value) == value && std::abs(value) < 1e15) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{}", value);
}

}  // namespace

std::string ShortLabel(const Description& description) {
  const std::string label = BaseLabel(description);
  if (description.format == Format::kDeb822) return label;  // the stanza style is part of the kind
  return label.substr(0, label.find(" ("));
}

std::string FormatLabel(const Description& description) {
  std::string label = BaseLabel(description);
  if (NamedOtherwise(description)) {
    // The kind is all that is known of a binary file, and code needs to know what parts the cells
    // of a table if its name does not say it; of others the detail can wait.
    const bool other_cells = description.format == Format::kCsv && description.table &&
                             description.table->delimiter != ',';
    if (description.format != Format::kBinary && !other_cells) label = ShortLabel(description);
    label += fmt::format(" (named {})", description.extension);
  }
  label += FaultLabel(description);
  const EncodingKind kind = description.encoding.kind;
  if (kind != EncodingKind::kUtf8 && kind != EncodingKind::kBinary) label += EncodingLabel(kind);
  if (description.encoding.guessed) label += " (a guess)";
  if (description.compression)
    label += fmt::format(", {}-compressed", description.compression->kind);
  return label;
}

std::string Amount(std::uint64_t count, std::string_view one, std::string_view many,
                   Exactness exactness) {
  return fmt::format("{}{} {}", exactness == Exactness::kBound ? "≥ " : "", GroupDigits(count),
                     count == 1 && exactness == Exactness::kExact ? one : many);
}

std::string SizeText(const Description& description) {
  const Counts& counts = description.counts;
  if (description.compression) return CompressedSize(description);
  if (description.format == Format::kBinary) return Amount(counts.bytes, "byte", "bytes");
  std::string text = Amount(counts.chars, "char", "chars", counts.exactness);
  if (counts.bytes != counts.chars) {
    text += fmt::format(" ({})", Amount(counts.bytes, "byte", "bytes"));
  }
  return text + ", " + Amount(counts.lines, "line", "lines", counts.exactness);
}

std::string RecordsText(const Description& description) {
  if (!description.records) return "";
  const RecordSummary& records = *description.records;
  std::string text = fmt::format("{}{}", records.exactness == Exactness::kBound ? "≥ " : "",
                                 GroupDigits(records.records));
  std::vector<std::string> details;
  if (records.malformed > 0) details.push_back(GroupDigits(records.malformed) + " malformed");
  if (records.ragged > 0) details.push_back(GroupDigits(records.ragged) + " ragged");
  if (records.comments > 0) {
    const bool marked = !description.table || !description.table->comment.empty();
    details.push_back((marked ? Amount(records.comments, "comment line", "comment lines")
                              : Amount(records.comments, "title line", "title lines")) +
                      " skipped");
  }
  if (records.footers > 0) {
    details.push_back(Amount(records.footers, "row", "rows") + " behind them left out");
  }
  if (records.tables == 0 && description.records_beside) details.push_back("sections");
  if (records.tables == 1 && description.records_beside) details.push_back("in a table");
  if (records.tables > 1) {
    details.push_back(fmt::format("in {} tables, named in _table", GroupDigits(records.tables)));
  }
  if (records.first_alone) details.push_back("the first shares no field with the others");
  if (records.sums_last) details.push_back("the last holds sums of the others: a total?");
  if (!description.records_in.empty()) {
    details.push_back("in " + PathText(description.records_in));
  }
  if (!description.other_lists.empty() && !description.records_in.empty()) {
    std::vector<std::string> lists;
    for (const ListBeside& list : description.other_lists) {
      lists.push_back(fmt::format("{} with {}", PathText(list.path), GroupDigits(list.records)));
    }
    details.push_back("not in them: " + Join(lists, ", "));
  }
  if (!description.records_key.empty()) {
    details.push_back("members of an object, their names in " + description.records_key);
  }
  if (!description.element_type.empty()) {
    details.push_back("elements: " + description.element_type);
  } else if (records.non_object > 0) {
    details.push_back(Amount(records.non_object, "not an object", "not objects"));
  }
  if (records.non_finite > 0) {
    details.push_back(Amount(records.non_finite, "number is", "numbers are") + " NaN or Infinity");
  }
  if (!details.empty()) text += fmt::format(" ({})", Join(details, ", "));
  return text;
}

std::string FieldText(const Field& field) {
  std::vector<std::string> details;
  if (field.present < field.sampled) {
    details.push_back(fmt::format(
        "{} %", std::max<std::uint64_t>(1, std::uint64_t{field.present} * 100 / field.sampled)));
  }
  if (!field.unit.empty()) details.push_back(CleanExample("", field.unit) + " below its name");
  if (field.style && !field.style->written.empty()) {
    const std::string cell = CleanExample("", field.style->written);
    details.push_back(field.style->undecided
                          ? fmt::format("texts such as {}: which sign parts decimals is open", cell)
                          : fmt::format("numbers, written as {} in the text", cell));
  }
  if (details.empty()) return field.shown;
  return fmt::format("{} ({})", field.shown, Join(details, ", "));
}

std::string FieldLine(const Field& field) {
  std::vector<std::string> types;
  for (const FieldType type : field.types.List()) types.emplace_back(TypeName(type));
  std::string line = fmt::format("    {}: {}", FieldText(field), Join(types, " or "));
  // Ranges and sets say more than one value and leak less: an example may come back as an answer.
  const bool only_numbers = !field.types.Has(FieldType::kString);
  if (only_numbers && field.min && field.max && *field.min < *field.max) {
    return line + fmt::format(", seen: {} to {}", NumberText(*field.min), NumberText(*field.max));
  }
  if (!field.values.empty() && field.values.size() < field.present) {
    return line + ", seen: " + Join(field.values, ", ");
  }
  if (!field.example.empty()) line += ", e.g. " + field.example;
  return line;
}

}  // namespace dossier::inspect
