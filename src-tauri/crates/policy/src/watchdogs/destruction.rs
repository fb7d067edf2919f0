//! Commands that destroy the system, a home folder or a whole disk.

use super::Alarm;
use super::command::{WatchedCommand, has_option};

/// Folders whose loss is the loss of the system or of a person's things.
const SYSTEM_FOLDERS: &str = "/ ~ $HOME ${HOME} /bin /boot /dev /etc /home /lib /lib64 /opt /proc /root /sbin /srv /sys \
    /usr /var /Users /System /Library /Applications C:";
/// Names of disks and their parts.
const DISK_DEVICES: &str =
    "/dev/sd /dev/hd /dev/vd /dev/xvd /dev/nvme /dev/mmcblk /dev/disk /dev/rdisk /dev/mapper/";

/// Denies commands that destroy the system.
pub(super) fn check_destruction(script: &WatchedCommand) -> Option<Alarm> {
    let removed = script
        .commands_running("rm rmdir shred srm unlink trash")
        .filter(|words| {
            has_option(words, &['r', 'R'], &["recursive", "no-preserve-root"])
                || words[0] == "shred"
        })
        .find_map(|words| words[1..].iter().find(|word| is_system_folder(word)));
    if let Some(root) = removed {
        return Some(Alarm::deny(format!(
            "It would remove `{root}` and everything below it."
        )));
    }
    let removal = script.commands_running("find").find(|words| {
        words.get(1).is_some_and(|start| is_system_folder(start))
            && words
                .iter()
                .any(|word| matches!(word.as_str(), "-delete" | "rm" | "shred"))
    });
    if let Some(words) = removal {
        return Some(Alarm::deny(format!(
            "It would remove what it finds below `{}`.",
            words[1]
        )));
    }
    let opened = script
        .commands_running("chmod chown chgrp")
        .filter(|words| has_option(words, &['R'], &["recursive"]))
        .find_map(|words| words[1..].iter().find(|word| is_system_folder(word)));
    if let Some(root) = opened {
        return Some(Alarm::deny(format!(
            "It would change who may use `{root}` and everything below it."
        )));
    }
    if script.may_run_any("mkfs* mke2fs wipefs blkdiscard newfs* diskpart") {
        return Some(Alarm::deny("It would erase a disk."));
    }
    let disk = script
        .commands_running("dd")
        .flatten()
        .filter_map(|word| word.strip_prefix("of="))
        .chain(
            script
                .accesses
                .iter()
                .filter(|one| one.capability == protocol::Capability::FsWrite)
                .map(|one| one.target.as_str()),
        )
        .find(|target| DISK_DEVICES.split(' ').any(|disk| target.starts_with(disk)));
    disk.map(|disk| Alarm::deny(format!("It would write over the disk `{disk}`.")))
}

/// Whether a word names such a folder, or everything in it.
fn is_system_folder(word: &str) -> bool {
    let mut bare = word;
    loop {
        let shorter = bare
            .strip_suffix("/*")
            .or_else(|| bare.strip_suffix("/."))
            .or_else(|| bare.strip_suffix("/.*"))
            .or_else(|| bare.strip_suffix("/.."))
            .or_else(|| bare.strip_suffix("\\*"))
            .or_else(|| bare.strip_suffix('\\'))
            .or_else(|| bare.strip_suffix('/'));
        match shorter {
            Some("") if word.starts_with('/') => return true,
            Some(shorter) => bare = shorter,
            None => break,
        }
    }
    let collapsed = bare.replace("//", "/");
    SYSTEM_FOLDERS
        .split(' ')
        .any(|root| root.eq_ignore_ascii_case(&collapsed))
}
