#include "server/mcp/batch.h"

#include <mutex>
#include <string>
#include <vector>

namespace dossier::mcp {
namespace {

// Collects the answers of a batch until it is complete.
class Gathering {
 public:
  Gathering(std::shared_ptr<Outlet> outlet, std::size_t expected)
      : outlet_(std::move(outlet)), missing_(expected) {}

  void Notify(const std::string& text) {
    const std::lock_guard lock(mutex_);
    outlet_->Notify(text);
  }
  // "" is for a message without an answer.
  void Add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (!text.empty()) list_ += (list_.empty() ? "[" : ",") + text;
    if (--missing_ > 0) return;
    if (list_.empty()) return outlet_->Drop();
    outlet_->Answer(list_ + "]", 0);
  }

 private:
  const std::shared_ptr<Outlet> outlet_;
  std::mutex mutex_;
  std::size_t missing_;
  std::string list_;
};

class Member final : public Outlet {
 public:
  explicit Member(std::shared_ptr<Gathering> all) : all_(std::move(all)) {}
  void Notify(const std::string& text) override { all_->Notify(text); }
  void Answer(const std::string& text, int) override { all_->Add(text); }
  void Drop() override { all_->Add(""); }

 private:
  const std::shared_ptr<Gathering> all_;
};

void DeliverOne(const tl::expected<RpcMessage, RpcRefusal>& message, ClientConnection& connection,
                const std::shared_ptr<Outlet>& outlet) {
  if (message) return connection.Handle(*message, outlet);
  outlet->Answer(ErrorText(message.error().id, message.error().error), message.error().error.code);
}

}  // namespace

void Deliver(RpcMessages messages, ClientConnection& connection,
             const std::shared_ptr<Outlet>& outlet) {
  if (messages.form == RpcMessages::Form::kSingle) {
    return DeliverOne(messages.list[0], connection, outlet);
  }
  if (connection.version() != kBatchVersion) {
    const RpcError error{
        kInvalidRequest,
        fmt::format("a batch is of revision {} alone; send one message", kBatchVersion)};
    return outlet->Answer(ErrorText(nullptr, error), error.code);
  }
  const auto all = std::make_shared<Gathering>(outlet, messages.list.size());
  for (const auto& message : messages.list) {
    DeliverOne(message, connection, std::make_shared<Member>(all));
  }
}

}  // namespace dossier::mcp
