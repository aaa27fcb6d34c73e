// Sends events to a client while work goes on. Each open stream has its own thread, so a slow
// reader never delays the work; the stream also notices when its client leaves.
//
//   EventStream stream(exchange, {.heartbeat = 5s, .comment = [&] { return progress(); },
//                                 .on_gone = [&] { source.Cancel("the client is gone"); }});
//   stream.Open({{"Content-Type", "text/event-stream"}});
//   stream.Push("data: {}\n\n");
//   stream.Close();                      // sends what is left, ends the response
//
// A stream that is never opened only watches the client; its owner answers with `Reply`. Comments
// are dropped while more than 1 MiB waits for the reader; pushed text is not, so call WaitForRoom
// between large pushes. If no thread can be started for a client, it gets 503. Thread-safety: all
// methods from any thread; the destructor from one thread, after all others.

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
  Millis heartbeat{5'000};               // a comment is sent after this silence
  std::function<std::string()> comment;  // ": turn 3/30, 41 calls"; may be empty
  std::function<void()> on_gone;         // called once, on a thread of the stream; may be empty
  Ticker* ticker = nullptr;              // watches the client until the stream is opened
};

class EventStream {
 public:
  EventStream(std::shared_ptr<HttpExchange> exchange, EventStreamOptions options);
  ~EventStream();  // aborts a stream that was opened and not closed

  void Open(HttpHeaders headers, int status = 200);
  void Push(std::string text);
  // Waits until at most 1 MiB waits for the reader, or the client is gone.
  void WaitForRoom();
  void Close();
  // Instead of Open: sends the whole response on the calling thread.
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
