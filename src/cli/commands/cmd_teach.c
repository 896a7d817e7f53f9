// gemmview teach NAME: a lesson for all who join. The class is called like the lesson.
//
//   GEMMVIEW_CLASSROOM=/srv/class gemmview teach banks      the others: gemmview join banks
//   gemmview teach banks --results guesses.csv              every revealed step adds its guesses
#include "cli/common/cli.h"
#include "cli/common/tables/cli_class.h"

int cmd_teach(Arena *arena, int argc, char **argv) {
  return cli_class(arena, argc, argv, CLASS_TEACHER);
}
