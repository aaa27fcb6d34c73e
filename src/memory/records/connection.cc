#include "memory/records/connection.h"

namespace dossier::memory {

Result<store::Statement*> Connection::Use(std::string_view sql) {
  const auto known = statements_.find(sql);
  if (known != statements_.end()) return known->second.get();
  DOSSIER_ASSIGN_OR_RETURN(store::Statement statement, db_.Prepare(sql));
  auto owned = std::make_unique<store::Statement>(std::move(statement));
  return statements_.emplace(sql, std::move(owned)).first->second.get();
}

Lease::Lease(std::unique_ptr<Connection> owned, std::shared_ptr<ReaderPool> pool)
    : connection_(owned.get()), owned_(std::move(owned)), pool_(std::move(pool)) {}

Lease::~Lease() {
  if (owned_) pool_->GiveBack(std::move(owned_));
}

Result<Lease> ReaderPool::Borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return Lease(std::move(connection), shared_from_this());
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, OpenMemoryDatabase(path_, options_));
  // Reading must not change the file: what a writer left in the log stays there.
  DOSSIER_RETURN_IF_ERROR(db.KeepLogAtClose());
  // A search reads the texts once, and the system keeps the file's pages: what a connection keeps
  // beside them counts as the search's memory.
  DOSSIER_RETURN_IF_ERROR(db.Execute("PRAGMA cache_size = -1000"));
  return Lease(std::make_unique<Connection>(std::move(db)), shared_from_this());
}

void ReaderPool::GiveBack(std::unique_ptr<Connection> connection) {
  constexpr std::size_t kMostIdle = 8;
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
}

}  // namespace dossier::memory
