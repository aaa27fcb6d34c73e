#include "cli/command_line.h"

int main(int argc, char** argv) { return dossier::cli::RunCommandLine(argc, argv); }
