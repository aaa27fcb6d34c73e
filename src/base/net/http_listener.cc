#include "base/net/http_listener.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Failure = boost::system::error_code;
using HeadParser = http::request_parser<http::empty_body>;
constexpr std::size_t kHeadPiece = 8u << 10;  // bytes read at once
// The time and size limits for reading and dropping a refused request.
constexpr std::chrono::milliseconds kLinger{10'000};
constexpr std::size_t kMostDropped = 256u << 20, kDropPiece = 64u << 10;  // bytes
template <typename Body>
using BodyParser = std::shared_ptr<http::request_parser<Body>>;

class Connection;

// State shared by connections; lives as long as the last of them.
struct Core {
  explicit Core(HttpListenerOptions given) : options(std::move(given)) {}

  const HttpListenerOptions options;
  HttpListener::Handler handler;
  asio::io_context io;
  std::mutex mutex;
  std::set<Connection*> open;
  bool closing = false;
};

const HttpHeaders kTryLater = {{"Retry-After", "1"}};

std::string HeadText(int status, const HttpHeaders& headers) {
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\n", status,
                  std::string_view(http::obsolete_reason(static_cast<http::status>(status))));
  for (const auto& [name, value] : headers) {
    // A line break in a value would start another header.
    head += fmt::format("{}: {}\r\n", name, ReplaceAll(ReplaceAll(value, "\r", " "), "\n", " "));
  }
  return head;
}

// A client's connection. Either a read is pending, or one exchange owns the socket and writes to it
// from its own thread: never both.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Core> core, tcp::socket socket)
      : core_(std::move(core)), socket_(std::move(socket)) {
    // A chunk's frame and the trailer must also end within this many bytes.
    buffer_.max_size(core_->options.max_head + 2 * kHeadPiece);
    std::lock_guard lock(core_->mutex);
    core_->open.insert(this);
    if (core_->closing) Shutdown();
  }
  ~Connection() {
    std::lock_guard lock(core_->mutex);
    core_->open.erase(this);
  }

  void ReadNext() {
    head_.emplace();
    head_->body_limit(boost::none);  // the limit is known after the head
    head_->header_limit(core_->options.max_head);
    // The first byte may take long, the rest may not.
    if (buffer_.size() > 0) return ReadHead();
    Limit(core_->options.idle_time);
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](Failure failure) {
      self->timer_.cancel();
      if (failure) return self->Shutdown();
      self->ReadHead();
    });
  }

  // Ends a connection above the limit.
  void TurnAway() {
    const std::string text = LastText({.status = 503, .headers = kTryLater});
    std::string_view rest = text;
    (void)SendSome(&rest);
    Shutdown();
  }

  // Waits until the client has room for it, so never call it on the listener's threads.
  Status Write(std::string_view bytes) {
    const auto& time = core_->options.write_time;
    const LastMoment until = LastMomentFor(bytes.size());
    const int wait = time ? static_cast<int>(time->count()) : -1;
    while (true) {
      const int failure = SendSome(&bytes);
      if (failure == 0) return {};
      pollfd writable{.fd = socket_.native_handle(), .events = POLLOUT, .revents = 0};
      if (failure == EAGAIN && !IsOver(until) && ::poll(&writable, 1, wait) != 0) continue;
      gone_ = true;
      return MakeError(ErrorCode::kNetwork, "the client is gone: {}",
                       failure == EAGAIN ? "it reads too slowly" : std::strerror(failure));
    }
  }

  // Sends `bytes`, and calls `then` once they are sent or the client is gone. No thread waits here:
  // the rest is sent as the client reads.
  void Send(std::string bytes, std::function<void()> then) {
    std::string_view rest = bytes;
    const int failure = SendSome(&rest);
    if (failure == EAGAIN) {
      const std::size_t sent = bytes.size() - rest.size();
      return asio::post(socket_.get_executor(),
                        [self = shared_from_this(), sent, bytes = std::move(bytes),
                         then = std::move(then)]() mutable {
                          const LastMoment until = self->LastMomentFor(bytes.size() - sent);
                          self->SendWhenRead(std::move(bytes), sent, until, std::move(then));
                        });
    }
    if (failure != 0) gone_ = true;
    then();
  }

  // Ends both directions; a read or write in progress fails.
  void Shutdown() { ::shutdown(socket_.native_handle(), SHUT_RDWR); }

  // Aborts: the client sees a reset, not an orderly end.
  void Reset() {
    gone_ = true;
    const struct linger now{.l_onoff = 1, .l_linger = 0};
    // A listener that ends now must not shut down the next owner of this descriptor number.
    std::lock_guard lock(core_->mutex);
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    Failure ignored;
    socket_.close(ignored);
  }

  // Works also if the client sent more than its request before it left.
  bool gone() {
    if (gone_) return true;
    pollfd left{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&left, 1, 0) > 0;
  }

  void Continue(bool keep_alive) {
    if (!keep_alive || gone_) {
      Shutdown();
    } else {
      asio::post(socket_.get_executor(), [self = shared_from_this()] { self->ReadNext(); });
    }
  }

 private:
  using LastMoment = std::optional<std::chrono::steady_clock::time_point>;  // unset: no limit

  LastMoment LastMomentFor(std::size_t bytes) const {
    const auto& time = core_->options.write_time;
    if (!time) return std::nullopt;
    const std::chrono::seconds reading(bytes / core_->options.least_rate);
    return std::chrono::steady_clock::now() + *time + reading;
  }
  static bool IsOver(const LastMoment& until) {
    return until && std::chrono::steady_clock::now() > *until;
  }

  // Sends as much as the socket has room for and removes it from `bytes`. Returns 0 once all is
  // sent, else errno: EAGAIN if there is no more room.
  int SendSome(std::string_view* bytes) {
    while (!bytes->empty()) {
      const ssize_t sent = ::send(socket_.native_handle(), bytes->data(), bytes->size(),
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) bytes->remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && errno != EINTR) return errno;
    }
    return 0;
  }

  // Sends the rest of `bytes` from `at` on as the client reads it.
  void SendWhenRead(std::string bytes, std::size_t at, LastMoment until,
                    std::function<void()> then) {
    Limit(core_->options.write_time);
    socket_.async_wait(
        tcp::socket::wait_write, [self = shared_from_this(), bytes = std::move(bytes), at, until,
                                  then = std::move(then)](Failure failure) mutable {
          self->timer_.cancel();
          std::string_view rest = std::string_view(bytes).substr(at);
          if (!failure && !IsOver(until) && self->SendSome(&rest) == EAGAIN) {
            const std::size_t sent = bytes.size() - rest.size();
            return self->SendWhenRead(std::move(bytes), sent, until, std::move(then));
          }
          if (!rest.empty()) self->gone_ = true;
          then();
        });
  }

  static std::string LastText(HttpResponse response) {
    response.headers.emplace_back("Content-Length", std::to_string(response.body.size()));
    response.headers.emplace_back("Connection", "close");
    return HeadText(response.status, response.headers) + "\r\n" + response.body;
  }

  void ReadHead() {
    Limit(core_->options.head_time);
    buffer_.size() > 0 ? ParseHead() : ReadMoreOfHead();
  }

  // As http::async_read_header, but checks the lines before the parser joins them.
  void ReadMoreOfHead() {
    socket_.async_read_some(buffer_.prepare(kHeadPiece), [self = shared_from_this()](
                                                             Failure failure, std::size_t bytes) {
      if (!failure) {
        self->buffer_.commit(bytes);
        return self->ParseHead();
      }
      self->timer_.cancel();
      if (failure != asio::error::eof) return self->Refuse(failure);
      const bool some = self->buffer_.size() > 0 || self->head_->got_some();
      self->Refuse(some ? http::error::partial_message : http::error::end_of_stream);
    });
  }

  void ParseHead() {
    const bool folded = IsFolded({static_cast<const char*>(buffer_.data().data()), buffer_.size()});
    Failure failure;
    buffer_.consume(head_->put(buffer_.data(), failure));
    if (failure == http::error::need_more) return ReadMoreOfHead();
    timer_.cancel();
    if (failure) return Refuse(failure);
    folded ? RefuseWith({.status = 400}) : Admit();
  }

  // Returns true if a line of the head before `bytes` begins with a space: it continues the
  // previous line, which a proxy may read differently than we do.
  static bool IsFolded(std::string_view bytes) {
    while (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
    const std::string_view head = bytes.substr(0, bytes.find("\r\n\r\n"));
    return head.find("\n ") != head.npos || head.find("\n\t") != head.npos;
  }

  // Pending operations fail when the time is over.
  void Limit(const std::optional<std::chrono::milliseconds>& time) {
    late_ = false;
    if (!time) return;
    timer_.expires_after(*time);
    timer_.async_wait([self = shared_from_this()](Failure failure) {
      if (failure) return;
      self->late_ = true;
      Failure ignored;
      self->socket_.cancel(ignored);
    });
  }

  void Admit() {
    const auto& message = head_->get();
    request_ = {.method = std::string(message.method_string()),
                .target = std::string(message.target())};
    for (const auto& field : message) {
      request_.headers.emplace_back(
          ToLowerAscii({field.name_string().data(), field.name_string().size()}),
          std::string(field.value()));
    }
    // HTTP/1.0 has no chunks, so the end of such a body is ambiguous.
    keep_alive_ = message.keep_alive() && !(message.version() < 11 && message.chunked());
    // A proxy may read this differently than we do.
    const bool odd = message.count(http::field::transfer_encoding) > 0 && !message.chunked();
    const bool twice =
        message.count(http::field::host) > 1 || message.count(http::field::origin) > 1;
    if (odd || twice) return RefuseWith({.status = 400});
    HttpAdmission admission;
    if (core_->options.admit) admission = core_->options.admit(request_);
    if (admission.refusal) return RefuseWith(std::move(*admission.refusal));
    const std::uint64_t limit = admission.max_body.value_or(core_->options.max_body);
    const auto length = head_->content_length();
    if (length && *length > limit) return Refuse(http::error::body_limit);
    request_.body_file = std::move(admission.file);
    if (message[http::field::expect] != "100-continue") return ReadBody(limit);
    Send("HTTP/1.1 100 Continue\r\n\r\n", [self = shared_from_this(), limit] {
      self->gone_ ? self->Shutdown() : self->ReadBody(limit);
    });
  }

  void ReadBody(std::uint64_t limit) {
    request_.body_file.empty() ? ReadInto<http::string_body>(limit)
                               : ReadInto<http::file_body>(limit);
  }

  template <typename Body>
  void ReadInto(std::uint64_t limit) {
    auto parser = std::make_shared<http::request_parser<Body>>(std::move(*head_));
    parser->body_limit(limit);
    if constexpr (std::is_same_v<Body, http::file_body>) {
      Failure failure;
      parser->get().body().open(request_.body_file.c_str(), boost::beast::file_mode::write_new,
                                failure);
      if (failure) return RefuseWith({.status = 507});
    }
    ReadMore<Body>(parser);
  }

  template <typename Body>
  void ReadMore(const BodyParser<Body>& parser) {
    if (parser->is_done()) return Handle(*parser);
    Limit(core_->options.body_silence);
    http::async_read_some(socket_, buffer_, *parser,
                          [self = shared_from_this(), parser](Failure failure, std::size_t) {
                            self->timer_.cancel();
                            failure ? self->Refuse(failure) : self->ReadMore<Body>(parser);
                          });
  }

  void Refuse(const Failure& failure) {
    const bool closed =
        !late_ &&
        (failure == http::error::end_of_stream ||
         (failure.category() == asio::error::get_system_category() && failure.value() != ENOSPC));
    if (closed) return DropBody();
    int status = 400;
    if (failure == http::error::body_limit) status = 413;
    if (failure == http::error::header_limit) status = 431;
    if (failure.category() == boost::system::system_category() && !late_) status = 507;
    if (late_) status = 408;
    RefuseWith({.status = status});
  }

  void RefuseWith(HttpResponse response) {
    DropBody();
    Send(LastText(std::move(response)), [self = shared_from_this()] {
      if (self->gone_) return self->Shutdown();
      // If a connection is closed with unread data, the kernel resets it, and a client that is
      // still sending would not see the response.
      ::shutdown(self->socket_.native_handle(), SHUT_WR);
      self->Limit(kLinger);
      self->DropRest(kMostDropped);
    });
  }

  void DropRest(std::size_t most) {
    buffer_.clear();
    socket_.async_read_some(buffer_.prepare(std::min(kDropPiece, buffer_.max_size())),
                            [self = shared_from_this(), most](Failure failure, std::size_t bytes) {
                              if (!failure && !self->late_ && bytes < most)
                                return self->DropRest(most - bytes);
                              self->timer_.cancel();
                              self->Shutdown();
                            });
  }

  void DropBody() {
    if (!request_.body_file.empty()) ::unlink(request_.body_file.c_str());
    request_.body_file.clear();
  }

  void Handle(http::request_parser<http::string_body>& parser) {
    request_.body = std::move(parser.get().body());
    Hand();
  }
  void Handle(http::request_parser<http::file_body>& parser) {
    parser.get().body().close();
    Hand();
  }
  void Hand();

  const std::shared_ptr<Core> core_;
  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  asio::steady_timer timer_{socket_.get_executor()};
  std::optional<HeadParser> head_;
  HttpRequest request_;  // being read
  bool keep_alive_ = true, late_ = false;
  std::atomic<bool> gone_{false};
};

class Exchange final : public HttpExchange {
 public:
  Exchange(std::shared_ptr<Connection> connection, HttpRequest request, bool keep_alive)
      : connection_(std::move(connection)), request_(std::move(request)), keep_alive_(keep_alive) {}
  ~Exchange() override {
    if (!done_) connection_->Reset();
  }

  const HttpRequest& request() const override { return request_; }

  void Reply(HttpResponse response) override {
    if (done_ || streaming_) return;
    response.headers.emplace_back("Content-Length", std::to_string(response.body.size()));
    if (!keep_alive_) response.headers.emplace_back("Connection", "close");
    if (request_.method == "HEAD") response.body.clear();  // Content-Length stays
    done_ = true;
    connection_->Send(
        HeadText(response.status, response.headers) + "\r\n" + response.body,
        [connection = connection_, keep = keep_alive_] { connection->Continue(keep); });
  }

  void SendHead(int status, HttpHeaders headers) override {
    if (done_ || streaming_) return;
    streaming_ = true;
    headers.emplace_back("Transfer-Encoding", "chunked");
    if (!keep_alive_) headers.emplace_back("Connection", "close");
    (void)connection_->Write(HeadText(status, headers) + "\r\n");
  }

  Status SendChunk(std::string_view bytes) override {
    if (done_ || !streaming_) {
      return MakeError(ErrorCode::kInternal, "a chunk before SendHead or after the end");
    }
    if (bytes.empty()) return {};  // an empty chunk would end the body
    return connection_->Write(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
  }

  void Finish() override {
    if (done_ || !streaming_) return;
    done_ = true;
    (void)connection_->Write("0\r\n\r\n");
    connection_->Continue(keep_alive_);
  }

  void Abort() override {
    if (std::exchange(done_, true)) return;
    connection_->Reset();
  }

  bool client_gone() const override { return connection_->gone(); }

 private:
  const std::shared_ptr<Connection> connection_;
  const HttpRequest request_;
  const bool keep_alive_;
  bool streaming_ = false, done_ = false;
};

void Connection::Hand() {
  core_->handler(std::make_shared<Exchange>(shared_from_this(),
                                            std::exchange(request_, HttpRequest()), keep_alive_));
}

// Limits connections so that their handlers still get descriptors.
std::size_t MostConnections(std::size_t wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
  const std::size_t room = files.rlim_cur / 4 * 3;
  return wanted == 0 ? room : std::min(wanted, room);
}

// Returns true if accept failed for lack of a resource that connections release.
bool IsShortage(const Failure& failure) {
  constexpr int kShortages[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM};
  return std::find(std::begin(kShortages), std::end(kShortages), failure.value()) !=
         std::end(kShortages);
}

UniqueFd OpenSpare() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

class Listener final : public HttpListener {
 public:
  Listener(std::shared_ptr<Core> core, tcp::acceptor acceptor)
      : core_(std::move(core)),
        acceptor_(std::move(acceptor)),
        port_(acceptor_.local_endpoint().port()),
        most_(MostConnections(core_->options.max_connections)),
        spare_(OpenSpare()),
        rest_(core_->io) {
    Accept();
    for (int i = 0; i < std::max(1, core_->options.threads); ++i) {
      threads_.emplace_back([core = core_] { core->io.run(); });
    }
  }

  ~Listener() override {
    {
      std::lock_guard lock(core_->mutex);
      core_->closing = true;
      for (Connection* connection : core_->open) connection->Shutdown();
      Failure ignored;
      acceptor_.close(ignored);
      rest_.cancel();
    }
    // No io.stop(): waiting operations must end and release their connection, which holds the core.
    for (std::thread& thread : threads_) thread.join();
  }

  int port() const override { return port_; }

 private:
  void Accept() {
    std::lock_guard lock(core_->mutex);
    if (core_->closing) return;
    // One strand per connection: its timer and its read never run at once.
    acceptor_.async_accept(asio::make_strand(core_->io),
                           [this](Failure failure, tcp::socket socket) {
                             if (!failure) Serve(std::move(socket));
                             IsShortage(failure) ? Rest() : Accept();
                           });
  }

  // A client that cannot be accepted stays in the backlog, so the next accept would fail at once.
  void Rest() {
    constexpr int kMostAtOnce = 64;
    std::lock_guard lock(core_->mutex);
    if (core_->closing) return;
    for (int i = 0; i < kMostAtOnce && TurnOneAway(); ++i) {
    }
    rest_.expires_after(std::chrono::milliseconds(100));
    rest_.async_wait([this](Failure) { Accept(); });
  }

  // Answers one client with the spare descriptor. False: nobody waits, or there is no spare.
  bool TurnOneAway() {
    if (!spare_.valid()) spare_ = OpenSpare();
    if (!spare_.valid()) return false;
    spare_.Reset();
    UniqueFd client(
        ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const bool came = client.valid();
    if (came) {
      const std::string answer =
          HeadText(503, kTryLater) + "Content-Length: 0\r\n" + "Connection: close\r\n\r\n";
      ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      ::shutdown(client.get(), SHUT_WR);
      char request[kHeadPiece];  // if left unread, the client would get a reset instead
      (void)::recv(client.get(), request, sizeof(request), 0);
    }
    client.Reset();
    spare_ = OpenSpare();
    return came;
  }

  void Serve(tcp::socket socket) {
    Failure ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const auto connection = std::make_shared<Connection>(core_, std::move(socket));
    std::size_t open = 0;
    {
      std::lock_guard lock(core_->mutex);
      open = core_->open.size();
    }
    most_ > 0 && open > most_ ? connection->TurnAway() : connection->ReadNext();
  }

  const std::shared_ptr<Core> core_;
  tcp::acceptor acceptor_;
  const int port_;
  const std::size_t most_;  // connections; 0: no limit
  UniqueFd spare_;          // released to answer a client if descriptors run out
  asio::steady_timer rest_;
  std::vector<std::thread> threads_;
};

Result<tcp::acceptor> Listen(asio::io_context& io, const HttpListenerOptions& options) {
  const auto fail = [&](const Failure& failure) {
    return MakeError(ErrorCode::kNetwork, "cannot listen on {}:{}: {}", options.address,
                     options.port, failure.message());
  };
  Failure failure;
  const auto address = asio::ip::make_address(options.address, failure);
  if (failure) return fail(failure);
  const tcp::endpoint endpoint(address, static_cast<unsigned short>(options.port));
  tcp::acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), failure);
  if (!failure) acceptor.set_option(tcp::acceptor::reuse_address(true), failure);
  if (!failure) acceptor.bind(endpoint, failure);
  if (!failure) acceptor.listen(1024, failure);
  if (!failure) acceptor.non_blocking(true, failure);
  if (failure) return fail(failure);
  return acceptor;
}

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

Result<std::unique_ptr<HttpListener>> HttpListener::Start(HttpListenerOptions options,
                                                          Handler handler) {
  auto core = std::make_shared<Core>(std::move(options));
  core->handler = std::move(handler);
  DOSSIER_ASSIGN_OR_RETURN(tcp::acceptor acceptor, Listen(core->io, core->options));
  return std::make_unique<Listener>(std::move(core), std::move(acceptor));
}

}  // namespace dossier
