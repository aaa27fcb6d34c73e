#include "inspect/description/hint.h"

#include <algorithm>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/description/clean.h"
#include "inspect/description/labels.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMaxDocuments = 50;

std::string Available(const HintOptions& options) {
  return options.tense == HintTense::kWasAvailable ? "Context was available in"
                                                   : "Context available in";
}

// Returns "part 3 of 12 of feed.ndjson".
std::string PartText(const TextExcerpt& part) {
  const std::string name = CleanName(part.of);
  if (part.index == 0) return "a part of " + name;
  return fmt::format("part {} of {} of {}", GroupDigits(part.index), GroupDigits(part.count), name);
}

std::string TitleLine(const Description& description, const HintOptions& options) {
  const std::string head = Available(options) + " " + options.variable;
  const std::string chars =
      Amount(description.counts.chars, "char", "chars", description.counts.exactness);
  if (options.detail == HintDetail::kSizeOnly) return fmt::format("[{} ({})]", head, chars);
  if (description.part) return fmt::format("[{}: {}]", head, PartText(*description.part));
  if (!description.name.empty()) return fmt::format("[{}]", head);
  return fmt::format(
      "[{} ({}, {}, detected: {})]", head, chars,
      Amount(description.counts.lines, "line", "lines", description.counts.exactness),
      ShortLabel(description));
}

// How much of a description is shown; shrinks if the hint is too long.
struct Extent {
  std::size_t fields;
  std::size_t members;
  std::uint64_t sample_chars;
};

std::string FieldsText(const Description& description, const HintOptions& options,
                       std::size_t shown) {
  std::string text;
  const bool lines = options.profile == HintProfile::kSmall;
  shown = std::min(shown, description.fields.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Field& field = description.fields[i];
    if (lines) {
      text += "\n" + FieldLine(field);
    } else {
      text += (i > 0 ? ", " : "") + FieldText(field);
    }
  }
  const std::uint64_t more = description.fields_total - shown;
  if (more > 0) {
    text += fmt::format("{}… and {} more",
                        lines       ? "\n    "
                        : shown > 0 ? ", "
                                    : "",
                        GroupDigits(more));
  }
  return text;
}

// Returns "120 (3,400,000 bytes unpacked): a.txt, b/c.csv, … and 118 more".
std::string MembersText(const Description& description, std::size_t shown) {
  if (description.members_total == 0) return "";
  const bool exact = description.members_exact;
  shown = std::min(shown, description.members.size());
  std::string text =
      fmt::format("{}{} ({} unpacked)", exact ? "" : "≥ ", GroupDigits(description.members_total),
                  Amount(description.members_bytes, "byte", "bytes"));
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i > 0 ? ", " : ": ") + CleanName(description.members[i].path);
  }
  const std::uint64_t more = description.members_total - shown;
  if (more > 0 && shown > 0) text += fmt::format(", … and {} more", GroupDigits(more));
  return text;
}

std::string SampleText(const Description& description, std::uint64_t chars) {
  if (description.sample.empty()) return "";
  const CutResult cut = CutText(description.sample, chars);
  if (!cut.cut && !description.sample_cut) return cut.text;
  return fmt::format("{}… (of {} chars)", cut.text, GroupDigits(description.sample_full_chars));
}

// Returns notes from the provider of the text: for example that the command that printed it failed.
std::string SourceNotes(const Description& description) {
  std::vector<std::string> notes;
  for (const Note& note : description.notes) {
    if (note.code == "source") notes.push_back(CleanText(note.text));
  }
  return Join(notes, "; ");
}

void AddLine(std::string_view label, const std::string& value, std::string* out) {
  if (value.empty()) return;
  // A list that starts on its own line includes its line ends.
  const bool block = value.starts_with('\n');
  *out += fmt::format("\n  {}:{}{}", label, block ? "" : " ", value);
}

// For a part: its own size, with the format and fields of the whole.
std::string PartLines(const Description& description, const HintOptions& options,
                      const Extent& extent) {
  const TextExcerpt& part = *description.part;
  std::string out;
  AddLine("Format", part.format, &out);
  AddLine("Size",
          fmt::format("{}, {} (chars {} to {} of {})",
                      Amount(description.counts.chars, "char", "chars"),
                      Amount(description.counts.lines, "line", "lines"), GroupDigits(part.start),
                      GroupDigits(part.end), GroupDigits(part.total)),
          &out);
  if (part.cut == TextExcerpt::Cut::kAtRecords) AddLine("Records", RecordsText(description), &out);
  Description whole{.fields = part.fields, .fields_total = part.fields_total};
  if (whole.fields_total > 0) AddLine("Fields", FieldsText(whole, options, extent.fields), &out);
  return out;
}

// Returns the labelled lines, each preceded by a line end.
std::string Lines(const Description& description, const HintOptions& options,
                  const Extent& extent) {
  if (description.part) return PartLines(description, options, extent);
  std::string out;
  const bool named = !description.name.empty();
  if (named) {
    AddLine("Source", CleanName(description.name), &out);
    AddLine("Note", SourceNotes(description), &out);
    AddLine("Format", FormatLabel(description), &out);
    AddLine("Size", SizeText(description), &out);
  }
  if (!named && !description.certain) return out;
  AddLine("Records", RecordsText(description), &out);
  if (description.fields_total > 0) {
    AddLine("Fields", FieldsText(description, options, extent.fields), &out);
  }
  if (named) AddLine("Main text field", description.main_text_field, &out);
  AddLine("Members", MembersText(description, extent.members), &out);
  AddLine("Sample", SampleText(description, extent.sample_chars), &out);
  return out;
}

// Returns the largest value of `low`..`high` that `fits`; smaller values must fit too.
template <typename Fits>
std::size_t Largest(std::size_t low, std::size_t high, Fits fits) {
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    fits(middle) ? low = middle : high = middle - 1;
  }
  return low;
}

std::string FitLines(const Description& description, const HintOptions& options,
                     std::size_t max_chars) {
  const auto& fields = description.part ? description.part->fields : description.fields;
  Extent extent{fields.size(), description.members.size(), 1u << 20};
  const auto fits = [&](const Extent& candidate) {
    return utf8::CodePoints(Lines(description, options, candidate)) <= max_chars;
  };
  if (fits(extent)) return Lines(description, options, extent);
  extent.fields = Largest(0, extent.fields, [&](std::size_t fields) {
    return fits({fields, extent.members, extent.sample_chars});
  });
  if (!fits(extent)) {
    const auto sample = static_cast<std::size_t>(utf8::CodePoints(description.sample));
    extent.sample_chars = Largest(
        0, sample, [&](std::size_t chars) { return fits({extent.fields, extent.members, chars}); });
  }
  if (!fits(extent)) {
    extent.members = Largest(0, extent.members, [&](std::size_t members) {
      return fits({extent.fields, members, extent.sample_chars});
    });
  }
  return Lines(description, options, extent);
}

// Returns "120 records (2 malformed)".
std::string RecordsOf(const Description& document) {
  const RecordSummary& records = *document.records;
  std::string text = Amount(records.records, "record", "records", records.exactness);
  const std::string all = RecordsText(document);
  const std::size_t details = all.find(" (");
  return details == std::string::npos ? text : text + all.substr(details);
}

// Returns the fields below a document's line: as many as fit in `max_chars`, or the number of an
// earlier document with the same fields.
std::string DocumentFields(std::span<const Description> documents, std::size_t index,
                           const HintOptions& options, std::size_t max_chars) {
  const Description& document = documents[index];
  if (document.fields_total == 0) return "";
  for (std::size_t earlier = 0; earlier < index; ++earlier) {
    if (!HaveSameFields(documents[earlier], document)) continue;
    const std::string text = fmt::format("\n    Fields: as in {}", earlier);
    return text.size() <= max_chars ? text : "";
  }
  const auto render = [&](std::size_t shown) {
    std::string text;
    AddLine("  Fields", FieldsText(document, options, shown), &text);
    return text;
  };
  const std::size_t shown = Largest(0, document.fields.size(), [&](std::size_t count) {
    return utf8::CodePoints(render(count)) <= max_chars;
  });
  return shown > 0 ? render(shown) : "";
}

// Returns the space for each distinct table of fields.
std::size_t FieldsRoom(std::span<const Description> documents, std::size_t room) {
  std::size_t tables = 0;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto same = [&](const Description& other) { return HaveSameFields(documents[i], other); };
    const auto earlier = documents.first(i);
    if (documents[i].fields_total > 0 && std::none_of(earlier.begin(), earlier.end(), same)) {
      ++tables;
    }
  }
  return room / std::max<std::size_t>(1, tables);
}

std::string EncodingText(const Description& description) {
  std::string text(EncodingName(description.encoding.kind));
  if (description.encoding.bom) text += " with BOM";
  if (description.encoding.guessed) text += " (a guess)";
  if (description.encoding.ascii && description.encoding.kind == EncodingKind::kUtf8) {
    text += " (ASCII)";
  }
  const LineEnds& ends = description.line_ends;
  std::vector<std::string> kinds;
  const int used = (ends.lf > 0) + (ends.crlf > 0) + (ends.cr > 0);
  const auto add = [&](std::uint64_t count, std::string_view name) {
    if (count == 0) return;
    kinds.push_back(used > 1 ? fmt::format("{} {}", GroupDigits(count), name) : std::string(name));
  };
  add(ends.lf, "LF");
  add(ends.crlf, "CRLF");
  add(ends.cr, "CR");
  if (!kinds.empty()) text += ", line ends " + Join(kinds, " and ");
  if (description.counts.lines > 0) {
    text += ", longest line " + Amount(description.counts.longest_line_bytes, "byte", "bytes",
                                       description.counts.exactness);
  }
  return text;
}

}  // namespace

std::string RenderHint(const Description& description, const HintOptions& options) {
  const std::string first = TitleLine(description, options);
  if (options.detail == HintDetail::kSizeOnly) return first;
  const std::size_t used = static_cast<std::size_t>(utf8::CodePoints(first));
  return first +
         FitLines(description, options, options.max_chars - std::min(used, options.max_chars));
}

std::string RenderHint(std::span<const Description> documents, const HintOptions& options) {
  if (documents.size() == 1) return RenderHint(documents.front(), options);
  std::uint64_t chars = 0;
  Exactness exactness = Exactness::kExact;
  for (const Description& document : documents) {
    chars += document.counts.chars;
    if (document.counts.exactness == Exactness::kBound) exactness = Exactness::kBound;
  }
  std::string out = fmt::format("[{} {}: {}, {}]", Available(options), options.variable,
                                Amount(documents.size(), "document", "documents"),
                                Amount(chars, "char", "chars", exactness));
  if (options.detail == HintDetail::kSizeOnly) return out;
  constexpr std::size_t kMoreLine = 40;  // chars kept free for the last line
  std::size_t used = static_cast<std::size_t>(utf8::CodePoints(out));
  std::vector<std::string> lines;
  std::size_t listed = 0;
  for (; listed < std::min(documents.size(), kMaxDocuments); ++listed) {
    const Description& document = documents[listed];
    std::string line = fmt::format(
        "\n  {}: {} ({}, {}", listed, document.name.empty() ? "unnamed" : CleanName(document.name),
        ShortLabel(document),
        Amount(document.counts.chars, "char", "chars", document.counts.exactness));
    if (document.records) line += ", " + RecordsOf(document);
    if (const std::string notes = SourceNotes(document); !notes.empty()) line += "; " + notes;
    line += ")";
    const auto length = static_cast<std::size_t>(utf8::CodePoints(line));
    if (used + length + kMoreLine > options.max_chars) break;
    used += length;
    lines.push_back(std::move(line));
  }
  const auto shown = documents.first(listed);
  std::size_t room = options.max_chars - std::min(options.max_chars, used + kMoreLine);
  const std::size_t each = FieldsRoom(shown, room);
  for (std::size_t i = 0; i < listed; ++i) {
    const std::string fields = DocumentFields(shown, i, options, std::min(each, room));
    room -= static_cast<std::size_t>(utf8::CodePoints(fields));
    out += lines[i] + fields;
  }
  if (listed < documents.size()) {
    out += fmt::format("\n  … and {} more", GroupDigits(documents.size() - listed));
  }
  return out;
}

std::string RenderReport(const Description& description, const HintOptions& options) {
  Description shown = description;
  if (shown.name.empty()) shown.name = shown.path.empty() ? "-" : shown.path;
  std::string out = FitLines(shown, options, options.max_chars);
  out.erase(0, 1);
  if (description.encoding.kind != EncodingKind::kBinary) {
    AddLine("Encoding", EncodingText(description), &out);
  }
  if (!description.sha256.empty()) AddLine("SHA-256", description.sha256, &out);
  if (!description.notes.empty()) {
    out += "\n  Notes:";
    for (const Note& note : description.notes) {
      out += fmt::format("\n    {}: {}", note.code, CleanText(note.text));
    }
  }
  return out + "\n";
}

}  // namespace dossier::inspect
