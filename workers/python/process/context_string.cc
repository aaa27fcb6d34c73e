#include "context_string.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/text/utf8.h"

namespace dossier::worker {
namespace {

constexpr std::uintptr_t kHugePage = 2u << 20;
constexpr std::size_t kByHand = 4u << 20;  // shorter texts gain nothing

// Lets the kernel back [data, data + size) with huge pages. Best effort.
void AdviseHugePages(void* data, std::size_t size) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + size) & ~(kHugePage - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

// The widest code point that a text with this largest byte can hold; the largest byte is a lead
// byte or ASCII, and tells the width exactly (RFC 3629).
Py_UCS4 WidestOf(unsigned char largest) {
  if (largest < 0x80) return 0x7f;
  if (largest < 0xc4) return 0xff;
  if (largest < 0xf0) return 0xffff;
  return 0x10ffff;
}

// `text` is valid UTF-8 and `out` has room for its code points.
template <typename Unit>
void Decode(std::string_view text, Unit* out) {
  const auto* in = reinterpret_cast<const unsigned char*>(text.data());
  const auto* end = in + text.size();
  while (in < end) {
    std::uint64_t eight;
    while (end - in >= 8) {
      std::memcpy(&eight, in, 8);
      if (eight & 0x8080808080808080u) break;
      for (int i = 0; i < 8; ++i) out[i] = static_cast<Unit>(in[i]);
      in += 8;
      out += 8;
    }
    if (in == end) return;
    const Py_UCS4 lead = *in;
    if (lead < 0x80) {
      *out++ = static_cast<Unit>(lead);
      in += 1;
    } else if (lead < 0xe0) {
      *out++ = static_cast<Unit>((lead & 0x1f) << 6 | (in[1] & 0x3f));
      in += 2;
    } else if (lead < 0xf0) {
      *out++ = static_cast<Unit>((lead & 0x0f) << 12 | (in[1] & 0x3fu) << 6 | (in[2] & 0x3f));
      in += 3;
    } else {
      *out++ = static_cast<Unit>((lead & 0x07) << 18 | (in[1] & 0x3fu) << 12 |
                                 (in[2] & 0x3fu) << 6 | (in[3] & 0x3f));
      in += 4;
    }
  }
}

}  // namespace

Ref MakeContextString(std::string_view bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  if (bytes.size() < kByHand || !utf8::IsValid(bytes)) {
    return Ref(PyUnicode_DecodeUTF8(bytes.data(), size, "strict"));
  }
  unsigned char largest = 0;
  for (const char byte : bytes) largest = std::max(largest, static_cast<unsigned char>(byte));
  const Py_UCS4 widest = WidestOf(largest);
  const std::uint64_t count = widest < 0x80 ? bytes.size() : utf8::CodePoints(bytes);
  Ref text(PyUnicode_New(static_cast<Py_ssize_t>(count), widest));
  if (!text) return text;
  void* data = PyUnicode_DATA(text.get());
  AdviseHugePages(data, static_cast<std::size_t>(count) * PyUnicode_KIND(text.get()));
  if (widest < 0x80) {
    std::memcpy(data, bytes.data(), bytes.size());
  } else if (widest < 0x100) {
    Decode(bytes, static_cast<Py_UCS1*>(data));
  } else if (widest < 0x10000) {
    Decode(bytes, static_cast<Py_UCS2*>(data));
  } else {
    Decode(bytes, static_cast<Py_UCS4*>(data));
  }
  return text;
}

}  // namespace dossier::worker
