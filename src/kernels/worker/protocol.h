// The lines that the client and the worker exchange.
//
//   Message ask = message_new(MESSAGE_COMPILE);
//   MESSAGE_SET(ask, id, 7);
//   MESSAGE_SET(ask, plan, plan_json);
//   MESSAGE_SET(ask, want, "ptx,cubin");
//   message_write(&out, &ask);   {"type":"compile","id":7,"plan":{…},"want":"ptx,cubin"}\n
//
// An exchange: both sides say hello; the worker then describes its machine as soon as it knows; a
// request is answered by any number of queued, progress and result lines, at most one error, and
// always one done. A heartbeat comes every PROTOCOL_HEARTBEAT_MS when nothing else is said.
// Strings that were read are sanitised; JSON members are texts for the reader of their own kind.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

enum {
  PROTOCOL_VERSION = 11,
  PROTOCOL_LINE_MAX = 64 * 1024 * 1024,  // bytes; a longer line is an error
  PROTOCOL_HEARTBEAT_MS = 5000
};

typedef enum MessageKind {
#define MESSAGE(kind, name, side, must, may) MESSAGE_##kind,
#define FIELD(name, type, lo, hi, help)
#define ERROR_KIND(kind, name, status)
#include "kernels/worker/protocol.def"
#undef MESSAGE
#undef FIELD
#undef ERROR_KIND
  MESSAGE_N_KINDS
} MessageKind;

typedef enum ErrorKind {
#define MESSAGE(kind, name, side, must, may)
#define FIELD(name, type, lo, hi, help)
#define ERROR_KIND(kind, name, status) ERROR_##kind,
#include "kernels/worker/protocol.def"
#undef MESSAGE
#undef FIELD
#undef ERROR_KIND
  ERROR_N_KINDS
} ErrorKind;

typedef enum MessageField {
#define MESSAGE(kind, name, side, must, may)
#define FIELD(name, type, lo, hi, help) FIELD_##name,
#define ERROR_KIND(kind, name, status)
#include "kernels/worker/protocol.def"
#undef MESSAGE
#undef FIELD
#undef ERROR_KIND
  MESSAGE_N_FIELDS
} MessageField;

typedef enum MessageSide { FROM_CLIENT = 1, FROM_WORKER = 2, FROM_BOTH = 3 } MessageSide;

#define FIELD_C_INT int64_t
#define FIELD_C_NUMBER double
#define FIELD_C_BOOL bool
#define FIELD_C_STRING const char *
#define FIELD_C_JSON const char *
#define FIELD_C_ERROR ErrorKind

typedef struct Message {
  MessageKind kind;
  uint64_t has;  // bit FIELD_x: x is there; what is not there is zero
#define MESSAGE(kind, name, side, must, may)
#define FIELD(name, type, lo, hi, help) FIELD_C_##type name;
#define ERROR_KIND(kind, name, status)
#include "kernels/worker/protocol.def"
#undef MESSAGE
#undef FIELD
#undef ERROR_KIND
} Message;

#define MESSAGE_HAS(message, field) (((message).has >> FIELD_##field & 1) != 0)
#define MESSAGE_SET(message, field, value) \
  ((message).field = (value), (message).has |= UINT64_C(1) << FIELD_##field)

Message message_new(MessageKind kind);
const char *message_kind_name(MessageKind kind);
const char *error_kind_name(ErrorKind kind);
int error_kind_exit_status(ErrorKind kind);

// Appends the line with its newline. Every field the kind must have has to be there (an assertion);
// strings longer than the table allows are cut.
void message_write(Str *out, const Message *message);

// Reads a line that `from` (one of the two sides) sent. Everything in *out lives in `arena`. False
// after adding the fault: not JSON, an unknown type or member, a member missing, of the wrong type
// or out of range, a type that this side never sends.
bool message_read(Arena *arena, const char *line, size_t n, MessageSide from, Message *out,
                  Diags *diags);
