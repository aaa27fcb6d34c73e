#include "chat/turn/chat_model.h"

#include <condition_variable>
#include <mutex>

namespace dossier::chat {
namespace {

// Keeps the text, passes it on, and lets one thread wait for the end.
class CallSink final : public model::Sink {
 public:
  CallSink(const CallEvents& events, const Clock& clock) : events_(events), clock_(clock) {}

  void OnDelta(std::string_view text) override {
    if (!first_text_) first_text_ = clock_.Now();
    partial_ += text;
    if (events_.on_delta) events_.on_delta(text);
  }

  void OnRetry(int attempt, const Error& error, Millis wait) override {
    if (events_.on_retry) events_.on_retry(attempt, error, wait);
  }

  void OnDone(Result<model::Reply> reply) override {
    std::lock_guard lock(mutex_);
    reply_ = std::move(reply);
    done_.notify_all();
  }

  Called Wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return reply_.has_value(); });
    return {std::move(*reply_), std::move(partial_), first_text_};
  }

 private:
  const CallEvents& events_;
  const Clock& clock_;
  std::string partial_;
  std::optional<Clock::Steady> first_text_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<Result<model::Reply>> reply_;
};

}  // namespace

Called Call(const ChatModel& model, model::Request request, model::Ledger& ledger,
            const CallEvents& events, const Clock& clock, const CancelToken& cancel) {
  auto sink = std::make_shared<CallSink>(events, clock);
  model.gate->Submit(std::make_shared<const model::Request>(std::move(request)), ledger,
                     model::Stage::kNormal, cancel, sink);
  if (events.on_sent) events.on_sent();
  return sink->Wait();
}

CachePrices CachePricesOf(const model::Entry& entry) {
  CachePrices prices;
  const assembly::CacheRules& cache = entry.capability.cache;
  if (cache.mode != assembly::CacheRules::Mode::kNone) {
    prices.read = cache.read;
    if (!cache.write.empty()) prices.write = cache.write.front();
  }
  if (entry.price_input && entry.price_output && *entry.price_input > 0) {
    prices.output =
        static_cast<double>(*entry.price_output) / static_cast<double>(*entry.price_input);
  }
  return prices;
}

void AddUsage(const model::Usage& more, model::Usage* sum) {
  const bool first = sum->input == 0 && sum->output == 0;
  sum->input += more.input;
  sum->output += more.output;
  sum->cached += more.cached;
  sum->cache_write += more.cache_write;
  sum->cache_write_long += more.cache_write_long;
  sum->estimated |= more.estimated;
  const auto add = [first](const std::optional<std::int64_t>& part,
                           std::optional<std::int64_t>* whole) {
    if (first) {
      *whole = part;
    } else if (!part || !*whole) {
      whole->reset();
    } else {
      **whole += *part;
    }
  };
  add(more.cost_nano_usd, &sum->cost_nano_usd);
  add(more.reasoning, &sum->reasoning);
}

}  // namespace dossier::chat
