//! The attempts. In a command, `$OUT` is a folder outside the workspace, `$WS` the workspace, `$PID` a process outside,
//! `$PORT` and `$UDP` what listens there, `$MARK` a number that nothing else has.

/// One attempt.
pub struct Attempt {
    pub name: &'static str,
    pub how: How,
    pub is: Is,
    /// Only root can do it without a sandbox.
    pub for_root: bool,
}

/// How it is made.
pub enum How {
    /// A command line of bash.
    Shell(&'static str),
    /// A call of the kernel, by its name in `calls.rs`.
    Call(&'static str),
}

/// By what it is known that it succeeded.
pub enum Is {
    /// A file outside, or in the workspace itself, is not as it was.
    Changed,
    /// It prints what is secret.
    Told,
    /// Something outside heard of it.
    Heard,
    /// The process outside is gone.
    Killed,
    /// Something of it still runs afterwards.
    Outlived,
    /// It says so by its exit code.
    Exit,
}

const fn shell(name: &'static str, command: &'static str, is: Is) -> Attempt {
    Attempt {
        name,
        how: How::Shell(command),
        is,
        for_root: false,
    }
}

const fn call(name: &'static str, is: Is) -> Attempt {
    Attempt {
        name,
        how: How::Call(name),
        is,
        for_root: false,
    }
}

const fn root(attempt: Attempt) -> Attempt {
    Attempt {
        for_root: true,
        ..attempt
    }
}

/// Goes on once what was started in the background is what it will be.
macro_rules! started {
    () => {
        "while [ \"$(cat /proc/$!/comm)\" != sleep ]; do :; done"
    };
}

pub const ATTEMPTS: &[Attempt] = &[
    shell("write a file", "echo x > $OUT/file", Is::Changed),
    shell("append to a file", "echo x >> $OUT/file", Is::Changed),
    shell("delete a file", "rm $OUT/file", Is::Changed),
    shell(
        "move a file away",
        "mv $OUT/file $OUT/elsewhere",
        Is::Changed,
    ),
    shell("move a file in", "mv $OUT/file $WS/taken", Is::Changed),
    shell("truncate a file", ": > $OUT/file", Is::Changed),
    shell(
        "write with dd",
        "echo x | dd of=$OUT/file conv=notrunc",
        Is::Changed,
    ),
    shell(
        "edit in place",
        "sed -i s/outside/x/ $OUT/file",
        Is::Changed,
    ),
    shell("change a mode", "chmod 777 $OUT/file", Is::Changed),
    shell(
        "change a time",
        "touch -d 2001-01-01 $OUT/file",
        Is::Changed,
    ),
    shell("make a folder", "mkdir $OUT/new", Is::Changed),
    shell("remove a folder", "rmdir $OUT/empty", Is::Changed),
    shell(
        "make a link outside",
        "ln -s /etc/passwd $OUT/link",
        Is::Changed,
    ),
    shell("make a pipe outside", "mkfifo $OUT/pipe", Is::Changed),
    shell(
        "a symlink in the workspace",
        "ln -s $OUT/file $WS/l; echo x > $WS/l",
        Is::Changed,
    ),
    shell(
        "a symlink that stood there",
        "echo x > $WS/leads-out/file",
        Is::Changed,
    ),
    shell(
        "a hard link in the workspace",
        "ln $OUT/file $WS/h; echo x > $WS/h",
        Is::Changed,
    ),
    shell(
        "up from the workspace",
        "cd $WS; echo x > ../outside/file",
        Is::Changed,
    ),
    shell(
        "through /proc/self/root",
        "echo x > /proc/self/root$OUT/file",
        Is::Changed,
    ),
    shell(
        "through /proc/self/cwd",
        "cd $WS; echo x > /proc/self/cwd/../outside/file",
        Is::Changed,
    ),
    root(shell(
        "through the first process",
        "p=$PPID; echo x > /proc/$p/root$OUT/file",
        Is::Changed,
    )),
    shell("through a file left open", "echo x >&7", Is::Changed),
    shell(
        "through a folder left open",
        "echo x > /proc/self/fd/8/file",
        Is::Changed,
    ),
    shell(
        "the name of a file left open",
        "echo x > /dev/fd/7",
        Is::Changed,
    ),
    shell("write in the workspace", "echo x > $WS/a", Is::Changed),
    shell("delete in the workspace", "rm $WS/a", Is::Changed),
    shell("empty the workspace", "rm -rf $WS/*", Is::Changed),
    shell(
        "replace a folder of it",
        "rm -rf $WS/folder; echo x > $WS/folder",
        Is::Changed,
    ),
    shell("change a mode in it", "chmod 700 $WS/a", Is::Changed),
    shell(
        "plant a hook",
        "echo x > $WS/.git/hooks/post-commit; cat $WS/.git/hooks/post-commit | grep -q x",
        Is::Exit,
    ),
    shell(
        "put hooks elsewhere",
        "mv $WS/.git/hooks $WS/.git/old",
        Is::Exit,
    ),
    shell("write over a secret", "echo x > $WS/.env", Is::Changed),
    shell("read a secret", "cat $WS/.env", Is::Told),
    shell(
        "read a secret by a link",
        "ln -s .env $WS/e; cat $WS/e",
        Is::Told,
    ),
    shell(
        "read a secret by a hard link",
        "ln $WS/.env $WS/e && cat $WS/e",
        Is::Told,
    ),
    shell(
        "move a secret, then read it",
        "mv $WS/.env $WS/e; cat $WS/e",
        Is::Told,
    ),
    shell("read a folder of secrets", "cat $OUT/keys/id", Is::Told),
    shell(
        "pack the secrets",
        "tar cf - -C $WS .env -C $OUT keys",
        Is::Told,
    ),
    shell(
        "read a secret through /proc/self/root",
        "cat /proc/self/root$WS/.env",
        Is::Told,
    ),
    root(shell(
        "read a secret through the first process",
        "p=$PPID; cat /proc/$p/root$OUT/keys/id",
        Is::Told,
    )),
    shell(
        "connect to a port",
        "echo x > /dev/tcp/127.0.0.1/$PORT",
        Is::Heard,
    ),
    shell(
        "send to a port",
        "echo x > /dev/udp/127.0.0.1/$UDP",
        Is::Heard,
    ),
    shell("end a process", "kill -9 $PID", Is::Killed),
    shell("end a group of processes", "kill -9 -- -$PID", Is::Killed),
    shell(
        "delete what is found",
        "find $OUT -name file -delete",
        Is::Changed,
    ),
    shell("cut a file short", "truncate -s 1 $OUT/file", Is::Changed),
    shell("rename a folder", "mv $OUT/empty $OUT/renamed", Is::Changed),
    shell("hold a process", "kill -STOP $PID", Is::Exit),
    shell(
        "see that there are secrets",
        "ls $OUT/keys | grep -q id",
        Is::Exit,
    ),
    shell(
        "stay behind",
        concat!("sleep $MARK >/dev/null 2>&1 & ", started!()),
        Is::Outlived,
    ),
    shell(
        "stay behind in a session of its own",
        concat!("setsid sleep $MARK >/dev/null 2>&1 & ", started!()),
        Is::Outlived,
    ),
    shell(
        "stay behind, deaf",
        concat!(
            "trap '' HUP TERM INT; nohup sleep $MARK >/dev/null 2>&1 & ",
            started!()
        ),
        Is::Outlived,
    ),
    root(shell(
        "look at the open files of the first process",
        "readlink /proc/$PPID/fd/0",
        Is::Exit,
    )),
    shell("look at processes", "ls /proc/$PID/exe", Is::Exit),
    shell(
        "read another's environment",
        "tr '\\0' '\\n' < /proc/$PID/environ",
        Is::Told,
    ),
    call("unix stream", Is::Heard),
    call("unix datagram", Is::Heard),
    call("unix name without a path", Is::Heard),
    call("words to a path, told in memory alone", Is::Heard),
    call("a pair pointed at a path", Is::Heard),
    call("vsock", Is::Exit),
    call("io_uring", Is::Exit),
    call("trace a process", Is::Exit),
    call("read a process's memory", Is::Exit),
    call("new names by clone", Is::Exit),
    call("new names by the newer clone", Is::Exit),
    call("a listener of its own", Is::Exit),
    call("an open file of another process", Is::Exit),
    call("a path changed after it was looked at", Is::Changed),
    call("shared memory by key", Is::Exit),
    call("a key for all of the user's programs", Is::Exit),
    call("a lower nice value for a process", Is::Exit),
    root(shell(
        "mount a file system",
        "mount -t tmpfs none $WS/folder && umount $WS/folder",
        Is::Exit,
    )),
    root(shell(
        "mount a folder of the world",
        "mount --bind $OUT $WS/folder && echo x > $WS/folder/file; umount $WS/folder",
        Is::Changed,
    )),
    root(shell(
        "a setting of the kernel",
        "echo 1 > /proc/sys/vm/compact_memory",
        Is::Exit,
    )),
    root(call("new names by unshare", Is::Exit)),
    root(call("the names of another process", Is::Exit)),
    root(call("a file by its handle", Is::Exit)),
    root(call("the clock", Is::Exit)),
    root(call("the name of the machine", Is::Exit)),
    root(call("a root of its own", Is::Exit)),
];
