#include "model/client/client.h"

#include <algorithm>
#include <cmath>

namespace dossier::model {

std::string_view PurposeName(Purpose purpose) {
  static constexpr std::string_view kNames[] = {
      "root",   "direct",  "subcall",  "map",  "extract",
      "repair", "compact", "classify", "read", "test"};  // as declared
  return kNames[static_cast<std::size_t>(purpose)];
}

assembly::Turn AssistantTurn(const Reply& reply) {
  using assembly::Block;
  assembly::Turn turn{.role = assembly::Role::kAssistant, .blocks = reply.blocks};
  if (!turn.blocks.empty()) return turn;
  if (!reply.text.empty()) turn.blocks.push_back({.text = reply.text});
  for (const ToolCall& call : reply.tool_calls) {
    turn.blocks.push_back({.type = Block::Type::kToolCall,
                           .call_id = call.id,
                           .tool_name = call.name,
                           .arguments = call.arguments,
                           .provider_data = call.provider_data});
  }
  return turn;
}

std::string_view FinishName(Finish finish) {
  static constexpr std::string_view kNames[] = {"stop",    "length", "tool_calls", "filter",
                                                "refusal", "cut",    "other"};  // as declared
  return kNames[static_cast<std::size_t>(finish)];
}

namespace {

void AddKnown(const std::optional<std::int64_t>& part, std::optional<std::int64_t>* sum) {
  if (part && *sum) {
    **sum += *part;
  } else {
    sum->reset();
  }
}

void AddTokens(const Usage& more, Usage* sum) {
  sum->input += more.input;
  sum->output += more.output;
  sum->cached += more.cached;
  sum->cache_write += more.cache_write;
  sum->cache_write_long += more.cache_write_long;
  sum->estimated |= more.estimated;
  AddKnown(more.reasoning, &sum->reasoning);
  AddKnown(more.cost_nano_usd, &sum->cost_nano_usd);
}

}  // namespace

void UsageSum::Add(const Usage& usage) {
  ++calls;
  AddTokens(usage, &total);
}

void UsageSum::Add(const UsageSum& more) {
  calls += more.calls;
  AddTokens(more.total, &total);
}

namespace {

// For a short prompt, missing tokens count as framing, which does not grow with the prompt; for a
// longer one as a share, as for another vocabulary.
constexpr std::int64_t kShortPrompt = 256, kUsualFraming = 32;  // tokens
// A server that reports more is wrong, and would block all later requests.
constexpr std::int64_t kMostFraming = 4096;
constexpr double kMostShare = 4;

std::int64_t Up(double tokens) { return static_cast<std::int64_t>(std::ceil(tokens)); }

// Raises `share` so that `expected` tokens become `said`.
void Raise(std::int64_t said, std::int64_t expected, double* share) {
  if (expected <= 0) return;
  const double wanted = static_cast<double>(said) / static_cast<double>(expected);
  *share = std::max(*share, std::min(wanted, kMostShare));
}

}  // namespace

std::int64_t RequestSize::Text(std::string_view text) const {
  return counter_ ? counter_->CountText(text).tokens : EstimateTokens(text.size());
}

std::int64_t RequestSize::Prompt(const Request& request) const {
  // The prompt was counted when it was assembled.
  const std::int64_t schema =
      request.schema ? EstimateTokens(ToJson(*request.schema).size()) : std::int64_t{0};
  if (request.estimated_tokens > 0) return request.estimated_tokens + schema;
  std::int64_t tokens = schema;
  for (const auto& block : request.messages.system) tokens += Text(block.text);
  for (const auto& turn : request.messages.turns) {
    for (const auto& block : turn.blocks) tokens += Text(block.text);
  }
  return tokens;
}

void RequestSize::Recount(Reply* reply) const {
  if (!counter_) return;
  std::int64_t by_bytes = EstimateTokens(reply->text.size() + reply->thinking.size());
  std::int64_t counted = Text(reply->text) + Text(reply->thinking);
  for (const ToolCall& call : reply->tool_calls) {
    const std::string arguments = ToJson(call.arguments);
    by_bytes += EstimateTokens(arguments.size());
    counted += Text(arguments);
  }
  // A value above the estimate by bytes came from the server.
  if (reply->usage.output <= by_bytes) reply->usage.output = counted;
}

std::int64_t RequestSize::MostInput(std::int64_t expected) const {
  const double margin = counter_ ? counter_->margin() : 0;
  return Up(static_cast<double>(expected) * std::max(1 + margin, input_share_)) + framing_;
}

std::int64_t RequestSize::MostOutput(std::int64_t cap) const {
  return cap > 0 ? std::max(Up(static_cast<double>(cap) * output_share_), most_beyond_cap_) : 0;
}

std::int64_t RequestSize::CapFor(std::int64_t most_output) const {
  return static_cast<std::int64_t>(static_cast<double>(most_output) / output_share_);
}

void RequestSize::LearnArrived(const Sent& sent, std::int64_t output) {
  if (sent.cap <= 0 || output <= MostOutput(sent.cap)) return;
  Raise(output, sent.cap, &output_share_);
  if (output > MostOutput(sent.cap)) most_beyond_cap_ = output;
}

void RequestSize::Learn(const Sent& sent, const Usage& usage) {
  const std::int64_t missing = usage.input - MostInput(sent.input);
  if (missing > 0 && sent.input < kShortPrompt) {
    framing_ = std::min(kMostFraming, framing_ + missing);
  } else if (missing > 0) {
    framing_ = std::max(framing_, std::min(missing, kUsualFraming));
    Raise(usage.input - framing_, sent.input, &input_share_);
  }
  if (sent.cap > 0 && usage.output > MostOutput(sent.cap)) {
    Raise(usage.output, sent.cap, &output_share_);
  }
}

}  // namespace dossier::model
