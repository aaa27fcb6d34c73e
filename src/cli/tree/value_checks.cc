#include "cli/tree/value_checks.h"

#include <string>

#include "base/text/parse_number.h"
#include "base/text/utf8.h"
#include "cli/tree/command_tree.h"

namespace dossier::cli {
namespace {

// CLI11 wants "" or what is wrong; it puts the flag's name in front.
template <typename Value>
std::string Complaint(const Value& read) {
  return read ? std::string() : utf8::CleanForTerminal(utf8::Sanitize(read.error().message));
}

// What the system may have named or takes as it is: paths, and the words of another program.
bool MayBeAnyBytes(std::string_view kind) {
  return kind == "PATH" || kind == "FOLDER" || kind == "DIR" || kind == "WORD";
}

// In front of the option's own checks: CLI11's Range lets "nan" through.
template <typename Read>
void AddFirst(CLI::Option& option, Read read) {
  option.transform(CLI::Validator([read](std::string& text) { return Complaint(read(text)); }, ""));
}

}  // namespace

Status CheckUtf8(std::string_view text, std::string_view what) {
  if (utf8::IsValid(text)) return {};
  std::size_t offset = 0;
  while (offset < text.size()) {
    std::size_t next = offset;
    utf8::Next(text, &next);
    if (!utf8::IsValid(text.substr(offset, next - offset))) break;
    offset = next;
  }
  return MakeError(ErrorCode::kUsage, "{} is not UTF-8: byte {} belongs to no character", what,
                   offset);
}

void AddValueChecks(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string kind = KindOf(*option);
    if (kind.empty() || MayBeAnyBytes(kind)) continue;
    // CLI11 takes "nan", "inf", octal and hexadecimal numbers, turns -1 into the largest number
    // where none is below 0, and what is too large into the largest there is.
    if (kind == "INT" || kind == "N") {
      AddFirst(*option, ParseWhole);
    } else if (kind == "UINT") {
      AddFirst(*option, ParseNatural);
    } else if (kind == "FLOAT") {
      AddFirst(*option, ParseNumber);
    } else {
      AddFirst(*option, [](std::string_view text) { return CheckUtf8(text, "the text"); });
    }
  }
}

}  // namespace dossier::cli
