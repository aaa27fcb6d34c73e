// Sends events to a client while work goes on. Each open stream has a thread of its own, so that a
// slow reader never holds up the work, and knows whether its client is still there.
//
//   EventStream stream(exchange, {.heartbeat = 5s, .comment = [&] { return progress(); },
//                                 .on_gone = [&] { source.Cancel("the client is gone"); }});
//   stream.Open({{"Content-Type", "text/event-stream"}});
//   stream.Push("data: {}\n\n");
//   stream.Close();                      // sends what is left, ends the response
//
// A stream that is never opened only watches the client: whoever has it replies through `Reply`.
// Comments are left out while more than 1 MiB waits for the reader; what was pushed is not, so
// whoever has much to push calls WaitForRoom in between. A client that no thread can be had for
// gets 503.
// Thread-safety: all methods from any thread; the destructor from one, after the others.

#ifndef DOSSIER_SERVER_HTTP_EVENT_STREAM_H_
#define DOSSIER_SERVER_HTTP_EVENT_STREAM_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/net/http_listener.h"
#include "server/ticker.h"

namespace dossier::server {

struct EventStreamOptions {
  Millis heartbeat{5'000};               // silence after which a comment is sent
  std::function<std::string()> comment;  // ": turn 3/30, 41 calls"; may be empty
  std::function<void()> on_gone;         // once, on a thread of the stream's; may be empty
  Ticker* ticker = nullptr;              // looks after the client until the stream is opened
};

class EventStream {
 public:
  EventStream(std::shared_ptr<HttpExchange> exchange, EventStreamOptions options);
  ~EventStream();  // cuts what was opened and not closed

  void Open(HttpHeaders headers, int status = 200);
  void Push(std::string text);
  // Until at most 1 MiB waits for the reader, or the client is gone.
  void WaitForRoom();
  void Close();
  // Instead of Open: the whole response, from the thread that calls.
  void Reply(HttpResponse response);
  bool gone() const;

 private:
  void Look();
  void Work();

  const std::shared_ptr<HttpExchange> exchange_;
  const EventStreamOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  HttpHeaders headers_;
  int status_ = 200;
  enum class State : std::uint8_t { kWatching, kOpening, kOpen, kClosing, kDone };
  State state_ = State::kWatching;
  bool gone_ = false, stop_ = false;
  Ticker::Handle look_;
  std::thread thread_;  // last
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_EVENT_STREAM_H_
