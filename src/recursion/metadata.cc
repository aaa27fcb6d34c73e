#include "recursion/metadata.h"

#include "base/text.h"
#include "inspect/hint.h"

namespace dossier::recursion {
namespace {

constexpr std::size_t kDocumentsListed = 100;  // REC-6

std::string SizeLine(std::size_t index, const ContextDocument& document,
                     std::int64_t max_subcall_chars) {
  const std::uint64_t chars = document.description.counts.chars;
  return fmt::format("{}: {} ({} characters{})", index,
                     document.name.empty() ? "text" : document.name, GroupDigits(chars),
                     static_cast<std::int64_t>(chars) > max_subcall_chars
                         ? ", exceeds the sub-call limit"
                         : "");
}

void AddExamples(const inspect::Description& description, std::vector<std::string>* values) {
  for (const inspect::Field& field : description.fields) {
    if (!field.example.empty()) values->push_back(field.example);
    values->insert(values->end(), field.values.begin(), field.values.end());
  }
}

}  // namespace

Metadata MakeMetadata(const ContextSet& context, Profile profile, std::int64_t max_subcall_chars) {
  Metadata metadata;
  const auto& documents = context.documents();
  metadata.characters = context.characters();
  metadata.doc_count = documents.size() == 1
                           ? std::string("1 document")
                           : fmt::format("{} documents", GroupDigits(documents.size()));
  metadata.total_chars = GroupDigits(context.characters());
  std::vector<inspect::Description> descriptions;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    descriptions.push_back(documents[i].description);
    AddExamples(documents[i].description, &metadata.hint_values);
    if (i < kDocumentsListed) {
      metadata.doc_sizes += SizeLine(i, documents[i], max_subcall_chars) + "\n";
    }
  }
  if (documents.size() > kDocumentsListed) {
    metadata.doc_sizes +=
        fmt::format("… and {} more\n", GroupDigits(documents.size() - kDocumentsListed));
  }
  const inspect::HintOptions options{.profile = profile == Profile::kSmall
                                                    ? inspect::HintProfile::kSmall
                                                    : inspect::HintProfile::kLarge};
  if (descriptions.size() == 1) {
    metadata.hint = inspect::RenderHint(descriptions[0], options);
  } else if (!descriptions.empty()) {
    metadata.hint = inspect::RenderHint(descriptions, options);
  }
  return metadata;
}

}  // namespace dossier::recursion
