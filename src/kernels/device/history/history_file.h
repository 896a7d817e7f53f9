// The file that the history lies in: its place, its maker, and what becomes of a damaged one.
//
// A classroom's folder is shared, so any member who may write there may have put anything under the
// file's name. It is made with O_EXCL and O_NOFOLLOW, no link is followed to it, and no mode is
// changed but that of a file that this process made.
#pragma once
#include <stdbool.h>

#include "base/arena.h"

// $GEMMVIEW_CLASSROOM/history.db, else the user's own as history.h says; NULL: nowhere.
char *history_file_path(Arena *arena);

// Makes an empty file where there is none; false with errno set when it cannot be opened after
// that. `*real` is `path` with the links of its folder resolved and that of a file of the user's
// own.
bool history_file_prepare(Arena *arena, const char *path, const char **real);

// A turn at the file's folder. Those who open the file share theirs; who mends it is alone among
// all processes, until the turn is given up.
typedef enum HistoryTurn { HISTORY_OPENS, HISTORY_MENDS } HistoryTurn;
enum {
  HISTORY_NO_TURN = -1,    // none to be had: the folder cannot be locked, the file is another's
  HISTORY_TURN_TAKEN = -2  // others have it now
};
// Does not wait. The turn, one of the two above, or >= 0.
int history_file_turn(Arena *arena, const char *path, HistoryTurn kind);
void history_file_end_turn(int turn);
// Renames the file and its companions to names that nothing has yet: history.db.damaged-1735689600,
// or -1735689600.2. To be called by the holder of the turn that found the damage within it.
bool history_file_put_aside(Arena *arena, const char *path);
// The number of files that were put aside; the name of the last one in *last.
int history_file_count_aside(Arena *arena, const char *path, const char **last);
// Why there can be no history under this name: it is a pipe, a link to nowhere; NULL: there can.
const char *history_file_why_not(Arena *arena, const char *path);
