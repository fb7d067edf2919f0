sudo -u me env A=1 timeout 5 find . -name '*.o' -exec rm {} \; ; echo 'rm x' | xargs -n 1 bash -c
