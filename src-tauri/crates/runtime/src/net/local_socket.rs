//! The local endpoint of a data folder: a Unix socket that only its person can open, or a named pipe on Windows.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

pub use interprocess::local_socket::tokio::Stream as LocalStream;
use interprocess::local_socket::tokio::prelude::*;
use interprocess::local_socket::tokio::{Listener, Stream};
use interprocess::local_socket::{ListenerOptions, Name};
use protocol::Digest;

/// Name of the socket in the data folder.
const SOCKET_NAME: &str = "desk.sock";

/// Longest path of a socket that every system takes, in bytes.
#[cfg(unix)]
const SOCKET_PATH_BYTES_MAX: usize = 100;

/// The listening end of a data folder's endpoint; there is one at a time.
pub struct LocalListener(Listener);

impl LocalListener {
    /// Listens at the endpoint of a data folder, which is made if it is not there. A socket that an earlier process left
    /// behind is replaced.
    ///
    /// # Errors
    /// [`ErrorKind::AddrInUse`] if another process listens there, and errors of the system.
    pub async fn bind(data_dir: &Path) -> io::Result<Self> {
        crate::create_private_folder(data_dir).map_err(io::Error::other)?;
        if connect_local(data_dir).await.is_ok() {
            return Err(ErrorKind::AddrInUse.into());
        }
        let options = ListenerOptions::new()
            .name(endpoint_name(data_dir)?)
            .try_overwrite(true);
        #[cfg(unix)]
        let options = {
            use interprocess::os::unix::local_socket::ListenerOptionsExt as _;
            options.mode(0o600)
        };
        options.create_tokio().map(Self)
    }

    /// Accepts the next connection of this person's own processes; those of others are dropped.
    ///
    /// # Errors
    /// Errors of the system.
    pub async fn accept(&self) -> io::Result<LocalStream> {
        loop {
            let stream = self.0.accept().await?;
            if is_own_process(&stream) {
                return Ok(stream);
            }
            tracing::warn!("a process of another user tried the local endpoint");
        }
    }
}

/// Connects to the endpoint of a data folder.
///
/// # Errors
/// Nobody listens there: [`ErrorKind::NotFound`] or [`ErrorKind::ConnectionRefused`]; and errors of the system.
pub async fn connect_local(data_dir: &Path) -> io::Result<LocalStream> {
    Stream::connect(endpoint_name(data_dir)?).await
}

/// Whether a process of this user is at the other end.
#[cfg(unix)]
fn is_own_process(stream: &Stream) -> bool {
    let user = stream.peer_creds().ok().and_then(|peer| peer.euid());
    user == Some(rustix::process::geteuid().as_raw())
}

/// Nobody else's process can open a named pipe with the access that a connection needs.
#[cfg(not(unix))]
fn is_own_process(_stream: &Stream) -> bool {
    true
}

#[cfg(unix)]
fn endpoint_name(data_dir: &Path) -> io::Result<Name<'static>> {
    use interprocess::local_socket::{GenericFilePath, ToFsName as _};
    socket_path(data_dir)?.to_fs_name::<GenericFilePath>()
}

/// Returns the path of the socket: in the data folder, or where that path is too long for a socket, in a private folder
/// among the temporary files.
#[cfg(unix)]
fn socket_path(data_dir: &Path) -> io::Result<PathBuf> {
    let data_dir = std::path::absolute(data_dir)?;
    let path = data_dir.join(SOCKET_NAME);
    if path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return Ok(path);
    }
    let user = rustix::process::geteuid().as_raw();
    let folder = std::env::temp_dir().join(format!("countersign-{user}"));
    crate::create_private_folder(&folder).map_err(io::Error::other)?;
    check_owner(&folder)?;
    Ok(folder.join(format!("{}.sock", folder_digest(&data_dir))))
}

/// Checks that a folder among everybody's temporary files is this user's own.
#[cfg(unix)]
fn check_owner(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::symlink_metadata(folder)?;
    let is_own = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    match is_own && found.mode() & 0o077 == 0 {
        true => Ok(()),
        false => Err(ErrorKind::PermissionDenied.into()),
    }
}

#[cfg(not(unix))]
fn endpoint_name(data_dir: &Path) -> io::Result<Name<'static>> {
    use interprocess::local_socket::{GenericNamespaced, ToNsName as _};
    let data_dir: PathBuf = std::path::absolute(data_dir)?;
    format!("countersign-{}", folder_digest(&data_dir)).to_ns_name::<GenericNamespaced>()
}

/// Returns a short name for a data folder.
fn folder_digest(data_dir: &Path) -> String {
    const CHARS: usize = 16;
    let digest = Digest::from_bytes(data_dir.as_os_str().as_encoded_bytes());
    let text: String = digest.to_string();
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .take(CHARS)
        .collect()
}

#[cfg(all(test, unix))]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn one_process_listens_and_others_reach_it() {
        let folder = tempfile::tempdir().unwrap();
        let nobody = connect_local(folder.path()).await;
        assert_eq!(nobody.err().unwrap().kind(), ErrorKind::NotFound);
        let listener = LocalListener::bind(folder.path()).await.unwrap();
        let second = LocalListener::bind(folder.path()).await;
        assert_eq!(second.err().unwrap().kind(), ErrorKind::AddrInUse);
        let client = async {
            let mut stream = connect_local(folder.path()).await.unwrap();
            stream.write_all(b"hello").await.unwrap();
            stream.shutdown().await.unwrap();
        };
        let server = async {
            // The second listener looked whether somebody listens.
            let mut heard = String::new();
            while heard.is_empty() {
                let mut stream = listener.accept().await.unwrap();
                stream.read_to_string(&mut heard).await.unwrap();
            }
            heard
        };
        let ((), heard) = tokio::join!(client, server);
        assert_eq!(heard, "hello");
    }

    #[tokio::test]
    async fn what_an_ended_process_left_behind_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let left = std::os::unix::net::UnixListener::bind(folder.path().join(SOCKET_NAME)).unwrap();
        drop(left);
        assert!(folder.path().join(SOCKET_NAME).exists());
        let _listener = LocalListener::bind(folder.path()).await.unwrap();
        assert!(connect_local(folder.path()).await.is_ok());
    }

    #[tokio::test]
    async fn only_the_person_may_open_the_socket() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("long-".repeat(20)).join("data");
        for data_dir in [folder.path(), &long] {
            let _listener = LocalListener::bind(data_dir).await.unwrap();
            let socket = socket_path(data_dir).unwrap();
            let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", socket.display());
        }
    }
}
