// gemmview: the program is its table of subcommands (cli/common/commands.def); without one of them
// it is the explorer.
#include <locale.h>

#include "cli/common/cli.h"
#include "cli/common/portable.h"

int main(int argc, char **argv) {
  // Numbers keep their dot; only the width of characters follows the user's language.
  setlocale(LC_CTYPE, "");
  portable_find_terminfo();
  return cli_main(argc, argv);
}
