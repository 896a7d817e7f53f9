// How a stream becomes lines without waiting and without trusting it.
//
// The reader keeps one buffer that doubles up to the limit. Worked example with limit 8 and reads
// of "ab\ncd" and "ef\n0123456789": the first read yields "ab" and keeps "cd" with scanned behind
// it, so that the second read searches only "ef\n…", yields "cdef", and then reports LINE_TOO_LONG
// as soon as nine bytes stand without a newline. A hostile peer thus costs at most twice the limit.
//
// A NUL inside a line is left in place: `n` counts it, and the protocol's reader refuses it.
#include "kernels/worker/lines.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/die.h"

enum { READ_BYTES = 64 * 1024 };

static char *grown(char *bytes, size_t capacity) {
  char *more = realloc(bytes, capacity);
  if (!more) die("out of memory: a pipe's buffer asked for %zu bytes", capacity);
  return more;
}

LineReader line_reader_new(size_t limit) { return (LineReader){.limit = limit}; }

void line_reader_free(LineReader *reader) {
  free(reader->bytes);
  *reader = (LineReader){.limit = reader->limit};
}

static void line_reader_reserve(LineReader *reader, size_t more) {
  if (reader->start > 0) {
    memmove(reader->bytes, reader->bytes + reader->start, reader->end - reader->start);
    reader->scanned -= reader->start;
    reader->end -= reader->start;
    reader->start = 0;
  }
  if (reader->end + more + 1 <= reader->capacity) return;
  size_t capacity = reader->capacity ? reader->capacity : READ_BYTES;
  while (capacity < reader->end + more + 1) capacity *= 2;
  reader->bytes = grown(reader->bytes, capacity);
  reader->capacity = capacity;
}

long line_reader_fill(LineReader *reader, int fd) {
  line_reader_reserve(reader, READ_BYTES);
  ssize_t got = 0;
  do got = read(fd, reader->bytes + reader->end, READ_BYTES);
  while (got < 0 && errno == EINTR);
  if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? -1 : 0;
  reader->end += (size_t)got;
  return got;
}

LineStatus line_reader_next(LineReader *reader, char **line, size_t *n) {
  if (!reader->bytes) return LINE_NONE;
  char *from = reader->bytes + reader->scanned;
  char *newline = memchr(from, '\n', reader->end - reader->scanned);
  size_t length = (newline ? (size_t)(newline - reader->bytes) : reader->end) - reader->start;
  if (length > reader->limit) return LINE_TOO_LONG;
  if (!newline) {
    reader->scanned = reader->end;
    return LINE_NONE;
  }
  *newline = '\0';
  *line = reader->bytes + reader->start;
  *n = length;
  reader->start += length + 1;
  reader->scanned = reader->start;
  return LINE_READY;
}

const char *line_reader_rest(LineReader *reader) {
  if (!reader->bytes) return "";
  reader->bytes[reader->end] = '\0';
  return reader->bytes + reader->start;
}

const char *lines_each(int fd, LineTaker *take, void *context, int *n_lines) {
  LineReader reader = line_reader_new(FILE_LINE_BYTES_MAX);
  LineStatus status = LINE_NONE;
  char *line = NULL;
  size_t n = 0;
  long got = 0;
  *n_lines = 0;
  do {
    got = line_reader_fill(&reader, fd);
    for (; (status = line_reader_next(&reader, &line, &n)) == LINE_READY; ++*n_lines)
      take(context, line, n);
  } while (got > 0 && status != LINE_TOO_LONG);
  const int error = errno;
  if (got == 0 && reader.end > reader.start && status != LINE_TOO_LONG) {
    line_reader_rest(&reader);
    take(context, reader.bytes + reader.start, reader.end - reader.start);
    ++*n_lines;
  }
  line_reader_free(&reader);
  if (status == LINE_TOO_LONG) return "a line has more than 65536 bytes";
  return got < 0 ? strerror(error) : NULL;
}

void out_queue_free(OutQueue *queue) {
  free(queue->bytes);
  *queue = (OutQueue){0};
}

void out_queue_add(OutQueue *queue, const char *bytes, size_t n) {
  if (queue->start == queue->end) queue->start = queue->end = 0;
  if (queue->end + n > queue->capacity) {
    size_t capacity = queue->capacity ? queue->capacity : 4096;
    while (capacity < queue->end + n) capacity *= 2;
    queue->bytes = grown(queue->bytes, capacity);
    queue->capacity = capacity;
  }
  if (n > 0) memcpy(queue->bytes + queue->end, bytes, n);
  queue->end += n;
}

bool out_queue_is_empty(const OutQueue *queue) { return queue->start == queue->end; }

bool out_queue_flush(OutQueue *queue, int fd, bool non_blocking) {
  while (!out_queue_is_empty(queue)) {
    size_t n = queue->end - queue->start;
    if (!non_blocking && n > PIPE_BUF) n = PIPE_BUF;
    ssize_t put = write(fd, queue->bytes + queue->start, n);
    if (put < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    queue->start += (size_t)put;
    if (!non_blocking) return true;
  }
  return true;
}
