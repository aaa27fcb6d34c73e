#include "ask/loop/metadata.h"

#include <algorithm>
#include <set>

#include "ask/documents/sql_tables.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/description/hint.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kDocumentsListed = 100;
// Up to here a model may read every record: one request per record, seconds each on a CPU.
constexpr std::uint64_t kMapRecords = 200;
constexpr std::uint64_t kTextChars = 20;  // median length of a field with texts, not names
constexpr std::size_t kTextWords = 4;     // in its example

// Returns the length as code sees it: what `len` or `.length` gives.
std::uint64_t LengthOf(const ContextDocument& document, sandbox::Dialect dialect) {
  const inspect::Counts& counts = document.description.counts;
  return dialect == sandbox::Dialect::kPython ? counts.chars : counts.utf16_units;
}

std::string SizeLine(std::size_t index, const ContextDocument& document, sandbox::Dialect dialect,
                     std::int64_t max_subcall_chars) {
  const std::uint64_t chars = LengthOf(document, dialect);
  return fmt::format(
      "{}: {} ({} characters{})", index, document.name.empty() ? "text" : document.name,
      GroupDigits(chars),
      static_cast<std::int64_t>(chars) > max_subcall_chars ? ", exceeds the sub-call limit" : "");
}

void AddExamples(const inspect::Description& description, std::vector<std::string>* values) {
  for (const inspect::Field& field : description.fields) {
    if (!field.example.empty()) values->push_back(field.example);
    values->insert(values->end(), field.values.begin(), field.values.end());
  }
}

void AddOnce(std::string_view item, std::vector<std::string>* list) {
  if (std::find(list->begin(), list->end(), item) == list->end()) list->emplace_back(item);
}

// A field with many values in one of the documents has no list of values.
void AddFieldTables(const ContextSet& context, Metadata* metadata) {
  std::set<std::string> many;
  for (const ContextDocument& document : context.documents()) {
    for (const inspect::Field& field : document.description.fields) {
      for (const inspect::FieldType type : field.types.List()) {
        AddOnce(inspect::TypeName(type), &metadata->field_types[field.shown]);
      }
      if (field.values.empty() && !field.example.empty()) many.insert(field.shown);
      for (const std::string& value : field.values) {
        AddOnce(value, &metadata->field_values[field.shown]);
      }
    }
  }
  for (const std::string& field : many) metadata->field_values.erase(field);
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
    return IsWordByte(c) || c == '-' || c == '.';
  });
}

// Returns true for a field of short texts, not names or codes: its example has several words.
bool IsFreeText(const inspect::Field& field) {
  return field.types.Has(inspect::FieldType::kString) && field.median_chars >= kTextChars &&
         Split(TrimSpace(field.example), ' ').size() >= kTextWords;
}

// Returns the field that has the text of records which have nothing else: most questions about
// those need reading. Empty if code can tell the records apart by another field. `inspect` reports
// a main text field only from 50 characters on; messages and notes are often shorter.
std::string OnlyTextField(const inspect::Description& description) {
  const inspect::Field* text = nullptr;
  for (const inspect::Field& field : description.fields) {
    if (!IsFreeText(field)) {
      if (field.values.size() > 1) return {};
    } else if (!text || field.median_chars > text->median_chars) {
      text = &field;
    }
  }
  // The name is outside the data fence, so it must be a plain name.
  return text && IsPlainName(text->shown) ? text->shown : std::string();
}

// Returns the documents that contain records.
std::vector<std::size_t> TablesOf(const std::vector<ContextDocument>& documents) {
  std::vector<std::size_t> tables;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const inspect::Description& description = documents[i].description;
    const bool rows = description.records && description.records->records > 0;
    if (inspect::HasRecords(description) && rows) tables.push_back(i);
  }
  return tables;
}

// Returns how code names a document: a name or a number, since it is outside the data fence.
std::string KeyOf(const std::vector<ContextDocument>& documents, std::size_t index) {
  const std::string& name = documents[index].name;
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return c == '/' || IsPlainName(std::string_view(&c, 1));
  });
  return plain && !name.empty() && name.size() <= 80 ? fmt::format("\"{}\"", name)
                                                     : std::to_string(index);
}

// Returns a field that two tables share, which most questions over both join by; else a blank.
std::string SharedField(const inspect::Description& one, const inspect::Description& other) {
  for (const inspect::Field& field : one.fields) {
    const bool shared = std::any_of(
        other.fields.begin(), other.fields.end(),
        [&field](const inspect::Field& candidate) { return candidate.shown == field.shown; });
    if (shared && IsPlainName(field.shown)) return field.shown;
  }
  return "<shared field>";
}

std::string_view TableAccess(const std::vector<ContextDocument>& documents,
                             const std::vector<std::size_t>& tables) {
  if (tables.size() == 1) return "access_table";
  const bool same = std::all_of(tables.begin(), tables.end(), [&](std::size_t table) {
    return inspect::HaveSameFields(documents[table].description, documents[tables[0]].description);
  });
  return same ? "access_shards" : "access_tables";
}

// Of the first two tables, code looks up rows in the smaller one while it iterates over the larger.
std::map<std::string, std::string> TableValues(std::string_view name,
                                               const std::vector<ContextDocument>& documents,
                                               const std::vector<std::size_t>& tables) {
  std::uint64_t rows = 0;
  for (const std::size_t table : tables) rows += documents[table].description.records->records;
  std::size_t small = tables[0], large = tables.size() > 1 ? tables[1] : tables[0];
  if (documents[small].description.records->records >
      documents[large].description.records->records) {
    std::swap(small, large);
  }
  std::map<std::string, std::string> values = {{"count", GroupDigits(rows)},
                                               {"files", GroupDigits(documents.size())}};
  if (name != "access_table") values["small"] = KeyOf(documents, small);
  if (name != "access_shards") values["large"] = KeyOf(documents, large);
  if (name == "access_table") {
    values["text"] = KeyOf(documents, tables[0] == 0 ? documents.size() - 1 : 0);
  }
  if (name == "access_tables") {
    values["key"] = SharedField(documents[small].description, documents[large].description);
  }
  return values;
}

// Tells which name holds the data: small models cannot work it out from a list of what there is.
std::string AccessText(const RunState& run) {
  const auto& documents = run.request.context->documents();
  std::string_view name = "access_text";
  std::map<std::string, std::string> values;
  if (documents.size() == 1) {
    const inspect::Description& description = documents[0].description;
    if (inspect::HasRecords(description) && description.records) {
      const bool readable = description.records->records <= kMapRecords && run.depth_left() > 0;
      const std::string field = readable ? OnlyTextField(description) : std::string();
      name = field.empty() ? "access_records" : "access_texts";
      values["count"] = GroupDigits(description.records->records);
      if (!field.empty()) values["field"] = field;
    } else {
      values["chars"] = GroupDigits(description.counts.chars);
      values["lines"] = GroupDigits(description.counts.lines);
    }
  } else if (const auto tables = TablesOf(documents); !tables.empty()) {
    name = TableAccess(documents, tables);
    values = TableValues(name, documents, tables);
  } else {
    name = "access_files";
    values["count"] = GroupDigits(documents.size());
  }
  const auto text = run.prompts.Text(name, values, run.boundary);
  return text ? std::string(TrimSpace(*text)) : std::string();
}

// Lists the sizes of all documents and their sums, which code may hand in without reading the data.
std::string SizesOf(const ContextSet& context) {
  std::string sizes = fmt::format("{} {}", context.documents().size(), context.characters());
  std::uint64_t records = 0, lines = 0;
  for (const ContextDocument& document : context.documents()) {
    const inspect::Description& description = document.description;
    const std::uint64_t rows = description.records ? description.records->records : 0;
    sizes += fmt::format(" {} {} {}", description.counts.chars, description.counts.lines, rows);
    records += rows;
    lines += description.counts.lines;
  }
  return fmt::format("{} {} {} {}", sizes, context.bytes(), lines, records);
}

// The hint lists several documents as far as there is room, and leaves out what sub-calls cannot
// take.
std::string UnlistedDocuments(const Metadata& metadata, std::size_t count) {
  const bool all = count > 1 && !metadata.hint.ends_with(" more");
  if (!all) return metadata.doc_sizes;
  std::string lines;
  for (const std::string_view line : Split(metadata.doc_sizes, '\n')) {
    if (line.ends_with("exceeds the sub-call limit)")) lines += fmt::format("{}\n", line);
  }
  return lines;
}

}  // namespace

Metadata MakeMetadata(const RunState& run) {
  const ContextSet& context = *run.request.context;
  Metadata metadata;
  const auto& documents = context.documents();
  metadata.characters = context.characters();
  metadata.doc_count = GroupDigits(documents.size());
  metadata.documents =
      fmt::format("{} document{}", metadata.doc_count, documents.size() == 1 ? "" : "s");
  metadata.sizes = SizesOf(context);
  std::uint64_t length = 0;
  for (const ContextDocument& document : documents) length += LengthOf(document, run.dialect());
  metadata.total_chars = GroupDigits(length);
  std::vector<inspect::Description> descriptions;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    descriptions.push_back(DescriptionOfFile(documents[i]));
    // Code finds one of several documents by this name.
    if (documents.size() > 1) descriptions.back().name = documents[i].name;
    if (!run.policy.shows_samples_beside_fields && !descriptions.back().fields.empty()) {
      descriptions.back().sample.clear();
    }
    AddExamples(documents[i].description, &metadata.hint_values);
    if (i < kDocumentsListed) {
      metadata.doc_sizes += SizeLine(i, documents[i], run.dialect(), run.max_subcall_chars) + "\n";
    }
  }
  if (documents.size() > kDocumentsListed) {
    metadata.doc_sizes +=
        fmt::format("… and {} more\n", GroupDigits(documents.size() - kDocumentsListed));
  }
  AddFieldTables(context, &metadata);
  metadata.access = AccessText(run);
  inspect::HintOptions options{.profile = run.policy.hint};
  if (run.dialect() == sandbox::Dialect::kJavaScript) options.variable = "__vars.context";
  if (descriptions.size() == 1) {
    metadata.hint = inspect::RenderHint(descriptions[0], options);
  } else if (!descriptions.empty()) {
    metadata.hint = inspect::RenderHint(descriptions, options);
  }
  if (run.policy.hint == inspect::HintProfile::kLarge) {
    if (const std::string tables = SqlHint(documents); !tables.empty()) {
      metadata.hint += (metadata.hint.empty() ? "" : "\n") + tables;
    }
  }
  metadata.doc_unlisted = UnlistedDocuments(metadata, documents.size());
  return metadata;
}

}  // namespace dossier::ask
