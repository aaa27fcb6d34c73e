// Markdown of a model on a terminal: any bytes, cut anywhere, show the same text, and no control
// byte but our own colours.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "cli/markdown/markdown_view.h"

namespace {

std::string Show(std::string_view text, std::size_t step, int columns) {
  std::ostringstream out;
  dossier::cli::MarkdownView view({.columns = columns}, out);
  for (std::size_t at = 0; at < text.size(); at += step) view.Write(text.substr(at, step));
  view.End();
  return std::move(out).str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const int columns = data[0];
  const std::size_t step = 1 + data[1] % 7;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string shown = Show(text, text.size() + 1, columns);
  if (shown != Show(text, step, columns)) std::abort();
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) std::abort();
  }
  return 0;
}
