//! The body of an answer: unpacked while it comes, and cut off where it is too long, packed or not.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::{Response, Url};

use super::error::deepest;
use super::{Fetched, NetError};

/// Takes an answer's body, and no more of it than may be.
pub(super) async fn taken(
    at: &Url,
    mut response: Response,
    bytes_max: usize,
) -> Result<Fetched, NetError> {
    let header = |name| {
        let value = response.headers().get(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned()
    };
    let mut fetched = Fetched {
        url: at.to_string(),
        status: response.status().as_u16(),
        content_type: header(CONTENT_TYPE),
        body: Vec::new(),
        more: false,
    };
    let mut unpacked = Unpacked::of(&header(CONTENT_ENCODING), bytes_max).map_err(|packing| {
        let packing = protocol::shown::in_a_sentence(&packing, 64);
        NetError::failed(
            at,
            format!("it is packed as `{packing}`, which nobody asked for"),
        )
    })?;
    let mut came = 0_usize;
    let failed = |error: reqwest::Error| NetError::failed(at, deepest(&error));
    while let Some(bytes) = response.chunk().await.map_err(failed)? {
        came = came.saturating_add(bytes.len());
        let took = unpacked.take(&bytes);
        fetched.more = unpacked.room().is_full || came > bytes_max;
        if fetched.more {
            break;
        }
        took.map_err(|error| broken(at, &error))?;
    }
    if !fetched.more {
        let ended = unpacked.end();
        fetched.more = unpacked.room().is_full;
        if !fetched.more {
            ended.map_err(|error| broken(at, &error))?;
        }
    }
    fetched.body = std::mem::take(&mut unpacked.room().bytes);
    Ok(fetched)
}

fn broken(at: &Url, error: &io::Error) -> NetError {
    NetError::failed(at, format!("it cannot be unpacked: {error}"))
}

/// Takes so many bytes and refuses what is beyond.
#[derive(Default)]
struct Room {
    bytes: Vec<u8>,
    bytes_max: usize,
    is_full: bool,
}

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.bytes_max.saturating_sub(self.bytes.len());
        let (fits, beyond) = bytes.split_at(bytes.len().min(room));
        self.bytes.extend_from_slice(fits);
        if !beyond.is_empty() {
            self.is_full = true;
            return Err(io::Error::other("it is too long"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A body as it is unpacked.
enum Unpacked {
    Plain(Room),
    Gzip(Box<MultiGzDecoder<Room>>),
    /// Which of the two it is its first byte tells.
    Unknown(Room),
    Zlib(Box<ZlibDecoder<Room>>),
    Deflate(Box<DeflateDecoder<Room>>),
}

impl Unpacked {
    /// By what an answer says of its packing; the error is a packing that was not asked for.
    fn of(packing: &str, bytes_max: usize) -> Result<Self, String> {
        let room = Room {
            bytes_max,
            ..Room::default()
        };
        match packing.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Plain(room)),
            "gzip" | "x-gzip" => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(room)))),
            "deflate" => Ok(Self::Unknown(room)),
            _ => Err(packing.to_owned()),
        }
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let (Self::Unknown(room), Some(first)) = (&mut *self, bytes.first()) {
            let room = std::mem::take(room);
            // The lower half of a zlib head's first byte is always 8; servers send one without it as well.
            *self = match first & 0x0f == 8 {
                true => Self::Zlib(Box::new(ZlibDecoder::new(room))),
                false => Self::Deflate(Box::new(DeflateDecoder::new(room))),
            };
        }
        match self {
            Self::Plain(room) | Self::Unknown(room) => room.write_all(bytes),
            Self::Gzip(packed) => packed.write_all(bytes),
            Self::Zlib(packed) => packed.write_all(bytes),
            Self::Deflate(packed) => packed.write_all(bytes),
        }
    }

    fn room(&mut self) -> &mut Room {
        match self {
            Self::Plain(room) | Self::Unknown(room) => room,
            Self::Gzip(packed) => packed.get_mut(),
            Self::Zlib(packed) => packed.get_mut(),
            Self::Deflate(packed) => packed.get_mut(),
        }
    }

    /// Unpacks the rest: an answer that ends before its packing does is broken.
    fn end(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) | Self::Unknown(_) => Ok(()),
            Self::Gzip(packed) => packed.try_finish(),
            Self::Zlib(packed) => packed.try_finish(),
            Self::Deflate(packed) => packed.try_finish(),
        }
    }
}
