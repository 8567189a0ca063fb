#!/bin/sh
# Builds the site into public/: the page with its message and commit, and the files it needs.
set -eu

# Pathline says which revision this is, as branch@sha1:commit; outside of Pathline, git knows.
revision=${PATHLINE_SOURCE_REVISION:-main@sha1:$(git rev-parse HEAD)}
commit=${revision##*:}

# Escapes the text for HTML, then for the right-hand side of the `sed` command below.
message=$(sed -e 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g' -e 's/[\\&|]/\\&/g' message.txt)

rm -rf public
mkdir public
sed -e "s|@MESSAGE@|$message|g" -e "s|@COMMIT@|$commit|g" index.html.in > public/index.html
cp style.css follow.js public/
echo "$commit" > public/commit.txt

echo "built $(find public -type f | wc -l | tr -d ' ') files for $commit"
