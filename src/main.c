// gemmview: the program is its table of subcommands (cli/common/commands.def); without one of them
// it is the explorer.
#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "cli/common/portable.h"

// A file that is opened where standard input, output or errors were closed would be taken for them.
// Writing to a closed output fails as before: it is open for reading alone.
static void fill_closed(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) != fd) _exit(3);
}

int main(int argc, char **argv) {
  fill_closed();
  // Numbers keep their dot; only the width of characters follows the user's language.
  setlocale(LC_CTYPE, "");
  portable_find_terminfo();
  return cli_main(argc, argv);
}
