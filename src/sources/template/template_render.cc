#include "sources/template/template_render.h"

#include "sources/template/template_tree.h"
#include "sources/template/template_value.h"

namespace dossier::sources {
namespace {

using Kind = TemplateExpr::Kind;

// One rendering. An undefined value is allowed until something uses it.
class Renderer {
 public:
  Renderer(const TemplateVariables& variables, ShellRule rule, std::vector<std::string>* warnings)
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
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue value, Evaluate(node.value));
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
        DOSSIER_ASSIGN_OR_RETURN(const TemplateValue condition, Evaluate(*branch.condition));
        if (!condition.Truth()) continue;
      }
      return RenderBody(branch.body);
    }
    return {};
  }

  Status RenderFor(const TemplateNode& node) {
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue through, Evaluate(node.value));
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue::List items, At(node.place, Items(through)));
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

  static TemplateValue LoopState(std::size_t index, std::size_t length) {
    const auto number = static_cast<std::int64_t>(index);
    const auto count = static_cast<std::int64_t>(length);
    return TemplateValue::Map{{"index", TemplateValue(number + 1)},
                              {"index0", TemplateValue(number)},
                              {"first", TemplateValue(index == 0)},
                              {"last", TemplateValue(index + 1 == length)},
                              {"length", TemplateValue(count)}};
  }

  // Returns a defined value.
  Result<TemplateValue> Evaluate(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(TemplateValue value, EvaluateOpen(expr));
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

  // Returns a value that may be undefined.
  Result<TemplateValue> EvaluateOpen(const TemplateExpr& expr) {
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
    return TemplateValue();
  }

  TemplateValue LookUp(std::string_view name) const {
    for (auto local = scope_.rbegin(); local != scope_.rend(); ++local) {
      if (local->key == name) return local->value;
    }
    const auto found = variables_.find(name);
    if (found == variables_.end()) return TemplateValue(TemplateValue::Undefined{});
    return TemplateValue(found->second.value).WithOrigin(found->first);
  }

  Result<TemplateValue> EvaluateList(const TemplateExpr& expr) {
    TemplateValue::List items;
    for (const TemplateExpr& operand : expr.operands) {
      DOSSIER_ASSIGN_OR_RETURN(TemplateValue item, Evaluate(operand));
      items.push_back(std::move(item));
    }
    return TemplateValue(std::move(items));
  }

  Result<TemplateValue> Member(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue value, Evaluate(expr.operands[0]));
    if (!value.map()) {
      return Fail(expr.place,
                  fmt::format(".{} of {}: only maps have names", expr.name, value.TypeName()));
    }
    return Inner(value, value.Find(expr.name));
  }

  // A part of `whole` has the origin of the whole.
  static TemplateValue Inner(const TemplateValue& whole, const TemplateValue* part) {
    if (!part) return TemplateValue(TemplateValue::Undefined{});
    return part->origin().empty() ? TemplateValue(*part).WithOrigin(whole.origin()) : *part;
  }

  Result<TemplateValue> Index(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue value, Evaluate(expr.operands[0]));
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue index, Evaluate(expr.operands[1]));
    if (value.map()) {
      return Inner(value, index.text() ? value.Find(*index.text()) : nullptr);
    }
    if (!value.list()) {
      return Fail(expr.place,
                  fmt::format("[] of {}: only lists and maps have items", value.TypeName()));
    }
    const auto size = static_cast<std::int64_t>(value.list()->size());
    if (!index.integer()) return TemplateValue(TemplateValue::Undefined{});
    const std::int64_t at = *index.integer() < 0 ? *index.integer() + size : *index.integer();
    if (at < 0 || at >= size) return TemplateValue(TemplateValue::Undefined{});
    return Inner(value, &(*value.list())[static_cast<std::size_t>(at)]);
  }

  Result<TemplateValue> Filter(const TemplateExpr& expr) {
    std::vector<TemplateValue> arguments;
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
      DOSSIER_ASSIGN_OR_RETURN(TemplateValue argument, Evaluate(expr.operands[i]));
      arguments.push_back(std::move(argument));
    }
    if (expr.name == "default") return Default(expr, arguments);
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue value, Evaluate(expr.operands[0]));
    return At(expr.place, ApplyFilter(expr.name, value, arguments));
  }

  // default(value, true) replaces empty values, too.
  Result<TemplateValue> Default(const TemplateExpr& expr,
                                const std::vector<TemplateValue>& arguments) {
    DOSSIER_ASSIGN_OR_RETURN(TemplateValue value, EvaluateOpen(expr.operands[0]));
    const bool empty = arguments.size() > 1 && arguments[1].Truth() && !value.Truth();
    if (!value.undefined() && !empty) return value;
    return arguments.empty() ? TemplateValue("") : arguments[0];
  }

  Result<TemplateValue> IsDefined(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue value, EvaluateOpen(expr.operands[0]));
    return TemplateValue(!value.undefined());
  }

  Result<TemplateValue> IsNone(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue value, Evaluate(expr.operands[0]));
    return TemplateValue(value.none());
  }

  Result<TemplateValue> Not(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue value, Evaluate(expr.operands[0]));
    return TemplateValue(!value.Truth());
  }

  // Returns the first operand with that truth, else the last: the result of `or` and `and`.
  Result<TemplateValue> FirstWith(const TemplateExpr& expr, bool truth) {
    for (std::size_t i = 0; i + 1 < expr.operands.size(); ++i) {
      DOSSIER_ASSIGN_OR_RETURN(TemplateValue value, Evaluate(expr.operands[i]));
      if (value.Truth() == truth) return value;
    }
    return Evaluate(expr.operands.back());
  }

  Result<TemplateValue> Concat(const TemplateExpr& expr) {
    std::string text, origin;
    for (const TemplateExpr& operand : expr.operands) {
      DOSSIER_ASSIGN_OR_RETURN(const TemplateValue value, Evaluate(operand));
      text += value.ToText();
      if (origin.empty()) origin = OriginIfUnsafe(value);
      if (text.size() > kMaxCommandTemplate) {
        return Fail(expr.place, "a text is larger than 1 MiB");
      }
    }
    return TemplateValue(std::move(text)).WithOrigin(std::move(origin));
  }

  Result<TemplateValue> CompareAll(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(TemplateValue left, Evaluate(expr.operands[0]));
    for (std::size_t i = 0; i < expr.signs.size(); ++i) {
      DOSSIER_ASSIGN_OR_RETURN(TemplateValue right, Evaluate(expr.operands[i + 1]));
      DOSSIER_ASSIGN_OR_RETURN(const bool holds,
                               At(expr.place, CompareTwo(left, expr.signs[i], right)));
      if (!holds) return TemplateValue(false);
      left = std::move(right);
    }
    return TemplateValue(true);
  }

  static Result<bool> CompareTwo(const TemplateValue& left, CompareSign sign,
                                 const TemplateValue& right) {
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

  Result<TemplateValue> Choose(const TemplateExpr& expr) {
    DOSSIER_ASSIGN_OR_RETURN(const TemplateValue condition, Evaluate(expr.operands[1]));
    return EvaluateOpen(expr.operands[condition.Truth() ? 0 : 2]);
  }

  const TemplateVariables& variables_;
  const ShellRule rule_;
  std::vector<std::string>* const warnings_;
  std::string out_;
  TemplateValue::Map scope_;  // loop variables, the innermost last
  int passes_ = 0;
};

}  // namespace

Result<std::string> RenderTemplate(std::string_view text, const TemplateVariables& variables,
                                   ShellRule rule, std::vector<std::string>* warnings) {
  DOSSIER_ASSIGN_OR_RETURN(const TemplateTree tree, ParseTemplateTree(text));
  return Renderer(variables, rule, warnings).Run(tree);
}

}  // namespace dossier::sources
