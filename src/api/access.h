// What lies behind the handles of the public headers, for the functions of this room alone.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Model::Impl* opened, ModelAccess::Of(options.model));
//   opened->opened.root.gate->Complete(…);
//
// Thread-safety: as the handles'.

#ifndef DOSSIER_API_ACCESS_H_
#define DOSSIER_API_ACCESS_H_

#include <dossier/memory.h>
#include <dossier/model.h>
#include <dossier/sandbox.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/open_model.h"
#include "assembly/layout/messages.h"
#include "config/config.h"
#include "driver/bound_model.h"
#include "driver/section_reader.h"
#include "memory/store/store.h"
#include "model/client/ledger.h"
#include "sandbox/session/session.h"
#include "store/journal.h"

namespace dossier {

struct Model::Impl {
  app::OpenedModel opened;
  std::optional<double> temperature;
  std::string stored;  // the name by which a conversation's file says which model it is
};

class ModelAccess {
 public:
  // Errors: kInvalidArgument for a handle that is none.
  static Result<std::shared_ptr<const Model::Impl>> Of(const Model& model);
};

struct SandboxPool::Impl {
  std::shared_ptr<sandbox::Pool> pool;
};

class SandboxPoolAccess {
 public:
  // Null for a handle that is none.
  static std::shared_ptr<sandbox::Pool> Of(const SandboxPool& pool) {
    return pool.impl_ ? pool.impl_->pool : nullptr;
  }
  static SandboxPool Over(std::shared_ptr<sandbox::Pool> pool) {
    return SandboxPool(std::make_shared<SandboxPool::Impl>(std::move(pool)));
  }
};

struct Memory::Impl {
  std::shared_ptr<memory::Store> store;
  std::string branch;
};

class MemoryAccess {
 public:
  // Null for a handle that is none.
  static const Memory::Impl* Of(const Memory& memory) { return memory.impl_.get(); }
};

// Pieces that several functions need.
Usage UsageOf(const model::LedgerUse& use);
Usage UsageOf(const model::Usage& usage);
RunEvent RunEventOf(const store::Event& event);
// `on_event` as rooms call it: one call at a time, whatever thread it comes from. Empty for none.
std::function<void(const store::Event&)> WatchOf(
    const std::function<void(const RunEvent& event)>& on_event);
std::vector<Message> MessagesOf(const assembly::Messages& messages);
// Errors: kInvalidArgument for a role that no prompt has.
Result<assembly::Messages> PromptOf(const std::vector<Message>& messages);
// Makers of layouts' sections by `config`; of a repository's file what a person approved counts.
driver::SectionMakers SectionMakersOf(const config::Config& config, CancelToken cancel = {});
driver::BoundModel ChatModelOf(const Model::Impl& model);

// The pool and the limits that options ask for.
sandbox::PoolOptions PoolOptionsOf(const SandboxOptions& options);
sandbox::Limits LimitsOf(const SandboxOptions& options);

}  // namespace dossier

#endif  // DOSSIER_API_ACCESS_H_
