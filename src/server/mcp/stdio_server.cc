#include "server/mcp/stdio_server.h"

#include <atomic>

#include "base/text/text.h"
#include "server/line_stream.h"
#include "server/mcp/batch.h"

namespace dossier::mcp {
namespace {

// If the reader is gone, the server ends at its next message.
class Writer {
 public:
  explicit Writer(int fd) : lines_(fd) {}

  void Line(const std::string& text) {
    if (!failed_ && !lines_.Write(text)) failed_ = true;
  }
  bool failed() const { return failed_; }

 private:
  server::LineWriter lines_;
  std::atomic<bool> failed_{false};
};

class LineOutlet final : public Outlet {
 public:
  explicit LineOutlet(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}
  void Notify(const std::string& text) override { writer_->Line(text); }
  void Answer(const std::string& text, int) override { writer_->Line(text); }
  void Drop() override {}

 private:
  const std::shared_ptr<Writer> writer_;
};

}  // namespace

Status ServeStdio(ServerOffer& catalog, const StdioOptions& options, const CancelToken& cancel) {
  const auto writer = std::make_shared<Writer>(options.out);
  Ticker ticker;
  ClientConnection connection(
      catalog, ticker,
      {.info = options.info, .notify = [writer](const std::string& text) { writer->Line(text); }});
  DescriptorLines reader(options.in, cancel, options.most_line,
                         std::string(server::kLongLineAdvice));
  Status ended;
  while (!writer->failed()) {
    const auto line = reader.Next();
    const auto outlet = std::make_shared<LineOutlet>(writer);
    if (!line && line.error().code == ErrorCode::kTooLong) {
      outlet->Answer(ErrorText(nullptr, {kInvalidRequest, line.error().message}), kInvalidRequest);
      continue;
    }
    if (!line && line.error().code != ErrorCode::kCancelled) ended = tl::unexpected(line.error());
    if (!line || !*line) break;
    if (!TrimSpace(**line).empty()) Deliver(ReadMessages(**line), connection, outlet);
  }
  connection.CancelAll(cancel.cancelled() ? cancel.reason() : "the input ended");
  return ended;
}

}  // namespace dossier::mcp
