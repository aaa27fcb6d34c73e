// dossier-token-table NAME RANK_FILE OUTPUT: makes the table of a public encoding at build time.

#include <cstdio>

#include "base/files/file.h"
#include "tokens/files/vocabulary_files.h"

namespace {

dossier::Status Make(const char* name, const char* ranks, const char* output) {
  using namespace dossier;  // NOLINT(google-build-using-namespace): a program of one function
  const tokens::PublicEncoding* encoding = tokens::FindPublicEncoding(name);
  if (!encoding) return MakeError(ErrorCode::kUsage, "{}: no such encoding", name);
  DOSSIER_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(ranks));
  DOSSIER_ASSIGN_OR_RETURN(const auto source, tokens::ReadRankFile(*encoding, bytes));
  DOSSIER_ASSIGN_OR_RETURN(const std::string table, tokens::BuildVocabulary(source));
  return WriteFileAtomic(output, table);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: dossier-token-table NAME RANK_FILE OUTPUT\n");
    return 2;
  }
  const dossier::Status made = Make(argv[1], argv[2], argv[3]);
  if (made) return 0;
  std::fprintf(stderr, "dossier-token-table: %s\n", made.error().message.c_str());
  return dossier::ExitCode(made.error().code);
}
