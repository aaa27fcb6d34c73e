// Splits a command template into tokens: text, tags and the contents of tags.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto tokens, LexTemplate("ls {{ F }}"));
//   // kText "ls ", kPrintBegin, kName "F", kPrintEnd, kEnd
//
// It resolves trim marks, `raw`, comments and the two white-space rules (trim_blocks,
// lstrip_blocks), so the parser sees only text that is printed. Thread-safety: a pure function.

#ifndef DOSSIER_SOURCES_TEMPLATE_TEMPLATE_LEXER_H_
#define DOSSIER_SOURCES_TEMPLATE_TEMPLATE_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier::sources {

inline constexpr std::size_t kMaxCommandTemplate = 1 << 20;  // bytes, for template and result

// A position in the template, from 1; columns count code points.
struct TemplatePlace {
  std::int32_t line = 1, column = 1;
};

// Returns kConfig, "column C: MESSAGE" or, after line 1, "line L, column C: MESSAGE".
Error TemplateError(TemplatePlace place, std::string_view message);

struct TemplateToken {
  enum class Kind {
    kText,
    kPrintBegin,
    kPrintEnd,
    kBlockBegin,
    kBlockEnd,
    kName,
    kInteger,
    kReal,
    kString,
    kOperator,
    kEnd
  };
  Kind kind = Kind::kEnd;
  std::string text;  // for a string, its value; for other tokens, the source text
  TemplatePlace place;

  bool IsName(std::string_view name) const { return kind == Kind::kName && text == name; }
  bool IsOperator(std::string_view sign) const { return kind == Kind::kOperator && text == sign; }
};

// The last token is kEnd. Errors: kConfig with construct and column.
Result<std::vector<TemplateToken>> LexTemplate(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_TEMPLATE_TEMPLATE_LEXER_H_
