// gemmview join [NAME]: follow a class on this machine. The teacher turns the pages and reveals;
// the knobs are the follower's own.
#include "cli/common/cli.h"
#include "cli/common/tables/cli_class.h"

int cmd_join(Arena *arena, int argc, char **argv) {
  return cli_class(arena, argc, argv, CLASS_FOLLOWER);
}
