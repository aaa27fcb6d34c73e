#include <dossier/memory.h>

#include "api/access.h"
#include "app/load_config.h"
#include "app/memory_setup.h"
#include "base/result.h"
#include "memory/render/render.h"

namespace dossier {
namespace {

tl::unexpected<Error> NoMemory() {
  return MakeError(ErrorCode::kInvalidArgument,
                   "this memory is none: open it with Memory::Open, and keep it from being moved "
                   "away");
}

}  // namespace

Result<Memory> Memory::Open(const std::string& path, const MemoryOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, app::LoadOwnConfig());
  DOSSIER_ASSIGN_OR_RETURN(const app::MemoryConfig settings, app::ReadMemoryConfig(config));
  const bool create = options.mode == MemoryOptions::Mode::kCreate;
  const auto mode = create ? memory::OpenMode::kCreate : memory::OpenMode::kExisting;
  DOSSIER_ASSIGN_OR_RETURN(
      memory::StoreOptions own,
      app::StoreOptionsOf(settings, config, app::MemoryStorePath(path, config, mode)));
  own.mode = mode;
  auto impl = std::make_shared<Impl>();
  DOSSIER_ASSIGN_OR_RETURN(impl->store, memory::Store::Open(std::move(own)));
  impl->branch = options.branch;
  // Reports problems with the branch here, not at the first write.
  const auto seen = impl->store->Snapshot(impl->branch);
  if (!seen && seen.error().code == ErrorCode::kNotFound && create) {
    return Memory(std::make_shared<const Impl>(
                      Impl{.store = impl->store, .branch = std::string(memory::kRootBranch)}))
        .Fork(options.branch);
  }
  DOSSIER_RETURN_IF_ERROR(seen);
  return Memory(std::move(impl));
}

Status Memory::Set(std::string_view key, std::string_view value) {
  if (!impl_) return NoMemory();
  return impl_->store->Transact(
      impl_->branch, {}, [&](memory::BranchTransaction& session) -> Status {
        DOSSIER_RETURN_IF_ERROR(session.SetCore(key, {.value = std::string(value)}));
        return {};
      });
}

Result<std::string> Memory::Get(std::string_view key) const {
  if (!impl_) return NoMemory();
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, impl_->store->Snapshot(impl_->branch));
  if (const auto entry = view.Core(key)) return entry->value;
  return MakeError(ErrorCode::kNotFound, "no key \"{}\" in branch \"{}\"", key, impl_->branch);
}

Status Memory::Forget(std::string_view key) {
  if (!impl_) return NoMemory();
  return impl_->store->Transact(impl_->branch, {},
                                [&](memory::BranchTransaction& session) -> Status {
                                  DOSSIER_RETURN_IF_ERROR(session.DeleteCore(key));
                                  return {};
                                });
}

Result<std::int64_t> Memory::Add(std::string_view text, const RecordOptions& options) {
  if (!impl_) return NoMemory();
  std::int64_t id = 0;
  DOSSIER_RETURN_IF_ERROR(
      impl_->store->Transact(impl_->branch, {}, [&](memory::BranchTransaction& session) -> Status {
        DOSSIER_ASSIGN_OR_RETURN(const memory::RecordWrite written,
                                 session.Add({.tier = memory::Tier::kArchival,
                                              .text = std::string(text),
                                              .tags = options.tags}));
        id = written.id;
        return {};
      }));
  return id;
}

Result<std::vector<MemoryHit>> Memory::Search(std::string_view query, int count) const {
  if (!impl_) return NoMemory();
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, impl_->store->Snapshot(impl_->branch));
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<memory::Hit> hits,
                           view.Search({.text = std::string(query), .k = count}));
  std::vector<MemoryHit> out;
  for (const memory::Hit& hit : hits) {
    out.push_back({.id = hit.record.id,
                   .text = hit.record.text,
                   .tags = hit.record.tags,
                   .score = hit.score});
  }
  return out;
}

Result<std::string> Memory::Render(const RenderOptions& options) const {
  if (!impl_) return NoMemory();
  const memory::StoreLimits& limits = impl_->store->limits();
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, impl_->store->Snapshot(impl_->branch));
  memory::RenderRequest request{.query = options.query};
  request.budget.chars = options.max_chars.value_or(limits.memory_budget_chars);
  DOSSIER_ASSIGN_OR_RETURN(memory::Rendered rendered, memory::Render(view, limits, request));
  return std::move(rendered.text);
}

Result<Memory> Memory::Fork(std::string_view branch) const {
  if (!impl_) return NoMemory();
  DOSSIER_RETURN_IF_ERROR(impl_->store->Fork(impl_->branch, branch, {}));
  return Memory(
      std::make_shared<const Impl>(Impl{.store = impl_->store, .branch = std::string(branch)}));
}

std::string Memory::branch() const { return impl_ ? impl_->branch : ""; }

std::string Memory::path() const { return impl_ ? impl_->store->path() : ""; }

}  // namespace dossier
