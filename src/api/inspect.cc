#include <dossier/inspect.h>

#include "base/result.h"
#include "base/text/text.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"

namespace dossier {
namespace {

Result<inspect::Options> OptionsOf(const InspectOptions& options) {
  inspect::Options out{.delimiter = options.delimiter,
                       .fields = options.fields,
                       .sample_chars = options.sample_chars,
                       .max_scan = options.max_scan,
                       .hash = options.hash == InspectOptions::Hash::kSha256};
  if (!options.format.empty()) {
    out.format = inspect::FormatFromName(options.format);
    if (!out.format) {
      return MakeError(ErrorCode::kInvalidArgument, "there is no format \"{}\"", options.format);
    }
  }
  if (!options.encoding.empty()) {
    out.encoding = inspect::EncodingFromName(ToLowerAscii(options.encoding));
    if (!out.encoding || *out.encoding == inspect::EncodingKind::kBinary) {
      return MakeError(ErrorCode::kInvalidArgument, "there is no encoding \"{}\"",
                       options.encoding);
    }
  }
  return out;
}

Field FieldOf(const inspect::Field& field) {
  Field out{.name = field.shown,
            .present = field.present,
            .sampled = field.sampled,
            .example = field.example,
            .values = field.values,
            .min = field.min,
            .max = field.max};
  for (const inspect::FieldType type : field.types.List()) {
    out.types.emplace_back(inspect::TypeName(type));
  }
  return out;
}

Description DescriptionOf(const inspect::Description& about, const InspectOptions& options) {
  const bool exact = about.counts.exactness == inspect::Exactness::kExact;
  Description out{.name = about.name,
                  .format = std::string(inspect::FormatName(about.format)),
                  .label = inspect::FormatLabel(about),
                  .encoding = std::string(inspect::EncodingName(about.encoding.kind)),
                  .bytes = about.counts.bytes,
                  .characters = about.counts.chars,
                  .lines = about.counts.lines,
                  .counts = exact ? Description::Counts::kExact : Description::Counts::kAtLeast,
                  .fields_total = about.fields_total,
                  .sample = about.sample,
                  .sha256 = about.sha256};
  if (about.records) {
    out.records = about.records->records;
    out.malformed_records = about.records->malformed;
  }
  for (const inspect::Field& field : about.fields) out.fields.push_back(FieldOf(field));
  for (const inspect::Note& note : about.notes) out.notes.push_back(note.text);
  if (about.read_error) out.notes.push_back(*about.read_error);
  out.hint = inspect::RenderHint(about, {.variable = options.variable});
  out.json = ToJson(inspect::ToJson(about));
  return out;
}

Result<Description> InspectSource(const inspect::ByteSource& source,
                                  const InspectOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const inspect::Options own, OptionsOf(options));
  DOSSIER_ASSIGN_OR_RETURN(const inspect::Description about,
                           inspect::Describe(source, own, options.cancel));
  return DescriptionOf(about, options);
}

}  // namespace

Result<Description> Inspect(const std::string& path, const InspectOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const auto source, inspect::OpenFileSource(path));
  return InspectSource(*source, options);
}

Result<Description> InspectText(std::string_view utf8, std::string_view name,
                                const InspectOptions& options) {
  return InspectSource(*inspect::MemorySource(utf8, std::string(name)), options);
}

}  // namespace dossier
