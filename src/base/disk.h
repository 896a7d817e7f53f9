// The user's own files: in which folder they lie, and how one is written. Reading them is their
// owners' business.
//
//   char *path = disk_path(arena, DISK_STATE, "lessons.json");    NULL: nowhere to put it
//   if (!disk_replace(path, text)) … strerror(errno) …
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/arena.h"

// The XDG base directories that the program has a folder in.
typedef enum DiskFolder { DISK_CONFIG, DISK_STATE, DISK_CACHE } DiskFolder;

// "$XDG_STATE_HOME/gemmview/NAME", else "~/.local/state/gemmview/NAME", the folder itself where
// `name` is NULL. NULL when neither XDG's variable nor HOME holds an absolute path.
char *disk_path(Arena *arena, DiskFolder folder, const char *name);

// A function that can fail returns false and leaves the reason in errno.

// Open for reading, without a long wait for a writer: a pipe that no process writes into
// within two seconds, a device and a folder are no files, and NULL is returned with a few words in
// *why (may be NULL). errno is 0 where it is there and no file. A pipe with a writer, such as a
// shell's <(…), is taken where `pipes` says so.
FILE *disk_open(const char *path, bool pipes, const char **why);
// A process that changes a file which others may change too holds this from the reading to the
// replacing: a descriptor to close() afterwards, or -1. It is a lock on the file's folder, which is
// made where it is missing, so that no further file appears.
int disk_lock(const char *path);
// Makes every folder above the last slash that is missing, for this user only; a home that is
// missing stays so.
bool disk_make_folders(const char *path);
// Writes all of the bytes, into a file or a pipe that makes its writer wait.
bool disk_write_all(int fd, const void *bytes, size_t n);
// A file that was not there before, open for reading and writing, with exactly this mode whatever
// the umask; EEXIST where there is anything of that name, a link to nowhere included.
int disk_create(const char *path, mode_t mode);
// The file as a whole: who reads meanwhile sees the old text or the new one, and a full disk leaves
// the old one. Links and the old file's mode stay as they are; devices and pipes are written into.
bool disk_write(const char *path, const char *text);
bool disk_write_bytes(const char *path, const void *bytes, size_t n);
// The same with its folders made, and readable for this user only where it is new.
bool disk_replace(const char *path, const char *text);
