// A model that answers by the label of a call site, for tests of everything above the caller.
//
//   ScriptedModel model;
//   model.Always("draft", kArtifacts);                    // every draft call
//   model.Next("execution_review", R"({"is_bug": true})");   // the next one, then the one after it
//   model.When("improve", [](const ScriptedCall& call) { return "… " + call.node; });
//   options.open = model.Open();
//   …
//   EXPECT_EQ(model.Calls("draft").size(), 3);
//
// A reply without a `<memory_update>` block gets an empty one in front where the prompt asks for
// one, and rounds that ask for a block alone are answered with an empty block (or by the label
// "LABEL/memory"), so that a script need not speak of memory. A call that nothing answers fails
// with kFailed, naming the label. Thread-safety: all methods from any thread.

#ifndef DOSSIER_TESTING_SCRIPTED_MODEL_FOR_TEST_H_
#define DOSSIER_TESTING_SCRIPTED_MODEL_FOR_TEST_H_

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/text/text.h"
#include "driver/bound_model.h"
#include "model/client/client.h"
#include "research/call/caller.h"

namespace dossier::research {

struct ScriptedCall {
  std::string node, label;  // node: "run" for calls of the run
  int attempt = 1, round = 1;
  std::string role;
  std::string prompt;  // system text and turns, "\n\n" between
  model::Request request;
};

class ScriptedModel {
 public:
  using Answer = std::function<std::string(const ScriptedCall& call)>;

  // What the three say comes in this order: Next until used up, When, Always. The label "" stands
  // for all labels.
  void Next(std::string_view label, std::string reply) {
    const std::lock_guard lock(state_->mutex);
    state_->next[std::string(label)].push_back(std::move(reply));
  }
  void Always(std::string_view label, std::string reply) {
    When(label, [reply = std::move(reply)](const ScriptedCall&) { return reply; });
  }
  void When(std::string_view label, Answer answer) {
    const std::lock_guard lock(state_->mutex);
    state_->always[std::string(label)] = std::move(answer);
  }
  // The next call of this label fails with this error; the gate does not try again.
  void FailNext(std::string_view label, Error error) {
    const std::lock_guard lock(state_->mutex);
    state_->failures[std::string(label)].push_back(std::move(error));
  }

  // Calls are not kept from now on: for measurements of memory.
  void ForgetCalls() {
    const std::lock_guard lock(state_->mutex);
    state_->keep = State::Keep::kNothing;
  }

  // How long it takes for each reply from now on.
  void Think(Millis time) {
    const std::lock_guard lock(state_->mutex);
    state_->thinks = time;
  }

  // What was asked so far, in order; "": all.
  std::vector<ScriptedCall> Calls(std::string_view label = {}) const {
    const std::lock_guard lock(state_->mutex);
    std::vector<ScriptedCall> calls;
    for (const ScriptedCall& call : state_->calls) {
      if (label.empty() || call.label == label) calls.push_back(call);
    }
    return calls;
  }

  // Of every model that is opened from now on.
  model::Entry entry{.name = "scripted",
                     .provider = "test",
                     .capability = {.window = 1'000'000, .max_output = 16'000, .image_tokens = 85},
                     .vision = true};

  driver::OpenModel Open() const {
    return [state = state_, entry = entry](std::string_view role) {
      auto client = std::make_shared<Client>(state, std::string(role));
      return Result<driver::BoundModel>(
          driver::BoundModel{.name = "scripted-" + std::string(role),
                             .stored = "scripted",
                             .entry = entry,
                             .counter = tokens::MakeCharCounter(),
                             .gate = std::shared_ptr<model::Gate>(model::Gate::Make(
                                 client, {.retries = 0, .price = Free}, SystemClock()))});
    };
  }

 private:
  struct State {
    mutable std::mutex mutex;
    std::map<std::string, std::deque<std::string>> next;
    std::map<std::string, std::deque<Error>> failures;
    std::map<std::string, Answer> always;
    std::vector<ScriptedCall> calls;
    Millis thinks{0};
    enum class Keep : std::uint8_t { kNothing, kCalls } keep = Keep::kCalls;
  };

  // Its replies say what they cost; nothing is reserved for it.
  static std::optional<model::TokenPrice> Free(const model::Request&) {
    return model::TokenPrice();
  }

  // Answers on a thread of its own: a client's Submit calls no sink before it returns.
  class Client final : public model::Client {
   public:
    Client(std::shared_ptr<State> state, std::string role)
        : state_(std::move(state)), role_(std::move(role)) {}

    void Submit(std::shared_ptr<const model::Request> request, CancelToken,
                std::shared_ptr<model::Sink> sink) override {
      const std::lock_guard lock(mutex_);
      std::erase_if(answers_, [](const Answering& one) { return one.done->load(); });
      auto done = std::make_unique<std::atomic<bool>>(false);
      std::atomic<bool>& is_done = *done;
      answers_.push_back({std::move(done), std::jthread([this, request, sink, &is_done] {
                            Deliver(*request, *sink);
                            is_done = true;
                          })});
    }

   private:
    void Deliver(const model::Request& request, model::Sink& sink) {
      ScriptedCall call = CallOf(request);
      call.role = role_;
      if (const Millis time = TimeOf(*state_); time.count() > 0) std::this_thread::sleep_for(time);
      Result<std::string> text = AnswerOf(*state_, call);
      if (!text) return sink.OnDone(tl::unexpected(text.error()));
      model::Reply reply;
      const bool asks = call.prompt.find("<memory_update>") != std::string::npos;
      if (asks && text->find("<memory_update") == std::string::npos) {
        reply.text = "<memory_update>{}</memory_update>\n";
      }
      reply.text += *text;
      reply.usage = {.input = static_cast<std::int64_t>(call.prompt.size() / 4),
                     .output = static_cast<std::int64_t>(reply.text.size() / 4),
                     .cost_nano_usd = 1000};
      reply.resolved_model = request.model;
      sink.OnDone(std::move(reply));
    }

    const std::shared_ptr<State> state_;
    const std::string role_;
    std::mutex mutex_;
    struct Answering {
      std::unique_ptr<std::atomic<bool>> done;
      std::jthread thread;
    };
    std::vector<Answering> answers_;  // last: they use the rest
  };

  // The caller's path of a request: "NODE/LABEL/aATTEMPT/rROUND".
  static ScriptedCall CallOf(const model::Request& request) {
    ScriptedCall call{.request = request};
    const auto parts = Split(request.path, '/');
    if (parts.size() == 4) {
      call.node = parts[0], call.label = parts[1];
      call.attempt = std::stoi(std::string(parts[2].substr(1)));
      call.round = std::stoi(std::string(parts[3].substr(1)));
    }
    call.prompt = request.messages.SystemText();
    for (const assembly::Turn& turn : request.messages.turns) {
      call.prompt += "\n\n" + turn.Text();
    }
    return call;
  }

  static Millis TimeOf(const State& state) {
    const std::lock_guard lock(state.mutex);
    return state.thinks;
  }

  static Result<std::string> AnswerOf(State& state, const ScriptedCall& call) {
    Answer answer;
    {
      const std::lock_guard lock(state.mutex);
      if (state.keep == State::Keep::kCalls) state.calls.push_back(call);
      if (auto& failures = state.failures[call.label]; !failures.empty()) {
        Error error = std::move(failures.front());
        failures.pop_front();
        return tl::unexpected(std::move(error));
      }
      const bool for_memory = call.attempt == 0;
      for (const std::string& label :
           {call.label + (for_memory ? "/memory" : ""), std::string(for_memory ? "/memory" : "")}) {
        if (auto& next = state.next[label]; !next.empty()) {
          std::string text = std::move(next.front());
          next.pop_front();
          return text;
        }
        if (const auto found = state.always.find(label); found != state.always.end()) {
          answer = found->second;
          break;
        }
      }
    }
    if (!answer && call.attempt == 0) return std::string();  // the client's empty block
    if (!answer) {
      return MakeError(ErrorCode::kFailed, "the script has no reply for {}/{}", call.node,
                       call.label);
    }
    return answer(call);
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace dossier::research

#endif  // DOSSIER_TESTING_SCRIPTED_MODEL_FOR_TEST_H_
