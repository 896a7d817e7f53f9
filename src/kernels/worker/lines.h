// Lines in and bytes out over pipes that must never make their owner wait.
//
// A LineReader collects what a descriptor has to say and hands it out line by line; an OutQueue
// keeps what a descriptor cannot take yet. Both ends of the worker protocol use the pair.
//
//   while ((got = line_reader_fill(&reader, fd)) > 0) {}       until the pipe is empty
//   while (line_reader_next(&reader, &line, &n) == LINE_READY) handle(line, n);
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum LineStatus {
  LINE_NONE,      // no complete line yet
  LINE_READY,     // `line` is terminated, without its newline, valid until the next call
  LINE_TOO_LONG,  // more than the limit without a newline: nothing further can be trusted
} LineStatus;

typedef struct LineReader {
  char *bytes;
  size_t start, scanned, end, capacity;  // bytes[start, end) is unread; no newline before scanned
  size_t limit;                          // longest line accepted, in bytes
} LineReader;

LineReader line_reader_new(size_t limit);
void line_reader_free(LineReader *reader);

// Bytes read; 0 at the end of the stream; -1 when nothing is there now (or on an error that is not
// the end). Reads once, at most 64 KiB.
long line_reader_fill(LineReader *reader, int fd);
LineStatus line_reader_next(LineReader *reader, char **line, size_t *n);
// The rest that has no newline, for the last words of a stream; terminated.
const char *line_reader_rest(LineReader *reader);

// Every line of a file that a user names, the last one with or without its newline.
enum { FILE_LINE_BYTES_MAX = 1 << 16 };
typedef void LineTaker(void *context, char *line, size_t n);
// NULL at the end of the file; else why it was not reached, with the number of lines before it.
const char *lines_each(int fd, LineTaker *take, void *context, int *n_lines);

typedef struct OutQueue {
  char *bytes;
  size_t start, end, capacity;
} OutQueue;

void out_queue_free(OutQueue *queue);
void out_queue_add(OutQueue *queue, const char *bytes, size_t n);
bool out_queue_is_empty(const OutQueue *queue);
// Writes what `fd` takes without waiting, given that poll() found it writable: at most PIPE_BUF
// bytes when it is not a non-blocking descriptor. False when the other end is gone.
bool out_queue_flush(OutQueue *queue, int fd, bool non_blocking);
