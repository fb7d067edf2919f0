//! Decodes `$'…'`, the one quote of the shell in which a letter can be spelled by its number.

/// The text after `$'` up to the closing quote: what it says, the bytes it takes with that quote, and whether it says a
/// text at all (closed, UTF-8, no zero byte).
pub(in crate::shell) fn decode_ansi_quote(rest: &str) -> (String, usize, bool) {
    let bytes = rest.as_bytes();
    let mut text = Vec::new();
    let mut ok = true;
    let mut at = 0;
    loop {
        match bytes.get(at) {
            None => return (to_lossy_text(text, &mut ok), at, false),
            Some(b'\'') => {
                // Nothing after a zero byte reaches the program.
                if let Some(end) = text.iter().position(|byte| *byte == 0) {
                    text.truncate(end);
                    ok = false;
                }
                return (to_lossy_text(text, &mut ok), at + 1, ok);
            }
            Some(b'\\') => at = decode_escape(bytes, at + 1, &mut text, &mut ok),
            Some(byte) => {
                text.push(*byte);
                at += 1;
            }
        }
    }
}

fn to_lossy_text(bytes: Vec<u8>, ok: &mut bool) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        *ok = false;
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}

/// One escape whose letter stands at `at`; the place after it.
fn decode_escape(bytes: &[u8], at: usize, text: &mut Vec<u8>, ok: &mut bool) -> usize {
    let Some(letter) = bytes.get(at) else {
        text.push(b'\\');
        return at;
    };
    let next = at + 1;
    let plain = match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b'e' | b'E' => 0x1b,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\\' | b'\'' | b'"' | b'?' => *letter,
        b'0'..=b'7' => {
            let (value, end) = parse_number(bytes, at, 8, 3);
            text.push(value.to_le_bytes()[0]);
            return end;
        }
        b'x' => {
            let braced = bytes.get(next) == Some(&b'{');
            let (value, end) = parse_number(bytes, next + usize::from(braced), 16, 2);
            *ok &= !braced;
            text.push(value.to_le_bytes()[0]);
            return end;
        }
        b'u' | b'U' => {
            let digits = if *letter == b'u' { 4 } else { 8 };
            let (value, end) = parse_number(bytes, next, 16, digits);
            match char::from_u32(value) {
                Some(c) => text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                None => *ok = false,
            }
            return end;
        }
        b'c' => {
            text.push(bytes.get(next).map_or(b'\\', |byte| byte & 0x1f));
            return (next + 1).min(bytes.len());
        }
        _ => {
            text.extend([b'\\', *letter]);
            return next;
        }
    };
    text.push(plain);
    next
}

/// A number of at most `digits` digits; the place after it.
fn parse_number(bytes: &[u8], from: usize, radix: u32, digits: usize) -> (u32, usize) {
    let mut value = 0_u32;
    let mut at = from;
    while at < from + digits
        && let Some(digit) = bytes
            .get(at)
            .and_then(|byte| char::from(*byte).to_digit(radix))
    {
        value = value.wrapping_mul(radix).wrapping_add(digit);
        at += 1;
    }
    (value, at)
}

#[cfg(test)]
mod tests {
    use super::decode_ansi_quote;

    #[test]
    fn escapes_of_c() {
        for (written, said, ok) in [
            ("rm'", "rm", true),
            (r"\x72\155'", "rm", true),
            (r"\u0072m\t'", "rm\t", true),
            (r"a\'b\\'", r"a'b\", true),
            (r"\q'", r"\q", true),
            (r"rm\0x'", "rm", false),
            (r"\xff'", "\u{fffd}", false),
            ("open", "open", false),
            (r"\cA'", "\u{1}", true),
        ] {
            let (text, length, fine) = decode_ansi_quote(written);
            assert_eq!((text.as_str(), fine), (said, ok), "{written}");
            assert_eq!(length, written.len(), "{written}");
        }
    }
}
