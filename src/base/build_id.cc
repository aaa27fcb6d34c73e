#include "base/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <string_view>

namespace dossier {
namespace {

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
    if (content + head.n_descsz > notes.size()) return {};
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

}  // namespace

std::string BuildId() {
  std::string id;
  dl_iterate_phdr(FindInImage, &id);
  return id;
}

}  // namespace dossier
