#include "recursion/document_service.h"

#include <algorithm>
#include <array>

#include "recursion/served_document.h"

namespace dossier::recursion {
namespace {

using Answer = Result<Json> (ServedDocument::*)(const ServedCall& call);

struct Method {
  std::string_view name;
  Answer answer;
};

constexpr std::array<Method, 13> kMethods = {{
    {"info", &ServedDocument::Info},
    {"grep", &ServedDocument::Grep},
    {"search", &ServedDocument::Search},
    {"count", &ServedDocument::Count},
    {"find", &ServedDocument::Find},
    {"lines", &ServedDocument::Lines},
    {"line_count", &ServedDocument::LineCount},
    {"records", &ServedDocument::Records},
    {"records_info", &ServedDocument::RecordsInfo},
    {"record_span", &ServedDocument::RecordSpan},
    {"locate", &ServedDocument::Locate},
    {"char_to_byte", &ServedDocument::CharToByte},
    {"byte_to_char", &ServedDocument::ByteToChar},
}};

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

bool DocumentService::Knows(std::string_view method) { return FindMethod(method) != nullptr; }

Result<Json> DocumentService::Handle(std::string_view method, const JsonObject& args,
                                     std::string* raw_out, const CancelToken& cancel) {
  raw_out->clear();
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

}  // namespace dossier::recursion
