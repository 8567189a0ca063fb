#!/bin/sh
# Checks that the site can be built into a page worth showing. Every failed check is printed, not just the first.
set -eu

failures=0
fail() {
    echo "FAIL  $1"
    failures=$((failures + 1))
}
pass() { echo "ok    $1"; }

lines=$(grep -c . message.txt || true)
if [ "$lines" -eq 1 ]; then
    pass "message.txt holds one line"
else
    fail "message.txt must hold exactly one line of text, it has $lines"
fi

length=$(head -n 1 message.txt | tr -d '\n' | wc -m)
if [ "$length" -le 80 ]; then
    pass "the message fits in the page"
else
    fail "the message has $length characters; 80 is the most that fits"
fi

for placeholder in @MESSAGE@ @COMMIT@; do
    if grep -q "$placeholder" index.html.in; then
        pass "the page shows $placeholder"
    else
        fail "index.html.in does not contain $placeholder"
    fi
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sed -n -e 's/.*href="\([^":]*\)".*/\1/p' -e 's/.*src="\([^":]*\)".*/\1/p' index.html.in > "$scratch/links"
while read -r file; do
    if [ -s "$file" ]; then
        pass "the page finds $file"
    else
        fail "index.html.in refers to $file, which is missing or empty"
    fi
done < "$scratch/links"

# The build is tried on a message that would break out of the page if it were not escaped.
cp -R ./* "$scratch"
printf '%s\n' '</h1> & "fish" \1' > "$scratch/message.txt"
if (cd "$scratch" && PATHLINE_SOURCE_REVISION=main@sha1:0123456789abcdef sh build.sh > /dev/null); then
    if grep -qF '<h1>&lt;/h1&gt; &amp; &quot;fish&quot; \1</h1>' "$scratch/public/index.html"; then
        pass "a message cannot break out of the page"
    else
        fail "build.sh does not escape the message"
    fi
    if grep -qF '<code>0123456789abcdef</code>' "$scratch/public/index.html"; then
        pass "the page shows its commit"
    else
        fail "build.sh does not put the commit into the page"
    fi
else
    fail "build.sh fails"
fi

if [ "$failures" -gt 0 ]; then
    echo "failed checks: $failures"
    exit 1
fi
echo "all checks passed"
