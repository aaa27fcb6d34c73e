// What is remembered between runs and conversations: facts by key, records that are searched, both
// rendered into a prompt under a budget. One SQLite file; branches of it see their parent's.
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
// Secrets are taken out before anything is stored. Units: characters are code points.
// Errors: kNotFound (the file, a key, a branch), kLocked (another process holds it for long), kIo,
// kPermission, kDamaged, kConfig (a newer version), kInvalidArgument (a name, a value; a memory
// that was moved from). Ownership: a Memory is a handle; copies share one open store.
// Thread-safety: all methods from any thread; several processes may use one file.

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
  std::string query;  // what the prompt is about: chooses records; empty: facts and events alone
  std::optional<std::int64_t> max_chars;  // unset: 24,000
};

class Memory {
 public:
  // `path`: the file; "": the user's own, which the command uses outside of projects.
  static Result<Memory> Open(const std::string& path, const MemoryOptions& options = {});

  Memory() = default;
  explicit operator bool() const { return impl_ != nullptr; }

  // Facts by key: few and short, always part of a prompt.
  Status Set(std::string_view key, std::string_view value);
  Result<std::string> Get(std::string_view key) const;
  Status Forget(std::string_view key);

  // Records: as many as there are, found by search. Returns the number of the record; a text that
  // is there already keeps its own.
  Result<std::int64_t> Add(std::string_view text, const RecordOptions& options = {});
  // Best first.
  Result<std::vector<MemoryHit>> Search(std::string_view query, int count = 10) const;

  // As it stands in prompts; "" if nothing is remembered.
  Result<std::string> Render(const RenderOptions& options = {}) const;

  // The same store seen from a branch, which is made if needed: it sees what this one holds now and
  // what it adds itself.
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
