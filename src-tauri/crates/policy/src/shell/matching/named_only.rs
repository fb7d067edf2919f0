//! Commands that an allow for everything does not cover: a rule has to name their program before they are allowed.
//!
//! A person who allows every command means builds, tests and looking around. A command that reaches other machines,
//! changes installed software or permissions, removes something for good, or runs text that only a file or a host
//! holds, is asked about until a rule names its program.

use crate::shell::expand::setters;
use crate::shell::tables::wrapper::list_has_word;
use crate::shell::{program_base_name, runs_other_programs};

/// Programs that are not covered, whatever their arguments.
const NAMED_ONLY_PROGRAMS: &str = "sudo doas su pkexec run0 runuser systemctl service initctl rc-service launchctl crontab at batch iptables ip6tables nft ufw \
    firewall-cmd modprobe insmod rmmod depmod sysctl useradd usermod userdel adduser deluser groupadd groupmod groupdel \
    passwd chpasswd visudo chsh chfn vipw mount umount swapon swapoff losetup cryptsetup parted fdisk sfdisk gdisk mkswap \
    reboot shutdown halt poweroff init telinit kill killall pkill xkill skill renice curl wget aria2c http https xh nc \
    ncat netcat socat telnet ftp tftp lftp ssh scp sftp mosh rsync dig nslookup host rm rmdir unlink shred srm dd \
    truncate chmod chown chgrp setfacl chattr setcap history source . open xdg-open gio osascript defaults pmset csrutil \
    spctl nvram dscl security aws gcloud az gsutil doctl heroku flyctl fly vercel netlify runas net sc setx choco winget \
    scoop apt apt-get aptitude dpkg rpm dnf yum zypper pacman apk emerge brew port snap flatpak nix-env easy_install \
    tcpdump wireshark tshark nmap xclip xsel pbcopy pbpaste screen tmux script expect gdb lldb strace ltrace";
/// Sub-commands that are not covered, by program.
const NAMED_ONLY_COMMANDS: &[(&str, &str)] = &[
    (
        "npm pnpm yarn bun",
        "install i in ins inst insta instal add ci clean-install publish unpublish exec x dlx create init update up \
         upgrade remove rm uninstall un unlink link login logout token owner access deprecate dist-tag hook config set \
         preinstall postinstall prepare prepublish",
    ),
    (
        "pip pip3 pipx uv poetry pdm conda mamba gem bundle cargo go composer nuget cpan cpanm luarocks opam stack cabal \
         mix rebar3 dotnet swift dart flutter rustup asdf mise",
        "install add get require download publish push upload update upgrade sync uninstall remove yank owner login \
         logout sideload default toolchain self",
    ),
    (
        "git jj hg svn",
        "push reset clean filter-branch filter-repo update-ref gc prune reflog credential rebase restore send-email daemon",
    ),
    (
        "docker podman nerdctl docker-compose",
        "run exec rm rmi kill stop push login cp system volume network container image compose build load import \
         commit swarm service stack create start restart update prune down up",
    ),
    (
        "kubectl oc helm k9s",
        "delete apply create exec cp edit patch replace scale drain cordon taint run rollout install upgrade uninstall \
         rollback port-forward proxy attach set label annotate",
    ),
    (
        "terraform tofu pulumi cdk ansible-playbook",
        "apply destroy import taint up state deploy",
    ),
    (
        "gh glab hub",
        "pr issue release repo api secret auth gist workflow run ssh-key gpg-key variable alias extension codespace",
    ),
];
/// Programs of build tools whose sub-commands run what a file of the workspace says: an allow for everything is meant
/// for these, so they are covered. A script that is run as such, by an interpreter or by its path, is not.
const BUILD_TOOLS: &str = "make gmake ninja cmake just";

/// Interpreters whose programs stand in the command and are read: what runs or writes is refused there.
const INSPECTED_INTERPRETERS: &str = "awk gawk mawk nawk";

/// Whether an allow for everything leaves a command out.
pub(crate) fn requires_named_rule(words: &[String]) -> bool {
    let Some(first) = words.first() else {
        return true;
    };
    let program = program_base_name(first).to_lowercase();
    let program = program.as_str();
    // `python3.12` is `python3`, and `mkfs.ext4` is `mkfs`.
    let stem = program.split('.').next().unwrap_or(program);
    if list_has_word(BUILD_TOOLS, program) {
        return false;
    }
    let has_word_of = |commands: &str| words[1..].iter().any(|word| list_has_word(commands, word));
    let is_file = [".bat", ".cmd", ".exe", ".ps1", ".sh", ".py"]
        .iter()
        .any(|ending| program.ends_with(ending));
    list_has_word(NAMED_ONLY_PROGRAMS, program)
        || matches!(stem, "mkfs" | "newfs" | "mke2fs" | "wipefs")
        || is_file
        || setters::find_set_variable(words).is_some()
        || runs_other_programs(words)
            && !list_has_word(INSPECTED_INTERPRETERS, program)
            && !is_info_query(words)
        || NAMED_ONLY_COMMANDS
            .iter()
            .any(|(programs, commands)| list_has_word(programs, program) && has_word_of(commands))
}

/// `node --version` and `command -v node` run nothing.
fn is_info_query(words: &[String]) -> bool {
    match words {
        [_, only] => list_has_word("--version -version -V -v --help -h version help", only),
        [program, option, _] => program == "command" && list_has_word("-v -V", option),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::requires_named_rule;

    #[test]
    fn what_an_allow_for_everything_leaves_out() {
        for (command, is) in [
            ("ls -la", false),
            ("cargo build", false),
            ("cargo test", false),
            ("npm run build", false),
            ("npm test", false),
            ("make", false),
            ("git status", false),
            ("git commit -m x", false),
            ("go test ./...", false),
            ("node --version", false),
            ("command -v node", false),
            ("awk 1 x", false),
            ("cargo install x", true),
            ("npm i x", true),
            ("rm x", true),
            ("git push", true),
            ("git reset --hard", true),
            ("curl x", true),
            ("python x.py", true),
            ("mkfs.ext4 x", true),
            ("export LD_PRELOAD=x", true),
            ("kill 1", true),
            ("docker run x", true),
            ("docker ps", false),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(requires_named_rule(&words), is, "{command}");
        }
    }
}
