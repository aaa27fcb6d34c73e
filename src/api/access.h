// Gives this room's functions access to the implementations behind the public handles.
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
  std::string stored;  // the model's name in a conversation's file
};

class ModelAccess {
 public:
  // Errors: kInvalidArgument for an empty handle.
  static Result<std::shared_ptr<const Model::Impl>> Of(const Model& model);
};

struct SandboxPool::Impl {
  std::shared_ptr<sandbox::Pool> pool;
};

class SandboxPoolAccess {
 public:
  // Returns null for an empty handle.
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
  // Returns null for an empty handle.
  static const Memory::Impl* Of(const Memory& memory) { return memory.impl_.get(); }
};

// Helpers shared by several functions.
Usage UsageOf(const model::LedgerUse& use);
Usage UsageOf(const model::Usage& usage);
RunEvent RunEventOf(const store::Event& event);
// Adapts `on_event` for the other rooms: one call at a time, from any thread. Empty if empty.
std::function<void(const store::Event&)> WatchOf(
    const std::function<void(const RunEvent& event)>& on_event);
std::vector<Message> MessagesOf(const assembly::Messages& messages);
// Errors: kInvalidArgument for a role that prompts do not have.
Result<assembly::Messages> PromptOf(const std::vector<Message>& messages);
// Makes the section makers for layouts by `config`; a repository's file counts as far as approved.
driver::SectionMakers SectionMakersOf(const config::Config& config, CancelToken cancel = {});
driver::BoundModel ChatModelOf(const Model::Impl& model);

// Return the pool settings and the limits that the options ask for.
sandbox::PoolOptions PoolOptionsOf(const SandboxOptions& options);
sandbox::Limits LimitsOf(const SandboxOptions& options);

}  // namespace dossier

#endif  // DOSSIER_API_ACCESS_H_
