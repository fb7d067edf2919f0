//! The body of a response: decompressed as it arrives, and cut off where it is too long, compressed or not.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::{Response, Url};

use super::error::root_cause;
use super::{HttpResponse, NetError};

/// Reads a response with its body, up to the limit.
pub(super) async fn read_response(
    at: &Url,
    mut response: Response,
    bytes_max: usize,
) -> Result<HttpResponse, NetError> {
    let header = |name| {
        let value = response.headers().get(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned()
    };
    let headers = response.headers().iter().filter_map(|(name, value)| {
        let value = value.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    });
    let mut fetched = HttpResponse {
        url: at.to_string(),
        status: response.status().as_u16(),
        headers: headers.collect(),
        content_type: header(CONTENT_TYPE),
        body: Vec::new(),
        is_truncated: false,
    };
    let mut unpacked =
        BodyDecoder::from_encoding(&header(CONTENT_ENCODING), bytes_max).map_err(|packing| {
            let packing = protocol::text::display_text::to_single_line(&packing, 64);
            NetError::failed(
                at,
                format!("it is packed as `{packing}`, which nobody asked for"),
            )
        })?;
    let mut came = 0_usize;
    let failed = |error: reqwest::Error| NetError::failed(at, root_cause(&error));
    while let Some(bytes) = response.chunk().await.map_err(failed)? {
        came = came.saturating_add(bytes.len());
        let took = unpacked.push(&bytes);
        fetched.is_truncated = unpacked.buffer().is_full || came > bytes_max;
        if fetched.is_truncated {
            break;
        }
        took.map_err(|error| body_error(at, &error))?;
    }
    if !fetched.is_truncated {
        let ended = unpacked.finish();
        fetched.is_truncated = unpacked.buffer().is_full;
        if !fetched.is_truncated {
            ended.map_err(|error| body_error(at, &error))?;
        }
    }
    fetched.body = std::mem::take(&mut unpacked.buffer().bytes);
    Ok(fetched)
}

fn body_error(at: &Url, error: &io::Error) -> NetError {
    NetError::failed(at, format!("it cannot be unpacked: {error}"))
}

/// A buffer that takes so many bytes and refuses the rest.
#[derive(Default)]
struct LimitedBuffer {
    bytes: Vec<u8>,
    bytes_max: usize,
    is_full: bool,
}

impl Write for LimitedBuffer {
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

/// A body that is being decompressed.
enum BodyDecoder {
    Plain(LimitedBuffer),
    Gzip(Box<MultiGzDecoder<LimitedBuffer>>),
    /// Deflate data of which the first byte has yet to tell its format.
    UndetectedDeflate(LimitedBuffer),
    Zlib(Box<ZlibDecoder<LimitedBuffer>>),
    Deflate(Box<DeflateDecoder<LimitedBuffer>>),
}

impl BodyDecoder {
    /// Chooses a decoder by the response's content encoding; the error names an encoding that was not asked for.
    fn from_encoding(packing: &str, bytes_max: usize) -> Result<Self, String> {
        let room = LimitedBuffer {
            bytes_max,
            ..LimitedBuffer::default()
        };
        match packing.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Plain(room)),
            "gzip" | "x-gzip" => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(room)))),
            "deflate" => Ok(Self::UndetectedDeflate(room)),
            _ => Err(packing.to_owned()),
        }
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let (Self::UndetectedDeflate(room), Some(first)) = (&mut *self, bytes.first()) {
            let room = std::mem::take(room);
            // The lower half of a zlib head's first byte is always 8; servers send one without it as well.
            *self = match first & 0x0f == 8 {
                true => Self::Zlib(Box::new(ZlibDecoder::new(room))),
                false => Self::Deflate(Box::new(DeflateDecoder::new(room))),
            };
        }
        match self {
            Self::Plain(room) | Self::UndetectedDeflate(room) => room.write_all(bytes),
            Self::Gzip(packed) => packed.write_all(bytes),
            Self::Zlib(packed) => packed.write_all(bytes),
            Self::Deflate(packed) => packed.write_all(bytes),
        }
    }

    fn buffer(&mut self) -> &mut LimitedBuffer {
        match self {
            Self::Plain(room) | Self::UndetectedDeflate(room) => room,
            Self::Gzip(packed) => packed.get_mut(),
            Self::Zlib(packed) => packed.get_mut(),
            Self::Deflate(packed) => packed.get_mut(),
        }
    }

    /// Decompresses the rest: a response that ends before its compressed data does is broken.
    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) | Self::UndetectedDeflate(_) => Ok(()),
            Self::Gzip(packed) => packed.try_finish(),
            Self::Zlib(packed) => packed.try_finish(),
            Self::Deflate(packed) => packed.try_finish(),
        }
    }
}
