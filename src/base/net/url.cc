#include "base/net/url.h"

#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier {

std::string Url::origin() const {
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", scheme, v6 ? "[" : "", host, v6 ? "]" : "", port);
}

namespace {

bool IsLoopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  // A name like 127.evil.example is not an address.
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

bool Url::is_loopback() const { return IsLoopback(host); }
bool ListenAddress::is_loopback() const { return IsLoopback(host); }
std::string ListenAddress::url() const {
  return Url{.scheme = "http", .host = host, .port = port}.origin();
}

Result<ListenAddress> ParseListenAddress(std::string_view flag, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon == text.npos ? 0 : colon);
  const auto port = ExactNumber<int>(text.substr(colon == text.npos ? 0 : colon + 1));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!port || *port < 0 || *port > 65535) {
    return MakeError(ErrorCode::kUsage, "{} {}: an address is HOST:PORT, as in 127.0.0.1:8780",
                     flag, text);
  }
  ListenAddress out{.port = *port};
  if (!host.empty() && host != "localhost") out.host = host;
  return out;
}

std::string PercentDecoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded = text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
                       HexDigit(text[i + 2]) >= 0;
    out += coded ? static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2])) : text[i];
    if (coded) i += 2;
  }
  return out;
}

Result<Url> ParseUrl(std::string_view text) {
  const auto wrong = [&](std::string_view reason) {
    return MakeError(ErrorCode::kConfig, "the address \"{}\" {}", text, reason);
  };
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
      return wrong("holds a blank or control character");
    }
  }
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return wrong("does not start with http:// or https://");
  Url url{.scheme = ToLowerAscii(text.substr(0, colon))};
  if (url.scheme != "http" && url.scheme != "https") return wrong("is neither http nor https");
  std::string_view rest = text.substr(colon + 3);
  const std::size_t authority_end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, authority_end);
  url.path = std::string(rest.substr(authority_end));
  if (authority.find('@') != std::string_view::npos) {
    return MakeError(ErrorCode::kConfig,
                     "the address holds a user name or password; give the key by --key-env");
  }
  std::string_view port;
  if (!authority.empty() && authority[0] == '[') {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return wrong("has no closing bracket");
    url.host = ToLowerAscii(authority.substr(1, close - 1));
    if (close + 1 < authority.size() && authority[close + 1] != ':') return wrong("is no URL");
    port = authority.substr(std::min(close + 2, authority.size()));
  } else {
    const std::size_t at = std::min(authority.find(':'), authority.size());
    url.host = ToLowerAscii(authority.substr(0, at));
    port = authority.substr(std::min(at + 1, authority.size()));
  }
  if (url.host.empty()) return wrong("names no host");
  url.port = url.scheme == "https" ? 443 : 80;
  if (!port.empty()) {
    url.port = ExactNumber<int>(port).value_or(0);
    if (url.port < 1 || url.port > 65535) return wrong("has no valid port");
  }
  return url;
}

}  // namespace dossier
