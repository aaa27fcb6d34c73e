// Output of context commands: cleaned text is UTF-8 and does not depend on how it came in pieces;
// blocks cannot be forged and restore to what was printed.

#include <cstdint>
#include <string_view>

#include "base/text/utf8.h"
#include "sources/commands/command_text.h"
#include "sources/commands/context_command.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::sources;
  if (size < 2) return 0;
  const CommandText::Options options{.cap = data[0]};
  const std::string_view output(reinterpret_cast<const char*>(data + 2), size - 2);
  CommandText whole(options), pieces(options);
  whole.Add(output);
  const std::size_t piece = data[1] % 16 + 1u;
  for (std::size_t at = 0; at < output.size(); at += piece) pieces.Add(output.substr(at, piece));
  const std::string text = std::move(whole).Finish("T").text;
  if (text != std::move(pieces).Finish("T").text) __builtin_trap();
  if (!dossier::utf8::IsValid(text)) __builtin_trap();
  if (RestoreOutput(dossier::assembly::EscapeMarkers(output)) != output) __builtin_trap();
  const std::string block = RenderBlock(output, {.text = std::string(output)});
  const auto found = FindBlocks(block);
  if (found.size() != 1 || found[0].length != block.size()) __builtin_trap();
  return 0;
}
