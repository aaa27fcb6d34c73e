#include "model/local/local_tokenizer.h"

#include <list>
#include <mutex>
#include <unordered_map>

#include "base/clock.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/text/utf8.h"
#include "model/local/local_server.h"

namespace dossier::model {
namespace {

constexpr std::size_t kRemembered = 4096;  // texts; under 1 MB
constexpr Millis kTokenizeLimit{3000};
constexpr Millis kPause{5000};  // after no answer

// The counts of the texts asked for last, by their hash.
class Memory {
 public:
  std::optional<std::int64_t> Find(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(name);
    if (found == places_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }

  void Keep(const std::string& name, std::int64_t tokens) {
    const std::lock_guard lock(mutex_);
    if (places_.count(name)) return;
    order_.emplace_front(name, tokens);
    places_[name] = order_.begin();
    if (order_.size() <= kRemembered) return;
    places_.erase(order_.back().first);
    order_.pop_back();
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<std::string, std::int64_t>> order_;
  std::unordered_map<std::string, decltype(order_)::iterator> places_;
};

class ServerCounter final : public tokens::Counter {
 public:
  ServerCounter(std::shared_ptr<HttpLoop> loop, HttpCall call,
                std::shared_ptr<const tokens::Counter> estimator)
      : loop_(std::move(loop)), call_(std::move(call)), estimator_(std::move(estimator)) {}

  tokens::Count CountText(std::string_view text) const override {
    if (text.empty()) return {.tokens = 0, .exact = true};
    if (text.size() > kMostCountedBytes) return estimator_->CountText(text);
    const std::string name = Sha256Hex(text);
    if (const auto known = memory_.Find(name)) return {.tokens = *known, .exact = true};
    const auto asked = Ask(text);
    if (!asked) return estimator_->CountText(text);
    memory_.Keep(name, *asked);
    return {.tokens = *asked, .exact = true};
  }

  std::string name() const override { return "local server"; }
  bool exact() const override { return true; }
  double margin() const override { return 0; }

 private:
  std::optional<std::int64_t> Ask(std::string_view text) const {
    if (SystemClock()->Now() < silent_until_.load()) return std::nullopt;
    HttpCall call = call_;
    call.method = HttpCall::Method::kPost;
    call.body = ToJson(JsonObject{
        {"content", utf8::Sanitize(text)}, {"add_special", false}, {"parse_special", true}});
    const auto answer = AskHttp(*loop_, std::move(call), kMostLocalAnswer, {});
    if (answer && answer->status == 200) {
      const auto json = ParseJson(answer->body);
      const Json* list = json ? Find(*json, "tokens") : nullptr;
      if (list && list->is_array()) return static_cast<std::int64_t>(list->as_array().size());
    }
    silent_until_.store(SystemClock()->Now() + kPause);
    return std::nullopt;
  }

  const std::shared_ptr<HttpLoop> loop_;
  const HttpCall call_;
  const std::shared_ptr<const tokens::Counter> estimator_;
  mutable Memory memory_;
  mutable std::atomic<Clock::Steady> silent_until_{Clock::Steady::min()};
};

}  // namespace

Result<std::shared_ptr<const tokens::Counter>> MakeServerCounter(int port, const std::string& key,
                                                                 tokens::Ratio ratio) {
  DOSSIER_ASSIGN_OR_RETURN(auto estimator, tokens::MakeEstimator(ratio));
  DOSSIER_ASSIGN_OR_RETURN(auto loop, HttpLoop::Make());
  return std::make_shared<ServerCounter>(
      std::move(loop), LocalCall(port, key, "/tokenize", kTokenizeLimit), std::move(estimator));
}

}  // namespace dossier::model
