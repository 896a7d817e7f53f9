#!/bin/sh
# Proves the order of the folders: a file includes only headers of its own folder and of those above
# it, banks, sass, clock, order, model, ptx and machine are pure, and one file knows the terminal library.
# A feature has all that is its own in src/features/NAME, in a folder for each of those it has a part
# of: features/NAME/model is a part of model, above its rooms, and only tables (.def) include it there.
#
#   tools/check_deps.sh [OBJECT…]     objects of the pure folders, looked into with nm
#
# What includes cannot show, the symbols do: a pure object calls no allocation, file or terminal
# function and owns no byte that can be written.
set -eu
order='base banks capsule sass clock order model ptx machine kernels driver tui cli'
failed=0
say() {
  echo "check-deps: $*" >&2
  failed=1
}

# A folder, and the parts of features that belong to it.
of_folder() { find src -path "src/$1" -o -path "src/features/*/$1" -prune; }
for path in src/features/*/*; do
  case " $order " in *" ${path##*/} "*) ;; *) say "$path is a part of no folder of src" ;; esac
done
hits=$(grep -rnE --include='*.[ch]' '^ *# *include "features/' src | grep -v '^src/features/' || true)
[ -z "$hits" ] || say "only a table takes in what a feature has:
$hits"

for name in $(sed -nE 's/^ATTRIBUTE\(([a-z_0-9]+),.*/\1/p' src/features/*/model/attribute.def); do
  hits=$(grep -rnE --include='*.[ch]' "op(->|\.)$name\b" src | grep -v '^src/features/' || true)
  [ -z "$hits" ] || say "a feature's attribute is asked for outside of it:
$hits"
done

for name in $(sed -nE 's/^LAUNCH_ARG\(([A-Z_0-9]+),.*/\1/p' src/features/*/model/launch_arg.def); do
  hits=$(grep -rnE --include='*.[ch]' "\bLAUNCH_$name\b" src | grep -v '^src/features/' || true)
  [ -z "$hits" ] || say "a parameter of a feature is named outside of it:
$hits"
done

allowed=''
for folder in $order; do
  allowed="$allowed $folder"
  parts=$(of_folder $folder)
  [ -n "$parts" ] || continue
  for line in $(grep -rhoE --include='*.[ch]' --include='*.def' '^ *# *include "[^"]+"' $parts |
    sed 's/.*"\(.*\)"/\1/' | sort -u); do
    at=$(printf '%s' "$line" | sed 's|^features/[^/]*/||')
    case " $allowed " in
      *" ${at%%/*} "*) ;;
      *) say "src/$folder includes \"$line\": only$allowed may be included there," \
        "in: $(grep -rl "\"$line\"" $parts | tr '\n' ' ')" ;;
    esac
    [ -f "src/$line" ] || say "src/$folder includes \"$line\", which does not exist"
  done
done

# A header that only one other file includes, of its own folder, makes a reader hop: those that there are stay few.
siblings_most=30
siblings=$(grep -roE --include='*.[ch]' --include='*.def' --include='*.form' '^ *# *include "[^"]+\.h"' src |
  sed 's|:[^"]*"| src/|; s|"$||' | awk '
    { own = $2; sub(/h$/, "c", own); if ($1 != own) { n[$2]++; by[$2] = $1 } }
    END { for (h in n) { a = h; b = by[h]; sub(/[^\/]*$/, "", a); sub(/[^\/]*$/, "", b); if (n[h] == 1 && a == b) print h } }' | sort)
[ "$(echo "$siblings" | wc -l)" -le $siblings_most ] || say "more than $siblings_most headers have one reader beside them: join one
$siblings"

# Inside a folder the same holds between its rooms: a file includes headers of its own room and of
# those before it. What lies in no room stands above all of them: no room includes it.
rooms() {
  case $1 in
    banks) echo 'engine layouts registers solver' ;;
    ptx) echo 'module run tensor read tally record' ;;
    cli) echo 'common open record commands' ;;
    model) echo 'words ir text interp ops passes readings schedules lessons' ;;
    kernels) echo 'toolchain device worker tune' ;;
    tui) echo 'canvas session frame views' ;;
  esac
}
# Which knob is auto depends on what a rule would say: the one circle of rooms.
exceptions='src/model/words/knob_auto.c:model/readings/rules/rule.h'
for folder in banks model ptx kernels tui cli; do
  before=''
  for room in $(rooms $folder); do
    before="$before $room"
    for hit in $(grep -roE --include='*.[ch]' "^ *# *include \"$folder/[^\"]+\"" "src/$folder/$room" |
      sed 's/ *# *include "\(.*\)"/\1/'); do
      included=${hit#*:"$folder"/}
      case " $before " in *" ${included%%/*} "*) continue ;; esac
      case " $exceptions " in *" $hit "*) continue ;; esac
      say "${hit%%:*} includes ${hit#*:}: in src/$folder the order of rooms is$(rooms $folder | sed 's/^/ /')"
    done
  done
  for path in src/$folder/*/; do
    case " $(rooms $folder) " in
      *" $(basename "$path") "*) ;;
      *) say "$path is no room of src/$folder" ;;
    esac
  done
done

# The map says the same rooms, and every path that it or the recipes name is there. A path is a word
# in backticks with a slash or a file's ending; NAME stands for any name, build/ for what is built.
for folder in banks model ptx kernels tui cli; do
  row="| \`src/$folder\` | \`$(rooms $folder | sed 's/ /` → `/g')\` |"
  grep -qF "$row" ARCHITECTURE.md || say "ARCHITECTURE.md has no row that begins: $row"
done
tree=$(find . -name .git -prune -o -path ./build -prune -o -print)
for page in ARCHITECTURE.md CONTRIBUTING.md; do
  for path in $(grep -oE '`[A-Za-z0-9_./-]+`' "$page" | tr -d '`' | grep -v '^build' |
    grep -E '/|\.(c|h|def|sh|json|md|keys|cu|svg)$' | sort -u); do
    pattern=$(printf '%s' "${path%/}" | sed 's/\./\\./g; s/NAME/[^\/]*/g')
    printf '%s\n' "$tree" | grep -qE "/$pattern\$" || say "$page names $path, which is not there"
  done
  # Type.member, of which the member shows whether it is still there.
  for member in $(grep -oE '`[A-Z][A-Za-z]+\.[a-z_]+`' "$page" | tr -d '`' | grep -v '\.md$' | sort -u); do
    grep -rqwE --include='*.h' "\*?${member#*.}(\[[^]]*\])?[;,]" src || say "$page names $member, which is not there"
  done
done

# Nor do two files need each other, by whatever way round: a file is a .c with its .h, and a header
# without a .c is of those that include it. In src/tui such a header is a file, too.
includes=$(grep -roE --include='*.[ch]' '^ *# *include "[^"]+\.h"' src |
  sed -E 's/^src\/(.*)\.[ch]: *# *include "(.*)\.h"/\1 \2/' | awk '$1 != $2' | sort -u)
circles=$( (
  printf '%s\n' "$includes" | grep -E '^tui/[^ ]* tui/'
  { find src -name '*.c' | sed -E 's/^src\/(.*)\.c$/\1/' && printf '%s\n' "$includes"; } | awk '
    NF == 1 { has_c[$1] = 1 }
    NF == 2 { to[$1] = to[$1] " " $2 }
    function walk(from, at,   n, i, next_one) {
      n = split(to[at], next_one, " ")
      for (i = 1; i <= n; i++) {
        if (seen[from, next_one[i]]++) continue
        if (!(next_one[i] in has_c)) walk(from, next_one[i])
        else if (next_one[i] != from) print from, next_one[i]
      }
    }
    END { for (file in has_c) walk(file, file) }'
) | sort -u | tsort 2>&1 >/dev/null || true)
[ -z "$circles" ] || say "files need each other:
$circles"

# A folder is read at a glance.
crowded=$(find src -type d | while read -r folder; do
  n=$(find "$folder" -maxdepth 1 -type f | wc -l)
  [ "$n" -le 45 ] || echo "$folder has $n"
done)
[ -z "$crowded" ] || say "a folder has more than 45 files:
$crowded"

pure=$(for folder in banks capsule sass clock order model ptx machine; do find $(of_folder $folder) -name '*.[ch]'; done)
# What an operation is stands in op.def; who asks for one by name is its family, a pass that builds it,
# a breakage that takes it away, or the list of what a kernel must contain. The barrier of rewrite.c is what passes build with.
outside() { # PATTERN HOMES EXCEPTIONS WHAT
  hits=$(grep -rnE --include='*.[ch]' "$1" src | sed 's|//.*||' | grep -E "$1" |
    grep -vE "^src/($2)" | grep -vE "^($3):" || true)
  [ -z "$hits" ] || say "$4:
$hits"
}
tables() { find src -name "$1.def"; }
own='features/[a-z_0-9]+/model/'
outside '\bOP_('"$(sed -n 's/^OP(\([A-Z_0-9]*\),.*/\1/p' $(tables op) | paste -sd'|')"')\b' "model/(ops|passes)/|$own" \
  'src/model/interp/breakage(_[a-z]+)?.c|src/model/ir/rewrite.c|src/model/readings/rules/skeleton(_order)?.c' \
  'an operation is named outside its family, the passes and the breakages'
# Tuning knobs are named by knobs, rules, passes and schedules; the problem's are everybody's. Launch
# bounds, as printed, are the line of one knob.
tuning=$(awk -F'"' '/^KNOB\(/ && $4 != "PROBLEM" {split($1, id, /[(,]/); print id[2]}' \
  $(tables knob) | paste -sd'|')
outside "\\bKNOB_($tuning)\\b" "model/(words|passes|schedules)/|model/readings/rules/(rule|knob_use)|$own" \
  'src/model/interp/breakage(_[a-z]+)?.c|src/model/ir/notation/print_head.c' 'a tuning knob is named outside knobs, rules, passes and schedules'

# Atoms are named by their table and the values of their knob; the page on tiles shows one as an example.
outside '"[^"]*(mma|wgmma)_m[0-9]+n[0-9]+k' 'model/words/' 'src/model/readings/place/tile_read.c' \
  'an atom is named outside its table'

# A pass acts on the product that it is given, and finds the buffers of its operands through it.
hits=$(grep -nE '\b(program_product|ROLE_(A|B|C|ACC|(SLAB|STAGE|FRAG)_[ABC]))\b' $(find src -name "pass_*.c") \
  src/model/passes/copy/slab_copy.c | sed 's|//.*||' | grep -E 'ROLE_|program_product' || true)
[ -z "$hits" ] || say "a pass takes its product's operands by a name of its own:
$hits"

impure='curses|ncurses|term|cuda|cuda_runtime|nvrtc|cublas[^>]*|unistd|fcntl|sys/[^>]*|pthread|dlfcn|time|signal|locale|poll|dirent|sqlite3|cjson/cJSON'
hits=$(grep -nE "^ *# *include <($impure)\.h>" $pure || true)
[ -z "$hits" ] || say "a pure folder includes a system header it may not:
$hits"
calls='printf|fprintf|puts|fputs|putchar|fopen|fread|fwrite|fclose|fgets|scanf|fscanf|getenv|malloc|calloc|realloc|free|rand|srand|exit|system|time|clock'
hits=$(grep -nE "(^|[^A-Za-z0-9_>.\"])($calls)\(" $pure |
  grep -vE '^[^:]*:[0-9]+: *//' || true)
[ -z "$hits" ] || say "a pure folder calls what it may not:
$hits"

screens=$(grep -rlE '^ *# *include <(n?curses(w/curses)?|term)\.h>' src || true)
[ "$(printf '%s' "$screens" | grep -c . || true)" -le 1 ] || say "more than one file includes ncurses: $screens"
case $screens in '' | src/tui/*) ;; *) say "only src/tui may include ncurses: $screens" ;; esac
cuda=$(grep -rnE '^ *# *include <(cuda|nvrtc|cublas|cublasLt|nvml)[A-Za-z_]*\.h>' src || true)
[ -z "$cuda" ] || say "CUDA is opened at run time, no header of it is included: $cuda"

twice=$(find src -name '*.[ch]' -exec basename {} \; | sort | uniq -d)
[ -z "$twice" ] || say "file names must be unique: $twice"

unwanted="^($calls|__printf_chk|__fprintf_chk|open|read|write|close|stdout|stderr|stdin|qsort_r)$"
if [ $# -gt 0 ]; then
  hits=$(nm -uA "$@" | sed 's/@.*//' | awk -v unwanted="$unwanted" '$3 ~ unwanted {print $1, $3}')
  [ -z "$hits" ] || say "a pure object uses what it may not:
$hits"
  hits=$(objdump -t "$@" | awk '/file format/ {object = $1}
    $3 == "O" && $4 ~ /^\.(data|bss|tdata|tbss)/ && $4 !~ /rel\.ro/ {print object, $NF}')
  [ -z "$hits" ] || say "a pure object owns state:
$hits"
fi

[ $failed = 0 ] && echo "check-deps: folder order holds, pure folders are pure ($# objects)"
exit $failed
