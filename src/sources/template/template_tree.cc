#include "sources/template/template_tree.h"

#include "sources/template/template_expr_parser.h"

namespace dossier::sources {
namespace {

using Word = TemplateToken::Kind;

constexpr std::string_view kEndsIf[] = {"elif", "else", "endif"};
constexpr std::string_view kEndsElse[] = {"endif"};
constexpr std::string_view kEndsFor[] = {"else", "endfor"};
constexpr std::string_view kEndsForElse[] = {"endfor"};

class TemplateParser {
 public:
  explicit TemplateParser(std::vector<TemplateToken> tokens) : reader_(std::move(tokens)) {}

  Result<TemplateTree> Run() {
    DOSSIER_ASSIGN_OR_RETURN(TemplateTree tree, Body({}, {}));
    return tree;
  }

 private:
  using Words = std::span<const std::string_view>;

  // Up to, not including, a block that begins with one of `ends`; `opener` names what is open.
  Result<std::vector<TemplateNode>> Body(Words ends, const TemplateToken& opener) {
    if (++level_ > kMaxTemplateDepth + 1) {
      return tl::unexpected(TemplateError(opener.place, "blocks nest deeper than 32"));
    }
    std::vector<TemplateNode> nodes;
    while (true) {
      const TemplateToken& next = reader_.Peek();
      if (next.kind == Word::kEnd) {
        if (ends.empty()) break;
        return tl::unexpected(
            TemplateError(opener.place, fmt::format("{{% {} %}} is never closed", opener.text)));
      }
      const bool ending = next.kind == Word::kBlockBegin &&
                          std::find(ends.begin(), ends.end(), reader_.Peek(1).text) != ends.end();
      if (ending) break;
      DOSSIER_ASSIGN_OR_RETURN(TemplateNode node, Node());
      nodes.push_back(std::move(node));
    }
    --level_;
    return nodes;
  }

  Result<TemplateNode> Node() {
    const TemplateToken token = reader_.Take();
    if (token.kind == Word::kText) {
      return TemplateNode{
          .kind = TemplateNode::Kind::kText, .place = token.place, .text = token.text};
    }
    if (token.kind == Word::kBlockBegin) return Block();
    TemplateNode print{.kind = TemplateNode::Kind::kPrint, .place = token.place};
    DOSSIER_ASSIGN_OR_RETURN(print.value, ParseExpr(reader_));
    DOSSIER_RETURN_IF_ERROR(reader_.Expect(Word::kPrintEnd, "}}"));
    return print;
  }

  Result<TemplateNode> Block() {
    const TemplateToken word = reader_.Take();
    if (word.IsName("if")) return If(word);
    if (word.IsName("for")) return For(word);
    return tl::unexpected(TemplateError(
        word.place,
        fmt::format("{{% {} %}} is not supported here (if, elif, else, for, raw)", word.text)));
  }

  // The words `{% X` at the reader: X, if it is one of the ends that Body stopped at.
  TemplateToken TakeBlockWord() {
    reader_.Take();
    return reader_.Take();
  }

  Result<TemplateNode> If(const TemplateToken& opener) {
    TemplateNode node{.kind = TemplateNode::Kind::kIf, .place = opener.place};
    TemplateToken word = opener;
    while (word.text != "endif") {
      TemplateNode::Branch branch;
      if (word.text != "else") {
        DOSSIER_ASSIGN_OR_RETURN(TemplateExpr condition, ParseCondition(reader_));
        branch.condition = std::make_unique<TemplateExpr>(std::move(condition));
      }
      DOSSIER_RETURN_IF_ERROR(reader_.Expect(Word::kBlockEnd, "%}"));
      const Words ends = word.text == "else" ? Words(kEndsElse) : Words(kEndsIf);
      DOSSIER_ASSIGN_OR_RETURN(branch.body, Body(ends, opener));
      node.branches.push_back(std::move(branch));
      word = TakeBlockWord();
    }
    DOSSIER_RETURN_IF_ERROR(reader_.Expect(Word::kBlockEnd, "%}"));
    return node;
  }

  Result<TemplateNode> For(const TemplateToken& opener) {
    TemplateNode node{.kind = TemplateNode::Kind::kFor, .place = opener.place};
    const TemplateToken name = reader_.Take();
    if (name.kind != Word::kName || name.text == "loop" || IsReservedWord(name.text)) {
      return tl::unexpected(TemplateError(
          name.place, fmt::format("'{}' cannot be the variable of a loop", name.text)));
    }
    node.text = name.text;
    if (!reader_.TakeName("in")) return reader_.Unexpected();
    DOSSIER_ASSIGN_OR_RETURN(node.value, ParseCondition(reader_));
    TemplateToken word = opener;
    while (word.text != "endfor") {
      DOSSIER_RETURN_IF_ERROR(reader_.Expect(Word::kBlockEnd, "%}"));
      const Words ends = word.text == "else" ? Words(kEndsForElse) : Words(kEndsFor);
      DOSSIER_ASSIGN_OR_RETURN(std::vector<TemplateNode> body, Body(ends, opener));
      node.branches.push_back({.condition = nullptr, .body = std::move(body)});
      word = TakeBlockWord();
    }
    DOSSIER_RETURN_IF_ERROR(reader_.Expect(Word::kBlockEnd, "%}"));
    return node;
  }

  TokenReader reader_;
  int level_ = 0;
};

}  // namespace

Result<TemplateTree> ParseTemplateTree(std::string_view text) {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<TemplateToken> tokens, LexTemplate(text));
  return TemplateParser(std::move(tokens)).Run();
}

}  // namespace dossier::sources
