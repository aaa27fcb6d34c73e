#include "memory/records/operations.h"

#include <algorithm>
#include <vector>

#include "base/text/text.h"

namespace dossier::memory {
namespace {

constexpr std::string_view kLongHead =
    R"(You have a memory that outlives this reply. To use it, write one block of this form, outside of code fences:

<memory_update>
{"core_set": {"compiler": "icpx"}, "archival_search": {"query": "linker error"}}
</memory_update>

The block holds one JSON object. Each name in it is an operation:

)";

constexpr std::string_view kLongTail = R"(
Writes run first, then reads, in the order above. A block that only reads, with nothing else in the
reply, is answered with the results in the next prompt. A block that writes stands beside your
answer. Only the first block of a reply counts. Inside JSON text, write a line end as \n.
)";

constexpr std::string_view kShortHead =
    "To use your memory, write one block outside of code fences: <memory_update>{\"NAME\": VALUE, "
    "…}</memory_update>, one JSON object. Names: ";

constexpr std::string_view kShortTail =
    ". A block that only reads, alone, is answered in the next prompt; one that writes stands "
    "beside "
    "your answer.\n";

std::string WithoutBackticks(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '`');
  return plain;
}

}  // namespace

const MemoryOperation* FindOperation(std::string_view name) {
  if (name.empty()) return nullptr;
  const auto* const found =
      std::ranges::find_if(kOperations, [name](const MemoryOperation& operation) {
        return operation.name == name ||
               std::ranges::find(operation.synonyms, name) != operation.synonyms.end();
      });
  return found == kOperations.end() ? nullptr : found;
}

const MemoryOperation& OperationOf(OperationId id) {
  return kOperations[static_cast<std::size_t>(id)];
}

std::string NearestOperation(std::string_view name) {
  std::vector<std::string> names;
  for (const MemoryOperation& operation : kOperations) {
    names.emplace_back(operation.name);
    for (const std::string_view synonym : operation.synonyms) {
      if (!synonym.empty()) names.emplace_back(synonym);
    }
  }
  const std::vector<std::string> nearest = NearestNames(name, names, 1);
  return nearest.empty() ? std::string() : std::string(FindOperation(nearest[0])->name);
}

std::string HelpText(HelpForm form) {
  std::string text(form == HelpForm::kLong ? kLongHead : kShortHead);
  std::string_view between;
  for (const MemoryOperation& operation : kOperations) {
    if (form == HelpForm::kLong) {
      text += fmt::format("- {}{}: {}\n    value: {}; example: {{\"{}\": {}}}\n", operation.name,
                          operation.access == Access::kRead ? " (read)" : "", operation.help,
                          WithoutBackticks(operation.value), operation.name, operation.example);
    } else {
      text += fmt::format("{}{} {}", between, operation.name, WithoutBackticks(operation.value));
      between = "; ";
    }
  }
  text += form == HelpForm::kLong ? kLongTail : kShortTail;
  return text;
}

std::string OperationsTable() {
  std::string table =
      "| operation | synonyms | value | result | what it does |\n| --- | --- | --- | --- | --- |\n";
  for (const MemoryOperation& operation : kOperations) {
    std::vector<std::string> synonyms;
    for (const std::string_view synonym : operation.synonyms) {
      if (!synonym.empty()) synonyms.push_back(fmt::format("`{}`", synonym));
    }
    table += fmt::format("| `{}`{} | {} | {} | {} | {} |\n", operation.name,
                         operation.access == Access::kRead ? " (read)" : "", Join(synonyms, ", "),
                         operation.value, operation.result, operation.help);
  }
  return table;
}

}  // namespace dossier::memory
