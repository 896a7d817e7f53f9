// PTX text → tokens. (PTX ISA, chapter 4, "Syntax".)
//
// Nothing is allocated: a token points into the text, which need not be terminated.
#include "ptx/module/ptx_lex.h"

#include <string.h>

PtxLexer ptx_lexer(const char *text, size_t bytes) {
  return (PtxLexer){.at = text, .end = text + bytes, .line = 1};
}

bool ptx_token_is(const PtxToken *token, const char *word) {
  return token->kind == PTX_TOKEN_WORD && strlen(word) == (size_t)token->length &&
         memcmp(token->text, word, (size_t)token->length) == 0;
}

static int peek(const PtxLexer *lexer, int ahead) {
  return lexer->end - lexer->at > ahead ? (unsigned char)lexer->at[ahead] : 0;
}

static void skip_to_line_end(PtxLexer *lexer) {
  while (lexer->at < lexer->end && *lexer->at != '\n') lexer->at++;
}

static void skip_long_comment(PtxLexer *lexer) {
  for (lexer->at += 2; lexer->at < lexer->end; lexer->at++) {
    if (*lexer->at == '\n') lexer->line++;
    if (*lexer->at != '*' || peek(lexer, 1) != '/') continue;
    lexer->at += 2;
    return;
  }
}

static void skip_blanks(PtxLexer *lexer) {
  while (lexer->at < lexer->end) {
    const char c = *lexer->at;
    if (c == '\n') {
      lexer->line++;
      lexer->at++;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      lexer->at++;
    } else if (c == '/' && peek(lexer, 1) == '/') {
      skip_to_line_end(lexer);
    } else if (c == '/' && peek(lexer, 1) == '*') {
      skip_long_comment(lexer);
    } else {
      return;
    }
  }
}

static bool is_letter(int c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool begins_word(int c) {
  return is_letter(c) || c == '_' || c == '$' || c == '%' || c == '.';
}
static bool in_word(int c) { return begins_word(c) || is_digit(c); }

// "shared::cta" and "L2::128B" are parts of a word; the colon of a label is not.
static void take_word(PtxLexer *lexer) {
  while (lexer->at < lexer->end) {
    if (in_word((unsigned char)*lexer->at))
      lexer->at++;
    else if (*lexer->at == ':' && peek(lexer, 1) == ':' && in_word(peek(lexer, 2)))
      lexer->at += 2;
    else
      return;
  }
}

static int digit_of(int c) {
  if (is_digit(c)) return c - '0';
  const int letter = c | 32;
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 99;
}

static uint64_t take_digits(PtxLexer *lexer, int base) {
  uint64_t value = 0;
  while (lexer->at < lexer->end && digit_of((unsigned char)*lexer->at) < base)
    value = value * (uint64_t)base + (uint64_t)digit_of((unsigned char)*lexer->at++);
  return value;
}

// Reads the part of "1.5e-3" behind its whole part.
static double take_fraction(PtxLexer *lexer, double value) {
  if (peek(lexer, 0) == '.') {
    lexer->at++;
    for (double unit = 0.1; is_digit(peek(lexer, 0)); unit /= 10, lexer->at++)
      value += unit * (peek(lexer, 0) - '0');
  }
  if ((peek(lexer, 0) | 32) != 'e') return value;
  lexer->at++;
  const bool negative = peek(lexer, 0) == '-';
  if (negative || peek(lexer, 0) == '+') lexer->at++;
  uint64_t exponent = take_digits(lexer, 10);
  for (exponent = exponent > 400 ? 400 : exponent; exponent > 0; exponent--)
    value = negative ? value / 10 : value * 10;
  return value;
}

static void take_number(PtxLexer *lexer, PtxToken *token) {
  const int second = peek(lexer, 1) | 32;
  const bool prefixed = peek(lexer, 0) == '0';
  token->kind = PTX_TOKEN_INT;
  if (prefixed && (second == 'x' || second == 'f' || second == 'd')) {
    token->kind = second == 'x' ? PTX_TOKEN_INT : second == 'f' ? PTX_TOKEN_F32 : PTX_TOKEN_F64;
    lexer->at += 2;
    token->bits = take_digits(lexer, 16);
  } else if (prefixed && second == 'b') {
    lexer->at += 2;
    token->bits = take_digits(lexer, 2);
  } else if (prefixed && is_digit(second)) {
    token->bits = take_digits(lexer, 8);
  } else {
    token->bits = take_digits(lexer, 10);
    if (peek(lexer, 0) == '.' || (peek(lexer, 0) | 32) == 'e') {
      token->kind = PTX_TOKEN_FLOAT;
      token->value = take_fraction(lexer, (double)token->bits);
    }
  }
  if ((peek(lexer, 0) | 32) == 'u') lexer->at++;
}

static void take_string(PtxLexer *lexer, PtxToken *token) {
  token->text = ++lexer->at;
  while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n') lexer->at++;
  token->kind = peek(lexer, 0) == '"' ? PTX_TOKEN_STRING : PTX_TOKEN_BAD;
  token->length = (int)(lexer->at - token->text);
  if (token->kind == PTX_TOKEN_STRING) lexer->at++;
}

PtxToken ptx_next(PtxLexer *lexer) {
  skip_blanks(lexer);
  PtxToken token = {.text = lexer->at, .line = lexer->line};
  if (lexer->at == lexer->end) return token;
  const int c = (unsigned char)*lexer->at;
  if (c == '"') {
    take_string(lexer, &token);
    return token;
  }
  if (is_digit(c)) {
    take_number(lexer, &token);
  } else if (begins_word(c)) {
    token.kind = PTX_TOKEN_WORD;
    take_word(lexer);
  } else {
    token.kind = strchr("{}()[],;:<>=+-!|~*/&^@?", c) && c ? PTX_TOKEN_SIGN : PTX_TOKEN_BAD;
    token.sign = (char)c;
    lexer->at++;
  }
  token.length = (int)(lexer->at - token.text);
  return token;
}
