// ContextMeta and ToJson: converts a description to data.

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/description/hint.h"
#include "inspect/description/labels.h"

namespace dossier::inspect {
namespace {

namespace json = boost::json;

// Names and samples come from the file; JSON must be UTF-8 whatever a file name contains.
json::string Text(std::string_view text) { return json::string(utf8::Sanitize(text)); }

Json TextOrNull(std::string_view text) {
  if (text.empty()) return nullptr;
  return Text(text);
}

JsonArray TypesJson(const TypeSet& types) {
  JsonArray out;
  for (const FieldType type : types.List()) out.emplace_back(TypeName(type));
  return out;
}

JsonArray PathJson(const std::vector<std::string>& path) {
  JsonArray out;
  for (const std::string& name : path) out.emplace_back(Text(name));
  return out;
}

// Keeps whole numbers whole: 1, not 1.0.
Json PresenceJson(const Field& field) {
  if (field.present >= field.sampled) return 1;
  return static_cast<double>(field.present) / field.sampled;
}

std::string DottedPath(const Field& field) { return Join(field.path, "."); }

// Describes how a field's numbers are written, if not as in JSON.
Json StyleJson(const Field& field) {
  if (!field.style || field.style->written.empty()) return nullptr;
  const DecimalMark mark = field.style->mark;
  return JsonObject{{"written", Text(field.style->written)},
                    {"decimal", mark == DecimalMark::kDot     ? Json(".")
                                : mark == DecimalMark::kComma ? Json(",")
                                                              : Json(nullptr)},
                    {"read", !field.style->undecided}};
}

JsonArray FieldsJson(const Description& description) {
  JsonArray out;
  for (const Field& field : description.fields) {
    out.push_back(JsonObject{{"path", PathJson(field.path)},
                             {"shown", Text(field.shown)},
                             {"types", TypesJson(field.types)},
                             {"present", field.present},
                             {"sampled", field.sampled},
                             {"example", Text(field.example)},
                             {"unit", TextOrNull(field.unit)},
                             {"numbers", StyleJson(field)}});
  }
  return out;
}

Json RecordsJson(const Description& description) {
  if (!description.records) return nullptr;
  const RecordSummary& records = *description.records;
  return JsonObject{{"count", records.records},
                    {"malformed", records.malformed},
                    {"non_object", records.non_object},
                    {"ragged", records.ragged},
                    {"non_finite", records.non_finite},
                    {"footers", records.footers},
                    {"tables", records.tables},
                    {"key", TextOrNull(description.records_key)},
                    {"in", JsonArray(description.records_in.begin(), description.records_in.end())},
                    {"exact", records.exactness == Exactness::kExact}};
}

Json TableJson(const Description& description) {
  if (!description.table) return nullptr;
  const TableShape& table = *description.table;
  JsonArray raw_names;
  for (const std::string& name : table.raw_names) raw_names.emplace_back(Text(name));
  return JsonObject{{"delimiter", std::string(1, table.delimiter)},
                    {"header", table.header},
                    {"columns", table.columns},
                    {"comment", TextOrNull(table.comment)},
                    {"comment_lines", description.records ? description.records->comments : 0},
                    {"raw_names", std::move(raw_names)}};
}

JsonArray NotesJson(const Description& description) {
  JsonArray out;
  for (const Note& note : description.notes) {
    out.push_back(JsonObject{{"code", note.code},
                             {"offset", note.offset ? Json(*note.offset) : Json(nullptr)},
                             {"line", note.line ? Json(*note.line) : Json(nullptr)},
                             {"text", Text(note.text)}});
  }
  return out;
}

JsonArray MembersJson(const Description& description) {
  JsonArray out;
  for (const ArchiveMember& member : description.members) {
    out.push_back(JsonObject{{"path", Text(member.path)},
                             {"bytes", member.bytes},
                             {"compressed_bytes", member.compressed_bytes},
                             {"format", FormatName(member.format)}});
  }
  return out;
}

JsonObject DetailsJson(const Description& description) {
  JsonObject details;
  if (!description.log_shape.empty()) details["log_shape"] = description.log_shape;
  if (!description.element_type.empty()) details["element_type"] = description.element_type;
  for (const Detail& detail : description.details) {
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
            details[detail.name] = Text(value);
          } else {
            details[detail.name] = json::value_from(value);
          }
        },
        detail.value);
  }
  return details;
}

Json CompressionJson(const Description& description) {
  if (!description.compression) return nullptr;
  const Compression& compression = *description.compression;
  return JsonObject{{"kind", compression.kind},
                    {"inside_bytes", compression.inside_bytes},
                    {"complete", compression.complete}};
}

void AddEncoding(const Description& description, JsonObject* out) {
  const TextEncoding& encoding = description.encoding;
  (*out)["encoding"] = EncodingName(encoding.kind);
  (*out)["encoding_guessed"] = encoding.guessed;
  (*out)["bom"] = encoding.bom;
  (*out)["ascii"] = encoding.ascii;
  (*out)["invalid"] = nullptr;
  if (encoding.invalid > 0) {
    (*out)["invalid"] =
        JsonObject{{"count", encoding.invalid}, {"first_offset", encoding.first_invalid_offset}};
  }
}

void AddCounts(const Description& description, JsonObject* out) {
  const Counts& counts = description.counts;
  (*out)["bytes"] = counts.bytes;
  (*out)["chars"] = counts.chars;
  (*out)["utf16_units"] = counts.utf16_units;
  (*out)["lines"] = counts.lines;
  (*out)["blank_lines"] = counts.blank_lines;
  (*out)["longest_line_bytes"] = counts.longest_line_bytes;
  (*out)["nul_bytes"] = counts.nul_bytes;
  (*out)["line_ends"] = JsonObject{{"lf", description.line_ends.lf},
                                   {"crlf", description.line_ends.crlf},
                                   {"cr", description.line_ends.cr}};
  (*out)["exact"] = counts.exactness == Exactness::kExact;
  (*out)["stable"] = description.stable;
}

Json FormatOrNull(const std::optional<Format>& format) {
  if (!format) return nullptr;
  return Json(FormatName(*format));
}

bool IsExact(const Description& description) {
  const bool records_exact =
      !description.records || description.records->exactness == Exactness::kExact;
  return records_exact && description.counts.exactness == Exactness::kExact;
}

}  // namespace

Json ToJson(const Description& description) {
  JsonObject out{{"path", Text(description.path)},
                 {"name", Text(description.name)},
                 {"format", FormatName(description.format)},
                 {"label", Text(FormatLabel(description))},
                 {"named_format", FormatOrNull(description.named_format)},
                 {"certain", description.certain},
                 {"flavour", TextOrNull(description.flavour)},
                 {"language", TextOrNull(description.language)}};
  AddEncoding(description, &out);
  AddCounts(description, &out);
  out["records"] = RecordsJson(description);
  out["table"] = TableJson(description);
  out["fields"] = FieldsJson(description);
  out["fields_total"] = description.fields_total;
  out["main_text_field"] = TextOrNull(description.main_text_field);
  out["sample"] = TextOrNull(description.sample);
  out["sample_full_chars"] = description.sample_full_chars;
  out["compression"] = CompressionJson(description);
  out["members"] = MembersJson(description);
  out["members_total"] = description.members_total;
  out["members_bytes"] = description.members_bytes;
  out["details"] = DetailsJson(description);
  out["sha256"] = TextOrNull(description.sha256);
  out["notes"] = NotesJson(description);
  return out;
}

namespace {

Json PartJson(const std::optional<TextExcerpt>& part) {
  if (!part) return nullptr;
  const auto known = [&](std::uint64_t number) {
    return part->index > 0 ? Json(number) : Json(nullptr);
  };
  return JsonObject{{"index", known(part->index)},
                    {"count", known(part->count)},
                    {"start", part->start},
                    {"end", part->end}};
}

}  // namespace

Json ContextMeta(const Description& description, Runtime runtime) {
  const bool python = runtime == Runtime::kPython;
  const Counts& counts = description.counts;
  JsonArray names, info;
  for (const Field& field : description.fields) {
    names.emplace_back(Text(DottedPath(field)));
    info.push_back(JsonObject{{"path", PathJson(field.path)},
                              {"types", TypesJson(field.types)},
                              {"presence", PresenceJson(field)},
                              {"example", Text(field.example)}});
    if (Json numbers = StyleJson(field); !numbers.is_null()) {
      info.back().as_object()["numbers"] = std::move(numbers);
    }
  }
  JsonObject out{{"schema", "dossier.contextMeta/1"},
                 {"fileName", TextOrNull(description.name)},
                 {"format", FormatName(description.format)},
                 {"bytes", counts.bytes},
                 {"chars", counts.chars},
                 {"length", python ? counts.chars : counts.utf16_units},
                 {"lengthUnit", python ? "code points" : "utf-16 units"},
                 {"lines", counts.lines}};
  out["recordCount"] = description.records ? Json(description.records->records) : Json(nullptr);
  out["malformed"] = description.records ? description.records->malformed : 0;
  out["exact"] = IsExact(description);
  out["fields"] = std::move(names);
  out["fieldInfo"] = std::move(info);
  out["delimiter"] = nullptr;
  out["hasHeader"] = nullptr;
  if (description.table) {
    out["delimiter"] = std::string(1, description.table->delimiter);
    out["hasHeader"] = description.table->header;
  }
  out["encoding"] = EncodingName(description.encoding.kind);
  out["primaryTextField"] = TextOrNull(description.main_text_field);
  out["sampleRecord"] = TextOrNull(description.sample);
  if (!description.sample.empty() && description.sample_cut) {
    out["sampleRecord"] = Text(description.sample + "…");
  }
  out["part"] = PartJson(description.part);
  return out;
}

}  // namespace dossier::inspect
