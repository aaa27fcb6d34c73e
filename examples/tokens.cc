// Counting, and cutting at a number of tokens.

#include <dossier/tokens.h>

#include <iostream>

int main() {
  const auto tokenizer = dossier::Tokenizer::Open({.encoding = "chars"});  // a character a token
  if (!tokenizer) return dossier::ExitCode(tokenizer.error().code);
  const std::string text = "naïve café";
  std::cout << tokenizer->Count(text).tokens
            << " tokens; the first five: " << tokenizer->Prefix(text, 5) << "\n";

  const auto wrong = dossier::CountTokens(text, {.encoding = "o300k_base"});
  std::cout << (wrong ? "" : dossier::ErrorName(wrong.error().code)) << "\n";
  return 0;
}
