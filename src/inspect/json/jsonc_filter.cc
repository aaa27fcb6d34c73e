#include "inspect/json/jsonc_filter.h"

namespace dossier::inspect {

std::string JsoncFilter::Take(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (state_) {
      case State::kPlain:
        TakePlain(c, &out);
        break;
      case State::kString:
        out += c;
        if (c == '"') state_ = State::kPlain;
        if (c == '\\') state_ = State::kEscape;
        break;
      case State::kEscape:
        out += c;
        state_ = State::kString;
        break;
      case State::kSlash:
        if (c == '/' || c == '*') {
          state_ = c == '/' ? State::kLineComment : State::kBlockComment;
          changed_ = true;
        } else {
          out += '/';  // a fault: let the JSON scanner see it
          out += c;
          state_ = State::kPlain;
        }
        break;
      case State::kLineComment:
        if (c == '\n' || c == '\r') {
          out += c;
          state_ = State::kPlain;
        }
        break;
      case State::kBlockComment:
        if (c == '*') state_ = State::kBlockStar;
        break;
      case State::kBlockStar:
        if (c == '/') {
          out += ' ';
          state_ = State::kPlain;
        } else if (c != '*') {
          state_ = State::kBlockComment;
        }
        break;
    }
  }
  return out;
}

void JsoncFilter::TakePlain(char c, std::string* out) {
  if (c == '/') {
    state_ = State::kSlash;
    return;
  }
  const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
  if (space) {
    *out += c;
    return;
  }
  if (comma_ && (c == '}' || c == ']')) {
    changed_ = true;
  } else if (comma_) {
    *out += ',';
  }
  comma_ = c == ',';
  if (comma_) return;
  *out += c;
  if (c == '"') state_ = State::kString;
}

}  // namespace dossier::inspect
