#include "model/scripted/scripted.h"

#include <pcre2.h>

#include <limits>

#include "base/files/file.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/client/http_failure.h"
#include "model/client/timer.h"
#include "model/scripted/yaml_json.h"

namespace dossier::model {
namespace {

struct PcreFree {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

// One regular expression; not for use by two threads at once.
class Pattern {
 public:
  static Result<Pattern> Make(const std::string& source) {
    int code = 0;
    PCRE2_SIZE offset = 0;
    Pattern made;
    made.code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(source.data()), source.size(),
                                   PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code, &offset, nullptr));
    if (!made.code_) {
      PCRE2_UCHAR reason[256];
      pcre2_get_error_message(code, reason, sizeof(reason));
      return MakeError(ErrorCode::kConfig, "`when` is no regular expression, at character {}: {}",
                       offset, reinterpret_cast<const char*>(reason));
    }
    pcre2_jit_compile(made.code_.get(), PCRE2_JIT_COMPLETE);
    made.data_.reset(pcre2_match_data_create(1, nullptr));
    return made;
  }

  bool Matches(std::string_view text) const {
    return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                       data_.get(), nullptr) >= 0;
  }

 private:
  std::unique_ptr<pcre2_code, PcreFree> code_;
  std::unique_ptr<pcre2_match_data, PcreFree> data_;
};

struct Rule {
  std::optional<Pattern> when;
  std::vector<std::string> purposes, paths;  // any of them; empty: all
  std::vector<std::int64_t> turns;
  std::int64_t left = 1;
  Script::Answer answer;

  bool Fits(const Request& request, std::string_view last_message) const {
    const auto in = [](const auto& allowed, const auto& value) {
      return allowed.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end();
    };
    return left > 0 && in(purposes, PurposeName(request.purpose)) && in(turns, request.turn) &&
           in(paths, request.path) && (!when || when->Matches(last_message));
  }
};

class RuleScript final : public Script {
 public:
  RuleScript(std::string name, std::vector<Rule> rules)
      : name_(std::move(name)), rules_(std::move(rules)) {}

  Result<Answer> Next(const Request& request) override {
    const auto& turns = request.messages.turns;
    const std::string last = turns.empty() ? std::string() : turns.back().Text();
    std::lock_guard lock(mutex_);
    ++requests_;
    for (Rule& rule : rules_) {
      if (!rule.Fits(request, last)) continue;
      --rule.left;
      return rule.answer;
    }
    const std::string_view head = utf8::Prefix(last, 200);
    return MakeError(ErrorCode::kFailed,
                     "script {}: no rule is left for request {} (purpose {}, turn {}, path {}), "
                     "whose last message is: {}{}",
                     name_, requests_, PurposeName(request.purpose), request.turn, request.path,
                     head, head.size() < last.size() ? "…" : "");
  }

 private:
  const std::string name_;
  std::mutex mutex_;
  std::vector<Rule> rules_;
  std::int64_t requests_ = 0;
};

// Reads rules. Methods throw YAML::Exception with the place; Read turns that into an Error.
class RuleReader {
 public:
  explicit RuleReader(std::string_view file) : file_(file) {}

  Result<std::vector<Rule>> Read(const YAML::Node& root) {
    try {
      const YAML::Node list = root.IsMap() && root["rules"] ? root["rules"] : root;
      if (!list.IsSequence()) Fail(list, "a script is a list of rules, or {rules: [...]}");
      std::vector<Rule> rules;
      for (const YAML::Node& node : list) rules.push_back(ReadRule(node));
      return rules;
    } catch (const YAML::Exception& error) {
      return YamlError(file_, error.mark, error.msg);
    }
  }

 private:
  [[noreturn]] static void Fail(const YAML::Node& node, const std::string& reason) {
    throw YAML::ParserException(node.Mark(), reason);
  }

  static std::string Text(const YAML::Node& node) {
    return node.IsScalar() ? node.Scalar() : ToJson(YamlToJson(node));
  }

  static std::int64_t Integer(const YAML::Node& node) {
    const Json value = YamlToJson(node);
    if (!value.is_int64()) Fail(node, "a whole number is wanted");
    return value.as_int64();
  }

  template <typename Read>
  static auto OneOrMore(const YAML::Node& node, Read read) {
    std::vector<decltype(read(node))> values;
    if (!node) return values;
    if (!node.IsSequence()) {
      values.push_back(read(node));
    } else {
      for (const YAML::Node& item : node) values.push_back(read(item));
    }
    return values;
  }

  static Finish ReadFinish(const YAML::Node& node) {
    for (Finish finish : {Finish::kStop, Finish::kLength, Finish::kToolCalls, Finish::kFilter,
                          Finish::kCut, Finish::kOther}) {
      if (node.Scalar() == FinishName(finish)) return finish;
    }
    Fail(node, "finish is none of stop, length, tool_calls, filter, cut, other");
  }

  static void CheckKeys(const YAML::Node& node, std::initializer_list<std::string_view> known) {
    const std::vector<std::string> names(known.begin(), known.end());
    for (const auto& item : node) {
      const std::string& key = item.first.Scalar();
      if (std::find(names.begin(), names.end(), key) != names.end()) continue;
      const std::vector<std::string> near = NearestNames(key, names, 1);
      Fail(item.first, fmt::format("unknown key \"{}\"{}", key,
                                   near.empty() ? "" : "; did you mean \"" + near[0] + "\"?"));
    }
  }

  static ToolCall ReadToolCall(const YAML::Node& node) {
    CheckKeys(node, {"id", "name", "arguments"});
    if (!node["name"]) Fail(node, "a tool call needs a name");
    ToolCall call;
    call.name = node["name"].Scalar();
    call.id = node["id"] ? node["id"].Scalar() : "call_" + call.name;
    call.arguments = node["arguments"] ? YamlToJson(node["arguments"]) : Json(JsonObject());
    return call;
  }

  static void ReadFail(const YAML::Node& node, Script::Answer& answer) {
    CheckKeys(node, {"status", "body", "headers", "cut_after"});
    if (node["status"]) {
      const std::int64_t status = Integer(node["status"]);
      if (status < 400 || status > 599) Fail(node["status"], "status is not in 400 to 599");
      answer.fail_status = static_cast<int>(status);
    }
    if (node["body"]) answer.fail_body = Text(node["body"]);
    if (node["cut_after"]) {
      const std::int64_t bytes = Integer(node["cut_after"]);
      if (bytes < 0) Fail(node["cut_after"], "cut_after is negative");
      answer.cut_after = static_cast<std::size_t>(bytes);
    }
    for (const auto& header : node["headers"]) {
      answer.fail_headers.emplace_back(header.first.Scalar(), Text(header.second));
    }
  }

  static Usage ReadUsage(const YAML::Node& node) {
    CheckKeys(node, {"input", "output", "cached", "cache_write", "reasoning"});
    const auto tokens = [&](const char* key) {
      const std::int64_t number = node[key] ? Integer(node[key]) : 0;
      if (number < 0) Fail(node[key], fmt::format("{} is negative", key));
      return number;
    };
    Usage usage{.input = tokens("input"),
                .output = tokens("output"),
                .cached = tokens("cached"),
                .cache_write = tokens("cache_write")};
    if (node["reasoning"]) usage.reasoning = tokens("reasoning");
    if (usage.reasoning.value_or(0) > usage.output) {
      Fail(node, "reasoning is a part of output, and is more than it");
    }
    if (usage.cached + usage.cache_write > usage.input) {
      Fail(node, "cached and cache_write are parts of input, and are more than it");
    }
    return usage;
  }

  static Script::Answer ReadAnswer(const YAML::Node& node) {
    Script::Answer answer;
    if (node["reply"]) answer.text = Text(node["reply"]);
    if (node["thinking"]) answer.thinking = Text(node["thinking"]);
    for (const YAML::Node& call : node["tool_calls"]) {
      answer.tool_calls.push_back(ReadToolCall(call));
      answer.finish = Finish::kToolCalls;
    }
    if (node["finish"]) answer.finish = ReadFinish(node["finish"]);
    if (node["usage"]) answer.usage = ReadUsage(node["usage"]);
    for (const auto& item : node["logprobs"]) {
      const Json value = YamlToJson(item.second);
      if (!value.is_number()) Fail(item.second, "a log-probability is a number");
      answer.first_tokens.push_back({item.first.Scalar(), value.to_number<double>()});
    }
    std::ranges::stable_sort(answer.first_tokens, std::greater(), &TokenChance::logprob);
    if (node["fail"]) ReadFail(node["fail"], answer);
    if (node["delay"]) {
      const auto delay = ParseDuration(node["delay"].Scalar());
      if (!delay) Fail(node["delay"], delay.error().message);
      answer.delay = *delay;
    }
    return answer;
  }

  static Rule ReadRule(const YAML::Node& node) {
    Rule rule;
    if (node.IsScalar()) {
      rule.answer.text = node.Scalar();
      return rule;
    }
    if (!node.IsMap()) Fail(node, "a rule is a text or a map");
    CheckKeys(node, {"when", "purpose", "turn", "path", "reply", "thinking", "tool_calls", "finish",
                     "usage", "delay", "fail", "logprobs", "times"});
    if (!node["reply"] && !node["tool_calls"] && !node["fail"]) {
      Fail(node, "a rule needs reply, tool_calls or fail");
    }
    if (node["when"]) {
      auto pattern = Pattern::Make(node["when"].Scalar());
      if (!pattern) Fail(node["when"], pattern.error().message);
      rule.when = std::move(*pattern);
    }
    rule.purposes = OneOrMore(node["purpose"], Text);
    rule.paths = OneOrMore(node["path"], Text);
    rule.turns = OneOrMore(node["turn"], Integer);
    rule.left = ReadTimes(node, rule);
    rule.answer = ReadAnswer(node);
    return rule;
  }

  static std::int64_t ReadTimes(const YAML::Node& node, const Rule& rule) {
    constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
    const bool conditions =
        rule.when || !rule.purposes.empty() || !rule.paths.empty() || !rule.turns.empty();
    if (!node["times"]) return conditions ? kAlways : 1;
    if (node["times"].IsScalar() && node["times"].Scalar() == "always") return kAlways;
    const std::int64_t times = Integer(node["times"]);
    if (times < 0) Fail(node["times"], "times is a number from 0, or always");
    return times;
  }

  const std::string_view file_;
};

std::int64_t EstimateTokens(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 3) / 4);
}

Usage EstimateUsage(const Request& request, std::string_view text) {
  std::size_t bytes = 0;
  for (const auto& block : request.messages.system) bytes += block.text.size();
  for (const auto& turn : request.messages.turns) {
    for (const auto& block : turn.blocks) bytes += block.text.size();
  }
  return {.input = EstimateTokens(bytes), .output = EstimateTokens(text.size()), .estimated = true};
}

// One request between Submit and its sink's last call, which comes on the timer's thread.
struct Pending {
  std::shared_ptr<const Request> request;
  CancelToken cancel;
  std::shared_ptr<Sink> sink;
  std::shared_ptr<const Entry> entry;  // null: nothing costs anything
  std::uint64_t cancel_id = 0;
  std::atomic<bool> done{false};
};

class ScriptedClient final : public Client {
 public:
  ScriptedClient(std::shared_ptr<Script> script, std::shared_ptr<const Clock> clock,
                 std::shared_ptr<const Entry> entry)
      : script_(std::move(script)),
        entry_(std::move(entry)),
        clock_(clock),
        timer_(MakeThreadTimer(std::move(clock))),
        link_(std::make_shared<TimerLink>(*timer_)) {}
  ~ScriptedClient() override { link_->Cut(); }

  void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
              std::shared_ptr<Sink> sink) override {
    auto pending = std::make_shared<Pending>();
    pending->request = std::move(request);
    pending->cancel = std::move(cancel);
    pending->sink = std::move(sink);
    pending->entry = entry_;
    Result<Script::Answer> answer = script_->Next(*pending->request);
    const Millis delay = answer ? answer->delay : Millis(0);
    const bool late = delay > pending->request->deadline;
    if (late) {
      answer = MakeError(ErrorCode::kTimeout, "scripted: no answer within {:.1f} s",
                         pending->request->deadline.count() / 1000.0);
    }
    const Clock::Steady due = delay.count() == 0
                                  ? Clock::Steady::min()
                                  : clock_->Now() + std::min(delay, pending->request->deadline);
    if (delay.count() > 0) WatchCancel(pending);
    auto now = clock_->WallNow();
    timer_->At(due, [pending, answer = std::move(answer), now, late]() mutable {
      Deliver(*pending, std::move(answer), now, late ? Failure::Retry::kYes : Failure::Retry::kNo);
    });
  }

 private:
  // Only a request that waits needs to hear of a cancellation at once.
  void WatchCancel(const std::shared_ptr<Pending>& pending) {
    pending->cancel_id =
        pending->cancel.OnCancel([weak = std::weak_ptr<Pending>(pending), link = link_] {
          link->Post([weak] {
            if (const auto still = weak.lock()) {
              Deliver(*still, Script::Answer(), {}, Failure::Retry::kNo);
            }
          });
        });
  }

  static void Deliver(Pending& pending, Result<Script::Answer> answer, Clock::Wall now,
                      Failure::Retry retry) {
    if (pending.done.exchange(true)) return;
    const auto sink = std::move(pending.sink);
    pending.cancel.Forget(pending.cancel_id);
    if (pending.cancel.cancelled()) {
      sink->OnDone(MakeError(ErrorCode::kCancelled, "cancelled: {}", pending.cancel.reason()));
    } else if (!answer) {
      sink->OnFailure({.retry = retry});
      sink->OnDone(tl::unexpected(answer.error()));
    } else if (answer->fail_status != 0) {
      const HttpFailure failed =
          MapHttpFailure({.status = answer->fail_status,
                          .headers = answer->fail_headers,
                          .body = answer->fail_body},
                         {.provider = "scripted", .model = pending.request->model}, now);
      sink->OnFailure(failed.failure);
      sink->OnDone(tl::unexpected(failed.error));
    } else if (answer->cut_after == 0) {
      sink->OnFailure({.retry = Failure::Retry::kYes, .sent = Failure::Sent::kYes});
      sink->OnDone(
          MakeError(ErrorCode::kNetwork, "scripted: the connection broke before any text"));
    } else {
      DeliverReply(pending, *sink, std::move(*answer));
    }
  }

  static void DeliverReply(const Pending& pending, Sink& sink, Script::Answer answer) {
    Reply reply;
    reply.text = std::move(answer.text);
    reply.thinking = std::move(answer.thinking);
    reply.tool_calls = std::move(answer.tool_calls);
    reply.finish = answer.finish;
    if (answer.cut_after && *answer.cut_after < reply.text.size()) {
      reply.text.resize(utf8::FloorBoundary(reply.text, *answer.cut_after));
      reply.finish = Finish::kCut;
    }
    reply.usage = answer.usage ? *answer.usage : EstimateUsage(*pending.request, reply.text);
    if (pending.request->sampling.first_tokens > 0)
      reply.first_tokens = std::move(answer.first_tokens);
    reply.usage.cost_nano_usd = pending.entry ? CostOf(reply.usage, *pending.entry) : 0;
    reply.resolved_model = "scripted";
    if (!reply.text.empty()) sink.OnDelta(reply.text);
    sink.OnDone(std::move(reply));
  }

  const std::shared_ptr<Script> script_;
  const std::shared_ptr<const Entry> entry_;
  const std::shared_ptr<const Clock> clock_;
  const std::shared_ptr<Timer> timer_;
  const std::shared_ptr<TimerLink> link_;
};

}  // namespace

Result<std::shared_ptr<Script>> Script::Load(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(std::string text, ReadFile(path, 64u << 20));
  return Parse(text, path);
}

Result<std::shared_ptr<Script>> Script::Parse(std::string_view yaml, std::string_view name) {
  DOSSIER_ASSIGN_OR_RETURN(YAML::Node root, ParseYaml(yaml, name));
  DOSSIER_ASSIGN_OR_RETURN(std::vector<Rule> rules, RuleReader(name).Read(root));
  return std::make_shared<RuleScript>(std::string(name), std::move(rules));
}

std::shared_ptr<Client> MakeScriptedClient(std::shared_ptr<Script> script,
                                           std::shared_ptr<const Clock> clock,
                                           std::optional<Entry> entry) {
  return std::make_shared<ScriptedClient>(
      std::move(script), std::move(clock),
      entry ? std::make_shared<const Entry>(std::move(*entry)) : nullptr);
}

}  // namespace dossier::model
