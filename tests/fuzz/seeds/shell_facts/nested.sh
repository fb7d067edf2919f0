v=rm; for f in a b; do $v "$f"; done
case $1 in (a|b) echo ${x:-$(id)};; *) sh -c 'echo "$(ls)"';; esac
