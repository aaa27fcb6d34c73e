#include "code_archive.h"

#include <marshal.h>

namespace dossier::worker {
namespace {

constexpr std::size_t kMagicBytes = 4;

std::string MagicBytes(long magic) {
  std::string bytes;
  for (std::size_t i = 0; i < kMagicBytes; ++i) bytes += static_cast<char>(magic >> (8 * i));
  return bytes;
}

}  // namespace

Ref ReadCodeArchive(std::string_view archive, long magic) {
  if (!archive.starts_with(MagicBytes(magic))) return Ref(PyDict_New());
  archive.remove_prefix(kMagicBytes);
  Ref code(PyMarshal_ReadObjectFromString(archive.data(), static_cast<Py_ssize_t>(archive.size())));
  if (code && PyDict_Check(code.get())) return code;
  PyErr_Clear();
  return Ref(PyDict_New());
}

}  // namespace dossier::worker
