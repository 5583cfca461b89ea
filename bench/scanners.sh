#!/usr/bin/env bash
# usage: bench/scanners.sh SECONDS [LANGUAGE...]: parses made-up texts for so long in
# each language, with the scanners, tree-sitter and index/syntax/treesitter under the address
# sanitizer. Needs gcc; builds in bin/scanners, minutes for the first time.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
all="bash cpp csharp dockerfile elixir hcl html kotlin lua markdown php python ruby rust scala sql swift toml yaml"
sitter=$(go list -m -f '{{.Dir}}' github.com/smacker/go-tree-sitter)
out=bin/scanners
flags=(-fsanitize=address,undefined -fno-sanitize=alignment -g -O1 -w)
mkdir -p $out
for f in alloc get_changed_ranges language lexer node parser stack subtree tree tree_cursor wasm_store; do
  [ -f $out/sitter.$f.o ] || gcc "${flags[@]}" -c "$sitter/$f.c" -o $out/sitter.$f.o
done
for f in arena clock deep flatten guard treesitter; do
  gcc "${flags[@]}" -c index/syntax/treesitter/$f.c -o $out/quarry.$f.o
done
for language in ${*:-$all}; do
  name=$language folder=$sitter/$language seed=testdata/syntax/$language is=0
  case $language in # what sets a scanner apart is said in index/syntax/languages.go
  bash) seed=testdata/syntax/shellscript ;;
  csharp) name=c_sharp ;;
  ruby) is=.most=261 ;;
  sql) is=.forgets=true ;;
  swift) is=.own_memory=true ;;
  markdown) folder=$sitter/markdown/tree-sitter-markdown ;;
  esac
  [ -f $out/$language.parser.o ] || gcc -O0 -w -I"$folder" -c "$folder/parser.c" -o $out/$language.parser.o
  if [ -f "$folder/scanner.cc" ]; then
    g++ "${flags[@]}" -I"$folder" -c "$folder/scanner.cc" -o $out/$language.scanner.o
  else
    gcc "${flags[@]}" -I"$folder" -c "$folder/scanner.c" -o $out/$language.scanner.o
  fi
  gcc "${flags[@]}" -Iindex/syntax/treesitter -DLANGUAGE=tree_sitter_$name -DSCANNER="$is" -c bench/scanners/fuzz.c -o $out/fuzz.o
  g++ "${flags[@]}" $out/fuzz.o $out/$language.{parser,scanner}.o $out/sitter.*.o $out/quarry.*.o -lpthread -o $out/fuzz.$language
  echo "$language"
  $out/fuzz.$language "$(find "$seed" -type f ! -name '*.golden' | head -n 1)" "$seconds"
done
