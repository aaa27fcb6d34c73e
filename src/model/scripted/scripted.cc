#include "model/scripted/scripted.h"

#include <pcre2.h>

#include <limits>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/catalog/catalog_reader.h"
#include "model/client/client.h"
#include "model/client/http_failure.h"
#include "model/client/timer.h"

namespace dossier::model {
namespace {

constexpr std::size_t kMaxScriptBytes = 64u << 20;

struct PcreFree {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

// A regular expression; not thread-safe.
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

// Converts JSON to a tree whose nodes have no place.
YamlNode TreeOfJson(const Json& value) {
  YamlNode node{.line = 0, .column = 0};
  if (const auto* object = value.if_object()) {
    node.kind = YamlNode::Kind::kMap;
    for (const auto& [key, item] : *object) {
      node.entries.push_back({std::string(key), 0, 0, TreeOfJson(item)});
    }
  } else if (const auto* array = value.if_array()) {
    node.kind = YamlNode::Kind::kList;
    for (const Json& item : *array) node.items.push_back(TreeOfJson(item));
  } else if (!value.is_null()) {
    const auto* text = value.if_string();
    node.kind = YamlNode::Kind::kScalar;
    node.style = text ? YamlNode::Style::kQuoted : YamlNode::Style::kPlain;
    node.scalar = text ? std::string(*text) : ToJson(value);
  }
  return node;
}

Result<YamlNode> ParseScript(std::string_view text, std::string_view file) {
  const std::string_view trimmed = TrimSpace(text);
  if (trimmed.starts_with('{') || trimmed.starts_with('[')) {
    // Not all of JSON's escapes are valid YAML (surrogate pairs), so JSON is parsed as JSON first.
    if (const auto json = ParseJson(trimmed)) return TreeOfJson(*json);
  }
  return ParseYaml(text, file, {.max_bytes = kMaxScriptBytes, .max_nodes = kMaxScriptBytes});
}

std::string ReadAnyText(const YamlPlace& node) {
  return node.is_scalar() ? node->scalar : ToJson(ToJsonValue(*node));
}

std::int64_t ReadInteger(const YamlPlace& node) {
  const Json value = ToJsonValue(*node);
  if (!value.is_int64()) FailAt(node, "a whole number is wanted");
  return value.as_int64();
}

template <typename Read>
auto OneOrMore(const YamlPlace& node, Read read) {
  std::vector<decltype(read(node))> values;
  if (!node) return values;
  if (!node.is_list()) {
    values.push_back(read(node));
  } else {
    for (const YamlNode& item : node->items) values.push_back(read(item));
  }
  return values;
}

// Checks a map, or null for an empty one: all keys must be in `known`.
void CheckFields(const YamlPlace& node, Names known) {
  if (!node.is_null()) CheckKeys(node, known);
}

const std::vector<YamlNode>& ItemsOf(const YamlPlace& node) {
  if (!node.is_list() && !node.is_null()) FailAt(node, "a list is wanted here");
  return node->items;
}

const std::vector<YamlEntry>& EntriesOf(const YamlPlace& node) {
  if (!node.is_map() && !node.is_null()) FailAt(node, "a map is wanted here");
  return node->entries;
}

Finish ReadFinish(const YamlPlace& node) {
  for (Finish finish : {Finish::kStop, Finish::kLength, Finish::kToolCalls, Finish::kFilter,
                        Finish::kRefused, Finish::kCut, Finish::kOther}) {
    if (node->scalar == FinishName(finish)) return finish;
  }
  FailAt(node, "finish is none of stop, length, tool_calls, filter, refusal, cut, other");
}

ToolCall ReadToolCall(const YamlPlace& node) {
  CheckFields(node, {"id", "name", "arguments"});
  const YamlPlace name = node["name"], id = node["id"], arguments = node["arguments"];
  if (!name) FailAt(node, "a tool call needs a name");
  return {.id = id ? id->scalar : "call_" + name->scalar,
          .name = name->scalar,
          .arguments = arguments ? ToJsonValue(*arguments) : Json(JsonObject())};
}

void ReadFail(const YamlPlace& node, Script::Answer& answer) {
  CheckFields(node, {"status", "body", "headers", "cut_after"});
  if (const YamlPlace field = node["status"]) {
    const std::int64_t status = ReadInteger(field);
    if (status < 400 || status > 599) FailAt(field, "status is not in 400 to 599");
    answer.fail_status = static_cast<int>(status);
  }
  if (const YamlPlace body = node["body"]) answer.fail_body = ReadAnyText(body);
  if (const YamlPlace field = node["cut_after"]) {
    const std::int64_t bytes = ReadInteger(field);
    if (bytes < 0) FailAt(field, "cut_after is negative");
    answer.cut_after = static_cast<std::size_t>(bytes);
  }
  if (const YamlPlace headers = node["headers"]) {
    for (const YamlEntry& header : EntriesOf(headers)) {
      answer.fail_headers.emplace_back(header.key, ReadAnyText(header.value));
    }
  }
}

Usage ReadUsage(const YamlPlace& node) {
  CheckFields(node, {"input", "output", "cached", "cache_write", "reasoning"});
  const auto tokens = [&](std::string_view key) {
    const YamlPlace field = node[key];
    const std::int64_t number = field ? ReadInteger(field) : 0;
    if (number < 0) FailAt(field, fmt::format("{} is negative", key));
    return number;
  };
  Usage usage{.input = tokens("input"),
              .output = tokens("output"),
              .cached = tokens("cached"),
              .cache_write = tokens("cache_write")};
  if (node["reasoning"]) usage.reasoning = tokens("reasoning");
  if (usage.reasoning.value_or(0) > usage.output) {
    FailAt(node, "reasoning is a part of output, and is more than it");
  }
  if (usage.cached + usage.cache_write > usage.input) {
    FailAt(node, "cached and cache_write are parts of input, and are more than it");
  }
  return usage;
}

std::vector<TokenChance> ReadLogprobs(const YamlPlace& node) {
  std::vector<TokenChance> chances;
  for (const YamlEntry& entry : EntriesOf(node)) {
    const auto logprob = ParseNumber(entry.value.scalar);
    if (!logprob || entry.value.style == YamlNode::Style::kQuoted) {
      FailAt(entry.value, "a log-probability is a number");
    }
    chances.push_back({entry.key, *logprob});
  }
  std::ranges::stable_sort(chances, std::greater(), &TokenChance::logprob);
  return chances;
}

Script::Answer ReadAnswer(const YamlPlace& node) {
  Script::Answer answer;
  if (const YamlPlace reply = node["reply"]) answer.text = ReadAnyText(reply);
  if (const YamlPlace thinking = node["thinking"]) answer.thinking = ReadAnyText(thinking);
  if (const YamlPlace calls = node["tool_calls"]) {
    for (const YamlNode& call : ItemsOf(calls)) {
      answer.tool_calls.push_back(ReadToolCall(call));
      answer.finish = Finish::kToolCalls;
    }
  }
  if (const YamlPlace finish = node["finish"]) answer.finish = ReadFinish(finish);
  if (const YamlPlace usage = node["usage"]) answer.usage = ReadUsage(usage);
  if (const YamlPlace chances = node["logprobs"]) answer.first_tokens = ReadLogprobs(chances);
  if (const YamlPlace fail = node["fail"]) ReadFail(fail, answer);
  if (const YamlPlace field = node["delay"]) {
    const auto delay = ParseDuration(field->scalar);
    if (!delay) FailAt(field, delay.error().message);
    answer.delay = *delay;
  }
  return answer;
}

std::int64_t ReadTimes(const YamlPlace& node, const Rule& rule) {
  constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
  const bool conditions =
      rule.when || !rule.purposes.empty() || !rule.paths.empty() || !rule.turns.empty();
  if (!node) return conditions ? kAlways : 1;
  if (node->scalar == "always") return kAlways;
  const std::int64_t times = ReadInteger(node);
  if (times < 0) FailAt(node, "times is a number from 0, or always");
  return times;
}

Rule ReadRule(const YamlPlace& node) {
  Rule rule;
  if (node.is_scalar()) {
    rule.answer.text = node->scalar;
    return rule;
  }
  if (!node.is_map()) FailAt(node, "a rule is a text or a map");
  CheckKeys(node, {"when", "purpose", "turn", "path", "reply", "thinking", "tool_calls", "finish",
                   "usage", "delay", "fail", "logprobs", "times"});
  if (!node["reply"] && !node["tool_calls"] && !node["fail"]) {
    FailAt(node, "a rule needs reply, tool_calls or fail");
  }
  if (const YamlPlace when = node["when"]) {
    auto pattern = Pattern::Make(when->scalar);
    if (!pattern) FailAt(when, pattern.error().message);
    rule.when = std::move(*pattern);
  }
  rule.purposes = OneOrMore(node["purpose"], ReadAnyText);
  rule.paths = OneOrMore(node["path"], ReadAnyText);
  rule.turns = OneOrMore(node["turn"], ReadInteger);
  rule.left = ReadTimes(node["times"], rule);
  rule.answer = ReadAnswer(node);
  return rule;
}

std::vector<Rule> ReadRules(const YamlPlace& root) {
  const YamlPlace rules = root["rules"];
  const YamlPlace list = rules ? rules : root;
  if (!list.is_list()) FailAt(list, "a script is a list of rules, or {rules: [...]}");
  return OneOrMore(list, ReadRule);
}

Usage EstimateUsage(const Request& request, std::string_view text) {
  std::size_t bytes = 0;
  for (const auto& block : request.messages.system) bytes += block.text.size();
  for (const auto& turn : request.messages.turns) {
    for (const auto& block : turn.blocks) bytes += block.text.size();
  }
  return {.input = EstimateTokens(bytes), .output = EstimateTokens(text.size()), .estimated = true};
}

// As for a provider: 0 tokens for an existing text is not a count.
bool CanBeTrue(const Usage& said, const Usage& estimate) {
  return (said.input > 0 || estimate.input == 0) && (said.output > 0 || estimate.output == 0);
}

// A request between Submit and its sink's last call, which comes on the timer's thread.
struct Pending {
  std::shared_ptr<const Request> request;
  CancelToken cancel;
  std::shared_ptr<Sink> sink;
  std::shared_ptr<const Entry> entry;  // null: everything is free
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
  // Only a waiting request needs to be told of a cancellation at once.
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
    reply.usage = EstimateUsage(*pending.request, reply.text);
    if (answer.usage && CanBeTrue(*answer.usage, reply.usage)) reply.usage = *answer.usage;
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
  auto text = ReadRegularFile(path, kMaxScriptBytes);
  if (!text) return tl::unexpected(ExplainMissing(std::move(text.error()), path));
  return Parse(*text, path);
}

Result<std::shared_ptr<Script>> Script::Parse(std::string_view yaml, std::string_view name) {
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, ParseScript(yaml, name));
  std::vector<Rule> rules;
  DOSSIER_RETURN_IF_ERROR(
      ReadYamlTree(root, name, [&](const YamlPlace& node) { rules = ReadRules(node); }));
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
