#!/usr/bin/env bash
# Compares two builds of one program, and says what differs. That they differ is no failure: it is said, and not hidden.
set -euo pipefail

first="$1"
second="$2"
sha256sum "$first" "$second"
if cmp --silent "$first" "$second"; then
  echo "::notice::Two builds in different places are the same to the byte."
  exit
fi

differing="$(cmp --verbose "$first" "$second" 2>/dev/null | wc --lines || true)"
echo "::warning::Two builds in different places differ: in $differing bytes, of $(stat --format %s "$first") and $(stat --format %s "$second")."

echo "Sections that differ, by name:"
sections() {
  readelf --sections --wide "$1" | sed -n 's/^ *\[ *[0-9]*\] \(\.[^ ]*\) .*/\1/p'
}
for section in $(sections "$first"); do
  digest() {
    objcopy --dump-section "$section=/dev/stdout" "$1" /dev/null 2>/dev/null | sha256sum
  }
  if [ "$(digest "$first")" != "$(digest "$second")" ]; then
    echo "  $section"
  fi
done

echo "Texts that only one of them has:"
diff <(strings -n 8 "$first" | sort -u) <(strings -n 8 "$second" | sort -u) | grep '^[<>]' | head --lines 100 || true
