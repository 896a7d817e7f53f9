#!/bin/sh
# Prints a C file that holds the named files byte for byte, each followed by a NUL: the table that
# src/base/embed.c searches. The assembler includes the bytes, so a large file costs no compile time.
#
#   tools/embed.sh data/gpus.json  →  {"gpus.json", embed_bytes_0, 8123}
set -eu

printf '// Made by tools/embed.sh; the bytes of every file below data/.\n'
printf '#include "base/embed.h"\n\n'
n=0
for file in "$@"; do
  printf '__asm__(".section .rodata\\n.global embed_bytes_%d\\n.balign 16\\nembed_bytes_%d:\\n"\n' $n $n
  printf '        ".incbin \\"%s\\"\\n.byte 0\\n.previous\\n");\n' "$file"
  printf 'extern const char embed_bytes_%d[];\n' $n
  n=$((n + 1))
done
printf '\nconst EmbeddedFile embed_table[] = {\n'
n=0
for file in "$@"; do
  printf '    {"%s", embed_bytes_%d, %d},\n' "${file#data/}" $n "$(wc -c < "$file")"
  n=$((n + 1))
done
printf '    {0},\n};\nconst int embed_table_count = %d;\n' $n
