#include "cli/wiring/content_flags.h"

#include <array>

#include "base/text/nearest.h"
#include "base/text/text.h"

namespace dossier::cli {
namespace {

// All but the last, which nobody can ask for.
// Without "binary", the last one.
std::vector<std::string> EncodingNames() {
  const std::vector<std::string_view> names = inspect::EncodingNames();
  return {names.begin(), names.end() - 1};
}

Status SetDelimiter(const std::string& delimiter, inspect::Options* options) {
  if (delimiter == "\\t") {
    options->delimiter = '\t';
  } else if (delimiter.size() == 1 &&
             std::string_view("\"\r\n").find(delimiter) == std::string_view::npos) {
    options->delimiter = delimiter[0];
  } else if (!delimiter.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "--delimiter {}: must be one byte that is no quote or line end, or \\t",
                     delimiter);
  }
  return {};
}

Status SetComment(const std::string& comment, inspect::Options* options) {
  if (comment == "auto") return {};
  if (comment == "none") {
    options->comment = "";
    return {};
  }
  if (comment.empty() || comment.size() > 8 ||
      comment.find_first_of("\"\r\n") != std::string::npos) {
    return MakeError(
        ErrorCode::kUsage,
        "--comment {}: must be what comment lines begin with (such as #), none or auto", comment);
  }
  options->comment = comment;
  return {};
}

}  // namespace

Status ApplyContentFlags(const ContentFlags& flags, inspect::Options* options) {
  if (!flags.format.empty()) {
    options->format = inspect::FormatFromName(flags.format);
    if (!options->format) {
      return MakeError(ErrorCode::kUsage, "--format {}: unknown; {}", flags.format,
                       OneOf(flags.format, inspect::FormatNames()));
    }
  }
  if (!flags.encoding.empty()) {
    options->encoding = inspect::EncodingFromName(ToLowerAscii(flags.encoding));
    if (!options->encoding || *options->encoding == inspect::EncodingKind::kBinary) {
      return MakeError(ErrorCode::kUsage, "--encoding {}: unknown; {}", flags.encoding,
                       OneOf(flags.encoding, EncodingNames()));
    }
  }
  DOSSIER_RETURN_IF_ERROR(SetDelimiter(flags.delimiter, options));
  if (flags.header == "yes") {
    options->header = inspect::HeaderRow::kYes;
  } else if (flags.header == "no") {
    options->header = inspect::HeaderRow::kNo;
  } else if (flags.header != "auto") {
    return MakeError(ErrorCode::kUsage, "--header {}: must be {}", flags.header,
                     OneOf(flags.header, std::array{"yes", "no", "auto"}));
  }
  return SetComment(flags.comment, options);
}

}  // namespace dossier::cli
