// The words of a command template: text, tags and what stands in them.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto tokens, LexTemplate("ls {{ F }}"));
//   // kText "ls ", kPrintBegin, kName "F", kPrintEnd, kEnd
//
// Trim marks, `raw`, comments and the two white-space rules (trim_blocks, lstrip_blocks) are done
// with here: the parser sees only text that will be printed. Thread-safety: a pure function.

#ifndef DOSSIER_SOURCES_TEMPLATE_TEMPLATE_LEXER_H_
#define DOSSIER_SOURCES_TEMPLATE_TEMPLATE_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier::sources {

inline constexpr std::size_t kMaxCommandTemplate = 1 << 20;  // bytes, of template and result

// In the template, from 1; columns count code points.
struct TemplatePlace {
  std::int32_t line = 1, column = 1;
};

// kConfig, "column C: MESSAGE" or, below the first line, "line L, column C: MESSAGE".
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
  std::string text;  // of a string, what it means; of other words, what is written
  TemplatePlace place;

  bool IsName(std::string_view name) const { return kind == Kind::kName && text == name; }
  bool IsOperator(std::string_view sign) const { return kind == Kind::kOperator && text == sign; }
};

// The last token is kEnd. Errors: kConfig with construct and column.
Result<std::vector<TemplateToken>> LexTemplate(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_TEMPLATE_TEMPLATE_LEXER_H_
