// A store in a folder of its own, with a clock that stands still, for tests.
//
//   TestStore store;
//   store.Set("compiler", "icpx");
//   EXPECT_EQ(store.View().Core("compiler")->value, "icpx");
//
// Thread-safety: as Store.

#ifndef DOSSIER_TESTING_STORE_FOR_TEST_H_
#define DOSSIER_TESTING_STORE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/files/file.h"
#include "memory/store/store.h"

namespace dossier::memory {

class StandingClock final : public Clock {
 public:
  static constexpr Micros kStart = 1'700'000'000'000'000;  // 2023-11-14T22:13:20Z

  Steady Now() const override { return Steady(std::chrono::microseconds(now)); }
  Wall WallNow() const override { return Wall(std::chrono::microseconds(now)); }

  Micros now = kStart;
};

// A store that its test owns, for whoever shares one; null stays null.
inline std::shared_ptr<Store> SharedBy(Store* store) {
  return {store, [](Store*) {}};
}

class TestStore {
 public:
  explicit TestStore(StoreOptions options = {}) : clock_(std::make_shared<StandingClock>()) {
    options.path = path();
    options.mode = OpenMode::kCreate;
    options.clock = clock_;
    if (options.new_store_id.empty()) options.new_store_id = std::string(32, 'a');
    options_ = options;
    Reopen();
  }

  Store& operator*() { return *store_; }
  Store* operator->() { return store_.get(); }
  std::string path() const { return folder_.path() + "/memory.sqlite"; }
  const std::string& folder() const { return folder_.path(); }
  StandingClock& clock() { return *clock_; }
  StoreOptions& options() { return options_; }
  void Close() { store_.reset(); }
  void Reopen() {
    Close();
    auto opened = Store::Open(options_);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
  }

  memory::View View(std::string_view branch = kRootBranch, std::optional<Seq> at = {}) {
    auto view = store_->Snapshot(branch, at);
    EXPECT_TRUE(view) << view.error().message;
    return *view;
  }
  // What `work` returns, from a transaction of its own.
  template <typename Work>
  auto In(std::string_view branch, const Work& work, Actor actor = Actor::kUser)
      -> std::invoke_result_t<Work, BranchTransaction&> {
    std::optional<std::invoke_result_t<Work, BranchTransaction&>> result;
    const Status status =
        store_->Transact(branch, {.actor = actor}, [&](BranchTransaction& session) -> Status {
          result = work(session);
          return *result ? Status() : Status(tl::unexpected(result->error()));
        });
    if (!status) return tl::unexpected(status.error());
    return *std::move(result);
  }
  Result<CoreWrite> Set(std::string_view key, std::string_view value,
                        std::string_view branch = kRootBranch) {
    return In(branch, [&](BranchTransaction& session) {
      return session.SetCore(key, {.value = std::string(value)});
    });
  }
  Result<Seq> Delete(std::string_view key, std::string_view branch = kRootBranch) {
    return In(branch, [&](BranchTransaction& session) { return session.DeleteCore(key); });
  }
  Result<RecordWrite> Add(const Record& record, std::string_view branch = kRootBranch) {
    return In(branch, [&](BranchTransaction& session) { return session.Add(record); });
  }
  // The value of a key; "none" without one.
  std::string Core(std::string_view key, std::string_view branch = kRootBranch,
                   std::optional<Seq> at = {}) {
    const auto entry = View(branch, at).Core(key);
    return entry ? entry->value : "none";
  }

 private:
  TempFolder folder_ = *TempFolder::Make("memory");
  std::shared_ptr<StandingClock> clock_;
  StoreOptions options_;
  std::unique_ptr<Store> store_;
};

}  // namespace dossier::memory

#endif  // DOSSIER_TESTING_STORE_FOR_TEST_H_
