#include "model/client/gate.h"

#include <cmath>
#include <condition_variable>
#include <utility>

#include "base/random.h"
#include "model/client/client.h"
#include "model/client/gate_core.h"
#include "model/client/gate_jobs.h"

namespace dossier::model {
namespace {

constexpr std::int64_t kLeastOutput = 256;  // tokens; the smallest reply that is worth a request
// With this multiple of the longest reply so far, a reply is practically never cut.
constexpr std::int64_t kGoodOutput = 4;

using State = Job::State;

// The client's sinks share it, and may release it after the gate has ended, on the client's own
// thread. So it owns nothing that has threads: client and timer belong to the gate. Once
// CancelAllAndWait has returned, only the timer's thread may still be in a call.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(Client& client, const GateOptions& options, std::shared_ptr<const Clock> clock, Timer& timer)
      : client_(client),
        options_(options),
        clock_(std::move(clock)),
        timer_(timer),
        random_(options.seed),
        concurrency_(options.concurrency),
        size_(options.counter) {}

  void Submit(std::shared_ptr<Job> job);
  void Attempted(const std::shared_ptr<Job>& job, Result<Reply> reply, const Failure& failure,
                 std::string_view streamed);
  // Ends the attempt in flight, because the server sends far more than requested.
  void EndOverrun(const std::shared_ptr<Job>& job);
  // Returns the tokens that the attempt in flight may send; 0: unlimited.
  std::int64_t CapOf(const Job& job) const {
    return job.cap.value_or(job.request->sampling.max_output.value_or(0));
  }
  std::int64_t TextTokens(std::string_view text) const { return size_.Text(text); }
  void CancelAllAndWait();
  std::int64_t PromptTokens(const Request& request) const { return size_.Prompt(request); }
  int in_flight() const {
    std::lock_guard lock(mutex_);
    return sending_;
  }
  std::int64_t MostInput(std::int64_t expected) const {
    std::lock_guard lock(mutex_);
    return size_.MostInput(expected);
  }

 private:
  using JobPtr = std::shared_ptr<Job>;

  void Enqueue(const JobPtr& job);
  void Pump();
  enum class Next { kSend, kRefused, kWaits };
  Next Prepare(const JobPtr& job, std::optional<Error>* refused);
  std::int64_t WantedCap(const Job& job) const;
  LedgerRequest Wanted(const Job& job) const;
  void Send(const JobPtr& job);
  void Unsend(const JobPtr& job);
  void Refuse(const JobPtr& job, Error error);
  void Cancel(const JobPtr& job, const std::string& reason);
  void RunOutOfTime(const JobPtr& job);
  void HoldBack(Millis wait);
  std::uint64_t WatchTime(const JobPtr& job);
  void Retry(const JobPtr& job, const Error& error, const Failure& failure);
  Result<Millis> RetryDelay(const Job& job, const Error& error, const Failure& failure);
  void Finish(const JobPtr& job, Result<Reply> reply);
  void Settle(Job& job, const Reply& reply);
  void SettleFailed(Job& job, const Failure& failure, const Error& error,
                    std::string_view streamed);
  RequestSize::Sent SentOf(const Job& job) const;
  Usage EstimatedUsage(const Job& job, std::string_view streamed) const;
  Result<Reply> CutIfOverran(Job& job, Result<Reply> reply, std::string_view streamed);
  void Price(const Request& request, Usage* usage) const;
  Error CancelledError(const Job& job) const;

  Client& client_;
  const GateOptions options_;
  const std::shared_ptr<const Clock> clock_;
  Timer& timer_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Random random_;
  Concurrency concurrency_;
  RequestSize size_;
  std::map<Purpose, std::int64_t> longest_reply_;  // tokens, so far
  FairQueue<JobPtr> queue_;
  std::map<Job*, JobPtr> jobs_;                      // all unfinished jobs
  Clock::Steady not_before_ = Clock::Steady::min();  // the server accepts nothing until then
  int sending_ = 0;
  int outstanding_ = 0;  // jobs whose sinks have not returned from OnDone
  bool closing_ = false;
};

// Sits between the client and the caller's sink, for one attempt.
class AttemptSink final : public Sink {
 public:
  AttemptSink(std::shared_ptr<Core> core, std::shared_ptr<Job> job)
      : core_(std::move(core)),
        job_(std::move(job)),
        most_(core_->CapOf(*job_) > 0 ? MostTaken(core_->CapOf(*job_)) : 0),
        count_at_(static_cast<std::size_t>(most_)) {}

  void OnDelta(std::string_view text) override {
    if (ended_) return;
    streamed_ += text;
    job_->sink->OnDelta(text);
    // A token has at least one byte, and text is only counted again when it has grown by a fifth.
    if (most_ == 0 || streamed_.size() <= count_at_) return;
    count_at_ = streamed_.size() + streamed_.size() / 5;
    ended_ = core_->TextTokens(streamed_) > most_;
    if (ended_) core_->EndOverrun(job_);
  }
  void OnFailure(const Failure& failure) override { failure_ = failure; }
  void OnDone(Result<Reply> reply) override {
    core_->Attempted(job_, std::move(reply), failure_, streamed_);
  }

 private:
  const std::shared_ptr<Core> core_;
  const std::shared_ptr<Job> job_;
  const std::int64_t most_;  // tokens; 0: unlimited
  std::size_t count_at_;     // bytes
  Failure failure_;
  std::string streamed_;
  bool ended_ = false;
};

void Core::Submit(JobPtr job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.emplace(job.get(), job);
    ++outstanding_;
  }
  // Cancellation is passed to the timer thread: the cancelling thread must not run sinks, nor wait
  // for one that runs.
  const std::uint64_t id =
      job->cancel.OnCancel([core = weak_from_this(), weak = std::weak_ptr<Job>(job)] {
        const auto alive = core.lock();
        if (!alive) return;
        alive->timer_.Post([core, weak] {
          const auto still = core.lock();
          const auto job = weak.lock();
          if (still && job) still->Cancel(job, job->cancel.reason());
        });
      });
  {
    std::lock_guard lock(mutex_);
    job->cancel_id = id;
  }
  Enqueue(job);
}

Error Core::CancelledError(const Job& job) const {
  const std::string reason = job.cancel.reason();
  return Error{ErrorCode::kCancelled,
               reason.empty() ? "the request was cancelled" : "cancelled: " + reason};
}

// Some servers refuse a cap beyond the window, and no reply gets that long.
std::int64_t Core::WantedCap(const Job& job) const {
  const std::int64_t cap = job.request->sampling.max_output.value_or(options_.max_output);
  const std::int64_t input = size_.MostInput(job.prompt);
  return options_.window > input ? std::min(cap, options_.window - input) : cap;
}

// Returns the ledger request. Nothing is counted if nothing is limited.
LedgerRequest Core::Wanted(const Job& job) const {
  const LedgerLimits& limits = job.ledger->limits();
  LedgerRequest wanted;
  if (!limits.tokens && !limits.nano_usd) return wanted;
  if (options_.price) wanted.price = options_.price(*job.request);
  wanted.input = size_.MostInput(job.prompt);
  // The root closes: what another model's server counts says nothing of that.
  if (job.request->purpose == Purpose::kRoot) {
    wanted.closing_prompt = size_.MostInput(job.ledger->closing_prompt());
  }
  const auto longest = longest_reply_.find(job.request->purpose);
  wanted.output = size_.MostOutput(WantedCap(job));
  wanted.least_output = size_.MostOutput(kLeastOutput);
  wanted.good_output = longest == longest_reply_.end()
                           ? wanted.output
                           : std::max(wanted.least_output, kGoodOutput * longest->second);
  if (!queue_.empty()) wanted.others = LedgerRequest::Others::kWait;
  return wanted;
}

// Checks cancellation and deadline, then waits for a slot, where its possible cost is reserved.
void Core::Enqueue(const JobPtr& job) {
  std::optional<Error> refused;
  {
    std::lock_guard lock(mutex_);
    if (job->state != State::kNew && job->state != State::kWaiting) return;
    ++job->attempt;
    if (job->cancel.cancelled() || closing_) {
      refused = CancelledError(*job);
      job->state = State::kDelivering;
    } else {
      job->state = State::kQueued;
      job->limit_timer = WatchTime(job);
      if (job->attempt == 1) {
        queue_.Push(job->lane, job);
      } else {
        queue_.PushFront(job->lane, job);
      }
    }
  }
  if (refused) return Refuse(job, std::move(*refused));
  Pump();
}

// Not called here: a sink is never called before Submit returns.
void Core::Refuse(const JobPtr& job, Error error) {
  timer_.Post([core = shared_from_this(), job, error = std::move(error)] {
    core->Finish(job, tl::unexpected(error));
  });
}

// Makes the reservation for a job that has a slot.
Core::Next Core::Prepare(const JobPtr& job, std::optional<Error>* refused) {
  // The callback only posts: whoever returns tokens holds its own locks.
  auto held = job->ledger->Reserve(Wanted(*job), job->stage, [weak = weak_from_this()] {
    const auto core = weak.lock();
    if (!core) return;
    core->timer_.Post([weak] {
      if (const auto alive = weak.lock()) alive->Pump();
    });
  });
  if (!held) {
    *refused = held.error();
    if (job->attempt > 1) (*refused)->message += "; the attempt before failed: " + job->last_error;
    job->held = {};
    job->state = State::kDelivering;
    return Next::kRefused;
  }
  job->held = std::move(*held);
  if (!job->held.granted()) {
    queue_.PushFront(job->lane, job);
    return Next::kWaits;
  }
  const std::int64_t cap = std::min(size_.CapFor(job->held.output()), WantedCap(*job));
  job->cap.reset();
  if (cap > 0 && job->request->sampling.max_output != cap) job->cap = cap;
  ++sending_;
  job->state = State::kSending;
  job->epoch = concurrency_.epoch();
  job->sending = std::make_shared<CancelSource>();
  return Next::kSend;
}

void Core::Pump() {
  while (true) {
    JobPtr job;
    std::optional<Error> refused;
    {
      std::lock_guard lock(mutex_);
      if (closing_) return;  // waiting jobs are cancelled, not sent in place of finished ones
      const bool held_back = clock_->Now() < not_before_;
      while (!job && !held_back && sending_ < concurrency_.limit()) {
        std::optional<JobPtr> next = queue_.Pop();
        if (!next) return;
        if ((*next)->state == State::kQueued) job = *next;  // otherwise it was cancelled
      }
      if (!job) return;
      if (job->cancel.cancelled()) {  // the timer's thread has not handled it yet
        job->state = State::kDelivering;
        refused = CancelledError(*job);
      } else if (Prepare(job, &refused) == Next::kWaits) {
        return;
      }
    }
    if (refused) {
      Refuse(job, std::move(*refused));
    } else {
      Send(job);
    }
  }
}

void Core::Send(const JobPtr& job) {
  if (!std::exchange(job->told, true)) {
    job->sink->OnSending();
    if (job->cancel.cancelled()) return Unsend(job);
  }
  std::shared_ptr<const Request> request = job->request;
  if (job->cap) {
    Request smaller = *request;
    smaller.sampling.max_output = job->cap;
    request = std::make_shared<const Request>(std::move(smaller));
  }
  client_.Submit(std::move(request), job->sending->token(),
                 std::make_shared<AttemptSink>(shared_from_this(), job));
}

// Gives back the reservation of a job that was cancelled during OnSending.
void Core::Unsend(const JobPtr& job) {
  timer_.Post([core = shared_from_this(), job] {
    {
      std::lock_guard lock(core->mutex_);
      if (job->state != State::kSending) return;
      --core->sending_;
      job->state = State::kDelivering;
      job->held.Return();
      job->sending.reset();
    }
    core->Finish(job, tl::unexpected(core->CancelledError(*job)));
    core->Pump();
  });
}

// The run's time limit also applies in the queue. 0: the run has no time limit.
std::uint64_t Core::WatchTime(const JobPtr& job) {
  const std::optional<Millis> left = job->ledger->time_left(job->stage);
  if (!left) return 0;
  return timer_.At(clock_->Now() + *left,
                   [core = weak_from_this(), weak = std::weak_ptr<Job>(job)] {
                     const auto alive = core.lock();
                     const auto still = weak.lock();
                     if (alive && still) alive->RunOutOfTime(still);
                   });
}

void Core::RunOutOfTime(const JobPtr& job) {
  std::shared_ptr<CancelSource> source;
  {
    std::lock_guard lock(mutex_);
    if (job->state != State::kSending && job->state != State::kQueued) return;
    if (job->state == State::kQueued) {
      job->state = State::kDelivering;
    } else {
      job->out_of_time = true;
      source = job->sending;
    }
  }
  if (source) return source->Cancel("the run's time is used up");
  Finish(job, MakeError(ErrorCode::kLimit,
                        "time: the run's time is used up; a request was not sent any more"));
  Pump();  // others may have waited behind it
}

// A request sent while the server accepts none would be refused and use up a retry.
void Core::HoldBack(Millis wait) {
  const Clock::Steady until = clock_->Now() + std::min(wait, options_.longest_delay);
  if (until <= not_before_) return;
  not_before_ = until;
  timer_.At(until, [core = weak_from_this()] {
    if (const auto alive = core.lock()) alive->Pump();
  });
}

void Core::Cancel(const JobPtr& job, const std::string& reason) {
  std::shared_ptr<CancelSource> source;
  {
    std::lock_guard lock(mutex_);
    if (job->state == State::kDelivering || job->state == State::kDone) return;
    if (job->state == State::kSending) {
      source = job->sending;
    } else {
      if (job->state == State::kWaiting) timer_.Forget(job->retry_timer);
      job->state = State::kDelivering;
    }
  }
  if (source) {
    source->Cancel(reason.empty() ? "cancelled" : reason);
  } else {
    Finish(job, tl::unexpected(CancelledError(*job)));
    Pump();  // others may have waited behind it
  }
}

RequestSize::Sent Core::SentOf(const Job& job) const {
  return {.input = job.prompt,
          .cap = job.cap.value_or(job.request->sampling.max_output.value_or(0))};
}

// Estimates the usage of a cancelled or broken request from what is known.
Usage Core::EstimatedUsage(const Job& job, std::string_view streamed) const {
  Usage usage{.input = job.prompt, .output = size_.Text(streamed), .estimated = true};
  Price(*job.request, &usage);
  return usage;
}

// For an estimate: none of it is known to be from the provider's cache.
void Core::Price(const Request& request, Usage* usage) const {
  if (!options_.price) return;
  if (const auto price = options_.price(request)) {
    usage->cost_nano_usd = usage->input * price->input + usage->output * price->output;
  }
}

void Core::Settle(Job& job, const Reply& reply) {
  const std::string limit = job.held.shrunk_by();
  if (!limit.empty() && reply.finish == Finish::kLength) job.ledger->NoteHit(limit);
  if (reply.usage.estimated) {
    size_.LearnArrived(SentOf(job), reply.usage.output);
  } else {
    size_.Learn(SentOf(job), reply.usage);
  }
  std::int64_t& longest = longest_reply_[job.request->purpose];
  longest = std::max(longest, reply.usage.output);
  job.held.Settle(reply.usage);
}

void Core::SettleFailed(Job& job, const Failure& failure, const Error& error,
                        std::string_view streamed) {
  const bool cancelled = error.code == ErrorCode::kCancelled;
  std::optional<Usage> cost = failure.usage;
  if (!cost && (cancelled || !streamed.empty() || failure.sent == Failure::Sent::kYes)) {
    cost = EstimatedUsage(job, streamed);
  }
  size_.LearnArrived(SentOf(job), size_.Text(streamed));
  if (cancelled) {
    job.held.Settle(*cost);
  } else {
    job.held.Fail(cost);
  }
}

void Core::EndOverrun(const JobPtr& job) {
  // Not on the client's thread, which is in one of our calls.
  timer_.Post([weak = weak_from_this(), job] {
    const auto alive = weak.lock();
    if (!alive) return;
    std::shared_ptr<CancelSource> source;
    {
      std::lock_guard lock(alive->mutex_);
      if (job->state != State::kSending) return;
      job->overran = true;
      source = job->sending;
    }
    source->Cancel("the reply runs past its limit");
  });
}

// A reply that was ended for its length counts as cut.
Result<Reply> Core::CutIfOverran(Job& job, Result<Reply> reply, std::string_view streamed) {
  {
    std::lock_guard lock(mutex_);
    const bool overran = std::exchange(job.overran, false);
    if (!overran || reply || reply.error().code != ErrorCode::kCancelled ||
        job.cancel.cancelled()) {
      return reply;
    }
  }
  Reply cut;
  cut.text = streamed;
  cut.finish = Finish::kCut;
  cut.usage = EstimatedUsage(job, streamed);
  cut.resolved_model = job.request->model;
  cut.warnings.push_back(fmt::format(
      "the reply was cut: the server ignores the limit of {} tokens and was stopped", CapOf(job)));
  return cut;
}

void Core::Attempted(const JobPtr& job, Result<Reply> reply, const Failure& failure,
                     std::string_view streamed) {
  std::uint64_t limit_timer = 0;
  bool out_of_time = false;
  std::shared_ptr<CancelSource> source;
  reply = CutIfOverran(*job, std::move(reply), streamed);
  if (reply && reply->usage.estimated) {
    size_.Recount(&*reply);
    Price(*job->request, &reply->usage);
  }
  {
    std::lock_guard lock(mutex_);
    if (job->state != State::kSending) return;
    --sending_;
    job->state = State::kDelivering;
    out_of_time = std::exchange(job->out_of_time, false);
    limit_timer = std::exchange(job->limit_timer, 0);
    source = std::move(job->sending);
    if (reply) {
      Settle(*job, *reply);
      concurrency_.Succeeded();
      reply->attempts = job->attempt;
    } else {
      if (SaysTooMuch(failure.status)) {
        concurrency_.TooMany(job->epoch);
        if (failure.retry_after) HoldBack(*failure.retry_after);
      }
      SettleFailed(*job, failure, reply.error(), streamed);
    }
  }
  if (limit_timer) timer_.Forget(limit_timer);
  Pump();
  if (!reply && reply.error().code == ErrorCode::kCancelled && out_of_time) {
    reply = MakeError(ErrorCode::kLimit, "time: the run's time is used up; a request was stopped");
  }
  const bool again = !reply && failure.retry == Failure::Retry::kYes && streamed.empty() &&
                     job->attempt <= options_.retries;
  if (again) {
    Retry(job, reply.error(), failure);
  } else {
    if (!reply && job->attempt > 1) {
      reply.error().message += fmt::format(" ({} attempts, waited {:.1f} s between them)",
                                           job->attempt, job->waited.count() / 1000.0);
    }
    Finish(job, std::move(reply));
  }
}

// 0.5 s x 2^n with full jitter, or the server's delay if that is longer. Fails at once if the wait
// cannot end in time.
Result<Millis> Core::RetryDelay(const Job& job, const Error& error, const Failure& failure) {
  const double exponential = static_cast<double>(options_.first_delay.count()) *
                             std::ldexp(1.0, std::min(job.attempt - 1, 30));
  const double longest = std::min(exponential, static_cast<double>(options_.longest_delay.count()));
  Millis delay(static_cast<std::int64_t>(longest * random_.Unit()));
  if (failure.retry_after) delay = std::max(delay, *failure.retry_after);
  const std::optional<Millis> left = job.ledger->time_left(job.stage);
  if ((left && delay >= *left) || delay > job.request->deadline) {
    return MakeError(error.code,
                     "{}; the next attempt would have to wait {:.1f} s, past the deadline",
                     error.message, static_cast<double>(delay.count()) / 1000.0);
  }
  return delay;
}

void Core::Retry(const JobPtr& job, const Error& error, const Failure& failure) {
  Result<Millis> delay = MakeError(ErrorCode::kInternal, "unset");
  {
    std::lock_guard lock(mutex_);
    delay = RetryDelay(*job, error, failure);
    if (delay) job->waited += *delay;
    job->last_error = error.message;
  }
  if (!delay) return Finish(job, tl::unexpected(delay.error()));
  job->sink->OnRetry(job->attempt, error, *delay);
  {
    std::lock_guard lock(mutex_);
    if (!job->cancel.cancelled() && !closing_) {
      job->state = State::kWaiting;
      job->retry_timer = timer_.At(clock_->Now() + *delay,
                                   [core = weak_from_this(), weak = std::weak_ptr<Job>(job)] {
                                     const auto alive = core.lock();
                                     const auto still = weak.lock();
                                     if (alive && still) alive->Enqueue(still);
                                   });
      return;
    }
  }
  Finish(job, tl::unexpected(CancelledError(*job)));
}

void Core::Finish(const JobPtr& job, Result<Reply> reply) {
  std::uint64_t cancel_id = 0, limit_timer = 0;
  {
    std::lock_guard lock(mutex_);
    if (job->state == State::kDone) return;
    job->state = State::kDone;
    job->held = {};  // it may have been waiting
    cancel_id = std::exchange(job->cancel_id, 0);
    limit_timer = std::exchange(job->limit_timer, 0);
    jobs_.erase(job.get());
  }
  job->cancel.Forget(cancel_id);
  if (limit_timer) timer_.Forget(limit_timer);
  job->sink->OnDone(std::move(reply));
  job->sink.reset();
  // Nothing may use the ledger or the caller's sink once the last one is done.
  std::lock_guard lock(mutex_);
  --outstanding_;
  changed_.notify_all();
}

void Core::CancelAllAndWait() {
  std::vector<JobPtr> jobs;
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    for (const auto& [key, job] : jobs_) jobs.push_back(job);
  }
  for (const JobPtr& job : jobs) Cancel(job, "the program ends");
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return outstanding_ == 0; });
}

class GateImpl final : public Gate {
 public:
  GateImpl(std::shared_ptr<Client> client, const GateOptions& options,
           std::shared_ptr<const Clock> clock, std::shared_ptr<Timer> timer)
      : client_(std::move(client)),
        timer_(std::move(timer)),
        core_(std::make_shared<Core>(*client_, options, std::move(clock), *timer_)) {}
  ~GateImpl() override { core_->CancelAllAndWait(); }

  void Submit(std::shared_ptr<const Request> request, Ledger& ledger, Stage stage,
              CancelToken cancel, std::shared_ptr<Sink> sink) override {
    auto job = std::make_shared<Job>();
    job->prompt = core_->PromptTokens(*request);
    job->lane = LaneOf(*request);
    job->request = std::move(request);
    job->ledger = &ledger;
    job->stage = stage;
    job->cancel = std::move(cancel);
    job->sink = std::move(sink);
    core_->Submit(std::move(job));
  }
  int in_flight() const override { return core_->in_flight(); }
  std::int64_t MostInput(std::int64_t expected) const override {
    return core_->MostInput(expected);
  }

 private:
  const std::shared_ptr<Client> client_;
  const std::shared_ptr<Timer> timer_;  // ends first: its thread may be in a call of the client
  const std::shared_ptr<Core> core_;
};

// Lets one thread wait for a reply.
class WaitingSink final : public Sink {
 public:
  explicit WaitingSink(std::function<void(std::string_view)> on_delta)
      : on_delta_(std::move(on_delta)) {}

  void OnDelta(std::string_view text) override {
    if (on_delta_) on_delta_(text);
  }
  void OnDone(Result<Reply> reply) override {
    std::lock_guard lock(mutex_);
    reply_ = std::move(reply);
    done_.notify_all();
  }
  Result<Reply> Wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return reply_.has_value(); });
    return std::move(*reply_);
  }

 private:
  const std::function<void(std::string_view)> on_delta_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<Result<Reply>> reply_;
};

}  // namespace

Result<Reply> Gate::Complete(Request request, Ledger& ledger, Stage stage,
                             const CancelToken& cancel,
                             std::function<void(std::string_view)> on_delta) {
  auto sink = std::make_shared<WaitingSink>(std::move(on_delta));
  Submit(std::make_shared<const Request>(std::move(request)), ledger, stage, cancel, sink);
  return sink->Wait();
}

std::unique_ptr<Gate> MakeGate(std::shared_ptr<Client> client, const GateOptions& options,
                               std::shared_ptr<const Clock> clock, std::shared_ptr<Timer> timer) {
  return std::make_unique<GateImpl>(std::move(client), options, std::move(clock), std::move(timer));
}

std::unique_ptr<Gate> Gate::Make(std::shared_ptr<Client> client, GateOptions options,
                                 std::shared_ptr<const Clock> clock) {
  auto timer = MakeThreadTimer(clock);
  return MakeGate(std::move(client), std::move(options), std::move(clock), std::move(timer));
}

}  // namespace dossier::model
