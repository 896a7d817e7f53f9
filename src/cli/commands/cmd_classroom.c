// gemmview classroom: the folder that the people of a workshop share.
//
//   gemmview classroom init /srv/gemm --group gpu    makes it, and says what everybody has to set
//   gemmview classroom                               whether $GEMMVIEW_CLASSROOM can be used
//
// In it lie the queue of each GPU (one timing at a time, users by turns) and the history of all.
// A group may write there and the world may not: a stranger could take every turn. New files belong
// to the group because the folder's setgid bit says so. /tmp is refused: the folders in it are
// cleaned away, and anybody can be first to make one.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"

typedef struct ClassroomOptions {
  const char *group;
  bool json;
} ClassroomOptions;

static const Option options[] = {
    {.name = "group", .kind = OPTION_KIND_TEXT, .offset = offsetof(ClassroomOptions, group)},
    OPTION_JSON(ClassroomOptions),
};

// The state of a folder, and the first thing that keeps it from being a classroom; `why` NULL: it
// is one.
typedef struct Folder {
  const char *path, *group, *why;
  unsigned mode;
} Folder;

static Folder look_at(Arena *arena, const char *path) {
  Folder folder = {.path = path};
  struct stat status;
  if (stat(path, &status) != 0) {
    folder.why = arena_printf(arena, "%s", strerror(errno));
    return folder;
  }
  const struct group *group = getgrgid(status.st_gid);
  folder.group = group ? arena_strdup(arena, group->gr_name)
                       : arena_printf(arena, "%u", (unsigned)status.st_gid);
  folder.mode = (unsigned)status.st_mode & 07777;
  if (!S_ISDIR(status.st_mode))
    folder.why = "it is not a folder";
  else if (status.st_mode & S_IWOTH)
    folder.why = "everybody can write to it; chmod 3770 allows only its group";
  else if (!(status.st_mode & S_IWGRP) || !(status.st_mode & S_ISGID))
    folder.why = "its group cannot share files in it; chmod 3770 allows that";
  else if (access(path, R_OK | W_OK | X_OK) != 0)
    folder.why = arena_printf(arena, "you are not in its group, %s", folder.group);
  return folder;
}

#define FORM_FILE "cli/commands/forms/cmd_classroom.form"
#include "base/form_make.h"

static int show(Arena *arena, bool json) {
  const char *path = getenv("GEMMVIEW_CLASSROOM");
  Folder folder =
      path && *path ? look_at(arena, path) : (Folder){.why = "GEMMVIEW_CLASSROOM is not set"};
  if (json)
    cli_print_document(arena, &classroom_form, &folder, NULL);
  else if (folder.why)
    printf("%s%s%s\n", folder.path ? folder.path : "no classroom", ": ", folder.why);
  else
    printf("%s: shared by the group %s\n", folder.path, folder.group);
  return folder.why && folder.path ? CLI_NO : CLI_OK;
}

static bool in_tmp(const char *path) {
  static const char *const folders[] = {"/tmp", "/var/tmp", "/dev/shm", "/run/shm"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    const char *rest = path + strlen(folders[i]);
    if (str_starts(path, folders[i]) && (*rest == '/' || *rest == '\0')) return true;
  }
  return false;
}

static bool find_group(const char *name, gid_t *gid, Diags *diags) {
  if (!name) return true;
  const struct group *group = getgrnam(name);
  if (!group)
    diag_add(diags, "classroom", "there is no group \"%s\" here", str_sanitise(diags->arena, name));
  else
    *gid = group->gr_gid;
  return group != NULL;
}

static bool refuse(Diags *diags, const char *path, const char *why) {
  diag_add(diags, "classroom", "%s: %s", str_sanitise(diags->arena, path), why);
  return false;
}

// The path without links and "..", so that the path checked is the path made. The last name need
// not be there yet.
static const char *resolve(Arena *arena, const char *path) {
  char real[PATH_MAX], *copy = arena_strdup(arena, path);
  size_t n = strlen(copy);
  while (n > 1 && copy[n - 1] == '/') copy[--n] = '\0';
  if (realpath(copy, real)) return arena_strdup(arena, real);
  char *name = strrchr(copy, '/');
  if (errno != ENOENT || str_equal(name, "/..") || str_equal(name, "/.")) return NULL;
  *name++ = '\0';
  if (!realpath(*copy ? copy : "/", real)) return NULL;
  return arena_printf(arena, "%s/%s", str_equal(real, "/") ? "" : real, name);
}

static bool is_empty(int folder) {
  DIR *dir = fdopendir(dup(folder));
  bool empty = dir != NULL;
  for (struct dirent *entry; empty && (entry = readdir(dir));)
    empty = str_equal(entry->d_name, ".") || str_equal(entry->d_name, "..");
  if (dir) closedir(dir);
  return empty;
}

// Only an empty folder of the user's own is opened to others: other files there were not made to
// be shared. One that is a classroom already stays as it is.
static bool take(int folder, const char *path, gid_t gid, bool chosen, Diags *diags) {
  struct stat info;
  if (fstat(folder, &info) != 0) return refuse(diags, path, strerror(errno));
  bool shared = !look_at(diags->arena, path).why && (!chosen || info.st_gid == gid);
  if (shared) return true;
  if (info.st_uid != getuid()) return refuse(diags, path, "it belongs to another user");
  if (!is_empty(folder))
    return refuse(diags, path, "it is not empty; a classroom begins as an empty folder");
  // Members make files here, and no member takes away another's.
  bool ok = (!chosen || fchown(folder, (uid_t)-1, gid) == 0) && fchmod(folder, 03770) == 0;
  return ok || refuse(diags, path, strerror(errno));
}

// A new folder is made closed and opened to the group last, so that it is never open to others.
static bool make(const char *path, gid_t gid, bool chosen, Diags *diags) {
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return refuse(diags, path, strerror(errno));
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0)
    return refuse(diags, path, errno == ENOTDIR ? "it is not a folder" : strerror(errno));
  bool ok = take(folder, path, gid, chosen, diags);
  close(folder);
  return ok;
}

static const char *find_place(Arena *arena, const char *given, Diags *diags) {
  const char *path = given[0] == '/' ? resolve(arena, given) : NULL;
  if (given[0] != '/')
    refuse(diags, given, "it does not begin with /: give the whole path");
  else if (!path)
    refuse(diags, given, strerror(errno));
  else if (in_tmp(path))
    refuse(diags, path, "folders for temporary files are emptied, and anybody can own them");
  return path;
}

static int init(Arena *arena, const ClassroomOptions *given, const char *asked, Diags *diags) {
  gid_t gid = 0;
  const char *path = find_place(arena, asked, diags);
  if (diags->count || !find_group(given->group, &gid, diags)) return cli_fail(diags);
  if (!make(path, gid, given->group != NULL, diags)) return cli_fail(diags);
  Folder folder = look_at(arena, path);
  if (given->json) cli_print_document(arena, &classroom_form, &folder, NULL);
  if (folder.why) return cli_error(CLI_NO, "%s: %s", path, folder.why);
  if (given->json) return CLI_OK;
  printf(
      "%s is shared by the group %s.\n"
      "Everybody sets, for example in /etc/profile.d/gemmview.sh:\n"
      "  export GEMMVIEW_CLASSROOM='%s'\n",
      path, folder.group, path);
  return CLI_OK;
}

int cmd_classroom(Arena *arena, int argc, char **argv) {
  ClassroomOptions given = {0};
  Diags diags = diags_new(arena);
  if (!options_parse(options, 2, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc == 1 && !given.group) return show(arena, given.json);
  if (argc == 3 && str_equal(argv[1], "init")) return init(arena, &given, argv[2], &diags);
  Diag *diag = diag_add(&diags, "usage", "init and a folder are needed");
  diag->nearest = "classroom init /srv/gemmview --group GROUP";
  return cli_fail(&diags);
}
