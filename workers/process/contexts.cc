#include "contexts.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace dossier::worker {

Result<MappedContext> MappedContext::Map(sandbox::ContextText description, int fd) {
  struct stat info;
  if (fstat(fd, &info) < 0) return MakeErrnoError(errno, "context " + description.name);
  if (static_cast<std::uint64_t>(info.st_size) < description.bytes) {
    return MakeError(ErrorCode::kProtocol, "context {}: {} bytes promised, {} there",
                     description.name, description.bytes, info.st_size);
  }
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t whole = (description.bytes + page - 1) / page * page;
  void* start =
      mmap(nullptr, whole + page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return MakeErrnoError(errno, "context " + description.name);
  if (whole > 0 && mmap(start, whole, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
    return MakeErrnoError(errno, "context " + description.name);
  }
  MappedContext context;
  context.description_ = std::move(description);
  context.data_ = static_cast<const char*>(start);
  return context;
}

MappedContext MappedContext::Of(sandbox::ContextText description, const char* text) {
  MappedContext context;
  context.description_ = std::move(description);
  context.data_ = text;
  return context;
}

std::vector<MappedContext> TakeDatabases(std::vector<MappedContext>* contexts) {
  const auto first = std::ranges::find_if(*contexts, &MappedContext::is_database);
  std::vector<MappedContext> databases(std::make_move_iterator(first),
                                       std::make_move_iterator(contexts->end()));
  contexts->erase(first, contexts->end());
  return databases;
}

Result<std::vector<MappedContext>> MapContexts(std::vector<sandbox::ContextText> descriptions,
                                               const std::vector<UniqueFd>& fds) {
  if (fds.size() != descriptions.size()) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} contexts and {} descriptors",
                     descriptions.size(), fds.size());
  }
  std::vector<MappedContext> contexts;
  for (std::size_t i = 0; i < fds.size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(MappedContext context,
                             MappedContext::Map(std::move(descriptions[i]), fds[i].get()));
    contexts.push_back(std::move(context));
  }
  return contexts;
}

}  // namespace dossier::worker
