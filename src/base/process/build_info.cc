#include "base/process/build_info.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "base/files/file.h"

namespace dossier {
namespace {

constexpr std::size_t kMostParts = 256;       // program headers of a file; programs have about ten
constexpr std::size_t kMostNotes = 64 << 10;  // bytes of one segment of notes

// The parts of a note are padded to the alignment of their segment, 4 or 8 bytes.
std::size_t Padded(std::size_t size, std::size_t alignment) {
  return alignment < 4 ? (size + 3) / 4 * 4 : (size + alignment - 1) / alignment * alignment;
}

std::string FindInNotes(std::string_view notes, std::size_t alignment) {
  using Head = ElfW(Nhdr);
  constexpr std::string_view kOwner("GNU\0", 4);
  while (notes.size() >= sizeof(Head)) {
    Head head;
    std::memcpy(&head, notes.data(), sizeof(head));
    const std::size_t content = Padded(sizeof(head) + head.n_namesz, alignment);
    const std::size_t end = Padded(content + head.n_descsz, alignment);
    if (content > notes.size() || head.n_descsz > notes.size() - content) return {};
    if (head.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof(head), head.n_namesz) == kOwner) {
      std::string digits;
      for (const char byte : notes.substr(content, head.n_descsz)) {
        digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      }
      return digits;
    }
    notes.remove_prefix(std::min(end, notes.size()));
  }
  return {};
}

// The first image is the program itself, so the walk ends there.
int FindInImage(dl_phdr_info* image, std::size_t, void* out) {
  auto& id = *static_cast<std::string*>(out);
  for (int i = 0; i < image->dlpi_phnum && id.empty(); ++i) {
    const ElfW(Phdr)& part = image->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* begin = reinterpret_cast<const char*>(image->dlpi_addr + part.p_vaddr);
    id = FindInNotes({begin, part.p_memsz}, part.p_align);
  }
  return 1;
}

Status ReadAt(int fd, std::uint64_t at, void* out, std::size_t bytes, const std::string& path) {
  const ssize_t got = pread(fd, out, bytes, static_cast<off_t>(at));
  if (got < 0) return MakeErrnoError(errno, path);
  if (static_cast<std::size_t>(got) == bytes) return {};
  return MakeError(ErrorCode::kDamaged, "{} is no program of this machine", path);
}

}  // namespace

std::string BuildId() {
  std::string id;
  dl_iterate_phdr(FindInImage, &id);
  return id;
}

Result<std::string> BuildIdOf(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return MakeErrnoError(errno, path);
  Elf64_Ehdr head;
  DOSSIER_RETURN_IF_ERROR(ReadAt(file.get(), 0, &head, sizeof(head), path));
  constexpr unsigned char kOurs[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB};
  if (std::memcmp(head.e_ident, kOurs, sizeof(kOurs)) != 0 ||
      head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > kMostParts) {
    return MakeError(ErrorCode::kDamaged, "{} is no program of this machine", path);
  }
  std::vector<Elf64_Phdr> parts(head.e_phnum);
  DOSSIER_RETURN_IF_ERROR(
      ReadAt(file.get(), head.e_phoff, parts.data(), parts.size() * sizeof(Elf64_Phdr), path));
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type != PT_NOTE || part.p_filesz > kMostNotes) continue;
    std::string notes(part.p_filesz, '\0');
    DOSSIER_RETURN_IF_ERROR(ReadAt(file.get(), part.p_offset, notes.data(), notes.size(), path));
    std::string id = FindInNotes(notes, part.p_align);
    if (!id.empty()) return id;
  }
  return std::string();
}

}  // namespace dossier
