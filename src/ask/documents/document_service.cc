#include "ask/documents/document_service.h"

#include <algorithm>
#include <array>

#include "ask/documents/served_document.h"
#include "ask/documents/sql_tables.h"

namespace dossier::ask {
namespace {

using Answer = Result<Json> (ServedDocument::*)(const ServedCall& call);

// What a method reads besides the bytes that it returns.
enum class Needs : std::uint8_t { kLines, kCharacters, kRecords, kLinesAndCharacters, kText };

struct Method {
  std::string_view name;
  Answer answer;
  Needs needs;
};

constexpr std::array<Method, 15> kMethods = {{
    {"info", &ServedDocument::Info, Needs::kLinesAndCharacters},
    {"grep", &ServedDocument::Grep, Needs::kText},
    {"search", &ServedDocument::Search, Needs::kText},
    {"count", &ServedDocument::Count, Needs::kText},
    {"find", &ServedDocument::Find, Needs::kText},
    {"cuts", &ServedDocument::Cuts, Needs::kText},
    {"lines", &ServedDocument::Lines, Needs::kLines},
    {"line_count", &ServedDocument::LineCount, Needs::kLines},
    {"records", &ServedDocument::Records, Needs::kRecords},
    {"records_info", &ServedDocument::RecordsInfo, Needs::kRecords},
    {"columns", &ServedDocument::Columns, Needs::kText},
    {"record_span", &ServedDocument::RecordSpan, Needs::kRecords},
    {"locate", &ServedDocument::Locate, Needs::kLinesAndCharacters},
    {"char_to_byte", &ServedDocument::CharToByte, Needs::kCharacters},
    {"byte_to_char", &ServedDocument::ByteToChar, Needs::kCharacters},
}};

constexpr std::string_view kOfAll = "sql_tables";  // concerns no single document

const Method* FindMethod(std::string_view name) {
  const auto found = std::find_if(kMethods.begin(), kMethods.end(),
                                  [name](const Method& method) { return method.name == name; });
  return found == kMethods.end() ? nullptr : &*found;
}

}  // namespace

DocumentService::DocumentService(std::vector<TextDocument> documents)
    : documents_(std::move(documents)) {
  for (const TextDocument& document : documents_) {
    served_.push_back(std::make_unique<ServedDocument>(document));
  }
}

DocumentService::~DocumentService() = default;

bool DocumentService::Knows(std::string_view method) {
  return method == kOfAll || FindMethod(method) != nullptr;
}

Json DocumentService::SqlTables() const {
  std::vector<SqlDocument> documents;
  for (const TextDocument& document : documents_) {
    documents.push_back({document.name, &document.description});
  }
  return {{"tables", SqlTablesJson(SqlTablesOf(documents))}};
}

Result<Json> DocumentService::Handle(std::string_view method, const JsonObject& args,
                                     std::string* raw_out, const CancelToken& cancel) {
  raw_out->clear();
  if (method == kOfAll) return SqlTables();
  const Method* known = FindMethod(method);
  if (!known) return MakeError(ErrorCode::kNotFound, "there is no method {}", method.substr(0, 80));
  const Arguments arguments(known->name, args);
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t index, arguments.Whole("ctx", {.otherwise = 0}));
  if (index >= served_.size()) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: ctx is {}; there are {} documents",
                     known->name, index, served_.size());
  }
  return (served_[index].get()->*known->answer)(
      ServedCall{.arguments = arguments, .raw_out = *raw_out, .cancel = cancel});
}

bool DocumentService::IsQuick(std::string_view method, const JsonObject& args) const {
  const Method* known = FindMethod(method);
  if (!known) return true;
  const auto index = Arguments(known->name, args).Whole("ctx", {.otherwise = 0});
  if (!index || *index >= served_.size()) return true;
  const ServedDocument::Built built = served_[*index]->built();
  switch (known->needs) {
    case Needs::kLines:
      return built.lines;
    case Needs::kCharacters:
      return built.characters;
    case Needs::kRecords:
      return built.records;
    case Needs::kLinesAndCharacters:
      return built.lines && built.characters;
    case Needs::kText:
      return false;
  }
  return false;
}

}  // namespace dossier::ask
