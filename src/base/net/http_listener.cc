#include "base/net/http_listener.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <mutex>
#include <set>
#include <thread>

#include "base/text/text.h"

namespace dossier {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Failure = boost::system::error_code;
using Parser = http::request_parser<http::string_body>;

class Connection;

// What connections share; lives as long as the last of them.
struct Core {
  explicit Core(HttpListenerOptions given) : options(std::move(given)) {}

  const HttpListenerOptions options;
  HttpListener::Handler handler;
  asio::io_context io;
  std::mutex mutex;
  std::set<Connection*> open;
  bool closing = false;
};

std::string HeadText(int status, const HttpHeaders& headers) {
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\n", status,
                  std::string_view(http::obsolete_reason(static_cast<http::status>(status))));
  for (const auto& [name, value] : headers) {
    // A line break in a value would be another header.
    head += fmt::format("{}: {}\r\n", name, ReplaceAll(ReplaceAll(value, "\r", " "), "\n", " "));
  }
  return head;
}

// One client. Either a read is pending, or one exchange owns the socket and writes to it from
// whatever thread it is on: never both.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Core> core, tcp::socket socket)
      : core_(std::move(core)), socket_(std::move(socket)) {
    std::lock_guard lock(core_->mutex);
    core_->open.insert(this);
    if (core_->closing) Shutdown();
  }
  ~Connection() {
    std::lock_guard lock(core_->mutex);
    core_->open.erase(this);
  }

  void ReadNext() {
    parser_.emplace();
    parser_->body_limit(core_->options.max_body);
    parser_->header_limit(64 << 10);
    http::async_read_header(socket_, buffer_, *parser_,
                            [self = shared_from_this()](Failure failure, std::size_t) {
                              failure ? self->Refuse(failure) : self->ReadBody();
                            });
  }

  Status Write(std::string_view bytes) {
    Failure failure;
    asio::write(socket_, asio::buffer(bytes.data(), bytes.size()), failure);
    if (!failure) return {};
    gone_ = true;
    return MakeError(ErrorCode::kNetwork, "the client is gone: {}", failure.message());
  }

  // Ends both directions; a read or write in progress fails.
  void Shutdown() { ::shutdown(socket_.native_handle(), SHUT_RDWR); }

  // The client sees a reset, not an orderly end.
  void Reset() {
    gone_ = true;
    const struct linger now{.l_onoff = 1, .l_linger = 0};
    // A listener that ends at this moment must not shut down whoever gets the number next.
    std::lock_guard lock(core_->mutex);
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    Failure ignored;
    socket_.close(ignored);
  }

  bool gone() {
    if (gone_) return true;
    char byte = 0;
    const ssize_t got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  }

  void Continue(bool keep_alive) {
    if (!keep_alive || gone_) {
      Shutdown();
    } else {
      asio::post(core_->io, [self = shared_from_this()] { self->ReadNext(); });
    }
  }

 private:
  void ReadBody() {
    if (parser_->get()[http::field::expect] == "100-continue" &&
        !Write("HTTP/1.1 100 Continue\r\n\r\n")) {
      return;
    }
    http::async_read(socket_, buffer_, *parser_,
                     [self = shared_from_this()](Failure failure, std::size_t) {
                       failure ? self->Refuse(failure) : self->Handle();
                     });
  }

  void Refuse(const Failure& failure) {
    const bool closed = failure == http::error::end_of_stream ||
                        failure.category() == asio::error::get_system_category();
    if (closed) return;
    const int status = failure == http::error::body_limit ? 413 : 400;
    (void)Write(HeadText(status, {{"Content-Length", "0"}, {"Connection", "close"}}) + "\r\n");
    Shutdown();
  }

  void Handle();

  const std::shared_ptr<Core> core_;
  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
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
    (void)connection_->Write(HeadText(response.status, response.headers) + "\r\n" + response.body);
    End();
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
    (void)connection_->Write("0\r\n\r\n");
    End();
  }

  void Abort() override {
    if (std::exchange(done_, true)) return;
    connection_->Reset();
  }

  bool client_gone() const override { return connection_->gone(); }

 private:
  void End() {
    done_ = true;
    connection_->Continue(keep_alive_);
  }

  const std::shared_ptr<Connection> connection_;
  const HttpRequest request_;
  const bool keep_alive_;
  bool streaming_ = false, done_ = false;
};

void Connection::Handle() {
  auto& message = parser_->get();
  HttpRequest request{.method = std::string(message.method_string()),
                      .target = std::string(message.target()),
                      .body = std::move(message.body())};
  for (const auto& field : message) {
    request.headers.emplace_back(
        ToLowerAscii({field.name_string().data(), field.name_string().size()}),
        std::string(field.value()));
  }
  const bool keep_alive = message.keep_alive();
  core_->handler(std::make_shared<Exchange>(shared_from_this(), std::move(request), keep_alive));
}

class Listener final : public HttpListener {
 public:
  Listener(std::shared_ptr<Core> core, tcp::acceptor acceptor)
      : core_(std::move(core)),
        acceptor_(std::move(acceptor)),
        port_(acceptor_.local_endpoint().port()) {
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
    }
    // No io.stop(): what waits must end and let go of its connection, which holds the core.
    for (std::thread& thread : threads_) thread.join();
  }

  int port() const override { return port_; }

 private:
  void Accept() {
    std::lock_guard lock(core_->mutex);
    if (core_->closing) return;
    acceptor_.async_accept([this](Failure failure, tcp::socket socket) {
      if (!failure) {
        Failure ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Connection>(core_, std::move(socket))->ReadNext();
      }
      Accept();
    });
  }

  const std::shared_ptr<Core> core_;
  tcp::acceptor acceptor_;
  const int port_;
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
