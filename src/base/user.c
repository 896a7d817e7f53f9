// The account's own name counts more than $USER, which anybody may set; a container's account may
// have none.
#include "base/user.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

enum { ENTRY_BYTES = 4096 };

char *user_name(Arena *arena) {
  char bytes[ENTRY_BYTES];
  struct passwd entry, *found = NULL;
  if (getpwuid_r(getuid(), &entry, bytes, sizeof bytes, &found) == 0 && found)
    return arena_strdup(arena, found->pw_name);
  const char *user = getenv("USER");
  if (user && *user) return arena_strdup(arena, user);
  return arena_printf(arena, "%u", (unsigned)getuid());
}
