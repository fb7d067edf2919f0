git add -A && git commit -m "$(cat <<'EOF'
Say what it did (don't; guess)

A `body` with $words.
EOF
)"
