// `gemmview worker --fake SCRIPT`: a worker that does what a script says, for tests of the client.
//
// A script is a file of JSON lines, one rule each, read strictly:
//
//   {"on":"compile","match":"boom","do":"crash"}
//   {"on":"compile","delay_ms":30,"do":"reply","line":{"type":"result","id":0,"what":"ptx","data":{}}}
//   {"on":"compile","do":"done"}
//
// "on" is the type of a message from the client, or "start" (before the hello). Every rule whose
// "on" fits, whose "match" (if any) occurs in the line and whose "nth" (if any) counts this message
// of its type, is carried out, in the order of the file. The actions are the table in
// worker_fake.c; "id" of a reply is replaced by the request's. Without a rule for "start", the
// hello comes at once; a request no rule fits is answered by done.
#pragma once

// The exit status; 2 with sentences on stderr when the script is not right.
int worker_fake_run(const char *path);
