// The built-in table: commands that only look, with the options that let them only look. No option
// here runs a program, writes a file, waits for ever or reads a list of names from a file.

#include "sandbox/commands/policy.h"

namespace dossier::sandbox {
namespace {

// Each rule takes several lines of source.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
constexpr std::string_view kBuiltIn[] = {
    "git status [-s|--short] [-b|--branch] [--porcelain] [--porcelain=<word>] [-z] [--long]"
    " [-u|--untracked-files] [--untracked-files=<word>] [--ignored] [--show-stash] [-v|--verbose]"
    " [<path>...]",
    "git log [--oneline] [-n|--max-count <int>] [-<int>] [--skip <int>] [--since|--after=<word>]"
    " [--until|--before=<word>] [--author=<word>] [--committer=<word>] [--grep=<word>] [-i]"
    " [--all] [--branches] [--tags] [--remotes] [--graph] [--decorate] [--no-decorate]"
    " [--decorate=<word>] [--stat] [--shortstat] [--numstat] [--name-only] [--name-status]"
    " [-p|-u|--patch] [-s|--no-patch] [--follow] [--merges] [--no-merges] [--first-parent]"
    " [--reverse] [--topo-order] [--date-order] [--date=<word>] [--format|--pretty=<word>]"
    " [--abbrev-commit] [--abbrev=<int>] [--full-history] [--diff-filter=<word>] [-S <word>]"
    " [-G <word>] [-L <word>] [-M] [-C] [-w] [--word-diff] [--color=<word>] [--no-color]"
    " [<word>...]",
    "git diff [--cached|--staged] [--stat] [--shortstat] [--numstat] [--summary] [--name-only]"
    " [--name-status] [-p|-u|--patch] [-s|--no-patch] [-U|--unified <int>] [-M] [-C] [-w] [-b]"
    " [--word-diff] [--diff-filter=<word>] [--merge-base] [--check] [--exit-code] [--quiet]"
    " [--function-context] [-W] [--color=<word>] [--no-color] [--minimal] [--patience]"
    " [--histogram] [<word>...]",
    "git show [--oneline] [--stat] [--shortstat] [--numstat] [--name-only] [--name-status]"
    " [-p|-u|--patch] [-s|--no-patch] [-U|--unified <int>] [-M] [-C] [-w] [--word-diff]"
    " [--date=<word>] [--format|--pretty=<word>] [--abbrev-commit] [--color=<word>] [--no-color]"
    " [<word>...]",
    "git branch [-a|--all] [-r|--remotes] [-v|--verbose] [-l|--list] [--show-current]"
    " [--no-color] [--color=<word>]",
    "git branch --list [-a|--all] [-r|--remotes] [-v|--verbose] [--sort=<word>]"
    " [--format=<word>] [<word>...]",
    "ls [-a|--all] [-A|--almost-all] [-l] [-h|--human-readable] [-R|--recursive] [-t] [-S] [-r]"
    " [-1] [-d|--directory] [-i|--inode] [-F|--classify] [-s|--size] [-n] [-g] [-o] [-p] [-X] [-U]"
    " [-L] [-C] [-m] [-x] [--full-time] [--time-style=<word>] [--sort=<word>]"
    " [--group-directories-first] [--color=<word>] [<path>...]",
    "cat [-n|--number] [-b] [-s] [-A|--show-all] [-E] [-T] [-v] [-e] [-t] <path>...",
    "head [-n|--lines <int>] [-c|--bytes <int>] [-<int>] [-q] [-v] <path>...",
    "tail [-n|--lines <int>] [-c|--bytes <int>] [-<int>] [-q] [-v] <path>...",
    "grep [-n|--line-number] [-r|--recursive] [-i|--ignore-case] [-l|--files-with-matches]"
    " [-L|--files-without-match] [-c|--count] [-v|--invert-match] [-w] [-x] [-E] [-F] [-P] [-G]"
    " [-o|--only-matching] [-h] [-H] [-s] [-q] [-I] [-a] [-b] [-m|--max-count <int>]"
    " [-A|--after-context <int>] [-B|--before-context <int>] [-C|--context <int>] [-<int>]"
    " [--include=<word>] [--exclude=<word>] [--exclude-dir=<word>] [--color=<word>]"
    " <word> [<path>...]",
    "grep [-e <word>] [-n|--line-number] [-r|--recursive] [-i|--ignore-case] [-l] [-L] [-c] [-v]"
    " [-w] [-x] [-E] [-F] [-P] [-G] [-o] [-h] [-H] [-s] [-q] [-I] [-a] [-m <int>] [-A <int>]"
    " [-B <int>] [-C <int>] [--include=<word>] [--exclude=<word>] [--exclude-dir=<word>] <path>...",
    "find [<path>...] [-name <word>] [-iname <word>] [-path <word>] [-ipath <word>]"
    " [-regex <word>] [-type <word>] [-size <word>] [-mtime <word>] [-mmin <word>] [-newer <path>]"
    " [-maxdepth <int>] [-mindepth <int>] [-empty] [-not] [-o] [-or] [-a] [-and] [-prune] [-print]"
    " [-print0] [-ls] [-printf <word>] [-perm <word>] [-user <word>] [-executable] [-readable]"
    " [-writable] [-xdev]",
    "df [-h|--human-readable] [-H] [-T|--print-type] [-i|--inodes] [-k] [-m] [-a] [-P] [<path>...]",
    "ps [-e|-A] [-f] [-F] [-l] [-a] [-x] [-u] [-o <word>] [-p <word>] [-C <word>] [--sort=<word>]"
    " [--forest] [--no-headers]",
    "ps aux|ax|auxw|auxww|axf|ef",
    "whoami",
    "pwd [-L] [-P]",
    "echo [-n] [-e] [-E] [<word>...]",
};
// NOLINTEND(bugprone-suspicious-missing-comma)

}  // namespace

std::span<const std::string_view> BuiltInRules() { return kBuiltIn; }

}  // namespace dossier::sandbox
