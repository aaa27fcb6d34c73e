// Expressions of command templates, by Jinja's grammar and binding.
//
//   TokenReader reader(std::move(tokens));
//   DOSSIER_ASSIGN_OR_RETURN(TemplateExpr value, ParseExpr(reader));
//
// Thread-safety: a reader has one owner.

#ifndef DOSSIER_SOURCES_TEMPLATE_TEMPLATE_EXPR_PARSER_H_
#define DOSSIER_SOURCES_TEMPLATE_TEMPLATE_EXPR_PARSER_H_

#include <vector>

#include "sources/template/template_tree.h"

namespace dossier::sources {

// Goes through tokens; stays at the last one, which is kEnd.
class TokenReader {
 public:
  explicit TokenReader(std::vector<TemplateToken> tokens) : tokens_(std::move(tokens)) {}

  const TemplateToken& Peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  TemplateToken Take() {
    TemplateToken token = Peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool TakeName(std::string_view name) { return Peek().IsName(name) && (Take(), true); }
  bool TakeOperator(std::string_view sign) { return Peek().IsOperator(sign) && (Take(), true); }
  Status Expect(TemplateToken::Kind kind, std::string_view what);

  // "unexpected X" at the present token.
  tl::unexpected<Error> Unexpected() const;

 private:
  std::vector<TemplateToken> tokens_;
  std::size_t at_ = 0;
};

// What is printed. Errors: kConfig with construct and column.
Result<TemplateExpr> ParseExpr(TokenReader& reader);
// What stands behind `if`, `elif` and `in`: there a choice (a if c else b) needs brackets.
Result<TemplateExpr> ParseCondition(TokenReader& reader);

// Words that name no variable: and, or, not, in, is, if, else, and the literals.
bool IsReservedWord(std::string_view name);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_TEMPLATE_TEMPLATE_EXPR_PARSER_H_
