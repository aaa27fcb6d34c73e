// Remembers facts (by key) and records (by search) across runs and conversations and renders them
// into a prompt within a budget. One SQLite file; its branches also see their parent's content.
//
// [example]
//   auto memory = dossier::Memory::Open("memory.sqlite");
//   if (!memory) return dossier::ExitCode(memory.error().code);
//   if (auto set = memory->Set("compiler", "icpx 2024.2"); !set) return 1;
//   auto id = memory->Add("The linker needs -lfftw3 before -lm.", {.tags = {"build"}});
//   if (auto hits = memory->Search("why does the linker fail?")) {
//     for (const dossier::MemoryHit& hit : *hits) std::cout << hit.id << " " << hit.text << "\n";
//   }
//   if (auto text = memory->Render({.query = "linker", .max_chars = 2000})) std::cout << *text;
// [/example]
//
// Secrets are removed before anything is stored. Units: characters are code points. Errors:
// kNotFound (the file, a key, a branch), kLocked (another process holds it too long), kIo,
// kPermission, kDamaged, kConfig (written by a newer version), kInvalidArgument (a name or value; a
// moved-from memory). Ownership: a Memory is a handle; copies share one open store. Thread-safety:
// all methods from any thread; several processes may use one file.

#ifndef DOSSIER_MEMORY_H_
#define DOSSIER_MEMORY_H_

#include <dossier/result.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

struct MemoryOptions {
  std::string branch = "root";
  enum class Mode { kCreate, kExisting } mode = Mode::kCreate;
};

struct RecordOptions {
  std::vector<std::string> tags;
};

struct MemoryHit {
  std::int64_t id = 0;
  std::string text;
  std::vector<std::string> tags;
  double score = 0;
};

struct RenderOptions {
  std::string query;  // the prompt's subject, selects records; empty: only facts and events
  std::optional<std::int64_t> max_chars;  // unset: 24,000
};

class Memory {
 public:
  // `path` names the file; "" means the user's own, which the command uses outside of projects.
  static Result<Memory> Open(const std::string& path, const MemoryOptions& options = {});

  Memory() = default;
  explicit operator bool() const { return impl_ != nullptr; }

  // Facts by key: few and short, included in every prompt.
  Status Set(std::string_view key, std::string_view value);
  Result<std::string> Get(std::string_view key) const;
  Status Forget(std::string_view key);

  // Adds a record; there may be any number, found by search. Returns the record's number. A text
  // that is already stored keeps its number.
  Result<std::int64_t> Add(std::string_view text, const RecordOptions& options = {});
  // Returns the best matches first.
  Result<std::vector<MemoryHit>> Search(std::string_view query, int count = 10) const;

  // Returns the text as it appears in prompts; "" if nothing is remembered.
  Result<std::string> Render(const RenderOptions& options = {}) const;

  // Returns the same store seen from a branch, which is created if needed. The branch sees what
  // this one holds now and what it adds itself.
  Result<Memory> Fork(std::string_view branch) const;
  std::string branch() const;
  std::string path() const;

  struct Impl;

 private:
  friend class MemoryAccess;
  explicit Memory(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace dossier

#endif  // DOSSIER_MEMORY_H_
