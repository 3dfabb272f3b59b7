//! Reading the head of an HTTP request: bytes in, method and decoded path out.

use std::io::{self, Read};

/// More than any browser sends to a page without cookies [bytes].
const LONGEST_HEAD: usize = 32 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: Method,
    /// Percent-decoded, without the query.
    pub(super) path: String,
}

/// `None` for a request that this server does not understand.
pub(super) fn read(mut stream: impl Read) -> io::Result<Option<Request>> {
    let mut head = Vec::new();
    let mut part = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut part)?;
        if count == 0 || LONGEST_HEAD < head.len() {
            return Ok(None);
        }
        head.extend_from_slice(&part[..count]);
    }
    Ok(parse(&head))
}

fn parse(head: &[u8]) -> Option<Request> {
    let line = head.split(|&byte| byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let method = match words.next()? {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        _ => return None,
    };
    let target = words.next()?;
    if !words.next()?.starts_with("HTTP/1.") {
        return None;
    }
    let path = target.split(['?', '#']).next()?;
    Some(Request { method, path: decode(path)? })
}

/// `None` when an escape is broken or the result is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, expect: Option<(Method, &str)>) {
        let request = read(head.as_bytes()).expect("a slice can be read");
        assert_eq!(request, expect.map(|(method, path)| Request { method, path: path.to_owned() }));
    }

    #[test]
    fn requests() {
        check("GET / HTTP/1.1\r\n\r\n", Some((Method::Get, "/")));
        check("HEAD /a%20b/%ED%95%9C.js?v=1 HTTP/1.1\r\nHost: x\r\n\r\n", Some((Method::Head, "/a b/한.js")));
        check("GET /%2e%2e/x HTTP/1.1\r\n\r\n", Some((Method::Get, "/../x")));
        check("GET /%zz HTTP/1.1\r\n\r\n", None);
        check("GET /% HTTP/1.1\r\n\r\n", None);
        check("GET /\r\n\r\n", None);
        check("POST / HTTP/1.1\r\n\r\n", None);
        check("GET / HTTP/1.1\r\n", None);
        check("", None);
    }
}
