//! The world around a sandbox: files, secrets, sockets, a process, each of which an attempt could reach.
#![allow(
    unsafe_code,
    reason = "files are left open for the attempt on purpose, and shared memory has no safe form"
)]

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::io::fcntl_dupfd_cloexec;
use sandbox::{
    CommandEnd, SandboxLimits, SandboxReport, SandboxSpec, WatchedReads, WorkspaceLayers,
};

use crate::escape_attempts::{Attempt, How, Is};
use crate::runner::{DISK, Programs, run_by};
use crate::system_calls;

/// Whether there is a sandbox around the attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Plain,
    Sandbox,
}

/// User who runs the sandbox.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Person {
    Me,
    /// An ordinary user, from root's hands.
    Nobody,
}

impl Person {
    const NOBODY: u32 = 65_534;

    fn starts(self, command: &mut Command) {
        if self == Self::Nobody {
            command.uid(Self::NOBODY).gid(Self::NOBODY);
        }
    }

    /// Gives a folder to the one who makes the attempt.
    fn owns(self, folder: &Path) {
        if self == Self::Nobody {
            let given = Command::new("chown")
                .args(["-Rh", "65534:65534"])
                .arg(folder)
                .status();
            assert!(given.unwrap().success());
        }
    }
}

pub struct Outside {
    person: Person,
    folder: tempfile::TempDir,
    mark: String,
    port: TcpListener,
    udp: UdpSocket,
    stream: UnixListener,
    datagram: UnixDatagram,
    named: UnixListener,
    process: Child,
    memory: i32,
}

const SECRET: &str = "secret-of-the-outside";

impl Outside {
    pub fn new(person: Person) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::tempdir_in(DISK).unwrap();
        let (workspace, outside) = (
            folder.path().join("workspace"),
            folder.path().join("outside"),
        );
        for made in ["folder", ".git/hooks"] {
            fs::create_dir_all(workspace.join(made)).unwrap();
        }
        for made in ["keys", "empty"] {
            fs::create_dir_all(outside.join(made)).unwrap();
        }
        for made in ["upper", "work"] {
            fs::create_dir_all(folder.path().join("state").join(made)).unwrap();
        }
        fs::write(workspace.join("a"), "in the workspace\n").unwrap();
        fs::write(workspace.join("folder/b"), "deeper\n").unwrap();
        fs::write(workspace.join(".env"), SECRET).unwrap();
        fs::write(outside.join("file"), "outside\n").unwrap();
        fs::write(outside.join("keys/id"), SECRET).unwrap();
        symlink(&outside, workspace.join("leads-out")).unwrap();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mark = (u64::from(std::process::id()) * 1_000 + u64::from(count)).to_string();
        let mut process = Command::new("sleep");
        process
            .arg("600")
            .current_dir(&outside)
            .env("SECRET", SECRET)
            .process_group(0);
        person.starts(&mut process);
        let name = SocketAddr::from_abstract_name(&mark).unwrap();
        let outside = Self {
            port: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            stream: UnixListener::bind(outside.join("stream")).unwrap(),
            datagram: UnixDatagram::bind(outside.join("datagram")).unwrap(),
            named: UnixListener::bind_addr(&name).unwrap(),
            process: process.spawn().unwrap(),
            // SAFETY: a segment that nobody maps.
            memory: unsafe {
                libc::shmget(system_calls::key(&mark), 4096, libc::IPC_CREAT | 0o600)
            },
            person,
            mark,
            folder,
        };
        person.owns(outside.folder.path());
        outside.port.set_nonblocking(true).unwrap();
        outside.udp.set_nonblocking(true).unwrap();
        outside.stream.set_nonblocking(true).unwrap();
        outside.datagram.set_nonblocking(true).unwrap();
        outside.named.set_nonblocking(true).unwrap();
        outside
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// Makes an attempt; gives whether it succeeded.
    pub fn try_it(mut self, programs: &Programs, attempt: &Attempt, way: Way) -> bool {
        let before = self.seen();
        let command: Vec<String> = match &attempt.how {
            How::Shell(command) => vec!["/bin/bash".into(), "-c".into(), (*command).into()],
            How::Call(_) => {
                let me = programs.attempt.to_str().unwrap().to_owned();
                vec![
                    me,
                    "--exact".into(),
                    "escape::attempt".into(),
                    "--nocapture".into(),
                ]
            }
        };
        let mut environment = self.environment();
        if let How::Call(name) = &attempt.how {
            environment.push(("ATTEMPT".into(), (*name).into()));
        }
        let (code, said) = match way {
            Way::Plain => self.plain(&command, &environment),
            Way::Sandbox => self.spec(&programs.sandbox, command, environment, attempt.name),
        };
        match attempt.is {
            Is::Changed => self.seen() != before,
            Is::Told => said.contains(SECRET),
            Is::Heard => self.heard(),
            Is::Killed => self.killed(),
            Is::Outlived => self.outlived(),
            Is::Exit => code == Some(0),
        }
    }

    fn environment(&self) -> Vec<(String, String)> {
        let disk = fs::metadata(self.folder.path()).unwrap().dev();
        let path = |path: PathBuf| path.to_str().unwrap().to_owned();
        [
            ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin".to_owned()),
            ("OUT", path(self.out())),
            ("WS", path(self.workspace())),
            ("PID", self.process.id().to_string()),
            ("PORT", self.port.local_addr().unwrap().port().to_string()),
            ("UDP", self.udp.local_addr().unwrap().port().to_string()),
            ("MARK", self.mark.clone()),
            (
                "DISK",
                format!("{} {}", rustix::fs::major(disk), rustix::fs::minor(disk)),
            ),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// Leaves a file and a folder of the outside open, as a careless program would.
    fn careless(&self, command: &mut Command) {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(self.out().join("file"))
            .unwrap();
        let folder = fs::File::open(self.out()).unwrap();
        // Numbers beyond those that the program gets: 7 or 8 would be closed by the other, or end with its start.
        let [file, folder] = [file, folder].map(|opened| fcntl_dupfd_cloexec(opened, 9).unwrap());
        let leave = move || {
            // SAFETY: both are open, and stay so until the program has been started.
            match unsafe {
                (
                    libc::dup2(file.as_raw_fd(), 7),
                    libc::dup2(folder.as_raw_fd(), 8),
                )
            } {
                (7, 8) => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: it calls nothing but the kernel.
        unsafe { command.pre_exec(leave) };
    }

    fn plain(&self, command: &[String], environment: &[(String, String)]) -> (Option<i32>, String) {
        let mut plain = Command::new(&command[0]);
        plain
            .args(&command[1..])
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.workspace())
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        self.person.starts(&mut plain);
        self.careless(&mut plain);
        let output = plain.output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    }

    fn spec(
        &self,
        program: &Path,
        command: Vec<String>,
        environment: Vec<(String, String)>,
        name: &str,
    ) -> (Option<i32>, String) {
        let state = self.folder.path().join("state");
        let spec = SandboxSpec {
            workspace: self.workspace(),
            folder: self.workspace(),
            layers: Some(WorkspaceLayers {
                upper: state.join("upper"),
                work: Some(state.join("work")),
            }),
            bare: None,
            private: Vec::new(),
            read_only: vec![self.workspace().join(".git/hooks")],
            masked: vec![self.workspace().join(".env"), self.out().join("keys")],
            readable_by_git: Vec::new(),
            watched_reads: WatchedReads::default(),
            limits: SandboxLimits::default(),
            proxy: false,
            input: false,
            command,
            environment,
            told: state.join("told"),
        };
        let prepare = |program: &mut Command| {
            self.person.starts(program);
            self.careless(program);
        };
        let ran = run_by(program, &spec, prepare);
        let code = match ran.told {
            Some(SandboxReport::Ended { end, .. }) => match end {
                CommandEnd::Exit(code) => Some(code),
                CommandEnd::Signal(_) | CommandEnd::Stopped => None,
            },
            told => panic!("{name}: the sandbox was not set up: {told:?}"),
        };
        (code, ran.said)
    }

    /// Everything that an attempt could change, as one text.
    fn seen(&self) -> String {
        let mut seen = String::new();
        look(&self.out(), &mut seen);
        look(&self.workspace(), &mut seen);
        seen
    }

    fn heard(&self) -> bool {
        let mut buffer = [0; 8];
        self.port.accept().is_ok()
            || self.udp.recv(&mut buffer).is_ok()
            || self.stream.accept().is_ok()
            || self.datagram.recv(&mut buffer).is_ok()
            || self.named.accept().is_ok()
    }

    /// Whether the process ended: a signal takes a moment to arrive.
    fn killed(&mut self) -> bool {
        soon(|| self.process.try_wait().unwrap().is_some())
    }

    /// Whether a process with the mark still runs. It is ended, so that the suite leaves nothing behind.
    fn outlived(&self) -> bool {
        // The kernel ends what is in a sandbox with its supervisor; that may take a moment.
        if soon(|| self.marked().is_empty()) {
            return false;
        }
        for process in self.marked() {
            // SAFETY: a process that this suite started.
            unsafe { libc::kill(process, libc::SIGKILL) };
        }
        true
    }

    fn marked(&self) -> Vec<i32> {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter_map(|found| found.file_name().to_str()?.parse().ok())
            .filter(|process: &i32| {
                let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
                let mut words = line.split(|byte| *byte == 0);
                words.next() == Some(b"sleep") && words.next() == Some(self.mark.as_bytes())
            })
            .collect()
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        // SAFETY: the segment was made here, and nobody maps it.
        unsafe { libc::shmctl(self.memory, libc::IPC_RMID, std::ptr::null_mut()) };
        // The kernel leaves a folder that nobody may enter.
        let work = self.folder.path().join("state").join("work").join("work");
        let _ = fs::set_permissions(work, std::os::unix::fs::PermissionsExt::from_mode(0o700));
    }
}

/// Whether something becomes true within half a second.
fn soon(mut holds: impl FnMut() -> bool) -> bool {
    (0..100).any(|_| {
        let held = holds();
        if !held {
            std::thread::sleep(Duration::from_millis(5));
        }
        held
    })
}

fn look(folder: &Path, seen: &mut String) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let found = fs::symlink_metadata(&path).unwrap();
        let what = match found.file_type() {
            kind if kind.is_file() => fs::read_to_string(&path).unwrap(),
            kind if kind.is_symlink() => format!("{:?}", fs::read_link(&path).unwrap()),
            _ => String::new(),
        };
        let changed = if found.is_dir() {
            0
        } else {
            found.mtime_nsec()
        };
        seen.push_str(&format!("{path:?} {:o} {changed} {what}\n", found.mode()));
        if found.is_dir() {
            look(&path, seen);
        }
    }
}
