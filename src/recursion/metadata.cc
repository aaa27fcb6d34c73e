#include "recursion/metadata.h"

#include "base/text.h"
#include "inspect/hint.h"

namespace dossier::recursion {
namespace {

constexpr std::size_t kDocumentsListed = 100;  // REC-6
// Up to here a model may read every record: one request a record, seconds each on a processor.
constexpr std::uint64_t kMapRecords = 200;
constexpr std::uint64_t kTextChars = 20;  // median of a field of texts, not of names
constexpr std::size_t kTextWords = 4;     // of its example

std::string SizeLine(std::size_t index, const ContextDocument& document,
                     std::int64_t max_subcall_chars) {
  const std::uint64_t chars = document.description.counts.chars;
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

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

// A field of short texts rather than of names, codes or kinds: its example has several words.
bool IsFreeText(const inspect::Field& field) {
  return field.types.Has(inspect::FieldType::kString) && field.median_chars >= kTextChars &&
         Split(TrimSpace(field.example), ' ').size() >= kTextWords;
}

// The field that holds the text of records which hold nothing else: only reading answers most
// questions about those. Empty if code can tell the records apart by another field. `inspect` names
// a main text field from 50 characters on; messages and notes are often shorter.
std::string OnlyTextField(const inspect::Description& description) {
  const inspect::Field* text = nullptr;
  for (const inspect::Field& field : description.fields) {
    if (!IsFreeText(field)) {
      if (field.values.size() > 1) return {};
    } else if (!text || field.median_chars > text->median_chars) {
      text = &field;
    }
  }
  // The name stands outside the data fence, so it must be no more than a name.
  return text && IsPlainName(text->shown) ? text->shown : std::string();
}

// Which name holds the data: small models do not work it out from a list of what there is.
std::string AccessText(const RunState& run) {
  const auto& documents = run.request.context->documents();
  std::string_view name = "access_text";
  std::map<std::string, std::string> values;
  if (documents.size() == 1) {
    const inspect::Description& description = documents[0].description;
    if (inspect::HasRecords(description.format) && description.records) {
      const bool readable =
          description.records->records <= kMapRecords && run.request.limits.depth > 0;
      const std::string field = readable ? OnlyTextField(description) : std::string();
      name = field.empty() ? "access_records" : "access_texts";
      values["count"] = GroupDigits(description.records->records);
      if (!field.empty()) values["field"] = field;
    } else {
      values["chars"] = GroupDigits(description.counts.chars);
      values["lines"] = GroupDigits(description.counts.lines);
    }
  } else {
    const bool all_records =
        std::all_of(documents.begin(), documents.end(), [](const ContextDocument& document) {
          return inspect::HasRecords(document.description.format);
        });
    name = all_records ? "access_records" : "access_files";
    std::uint64_t records = 0;
    for (const ContextDocument& document : documents) {
      if (document.description.records) records += document.description.records->records;
    }
    values["count"] = GroupDigits(all_records ? records : documents.size());
  }
  const auto text = run.prompts.Text(name, values, run.boundary);
  return text ? std::string(TrimSpace(*text)) : std::string();
}

// Of all documents together; 0 if one of them has none.
std::uint64_t CountRecords(const ContextSet& context) {
  std::uint64_t records = 0;
  for (const auto& document : context.documents()) {
    if (!document.description.records) return 0;
    records += document.description.records->records;
  }
  return records;
}

}  // namespace

Metadata MakeMetadata(const RunState& run) {
  const ContextSet& context = *run.request.context;
  Metadata metadata;
  const auto& documents = context.documents();
  metadata.characters = context.characters();
  metadata.records = CountRecords(context);
  metadata.doc_count = GroupDigits(documents.size());
  metadata.documents =
      fmt::format("{} document{}", metadata.doc_count, documents.size() == 1 ? "" : "s");
  metadata.total_chars = GroupDigits(context.characters());
  std::vector<inspect::Description> descriptions;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    descriptions.push_back(documents[i].description);
    // The field table says all of it in fewer tokens, and examples leak (small-models 9).
    if (run.small() && !descriptions.back().fields.empty()) descriptions.back().sample.clear();
    AddExamples(documents[i].description, &metadata.hint_values);
    if (i < kDocumentsListed) {
      metadata.doc_sizes += SizeLine(i, documents[i], run.max_subcall_chars) + "\n";
    }
  }
  if (documents.size() > kDocumentsListed) {
    metadata.doc_sizes +=
        fmt::format("… and {} more\n", GroupDigits(documents.size() - kDocumentsListed));
  }
  metadata.access = AccessText(run);
  const inspect::HintOptions options{.profile = run.small() ? inspect::HintProfile::kSmall
                                                            : inspect::HintProfile::kLarge};
  if (descriptions.size() == 1) {
    metadata.hint = inspect::RenderHint(descriptions[0], options);
  } else if (!descriptions.empty()) {
    metadata.hint = inspect::RenderHint(descriptions, options);
  }
  return metadata;
}

}  // namespace dossier::recursion
