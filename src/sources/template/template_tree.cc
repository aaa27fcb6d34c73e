#include "sources/template/template_tree.h"

#include <charconv>
#include <vector>

#include "base/text/utf8.h"
#include "sources/template/template_value.h"

namespace dossier::sources {
namespace {

// Parses expressions of command templates, with Jinja's grammar and precedence.
//
//   TokenReader reader(std::move(tokens));
//   DOSSIER_ASSIGN_OR_RETURN(TemplateExpr value, ParseExpr(reader));
//
// Thread-safety: a reader has one owner.

// Iterates over tokens; stays at the last one, which is kEnd.
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

  // Returns "unexpected X" for the current token.
  tl::unexpected<Error> Unexpected() const;

 private:
  std::vector<TemplateToken> tokens_;
  std::size_t at_ = 0;
};

using Kind = TemplateExpr::Kind;
using Word = TemplateToken::Kind;

struct SignName {
  std::string_view text;
  CompareSign sign;
};
constexpr SignName kSigns[] = {
    {"==", CompareSign::kEqual},  {"!=", CompareSign::kNotEqual}, {"<", CompareSign::kLess},
    {"<=", CompareSign::kAtMost}, {">", CompareSign::kMore},      {">=", CompareSign::kAtLeast},
};

struct Literal {
  std::string_view name;
  TemplateValue (*make)();
};
constexpr Literal kLiterals[] = {
    {"true", [] { return TemplateValue(true); }},   {"True", [] { return TemplateValue(true); }},
    {"false", [] { return TemplateValue(false); }}, {"False", [] { return TemplateValue(false); }},
    {"none", [] { return TemplateValue(); }},       {"None", [] { return TemplateValue(); }},
};
constexpr std::string_view kReserved[] = {"and", "or", "not", "in", "is", "if", "elif", "else"};

// Words that are not variable names: and, or, not, in, is, if, else, and the literals.
bool IsReservedWord(std::string_view name) {
  const auto is_name = [&](const Literal& literal) { return literal.name == name; };
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved) ||
         std::any_of(std::begin(kLiterals), std::end(kLiterals), is_name);
}

// Recursive descent, loosest binding first. Each function reads one rule of the grammar.
class ExprParser {
 public:
  explicit ExprParser(TokenReader& reader) : reader_(reader) {}

  Result<TemplateExpr> Choice() {
    if (++level_ > kMaxTemplateDepth) return TooDeep();
    DOSSIER_ASSIGN_OR_RETURN(TemplateExpr value, Either());
    while (reader_.Peek().IsName("if")) {
      const TemplatePlace place = reader_.Take().place;
      TemplateExpr choice{.kind = Kind::kChoice, .place = place};
      choice.operands.push_back(std::move(value));
      DOSSIER_RETURN_IF_ERROR(AddOperand(Either(), &choice));
      if (!reader_.TakeName("else")) {
        return tl::unexpected(TemplateError(place, "an if without else has no value"));
      }
      DOSSIER_RETURN_IF_ERROR(AddOperand(Choice(), &choice));
      DOSSIER_ASSIGN_OR_RETURN(value, Close(std::move(choice)));
    }
    --level_;
    return value;
  }

  Result<TemplateExpr> Either() {
    return Chain(Kind::kOr, &ExprParser::Both,
                 [this](TemplateExpr*) { return reader_.TakeName("or"); });
  }

 private:
  using Rule = Result<TemplateExpr> (ExprParser::*)();

  tl::unexpected<Error> TooDeep() const {
    return tl::unexpected(TemplateError(reader_.Peek().place, "nested deeper than 32"));
  }

  static Status AddOperand(Result<TemplateExpr> operand, TemplateExpr* parent) {
    DOSSIER_RETURN_IF_ERROR(operand);
    parent->operands.push_back(std::move(*operand));
    return {};
  }

  // Finishes a node whose operands are complete.
  Result<TemplateExpr> Close(TemplateExpr node) const {
    for (const TemplateExpr& operand : node.operands) {
      node.depth = std::max(node.depth, operand.depth + 1);
    }
    if (node.depth > kMaxTemplateDepth) return TooDeep();
    return node;
  }

  Result<TemplateExpr> Around(Kind kind, TemplatePlace place, TemplateExpr operand,
                              std::string name = "") const {
    TemplateExpr node{.kind = kind, .place = place, .name = std::move(name)};
    node.operands.push_back(std::move(operand));
    return Close(std::move(node));
  }

  // operand (separator operand)*, as one node.
  template <typename TakeSeparator>
  Result<TemplateExpr> Chain(Kind kind, Rule rule, TakeSeparator take) {
    DOSSIER_ASSIGN_OR_RETURN(TemplateExpr first, (this->*rule)());
    TemplateExpr chain{.kind = kind, .place = reader_.Peek().place};
    chain.operands.push_back(std::move(first));
    while (take(&chain)) DOSSIER_RETURN_IF_ERROR(AddOperand((this->*rule)(), &chain));
    if (chain.operands.size() == 1) return std::move(chain.operands[0]);
    return Close(std::move(chain));
  }

  Result<TemplateExpr> Both() {
    return Chain(Kind::kAnd, &ExprParser::Negation,
                 [this](TemplateExpr*) { return reader_.TakeName("and"); });
  }

  Result<TemplateExpr> Negation() {
    const TemplatePlace place = reader_.Peek().place;
    if (!reader_.TakeName("not")) return Comparison();
    if (++level_ > kMaxTemplateDepth) return TooDeep();
    DOSSIER_ASSIGN_OR_RETURN(TemplateExpr operand, Negation());
    --level_;
    return Around(Kind::kNot, place, std::move(operand));
  }

  Result<TemplateExpr> Comparison() {
    return Chain(Kind::kCompare, &ExprParser::Concatenation,
                 [this](TemplateExpr* chain) { return TakeSign(&chain->signs); });
  }

  bool TakeSign(std::vector<CompareSign>* signs) {
    if (reader_.TakeName("in")) {
      signs->push_back(CompareSign::kIn);
      return true;
    }
    if (reader_.Peek().IsName("not") && reader_.Peek(1).IsName("in")) {
      reader_.Take();
      reader_.Take();
      signs->push_back(CompareSign::kNotIn);
      return true;
    }
    for (const SignName& known : kSigns) {
      if (!reader_.TakeOperator(known.text)) continue;
      signs->push_back(known.sign);
      return true;
    }
    return false;
  }

  Result<TemplateExpr> Concatenation() {
    return Chain(Kind::kConcat, &ExprParser::Filtered,
                 [this](TemplateExpr*) { return reader_.TakeOperator("~"); });
  }

  Result<TemplateExpr> Filtered() {
    DOSSIER_ASSIGN_OR_RETURN(TemplateExpr value, Primary());
    DOSSIER_ASSIGN_OR_RETURN(value, Postfix(std::move(value)));
    while (true) {
      if (reader_.TakeOperator("|")) {
        DOSSIER_ASSIGN_OR_RETURN(value, Filter(std::move(value)));
      } else if (reader_.Peek().IsName("is")) {
        DOSSIER_ASSIGN_OR_RETURN(value, Test(std::move(value)));
      } else if (reader_.Peek().IsOperator("(")) {
        return tl::unexpected(TemplateError(reader_.Peek().place, "calls are not supported"));
      } else {
        return value;
      }
    }
  }

  Result<TemplateExpr> Primary() {
    const TemplateToken token = reader_.Take();
    TemplateExpr literal{.kind = Kind::kLiteral, .place = token.place};
    switch (token.kind) {
      case Word::kString:
        literal.literal = TemplateValue(token.text);
        return literal;
      case Word::kInteger:
      case Word::kReal:
        return Number(token, "");
      case Word::kName:
        return Name(token);
      case Word::kOperator:
        break;
      default:
        return UnexpectedToken(token);
    }
    if (token.text == "-") return NegativeNumber(token);
    if (token.text == "[") return List(token.place);
    if (token.text != "(") return UnexpectedToken(token);
    DOSSIER_ASSIGN_OR_RETURN(TemplateExpr inner, Choice());
    if (!reader_.TakeOperator(")")) return reader_.Unexpected();
    return inner;
  }

  static tl::unexpected<Error> UnexpectedToken(const TemplateToken& token) {
    const bool ends = token.kind == Word::kPrintEnd || token.kind == Word::kBlockEnd;
    return tl::unexpected(
        TemplateError(token.place, ends ? fmt::format("a value is missing before {}", token.text)
                                        : fmt::format("'{}' is not supported", token.text)));
  }

  Result<TemplateExpr> NegativeNumber(const TemplateToken& minus) {
    const TemplateToken token = reader_.Take();
    if (token.kind != Word::kInteger && token.kind != Word::kReal) return UnexpectedToken(minus);
    return Number(token, "-");
  }

  static Result<TemplateExpr> Number(const TemplateToken& token, std::string_view sign) {
    const std::string text = std::string(sign) + token.text;
    const char* end = text.data() + text.size();
    TemplateExpr literal{.kind = Kind::kLiteral, .place = token.place};
    std::int64_t integer = 0;
    double real = 0;
    if (token.kind == Word::kInteger) {
      if (std::from_chars(text.data(), end, integer).ec != std::errc()) {
        return tl::unexpected(
            TemplateError(token.place, fmt::format("{} does not fit 64 bits", text)));
      }
      literal.literal = TemplateValue(integer);
    } else {
      // Out of range gives 0 or infinity, as in Python.
      real = std::strtod(text.c_str(), nullptr);
      literal.literal = TemplateValue(real);
    }
    return literal;
  }

  static Result<TemplateExpr> Name(const TemplateToken& token) {
    for (const Literal& known : kLiterals) {
      if (known.name != token.text) continue;
      return TemplateExpr{.kind = Kind::kLiteral, .place = token.place, .literal = known.make()};
    }
    if (IsReservedWord(token.text)) {
      return tl::unexpected(
          TemplateError(token.place, fmt::format("a value is missing before {}", token.text)));
    }
    return TemplateExpr{.kind = Kind::kName, .place = token.place, .name = token.text};
  }

  Result<TemplateExpr> List(TemplatePlace place) {
    TemplateExpr list{.kind = Kind::kList, .place = place};
    while (!reader_.TakeOperator("]")) {
      if (!list.operands.empty() && !reader_.TakeOperator(",")) return reader_.Unexpected();
      if (reader_.TakeOperator("]")) break;
      DOSSIER_RETURN_IF_ERROR(AddOperand(Choice(), &list));
    }
    return Close(std::move(list));
  }

  Result<TemplateExpr> Postfix(TemplateExpr value) {
    while (true) {
      const TemplatePlace place = reader_.Peek().place;
      if (reader_.TakeOperator(".")) {
        const TemplateToken name = reader_.Take();
        if (name.kind != Word::kName) return UnexpectedToken(name);
        DOSSIER_ASSIGN_OR_RETURN(value, Around(Kind::kMember, place, std::move(value), name.text));
      } else if (reader_.TakeOperator("[")) {
        TemplateExpr index{.kind = Kind::kIndex, .place = place};
        index.operands.push_back(std::move(value));
        DOSSIER_RETURN_IF_ERROR(AddOperand(Choice(), &index));
        if (!reader_.TakeOperator("]")) return reader_.Unexpected();
        DOSSIER_ASSIGN_OR_RETURN(value, Close(std::move(index)));
      } else {
        return value;
      }
    }
  }

  Result<TemplateExpr> Filter(TemplateExpr value) {
    const TemplateToken name = reader_.Take();
    if (name.kind != Word::kName) return UnexpectedToken(name);
    TemplateExpr filter{.kind = Kind::kFilter, .place = name.place, .name = name.text};
    filter.operands.push_back(std::move(value));
    if (reader_.TakeOperator("(")) {
      while (!reader_.TakeOperator(")")) {
        if (filter.operands.size() > 1 && !reader_.TakeOperator(",")) return reader_.Unexpected();
        if (reader_.TakeOperator(")")) break;
        DOSSIER_RETURN_IF_ERROR(AddOperand(Choice(), &filter));
      }
    }
    if (const Status known = CheckFilter(name.text, filter.operands.size() - 1); !known) {
      return tl::unexpected(TemplateError(name.place, known.error().message));
    }
    return Close(std::move(filter));
  }

  Result<TemplateExpr> Test(TemplateExpr value) {
    const TemplatePlace place = reader_.Take().place;
    const bool negated = reader_.TakeName("not");
    const TemplateToken name = reader_.Take();
    if (name.kind != Word::kName || (name.text != "defined" && name.text != "none")) {
      return tl::unexpected(TemplateError(
          name.place, fmt::format("the test '{}' is not supported (defined, none)", name.text)));
    }
    DOSSIER_RETURN_IF_ERROR(CheckTestEnd());
    const Kind kind = name.text == "defined" ? Kind::kIsDefined : Kind::kIsNone;
    DOSSIER_ASSIGN_OR_RETURN(TemplateExpr test, Around(kind, place, std::move(value)));
    if (!negated) return test;
    return Around(Kind::kNot, place, std::move(test));
  }

  // Jinja takes a word or literal after a test as its argument, even `if`, so brackets are required
  // there.
  Status CheckTestEnd() const {
    const TemplateToken& next = reader_.Peek();
    const bool literal = next.kind == Word::kString || next.kind == Word::kInteger ||
                         next.kind == Word::kReal || next.IsOperator("(") || next.IsOperator("[");
    const bool word = next.kind == Word::kName && !next.IsName("else") && !next.IsName("or") &&
                      !next.IsName("and");
    if (!literal && !word) return {};
    return tl::unexpected(TemplateError(
        next.place, fmt::format("'{}' behind a test: put the test in brackets", next.text)));
  }

  TokenReader& reader_;
  int level_ = 0;
};

Status TokenReader::Expect(TemplateToken::Kind kind, std::string_view what) {
  if (Peek().kind == kind) {
    Take();
    return {};
  }
  return tl::unexpected(
      TemplateError(Peek().place, fmt::format("expected {} instead of '{}'", what, Peek().text)));
}

tl::unexpected<Error> TokenReader::Unexpected() const {
  return tl::unexpected(TemplateError(Peek().place, fmt::format("unexpected '{}'", Peek().text)));
}

// Parses a printed expression. Errors: kConfig with construct and column.
Result<TemplateExpr> ParseExpr(TokenReader& reader) { return ExprParser(reader).Choice(); }

// Parses what follows `if`, `elif` and `in`; there a choice (a if c else b) needs brackets.
Result<TemplateExpr> ParseCondition(TokenReader& reader) { return ExprParser(reader).Either(); }

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

  // Reads up to, not including, a block that begins with one of `ends`; `opener` is the open block.
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

  // Returns X of `{% X` at the reader, if it is one of the ends at which Body stopped.
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
