// The explorer in a terminal.
#pragma once
#include "kernels/client.h"
#include "tui/config.h"
#include "tui/session.h"
#include "tui/terminal.h"
#include "tui/verbs.h"

typedef struct AppOptions {
  SessionOptions session;
  TerminalOptions terminal;
  const char *theme;            // NULL: default
  const char *script;           // a file of keys and commands to begin with; NULL: none
  const ClientOptions *client;  // NULL: no worker
  const Config *config;         // whose keys count; NULL: none
  const Verb *verbs;            // commands that the prompt runs
  int n_verbs;
  bool resumes;        // goes on where a lost terminal left a session
  const char *notice;  // to be said first; NULL: nothing
} AppOptions;

// How it ended.
typedef enum AppEnd { APP_QUIT, APP_FAILED, APP_NO_TERMINAL, APP_INTERRUPTED } AppEnd;

// Runs until the user leaves; prints the state line then. APP_FAILED and APP_NO_TERMINAL come with
// findings.
AppEnd app_run(const AppOptions *options, Diags *diags);
