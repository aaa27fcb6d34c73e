#include "sources/template/template_render.h"

#include "sources/template/template_filters.h"
#include "sources/template/template_tree.h"

namespace dossier::sources {
namespace {

using Kind = TemplateExpr::Kind;

// One rendering. What is undefined is a value until somebody uses it.
class Renderer {
 public:
  Renderer(const Variables& variables, ShellRule rule, std::vector<std::string>* warnings)
      : variables_(variables), rule_(rule), warnings_(warnings) {}

  Result<std::string> Run(const TemplateTree& tree) {
    DOSSIER_RETURN_IF_ERROR(RenderBody(tree));
    return std::string(StripPythonSpace(out_));
  }

 private:
  static tl::unexpected<Error> Fail(TemplatePlace place, std::string_view message) {
    return tl::unexpected(TemplateError(place, message));
  }

  template <typename T>
  static Result<T> At(TemplatePlace place, Result<T> result) {
    if (!result) return Fail(place, result.error().message);
    return result;
  }

  Status RenderBody(const std::vector<TemplateNode>& nodes) {
    for (const TemplateNode& node : nodes) DOSSIER_RETURN_IF_ERROR(RenderNode(node));
    return {};
  }

  Status RenderNode(const TemplateNode& node) {
    switch (node.kind) {
      case TemplateNode::Kind::kText:
        return Put(node.place, node.text);
      case TemplateNode::Kind::kPrint:
        return Print(node);
      case TemplateNode::Kind::kIf:
        return RenderIf(node);
      case TemplateNode::Kind::kFor:
        return RenderFor(node);
    }
    return {};
  }

  Status Put(TemplatePlace place, std::string_view text) {
    out_ += text;
    if (out_.size() <= kMaxCommandTemplate) return {};
    return Fail(place, "the result is larger than 1 MiB");
  }

  Status Print(const TemplateNode& node) {
    DOSSIER_ASSIGN_OR_RETURN(const Value value, Evaluate(node.value));
    if (rule_ != ShellRule::kNone && !OriginIfUnsafe(value).empty()) {
      const std::string message = fmt::format(
          "variable {0} holds shell characters; write {{{{ {0} | shellquote }}}} or use argv",
          value.origin());
      if (rule_ == ShellRule::kRefuse) return Fail(node.place, message);
      if (warnings_) warnings_->push_back(message);
    }
    return Put(node.place, value.ToText());
  }

  Status RenderIf(const TemplateNode& node) {
    for (const TemplateNode::Branch& branch : node.branches) {
      if (branch.condition) {
        DOSSIER_ASSIGN_OR_RETURN(const Value condition, Evaluate(*branch.condition));
        if (!condition.Truth()) continue;
      }
      return RenderBody(branch.body);
    }
    return {};
  }

  Status RenderFor(const TemplateNode& node) {
    DOSSIER_ASSIGN_OR_RETURN(const Value through, Evaluate(node.value));
    DOSSIER_ASSIGN_OR_RETURN(const Value::List items, At(node.place, Items(through)));
    if (items.empty()) {
      return node.branches.size() > 1 ? RenderBody(node.branches[1].body) : Status();
    }
    const std::size_t outer = scope_.size();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (++passes_ > kMaxTemplatePasses) return Fail(node.place, "more than 10,000 passes");
      scope_.resize(outer);
      scope_.push_back({node.text, Inner(through, &items[i])});
      scope_.push_back({"loop", LoopState(i, items.size())});
      DOSSIER_RETURN_IF_ERROR(RenderBody(node.branches[0].body));
    }
    scope_.resize(outer);
    return {};
  }

  static Value LoopState(std::size_t index, std::size_t length) {
    const auto number = static_cast<std::int64_t>(index);
    const auto count = static_cast<std::int64_t>(length);
    return Value::Map{{"index", Value(number + 1)},
                      {"index0", Value(number)},
                      {"first", Value(index == 0)},
                      {"last", Value(index + 1 == length)},
                      {"length", Value(count)}};
  }

  // A value that is there.
  Result<Value> Evaluate(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(Value value, EvaluateOpen(expr));
    if (value.undefined()) return Fail(expr.place, WhyUndefined(expr));
    return value;
  }

  static std::string WhyUndefined(const TemplateExpr& expr) {
    switch (expr.kind) {
      case Kind::kName:
        return fmt::format("variable {} is not defined", expr.name);
      case Kind::kMember:
        return fmt::format("there is no .{}", expr.name);
      case Kind::kIndex:
        return "there is no such item";
      case Kind::kFilter:
        return fmt::format("{} of nothing is undefined", expr.name);
      default:
        return "the value is undefined";
    }
  }

  // A value that may be undefined.
  Result<Value> EvaluateOpen(const TemplateExpr& expr) {
    switch (expr.kind) {
      case Kind::kLiteral:
        return expr.literal;
      case Kind::kName:
        return LookUp(expr.name);
      case Kind::kList:
        return EvaluateList(expr);
      case Kind::kMember:
        return Member(expr);
      case Kind::kIndex:
        return Index(expr);
      case Kind::kFilter:
        return Filter(expr);
      case Kind::kIsDefined:
        return IsDefined(expr);
      case Kind::kIsNone:
        return IsNone(expr);
      case Kind::kNot:
        return Not(expr);
      case Kind::kAnd:
        return FirstWith(expr, false);
      case Kind::kOr:
        return FirstWith(expr, true);
      case Kind::kConcat:
        return Concat(expr);
      case Kind::kCompare:
        return CompareAll(expr);
      case Kind::kChoice:
        return Choose(expr);
    }
    return Value();
  }

  Value LookUp(std::string_view name) const {
    for (auto local = scope_.rbegin(); local != scope_.rend(); ++local) {
      if (local->key == name) return local->value;
    }
    const auto found = variables_.find(name);
    if (found == variables_.end()) return Value(Value::Undefined{});
    return Value(found->second.value).WithOrigin(found->first);
  }

  Result<Value> EvaluateList(const TemplateExpr& expr) {
    Value::List items;
    for (const TemplateExpr& operand : expr.operands) {
      DOSSIER_ASSIGN_OR_RETURN(Value item, Evaluate(operand));
      items.push_back(std::move(item));
    }
    return Value(std::move(items));
  }

  Result<Value> Member(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const Value value, Evaluate(expr.operands[0]));
    if (!value.map()) {
      return Fail(expr.place,
                  fmt::format(".{} of {}: only maps have names", expr.name, value.TypeName()));
    }
    return Inner(value, value.Find(expr.name));
  }

  // A part of `whole` comes from where the whole does.
  static Value Inner(const Value& whole, const Value* part) {
    if (!part) return Value(Value::Undefined{});
    return part->origin().empty() ? Value(*part).WithOrigin(whole.origin()) : *part;
  }

  Result<Value> Index(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const Value value, Evaluate(expr.operands[0]));
    DOSSIER_ASSIGN_OR_RETURN(const Value index, Evaluate(expr.operands[1]));
    if (value.map()) {
      return Inner(value, index.text() ? value.Find(*index.text()) : nullptr);
    }
    if (!value.list()) {
      return Fail(expr.place,
                  fmt::format("[] of {}: only lists and maps have items", value.TypeName()));
    }
    const auto size = static_cast<std::int64_t>(value.list()->size());
    if (!index.integer()) return Value(Value::Undefined{});
    const std::int64_t at = *index.integer() < 0 ? *index.integer() + size : *index.integer();
    if (at < 0 || at >= size) return Value(Value::Undefined{});
    return Inner(value, &(*value.list())[static_cast<std::size_t>(at)]);
  }

  Result<Value> Filter(const TemplateExpr& expr) {
    std::vector<Value> arguments;
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
      DOSSIER_ASSIGN_OR_RETURN(Value argument, Evaluate(expr.operands[i]));
      arguments.push_back(std::move(argument));
    }
    if (expr.name == "default") return Default(expr, arguments);
    DOSSIER_ASSIGN_OR_RETURN(const Value value, Evaluate(expr.operands[0]));
    return At(expr.place, ApplyFilter(expr.name, value, arguments));
  }

  // default(value, true) replaces empty values, too.
  Result<Value> Default(const TemplateExpr& expr, const std::vector<Value>& arguments) {
    DOSSIER_ASSIGN_OR_RETURN(Value value, EvaluateOpen(expr.operands[0]));
    const bool empty = arguments.size() > 1 && arguments[1].Truth() && !value.Truth();
    if (!value.undefined() && !empty) return value;
    return arguments.empty() ? Value("") : arguments[0];
  }

  Result<Value> IsDefined(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const Value value, EvaluateOpen(expr.operands[0]));
    return Value(!value.undefined());
  }

  Result<Value> IsNone(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const Value value, Evaluate(expr.operands[0]));
    return Value(value.none());
  }

  Result<Value> Not(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const Value value, Evaluate(expr.operands[0]));
    return Value(!value.Truth());
  }

  // The first operand with that truth, else the last: what `or` and `and` give.
  Result<Value> FirstWith(const TemplateExpr& expr, bool truth) {
    for (std::size_t i = 0; i + 1 < expr.operands.size(); ++i) {
      DOSSIER_ASSIGN_OR_RETURN(Value value, Evaluate(expr.operands[i]));
      if (value.Truth() == truth) return value;
    }
    return Evaluate(expr.operands.back());
  }

  Result<Value> Concat(const TemplateExpr& expr) {
    std::string text, origin;
    for (const TemplateExpr& operand : expr.operands) {
      DOSSIER_ASSIGN_OR_RETURN(const Value value, Evaluate(operand));
      text += value.ToText();
      if (origin.empty()) origin = OriginIfUnsafe(value);
      if (text.size() > kMaxCommandTemplate) {
        return Fail(expr.place, "a text is larger than 1 MiB");
      }
    }
    return Value(std::move(text)).WithOrigin(std::move(origin));
  }

  Result<Value> CompareAll(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(Value left, Evaluate(expr.operands[0]));
    for (std::size_t i = 0; i < expr.signs.size(); ++i) {
      DOSSIER_ASSIGN_OR_RETURN(Value right, Evaluate(expr.operands[i + 1]));
      DOSSIER_ASSIGN_OR_RETURN(const bool holds,
                               At(expr.place, CompareTwo(left, expr.signs[i], right)));
      if (!holds) return Value(false);
      left = std::move(right);
    }
    return Value(true);
  }

  static Result<bool> CompareTwo(const Value& left, CompareSign sign, const Value& right) {
    switch (sign) {
      case CompareSign::kEqual:
        return Equal(left, right);
      case CompareSign::kNotEqual:
        return !Equal(left, right);
      case CompareSign::kIn:
        return Contains(right, left);
      case CompareSign::kNotIn:
        return Contains(right, left).map([](bool contained) { return !contained; });
      default:
        break;
    }
    const std::optional<Order> order = Compare(left, right);
    if (!order) {
      return MakeError(ErrorCode::kConfig, "{} and {} have no order", left.TypeName(),
                       right.TypeName());
    }
    const bool equal = *order == Order::kEqual;
    switch (sign) {
      case CompareSign::kLess:
        return *order == Order::kLess;
      case CompareSign::kAtMost:
        return *order == Order::kLess || equal;
      case CompareSign::kMore:
        return *order == Order::kMore;
      default:
        return *order == Order::kMore || equal;
    }
  }

  Result<Value> Choose(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const Value condition, Evaluate(expr.operands[1]));
    return EvaluateOpen(expr.operands[condition.Truth() ? 0 : 2]);
  }

  const Variables& variables_;
  const ShellRule rule_;
  std::vector<std::string>* const warnings_;
  std::string out_;
  Value::Map scope_;  // loop variables, the innermost last
  int passes_ = 0;
};

}  // namespace

Result<std::string> RenderTemplate(std::string_view text, const Variables& variables,
                                   ShellRule rule, std::vector<std::string>* warnings) {
  DOSSIER_ASSIGN_OR_RETURN(const TemplateTree tree, ParseTemplateTree(text));
  return Renderer(variables, rule, warnings).Run(tree);
}

}  // namespace dossier::sources
