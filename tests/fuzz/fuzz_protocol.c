// Any bytes as a line of the protocol, from either side: read or refused with a sentence, and what
// is read can be written and read again.
#include <stdlib.h>
#include <string.h>

#include "kernels/worker/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_again(Arena *arena, const Message *message, MessageSide from) {
  Message again;
  Diags diags = diags_new(arena);
  Str line = str_new(arena), back = str_new(arena);
  message_write(&line, message);
  if (!message_read(arena, line.text, line.length - 1, from, &again, &diags)) abort();
  message_write(&back, &again);
  if (!str_equal(line.text, back.text)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  static const MessageSide sides[] = {FROM_CLIENT, FROM_WORKER};
  Arena *arena = arena_new("fuzz");
  for (int i = 0; i < 2; i++) {
    Message message;
    Diags diags = diags_new(arena);
    if (message_read(arena, (const char *)data, n, sides[i], &message, &diags))
      check_again(arena, &message, sides[i]);
    else if (diags.count == 0)
      abort();
  }
  arena_free(arena);
  return 0;
}
