//! A folder of the app in one compressed file, and back: tar within zstd, with a checksum over all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

use tar::{Archive, Builder, EntryType, Header};

use crate::fs::at_path::AtPath as _;
use crate::{FileError, create_private_folder};

/// Compression level of zstd: the one that it recommends.
const COMPRESSION_LEVEL: i32 = 3;
/// Largest file that an archive is read of for its first entry, in bytes.
const MANIFEST_BYTES_MAX: u64 = 64 * 1024;

/// What goes into an archive.
pub struct ArchiveContents<'a> {
    /// The folder, whose files go in under their paths in it.
    pub folder: &'a Path,
    /// Whether a path in the folder stays out, with everything below.
    pub leave_out: &'a dyn Fn(&Path) -> bool,
    /// Other files, each with the path that it has in the archive.
    pub others: &'a [(PathBuf, PathBuf)],
    /// Name and content of the first entry, which says what the archive is.
    pub manifest: (&'a str, &'a [u8]),
}

/// Writes an archive to `file`, which must not exist, for the owner alone. It is there whole or not at all. Links,
/// sockets and other special files stay out, and so does a file that is removed meanwhile. Returns the number of files.
///
/// # Errors
/// The file exists, or any error reported by the system about it or about a file in the folder.
pub fn write_archive(file: &Path, contents: &ArchiveContents<'_>) -> Result<u64, FileError> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let part = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).at(file)?;
    let writer = BufWriter::new(part.as_file());
    let mut encoder = zstd::Encoder::new(writer, COMPRESSION_LEVEL).at(file)?;
    encoder.include_checksum(true).at(file)?;
    let mut archive = Builder::new(encoder);
    let (name, manifest) = contents.manifest;
    append(
        &mut archive,
        Path::new(name),
        manifest.len() as u64,
        manifest,
    )
    .at(file)?;
    let mut count = 0;
    let others = contents.others.iter().cloned();
    let own = list_files(contents.folder, contents.leave_out)?;
    let own = own
        .into_iter()
        .map(|path| (contents.folder.join(&path), path));
    for (from, name) in others.chain(own) {
        count += u64::from(append_file(&mut archive, &from, &name)?);
    }
    let encoder = archive.into_inner().at(file)?;
    let mut writer = encoder.finish().at(file)?;
    writer.flush().at(file)?;
    drop(writer);
    part.as_file().sync_all().at(file)?;
    part.persist_noclobber(file)
        .map_err(|error| error.error)
        .at(file)?;
    Ok(count)
}

/// Lists the ordinary files below a folder, by their paths in it.
fn list_files(folder: &Path, leave_out: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>, FileError> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let place = folder.join(&below);
        for entry in fs::read_dir(&place).at(&place)? {
            let entry = entry.at(&place)?;
            let path = below.join(entry.file_name());
            let kind = entry.file_type().at(entry.path())?;
            match (leave_out(&path), kind.is_dir(), kind.is_file()) {
                (false, true, _) => folders.push(path),
                (false, _, true) => files.push(path),
                (true, _, _) | (false, false, false) => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Adds a file. Returns whether it was still there.
fn append_file(
    archive: &mut Builder<impl Write>,
    from: &Path,
    name: &Path,
) -> Result<bool, FileError> {
    let mut file = match File::open(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened.at(from)?,
    };
    // As long as it is now: what is added meanwhile stays out.
    let size = file
        .seek(SeekFrom::End(0))
        .and_then(|size| file.rewind().map(|()| size))
        .at(from)?;
    append(archive, name, size, file.take(size)).at(from)?;
    Ok(true)
}

fn append(
    archive: &mut Builder<impl Write>,
    name: &Path,
    size: u64,
    bytes: impl io::Read,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(size);
    header.set_mode(0o600);
    archive.append_data(&mut header, name, bytes)
}

/// Reads the first entry of an archive, if it has this name.
///
/// # Errors
/// The file cannot be read, or it is no archive.
pub fn read_manifest(file: &Path, name: &str) -> Result<Option<Vec<u8>>, FileError> {
    let mut archive = open_archive(file)?;
    let Some(first) = archive.entries().at(file)?.next() else {
        return Ok(None);
    };
    let first = first.at(file)?;
    if first.path().at(file)? != Path::new(name) {
        return Ok(None);
    }
    let mut manifest = Vec::new();
    first
        .take(MANIFEST_BYTES_MAX)
        .read_to_end(&mut manifest)
        .at(file)?;
    Ok(Some(manifest))
}

/// Extracts the files of an archive to a folder that is empty, for the owner alone. Returns their number.
///
/// # Errors
/// The archive is cut off or damaged, has an entry that is no ordinary file or whose path leads out of the folder; or any
/// error reported by the system.
pub fn extract_archive(file: &Path, folder: &Path) -> Result<u64, FileError> {
    let mut archive = open_archive(file)?;
    let mut count = 0;
    for entry in archive.entries().at(file)? {
        let mut entry = entry.at(file)?;
        let path = entry.path().at(file)?.into_owned();
        let is_plain = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if entry.header().entry_type() != EntryType::Regular || !is_plain {
            return Err(FileError::from_display(
                file.display().to_string(),
                format!("`{}` in it is no ordinary file", path.display()),
            ));
        }
        let target = folder.join(&path);
        create_private_folder(target.parent().unwrap_or(folder))?;
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut out = options.open(&target).at(&target)?;
        io::copy(&mut entry, &mut out).at(file)?;
        out.sync_all().at(&target)?;
        count += 1;
    }
    // The checksum stands at the end.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).at(file)?;
    Ok(count)
}

fn open_archive(file: &Path) -> Result<Archive<impl io::Read>, FileError> {
    let bytes = BufReader::new(File::open(file).at(file)?);
    Ok(Archive::new(zstd::Decoder::with_buffer(bytes).at(file)?))
}

/// Puts a folder in the place of another, which gets the returned name beside it; none if there was no other, or an empty
/// one.
///
/// # Errors
/// Any error reported by the system; the folder has its name again then.
pub fn replace_folder(folder: &Path, by: &Path) -> Result<Option<PathBuf>, FileError> {
    // Succeeds for an empty folder only.
    let is_gone = fs::remove_dir(folder).is_ok() || fs::symlink_metadata(folder).is_err();
    let kept = (!is_gone).then(|| unused_name(folder));
    if let Some(kept) = &kept {
        fs::rename(folder, kept).at(folder)?;
    }
    if let Err(error) = fs::rename(by, folder) {
        if let Some(kept) = &kept {
            fs::rename(kept, folder).at(kept)?;
        }
        return Err(error).at(by);
    }
    Ok(kept)
}

/// Returns a name beside a folder that nothing has.
fn unused_name(folder: &Path) -> PathBuf {
    let named = |number: u32| {
        let mut name = OsString::from(folder.file_name().unwrap_or_default());
        name.push(match number {
            1 => ".replaced".to_owned(),
            number => format!(".replaced-{number}"),
        });
        folder.with_file_name(name)
    };
    let mut names = (1..).map(named);
    let unused = names.find(|name| fs::symlink_metadata(name).is_err());
    unused.unwrap_or_else(|| named(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (path, content) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }

    fn contents<'a>(folder: &'a Path, others: &'a [(PathBuf, PathBuf)]) -> ArchiveContents<'a> {
        ArchiveContents {
            folder,
            leave_out: &|path| path == Path::new("scratch"),
            others,
            manifest: ("about.json", b"{}"),
        }
    }

    fn read_all(folder: &Path) -> Vec<(PathBuf, String)> {
        let files = list_files(folder, &|_| false).unwrap();
        let read = |path: &PathBuf| fs::read_to_string(folder.join(path)).unwrap();
        files
            .iter()
            .map(|path| (path.clone(), read(path)))
            .collect()
    }

    #[test]
    fn a_folder_comes_back_as_it_was_but_for_what_stays_out() {
        let home = tempfile::tempdir().unwrap();
        let (folder, file) = (home.path().join("data"), home.path().join("data.tar.zst"));
        write(
            &folder,
            &[
                ("a/b/c", "deep"),
                ("empty", ""),
                ("scratch/x", "out"),
                ("é ü", &"long".repeat(100_000)),
            ],
        );
        write(home.path(), &[("other", "from elsewhere")]);
        #[cfg(unix)]
        std::os::unix::fs::symlink("empty", folder.join("link")).unwrap();
        let others = [
            (home.path().join("other"), PathBuf::from("a/other")),
            (home.path().join("gone"), "gone".into()),
        ];
        assert_eq!(
            write_archive(&file, &contents(&folder, &others)).unwrap(),
            4
        );
        assert_eq!(
            read_manifest(&file, "about.json").unwrap(),
            Some(b"{}".to_vec())
        );
        assert_eq!(read_manifest(&file, "other").unwrap(), None);

        let back = home.path().join("back");
        assert_eq!(extract_archive(&file, &back).unwrap(), 5);
        let expected = [
            ("a/b/c", "deep"),
            ("a/other", "from elsewhere"),
            ("about.json", "{}"),
            ("empty", ""),
            ("é ü", &"long".repeat(100_000)),
        ];
        let expected = expected.map(|(path, content)| (PathBuf::from(path), content.to_owned()));
        assert_eq!(read_all(&back), expected);
        let again = write_archive(&file, &contents(&folder, &[])).unwrap_err();
        assert!(again.to_string().contains("data.tar.zst"), "{again}");
    }

    #[test]
    fn a_cut_or_changed_archive_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let (folder, file) = (home.path().join("data"), home.path().join("data.tar.zst"));
        write(&folder, &[("a", &"some text ".repeat(5_000))]);
        write_archive(&file, &contents(&folder, &[])).unwrap();
        let whole = fs::read(&file).unwrap();
        let mut changed = whole.clone();
        let last = changed.len() - 1;
        changed[last] ^= 1;
        for (number, bytes) in [
            &whole[..whole.len() / 2],
            &whole[..last],
            &changed,
            b"text",
            b"",
        ]
        .into_iter()
        .enumerate()
        {
            fs::write(&file, bytes).unwrap();
            let error = extract_archive(&file, &home.path().join(number.to_string())).unwrap_err();
            assert!(
                error.to_string().contains("data.tar.zst"),
                "{number}: {error}"
            );
        }
    }

    #[test]
    fn an_entry_that_leads_out_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("evil.tar.zst");
        for (name, kind) in [
            ("../evil", EntryType::Regular),
            ("/evil", EntryType::Regular),
            ("link", EntryType::Symlink),
        ] {
            let mut header = Header::new_gnu();
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(kind);
            header.set_size(0);
            header.set_cksum();
            let mut archive = Builder::new(Vec::new());
            archive.append(&header, io::empty()).unwrap();
            let bytes = archive.into_inner().unwrap();
            fs::write(&file, zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
            let error = extract_archive(&file, &home.path().join("into")).unwrap_err();
            assert!(error.to_string().contains("evil"), "{error}");
        }
        assert!(!home.path().join("evil").exists());
    }

    #[test]
    fn a_replaced_folder_is_kept_under_another_name() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        write(&at("new"), &[("a", "1")]);
        fs::create_dir(at("data")).unwrap();
        assert_eq!(replace_folder(&at("data"), &at("new")).unwrap(), None);
        for (name, content) in [("data.replaced", "2"), ("data.replaced-2", "3")] {
            write(&at("new"), &[("a", content)]);
            assert_eq!(
                replace_folder(&at("data"), &at("new")).unwrap(),
                Some(at(name))
            );
            assert_eq!(fs::read_to_string(at("data/a")).unwrap(), content);
        }
        assert!(replace_folder(&at("data"), &at("missing")).is_err());
        assert_eq!(fs::read_to_string(at("data/a")).unwrap(), "3");
        assert_eq!(fs::read_to_string(at("data.replaced/a")).unwrap(), "1");
    }
}
