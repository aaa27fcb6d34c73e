// A parsed command template: plain data between the parser and the renderer.
//
// Ownership: a node owns everything below it. Thread-safety: plain data.

#ifndef DOSSIER_SOURCES_TEMPLATE_TEMPLATE_TREE_H_
#define DOSSIER_SOURCES_TEMPLATE_TEMPLATE_TREE_H_

#include <memory>
#include <string>
#include <vector>

#include "sources/template/template_lexer.h"
#include "sources/template/template_value.h"

namespace dossier::sources {

enum class CompareSign { kEqual, kNotEqual, kLess, kAtMost, kMore, kAtLeast, kIn, kNotIn };

struct TemplateExpr {
  enum class Kind {
    kLiteral,  // literal
    kName,     // name
    kList,     // operands
    kMember,   // operands[0].name
    kIndex,    // operands[0][operands[1]]
    kFilter,   // operands[0] | name(operands[1], …)
    kIsDefined,
    kIsNone,
    kNot,  // operands[0]
    kAnd,
    kOr,
    kConcat,   // two or more operands
    kCompare,  // operands[0] signs[0] operands[1] signs[1] …
    kChoice,   // operands: value, condition, value otherwise
  };
  Kind kind = Kind::kLiteral;
  TemplatePlace place;
  TemplateValue literal;
  std::string name;
  std::vector<CompareSign> signs;
  std::vector<TemplateExpr> operands;
  int depth = 1;  // depth of the tree from this node down
};

struct TemplateNode {
  enum class Kind { kText, kPrint, kIf, kFor };
  struct Branch {
    std::unique_ptr<TemplateExpr> condition;  // none: always
    std::vector<TemplateNode> body;
  };
  Kind kind = Kind::kText;
  TemplatePlace place;
  std::string text;              // the text, or the variable of a loop
  TemplateExpr value;            // what is printed or iterated over
  std::vector<Branch> branches;  // of `if`; of `for`: the body, then the branch for no items
};

using TemplateTree = std::vector<TemplateNode>;

inline constexpr int kMaxTemplateDepth = 32;  // nesting of blocks and of expressions

// Errors: kConfig with construct and column.
Result<TemplateTree> ParseTemplateTree(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_TEMPLATE_TEMPLATE_TREE_H_
