//! Tests of mount tables, and of the paths at which closed places are visible through them.

use crate::dry_run::secrets::mounts::*;

/// Mounts, each as "number parent device root point" and, of an overlay, its options.
fn mounts(lines: &[&str]) -> MountTable {
    let lines = lines.iter().map(|line| {
        let mut words: Vec<&str> = line.split(' ').collect();
        let kind = match words.get(5) {
            Some(options) => format!("overlay none {options}"),
            None if words[2] == "0:5" => "proc none rw".to_owned(),
            None => "ext4 /dev/x rw".to_owned(),
        };
        words.truncate(5);
        format!(
            "{} rw,noatime shared:1 master:2 - {kind}\n",
            words.join(" ")
        )
    });
    MountTable::from_mountinfo(lines.collect::<String>().as_bytes())
}

const ROOT: &str = "1 0 8:1 / /";
const HOME: &str = "2 1 8:2 / /home";

#[test]
fn a_closed_place_is_found_wherever_it_is_mounted_once_more() {
    let key = "/home/me/.ssh/id";
    for (what, lines, place, further) in [
        ("once", vec![ROOT, HOME], key, vec![]),
        (
            "the whole device",
            vec![ROOT, HOME, "3 1 8:2 / /mnt"],
            key,
            vec!["/mnt/me/.ssh/id"],
        ),
        (
            "a folder above it",
            vec![ROOT, HOME, "3 1 8:2 /me /srv/me"],
            key,
            vec!["/srv/me/.ssh/id"],
        ),
        (
            "its own folder, twice",
            vec![ROOT, HOME, "3 1 8:2 /me/.ssh /a", "4 1 8:2 /me/.ssh /b"],
            key,
            vec!["/a/id", "/b/id"],
        ),
        (
            "the file itself",
            vec![ROOT, HOME, "3 1 8:2 /me/.ssh/id /srv/id"],
            key,
            vec!["/srv/id"],
        ),
        (
            "a file in a closed folder",
            vec![ROOT, HOME, "3 1 8:2 /me/.ssh/id /srv/id"],
            "/home/me/.ssh",
            vec!["/srv/id"],
        ),
        (
            "another folder whose name begins alike",
            vec![ROOT, HOME, "3 1 8:2 /me/.sshd /srv"],
            "/home/me/.ssh",
            vec![],
        ),
        (
            "another device",
            vec![ROOT, HOME, "3 1 8:3 / /mnt"],
            key,
            vec![],
        ),
        (
            "a place that is a further one itself",
            vec![ROOT, HOME, "3 1 8:2 /me /srv/me"],
            "/srv/me/.ssh/id",
            vec![key],
        ),
        (
            "a folder of one disk at home, another at the top, all of it elsewhere",
            vec!["1 0 8:1 /@ /", "2 1 8:1 /@home /home", "3 1 8:1 / /disk"],
            key,
            vec!["/disk/@home/me/.ssh/id"],
        ),
        (
            "mounted within a closed folder, and where everybody sees it",
            vec![
                ROOT,
                HOME,
                "3 2 8:4 / /home/me/.ssh/card",
                "4 1 8:4 / /media/card",
            ],
            "/home/me/.ssh",
            vec!["/media/card"],
        ),
        (
            "the kernel's own within a closed folder",
            vec![
                ROOT,
                HOME,
                "3 1 0:5 / /proc",
                "4 2 0:5 / /home/me/root/proc",
            ],
            "/home/me/root",
            vec![],
        ),
        (
            "by one within another",
            vec![
                ROOT,
                HOME,
                "3 1 8:2 /me /srv/me",
                "4 3 8:4 / /srv/me/keys",
                "5 1 8:4 /x /x",
            ],
            "/home/me",
            vec!["/srv/me", "/srv/me/keys", "/srv/me/keys/x", "/x"],
        ),
        (
            "hidden by what was mounted over it later",
            vec![ROOT, HOME, "3 1 8:2 /me /srv/me", "4 1 8:9 / /srv"],
            key,
            vec![],
        ),
        (
            "hidden by what stands on it",
            vec![ROOT, HOME, "3 1 8:2 /me /srv", "4 3 8:9 / /srv"],
            key,
            vec![],
        ),
        (
            "a name with a blank",
            vec![ROOT, HOME, "3 1 8:2 /my\\040own /a\\040b"],
            "/home/my own/key",
            vec!["/a b/key"],
        ),
        (
            "the layers of an overlay",
            vec![
                ROOT,
                "2 1 0:9 / /o rw,lowerdir=/l\\134:1:/l2,upperdir=/up,workdir=/w",
            ],
            "/o/key",
            vec!["/l:1/key", "/l2/key", "/up/key"],
        ),
        (
            "the layers of an overlay, one by one",
            vec![ROOT, "2 1 0:9 / /o rw,lowerdir+=/one,lowerdir+=/two"],
            "/o/key",
            vec!["/one/key", "/two/key"],
        ),
        (
            "where paths do not begin at a mount",
            vec!["7 6 8:2 /me /a", "8 6 8:2 /me /b"],
            "/a/key",
            vec!["/b/key"],
        ),
    ] {
        let mut found = mounts(&lines).find_other_paths(&[PathBuf::from(place)]);
        found.sort();
        let mut expected: Vec<PathBuf> = further.iter().map(PathBuf::from).collect();
        expected.sort();
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn what_lies_in_a_closed_place_is_no_further_one() {
    let mounts = mounts(&[ROOT, HOME, "3 2 8:2 /me/keys /home/me/keys/again"]);
    let places = ["/home/me/keys", "/home/me/keys/id"].map(PathBuf::from);
    assert_eq!(mounts.find_other_paths(&places), [] as [PathBuf; 0]);
}

/// Lines that are no mounts, a cycle of parents, and an unterminated name.
#[test]
fn what_makes_no_sense_is_passed_by() {
    let text = b"\n1\nx y z\n1 2 8:1 / / rw\n1 2 8:1 / / rw - ext4 x rw\n2 1 8:1 / / rw - ext4 x rw\n3 3 8:1 /\\0 /\\999 rw - overlay x lowerdir\n";
    let mounts = MountTable::from_mountinfo(text);
    assert_eq!(mounts.all.len(), 3);
    assert_eq!(mounts.find_other_paths(&["/a".into()]), [] as [PathBuf; 0]);
}
