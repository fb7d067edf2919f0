//! Input with a JSON object on each line, read line by line.

use std::io::{self, BufRead, Read as _};

use serde_json::{Map, Value};

use crate::exit::CliError;
use crate::limits::LINE_BYTES_MAX;

/// Reads the next line without its end; at most a little more than the limit, so that no input fills the memory.
pub(crate) fn read_next_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, CliError> {
    let unreadable =
        |error: io::Error| CliError::failure("The input cannot be read.").with_cause(&error);
    let mut line = Vec::new();
    let limit = LINE_BYTES_MAX as u64 + 1;
    let read = input
        .by_ref()
        .take(limit)
        .read_until(b'\n', &mut line)
        .map_err(unreadable)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() > LINE_BYTES_MAX {
        input.skip_until(b'\n').map_err(unreadable)?;
    }
    Ok(Some(line))
}

/// Parses the object on a line; the error says what it is instead.
pub(crate) fn parse_object(line: &[u8]) -> Result<Map<String, Value>, String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("it is longer than {LINE_BYTES_MAX} bytes."));
    }
    match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is not an object.".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}.")),
    }
}
