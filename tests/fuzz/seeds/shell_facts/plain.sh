cargo test --all 2>&1 >/dev/null && git status; ls -la "src dir" | head -5
