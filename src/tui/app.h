// The explorer in a terminal.
#pragma once
#include "kernels/worker/client.h"
#include "tui/canvas/terminal.h"
#include "tui/frame/config.h"
#include "tui/frame/tutor.h"
#include "tui/frame/verbs.h"
#include "tui/session/session.h"

typedef struct AppOptions {
  SessionOptions session;
  TerminalOptions terminal;
  const char *theme;            // NULL: default
  const char *script;           // a file of keys and commands to begin with; NULL: none
  const ClientOptions *client;  // NULL: no worker
  const char *lesson;           // to begin with; "" the list of them, NULL: none
  int lesson_step;              // from 1; 0: where it was left
  ClassRole role;               // CLASS_TEACHER: teaches `lesson`, CLASS_FOLLOWER: joins `room`
  const char *room;             // NULL: the only one there is
  const char *who;              // CLASS_FOLLOWER: the name that the teacher reads
  const char *results;          // CLASS_TEACHER: a file for the guesses; NULL: none
  const Config *config;         // whose keys count; NULL: none
  const Verb *verbs;            // commands that the prompt runs
  int n_verbs;
  const char *const *opened;  // a kernel of the user's own: the words behind `gemmview open`
  int n_opened;               // 0: none
  bool watches;               // runs it again after every save
  bool resumes;               // goes on where a lost terminal left a session
  const char *notice;         // to be said first; NULL: nothing
} AppOptions;

// How it ended.
typedef enum AppEnd { APP_QUIT, APP_FAILED, APP_NO_TERMINAL, APP_INTERRUPTED } AppEnd;

// Runs until the user leaves; prints the state line then. APP_FAILED and APP_NO_TERMINAL come with
// findings.
AppEnd app_run(const AppOptions *options, Diags *diags);
