//! Accesses of well-known programs to the files and hosts that they are given.

use protocol::Capability::{self, FsDelete, FsRead, FsWrite};

/// Access of a program to its operands.
#[derive(Debug, Clone, Copy)]
pub(in crate::shell) enum OperandAccess {
    /// The same capability for all operands, after this many words that are no operands (a mode, a pattern, a script).
    All(Capability, usize),
    /// Reads all but the last, writes the last.
    Copy,
    /// Takes all but the last away, writes the last.
    Move,
    /// Reaches the hosts that its operands name.
    Host,
}

/// Accesses of programs to their operands.
pub(in crate::shell) const PROGRAM_ACCESSES: &[(&str, OperandAccess)] = &[
    (
        "cat tac head tail less more bat batcat nl wc od xxd hexdump hd strings file stat sort uniq cut paste join diff \
         sdiff cmp comm md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum base64 base32 ls dir tree du \
         readlink realpath find fd source . zcat bzcat xzcat zless vim vi nvim nano emacs view python python3 node ruby \
         perl bash sh zsh dash open xdg-open rev fold fmt expand column look csvtool pr iconv gpg openssl \
         gzip bzip2 xz zstd scp code codium subl gedit kate mate ed",
        OperandAccess::All(FsRead, 0),
    ),
    (
        "grep egrep fgrep rgrep zgrep bzgrep xzgrep rg ag ack ugrep ug pt sift jq yq awk gawk mawk sed gsed tar gtar bsdtar zip 7z 7za 7zz",
        OperandAccess::All(FsRead, 1),
    ),
    (
        "tee touch mkdir mkfifo mknod truncate mktemp fallocate split csplit patch",
        OperandAccess::All(FsWrite, 0),
    ),
    (
        "chmod chown chgrp setfacl chattr",
        OperandAccess::All(FsWrite, 1),
    ),
    (
        "rm rmdir unlink shred srm trash del",
        OperandAccess::All(FsDelete, 0),
    ),
    ("cp gcp install rsync ln link ditto", OperandAccess::Copy),
    ("mv rename", OperandAccess::Move),
    (
        "curl wget http https httpie xh aria2c lynx w3m links ftp lftp telnet nc ncat netcat ping ping6 dig nslookup \
         host whois ssh mosh traceroute nmap",
        OperandAccess::Host,
    ),
];

/// Options whose value is a file, by program: `-o` of curl is written.
pub(in crate::shell) const OPTION_ACCESSES: &[(&str, &str, Capability)] = &[
    (
        "curl",
        "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr",
        FsWrite,
    ),
    (
        "curl",
        "-T --upload-file -K --config -E --cert --key --cacert -b --cookie --netrc-file",
        FsRead,
    ),
    (
        "wget",
        "-O --output-document -o --output-file -a --append-output -P --directory-prefix",
        FsWrite,
    ),
    (
        "wget",
        "--post-file --body-file -i --input-file --load-cookies",
        FsRead,
    ),
    ("sort", "-o --output", FsWrite),
    ("find", "-fprint -fprint0 -fprintf -fls", FsWrite),
    ("cp mv ln install", "-t --target-directory", FsWrite),
    (
        "sed gsed grep egrep fgrep rg awk gawk mawk",
        "-f --file",
        FsRead,
    ),
    (
        "git make gmake tar",
        "-C --directory --git-dir --work-tree",
        FsRead,
    ),
    (
        "gcc g++ cc c++ clang clang++ rustc go ld gpg openssl pandoc",
        "-o --output -out",
        FsWrite,
    ),
    ("node docker podman nerdctl", "--env-file", FsRead),
    ("unzip", "-d", FsWrite),
    ("tar gtar bsdtar", "-f --file", FsWrite),
];
