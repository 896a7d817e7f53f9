// Programs of tests/data/record, recorded and opened, in a folder that goes with the test.
#pragma once
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "capsule/capsule.h"
#include "cli/open/open_input.h"
#include "cli_harness.h"

#define DATA "tests/data/record"

static Arena *arena;
static const char *folder;

static inline void setup(void) {
  arena = arena_new("test");
  folder = arena_strdup(arena, "/tmp/gemmview-record-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp((char *)(uintptr_t)folder));
  setenv("XDG_STATE_HOME", folder, 1);
}
static inline void teardown(void) {
  cli_shell(arena, arena_printf(arena, "rm -r %s", folder));
  arena_free(arena);
}

static inline const char *in_folder(const char *name) {
  return arena_printf(arena, "%s/%s", folder, name);
}

// False, with the reason on stderr, where there is no such compiler.
static inline bool have(const char *compiler, const char *what) {
  const CliRun run = cli_shell(arena, arena_printf(arena, "command -v %s", compiler));
  if (run.status != 0) fprintf(stderr, "record: no %s here: %s is left out\n", compiler, what);
  return cli_has_program() && run.status == 0;
}

static inline void compile(const char *command) {
  const CliRun run = cli_shell(arena, command);
  ck_assert_msg(run.status == 0, "%s\n%s", command, run.err);
}

// By nvcc, seconds each; what the same one made of the same text with the same flags is kept in
// build/kept for the next run of the tests.
static inline void compile_cuda(const char *flags, const char *source, const char *program) {
  compile(arena_printf(
      arena,
      "mkdir -p build/kept; kept=build/kept/nvcc-$({ nvcc --version; echo '%s'; cat %s; } | "
      "sha256sum | cut -c1-64); test -f $kept || { nvcc %s -o $kept.$$ %s && mv $kept.$$ $kept; } "
      "&& cp $kept %s",
      flags, source, flags, source, program));
}

static inline const char *driver_program(void) {
  const char *program = in_folder("add");
  compile(arena_printf(arena, "cc -O1 -o %s " DATA "/driver_add.c -ldl", program));
  return program;
}

// A capsule for which the options name no file lies in the folder, too.
static inline CliRun record(const char *options, const char *program) {
  const bool is_named = strstr(options, "-o ") || strstr(options, "--list");
  const char *to = is_named ? "" : arena_printf(arena, " -o %s/unnamed.capsule", folder);
  return cli_run(arena, arena_printf(arena, "record %s%s -- %s", options, to, program));
}

static inline const Capsule *read_capsule(const char *path) {
  Diags diags = diags_new(arena);
  size_t n = 0;
  const char *bytes = open_read_file(arena, path, &n, &diags);
  const Capsule *capsule = bytes ? capsule_read(arena, bytes, n, path, &diags) : NULL;
  ck_assert_msg(capsule != NULL, "%s: %s", path, diags.first ? diags.first->text : "?");
  return capsule;
}

// Its text runs to the recorded result; what widths ptxas would make of it nobody asks.
static inline void check_opens_equal(const char *path, const char *equal) {
  const char *how = read_capsule(path)->ptx.at ? "--predict" : "";
  const CliRun open =
      cli_run(arena, arena_printf(arena, "open %s --text --compare --blocks all %s", path, how));
  ck_assert_msg(open.status == 0, "%s\n%s", open.out, open.err);
  ck_assert_msg(strstr(open.out, equal) != NULL, "%s", open.out);
}

static inline int64_t json_number(const JsonValue *document, const char *key) {
  Diags diags = diags_new(arena);
  int64_t value = -1;
  json_read_int64(json_object_get(document, key), INT64_MIN, INT64_MAX, &value, &diags);
  return value;
}
