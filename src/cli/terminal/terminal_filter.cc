#include "cli/terminal/terminal_filter.h"

#include <unistd.h>

#include "base/text/utf8.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kLongest = 4;  // bytes of a code point

// How many bytes at the end of `text` may be the start of a code point that goes on.
std::size_t OpenEnd(std::string_view text) {
  for (std::size_t back = 1; back < kLongest && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return whole > back ? back : 0;
  }
  return 0;
}

}  // namespace

TerminalFilter::TerminalFilter(std::streambuf* next, int fd)
    : next_(next), terminal_(isatty(fd) == 1) {}

TerminalFilter::~TerminalFilter() { End(); }

void TerminalFilter::WriteOwn(std::string_view text) {
  End();
  next_->sputn(text.data(), static_cast<std::streamsize>(text.size()));
}

// What never became whole is shown as what it is.
void TerminalFilter::End() {
  if (begun_.empty()) return;
  const std::string shown = utf8::Sanitize(begun_);
  begun_.clear();
  next_->sputn(shown.data(), static_cast<std::streamsize>(shown.size()));
}

TerminalFilter::int_type TerminalFilter::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

std::streamsize TerminalFilter::xsputn(const char* text, std::streamsize size) {
  if (!terminal_) return next_->sputn(text, size);
  const std::string all = begun_ + std::string(text, static_cast<std::size_t>(size));
  const std::string_view whole = std::string_view(all).substr(0, all.size() - OpenEnd(all));
  begun_ = all.substr(whole.size());
  const std::string shown = utf8::CleanForTerminal(whole);
  const auto length = static_cast<std::streamsize>(shown.size());
  return next_->sputn(shown.data(), length) == length ? size : 0;
}

int TerminalFilter::sync() { return next_->pubsync(); }

std::ostream& operator<<(std::ostream& out, const Own& own) {
  if (auto* filter = dynamic_cast<TerminalFilter*>(out.rdbuf())) {
    filter->WriteOwn(own.text);
    return out;
  }
  return out << own.text;
}

}  // namespace dossier::cli
