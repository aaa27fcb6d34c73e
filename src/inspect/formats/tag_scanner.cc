#include "inspect/formats/tag_scanner.h"

namespace dossier::inspect {

bool TagScanner::Ends(std::string_view end, char c) {
  if (ToLower(c) != end[matched_]) {
    // --- and ]]] still end with what --> and ]]> begin with.
    const bool again = matched_ + 1 == end.size() && matched_ == 2 && c == end[1];
    matched_ = again ? 2 : c == end[0] ? 1 : 0;
    return false;
  }
  if (++matched_ < end.size()) return false;
  matched_ = 0;
  return true;
}

// At a <.
void TagScanner::BeginTag() {
  state_ = State::kStart;
  begin_ = at_ - 1;
  kind_ = TagKind::kOpen;
  name_.clear();
  last_ = 0;
}

// The first byte behind <, or behind </.
void TagScanner::StepStart(char c) {
  if (c == '/' && kind_ == TagKind::kOpen) {
    kind_ = TagKind::kClose;
  } else if (c == '!') {
    state_ = State::kMark;
  } else if (c == '?') {
    state_ = State::kInstruction;
  } else if (IsLetter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80) {
    state_ = State::kName;
    name_ += markup_ == Markup::kHtml ? ToLower(c) : c;
  } else if (c == '<') {
    begin_ = at_ - 1;
  } else {
    state_ = State::kText;
  }
  matched_ = 0;
}

// Behind <!, until it is clear what begins.
void TagScanner::StepMark(char c) {
  name_ += c;
  if (name_ == "--") {
    state_ = State::kComment;
  } else if (name_ == "[CDATA[") {
    state_ = State::kCdata;
  } else if (!std::string_view("--").starts_with(name_) &&
             !std::string_view("[CDATA[").starts_with(name_)) {
    state_ = c == '>' ? State::kText : State::kDeclaration;
    brackets_ = c == '[' ? 1 : 0;
  }
}

bool TagScanner::Step(char c) {
  switch (state_) {
    case State::kText:
      if (c == '<') BeginTag();
      return false;
    case State::kStart:
      StepStart(c);
      return false;
    case State::kName:
      if (c == '>') return true;
      if (IsJsonSpace(c) || c == '/') {
        state_ = State::kAttributes;
      } else if (name_.size() < kLongestName) {
        name_ += markup_ == Markup::kHtml ? ToLower(c) : c;
      }
      last_ = c;
      return false;
    case State::kAttributes:
      if (c == '>') return true;
      // Only a value is quoted, which = stands in front of.
      if ((c == '"' || c == '\'') && last_ == '=') {
        state_ = State::kQuoted;
        quote_ = c;
      }
      if (!IsJsonSpace(c)) last_ = c;
      return false;
    case State::kQuoted:
      if (c == quote_) state_ = State::kAttributes;
      if (c == '<' && markup_ != Markup::kHtml)
        BeginTag();  // no value holds it: a quote is missing
      return false;
    case State::kMark:
      StepMark(c);
      return false;
    case State::kComment:
      if (Ends("-->", c)) state_ = State::kText;
      return false;
    case State::kCdata:
      if (Ends("]]>", c)) state_ = State::kText;
      return false;
    case State::kInstruction:
      if (Ends("?>", c)) state_ = State::kText;
      return false;
    case State::kDeclaration:
      brackets_ += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (c == '>' && brackets_ <= 0) state_ = State::kText;
      return false;
    case State::kRaw:
      if (!Ends(raw_, c)) return false;
      state_ = State::kAttributes;
      begin_ = at_ - raw_.size();
      kind_ = TagKind::kClose;
      last_ = 0;
      return false;
  }
  return false;
}

}  // namespace dossier::inspect
