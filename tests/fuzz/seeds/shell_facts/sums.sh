a[$(id)]=$((1 << 2)); [[ -n ${a[@]} ]] && f() { echo `date` <(sort x) >&2; }; f & wait
