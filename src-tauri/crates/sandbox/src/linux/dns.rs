//! The name server for programs of the sandbox: it resolves the sandbox itself, and answers for every other name that
//! it does not exist, so that a program fails at once with that message. These two answers are all of DNS that it knows,
//! and need no library.

use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// Answers at the address that the placeholder for `/etc/resolv.conf` names.
pub(super) struct DnsResponder {
    socket: UdpSocket,
    /// Host name of this machine.
    own: Vec<u8>,
}

impl AsFd for DnsResponder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl DnsResponder {
    pub(super) fn bind() -> std::io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 53))?;
        socket.set_nonblocking(true)?;
        let own = rustix::system::uname()
            .nodename()
            .to_bytes()
            .to_ascii_lowercase();
        Ok(Self { socket, own })
    }

    /// Answers the questions asked since the last call; returns the names that lead out of the sandbox. A malformed
    /// question gets no answer.
    pub(super) fn answer_pending(&self) -> Vec<Vec<u8>> {
        // The others have their turn too.
        const AT_ONCE: usize = 64;
        let mut taken = Vec::new();
        let mut asked = [0; 512];
        for _ in 0..AT_ONCE {
            let Ok((length, from)) = self.socket.recv_from(&mut asked) else {
                break;
            };
            if let Some(question) = DnsQuestion::parse(&asked[..length]) {
                let here = question.is_local_name(&self.own);
                // If it does not arrive, it is asked again.
                let _ = self.socket.send_to(&question.build_answer(here), from);
                if !here && !question.name.is_empty() {
                    taken.push(question.name);
                }
            }
        }
        taken
    }
}

/// One question in the format of DNS (RFC 1035, 4.1).
struct DnsQuestion<'a> {
    id: [u8; 2],
    /// The bytes of the question themselves, which an answer repeats.
    words: &'a [u8],
    /// Name in lower case, without the final dot.
    name: Vec<u8>,
    kind: u16,
}

const HEADER_BYTES: usize = 12;
const TYPE_A: u16 = 1;

impl<'a> DnsQuestion<'a> {
    fn parse(message: &'a [u8]) -> Option<Self> {
        const IS_ANSWER: u8 = 0x80;
        const LABEL_BYTES_MAX: usize = 63;
        let header = message.get(..HEADER_BYTES)?;
        if header[2] & IS_ANSWER != 0 || header[4..6] != [0, 1] {
            return None;
        }
        let (mut name, mut at) = (Vec::new(), HEADER_BYTES);
        loop {
            let length = usize::from(*message.get(at)?);
            at += 1;
            if length == 0 {
                break;
            }
            if length > LABEL_BYTES_MAX {
                return None;
            }
            if !name.is_empty() {
                name.push(b'.');
            }
            name.extend(message.get(at..at + length)?.to_ascii_lowercase());
            at += length;
        }
        let words = message.get(HEADER_BYTES..at + 4)?;
        Some(Self {
            id: [header[0], header[1]],
            words,
            name,
            kind: u16::from_be_bytes([message[at], message[at + 1]]),
        })
    }

    /// Whether the name is one of the sandbox itself (RFC 6761, 6.3).
    fn is_local_name(&self, own_name: &[u8]) -> bool {
        let name = self.name.as_slice();
        name == own_name || name == b"localhost" || name.ends_with(b".localhost")
    }

    /// Builds an answer. The names of the sandbox resolve to the older of its two addresses (IPv4), as in most hosts
    /// files.
    fn build_answer(&self, here: bool) -> Vec<u8> {
        const ANSWER_OF_ALL_THAT_IS_KNOWN: u8 = 0x84;
        const NO_SUCH_NAME: u8 = 3;
        // The name of the question; an address; of the internet; not to be remembered; four bytes long.
        const FOUND: [u8; 12] = [0xc0, HEADER_BYTES as u8, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4];
        let found = here && self.kind == TYPE_A;
        let said = if here { 0 } else { NO_SUCH_NAME };
        let mut answer = self.id.to_vec();
        answer.extend([ANSWER_OF_ALL_THAT_IS_KNOWN, said]);
        answer.extend([0, 1, 0, u8::from(found), 0, 0, 0, 0]);
        answer.extend(self.words);
        if found {
            answer.extend(FOUND);
            answer.extend(Ipv4Addr::LOCALHOST.octets());
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: [u8; HEADER_BYTES] = [7, 8, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];

    fn build_question(name: &[u8], kind: u8) -> Vec<u8> {
        [&HEAD[..], name, &[0, kind, 0, 1]].concat()
    }

    #[test]
    fn questions_are_answered() {
        const HERE: [u8; 16] = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1];
        for (asked, name, here, found) in [
            (
                build_question(b"\x07Example\x03org\0", 1),
                "example.org",
                false,
                &[][..],
            ),
            (
                build_question(b"\x09localhost\0", 1),
                "localhost",
                true,
                &HERE,
            ),
            (
                build_question(b"\x01a\x09LOCALHOST\0", 1),
                "a.localhost",
                true,
                &HERE,
            ),
            (
                build_question(b"\x09localhost\0", 28),
                "localhost",
                true,
                &[],
            ),
            (build_question(b"\x07machine\0", 1), "machine", true, &HERE),
            (
                build_question(b"\x0bnolocalhost\0", 1),
                "nolocalhost",
                false,
                &[],
            ),
            (build_question(b"\0", 2), "", false, &[]),
        ] {
            let question = DnsQuestion::parse(&asked).unwrap();
            assert_eq!(question.name, name.as_bytes());
            assert_eq!(question.is_local_name(b"machine"), here, "{name}");
            let (code, count) = (if here { 0 } else { 3 }, u8::from(!found.is_empty()));
            let head = [7, 8, 0x84, code, 0, 1, 0, count, 0, 0, 0, 0];
            let expected = [&head[..], &asked[HEADER_BYTES..], found].concat();
            assert_eq!(question.build_answer(here), expected, "{name}");
        }
    }

    #[test]
    fn what_is_no_question_has_no_answer() {
        let whole = build_question(b"\x07example\x03org\0", 1);
        for cut in 0..whole.len() {
            assert!(DnsQuestion::parse(&whole[..cut]).is_none(), "{cut}");
        }
        let mut answer = whole.clone();
        answer[2] |= 0x80;
        let mut two = whole.clone();
        two[5] = 2;
        for wrong in [
            answer,
            two,
            build_question(b"\xc0\x0c", 1),
            build_question(&[64; 80], 1),
        ] {
            assert!(DnsQuestion::parse(&wrong).is_none(), "{wrong:?}");
        }
    }
}
