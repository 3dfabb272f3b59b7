//! A static file server for one directory on the loopback interface, for people and for the end-to-end tests.
//! It knows GET and HEAD, types, and a base path; it is not meant for a network.

mod request;

use std::fs;
use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use request::Method;

/// How long a connection may stay silent.
const SILENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) dir: PathBuf,
    /// The path under which the directory appears; begins and ends with a slash.
    pub(crate) base: String,
    /// The Content-Security-Policy to send, if any.
    pub(crate) csp: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Response {
    status: &'static str,
    kind: &'static str,
    location: Option<String>,
    body: Vec<u8>,
}

impl Site {
    /// Serves until the process ends; each connection carries one request.
    pub(crate) fn serve(self, listener: &TcpListener) {
        let site = Arc::new(self);
        for stream in listener.incoming().flatten() {
            let site = Arc::clone(&site);
            // A browser that goes away in the middle is no fault of the server.
            thread::spawn(move || drop(site.handle(&stream)));
        }
    }

    fn handle(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        let request = request::read(stream)?;
        let (response, with_body) = match &request {
            Some(request) => (self.answer(&request.path), request.method == Method::Get),
            None => (text("400 Bad Request", "This server knows GET and HEAD."), true),
        };
        stream.write_all(self.head(&response).as_bytes())?;
        if with_body {
            stream.write_all(&response.body)?;
        }
        stream.flush()
    }

    fn head(&self, response: &Response) -> String {
        let length = response.body.len().to_string();
        let headers = [
            ("Content-Type", Some(response.kind)),
            ("Content-Length", Some(length.as_str())),
            ("Location", response.location.as_deref()),
            ("Content-Security-Policy", self.csp.as_deref()),
            ("Cache-Control", Some("no-cache")),
            ("X-Content-Type-Options", Some("nosniff")),
            ("Connection", Some("close")),
        ];
        let lines = headers.iter().filter_map(|(name, value)| Some(format!("{name}: {}\r\n", (*value)?)));
        format!("HTTP/1.1 {}\r\n{}\r\n", response.status, lines.collect::<String>())
    }

    /// `path` is decoded and without a query.
    fn answer(&self, path: &str) -> Response {
        if self.base.strip_suffix('/') == Some(path) && !path.is_empty() {
            let mut response = text("301 Moved Permanently", "");
            response.location = Some(self.base.clone());
            return response;
        }
        let Some(inside) = path.strip_prefix(self.base.as_str()) else { return not_found(path) };
        if inside.split('/').any(|part| part == ".." || part.contains('\\') || part.contains('\0')) {
            return not_found(path);
        }
        let mut file = self.dir.join(inside.trim_start_matches('/'));
        if file.is_dir() {
            file.push("index.html");
        }
        match fs::read(&file) {
            Ok(body) => Response { status: "200 OK", kind: media_type(&file), location: None, body },
            Err(_) => not_found(path),
        }
    }
}

/// Never the page itself: a missing file has to be seen as missing.
fn not_found(path: &str) -> Response {
    text("404 Not Found", &format!("There is no {path:?} here."))
}

fn text(status: &'static str, body: &str) -> Response {
    Response { status, kind: "text/plain; charset=utf-8", location: None, body: format!("{body}\n").into_bytes() }
}

fn media_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" | "ftl" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn site(base: &str) -> Site {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        Site { dir, base: base.to_owned(), csp: Some("default-src 'self'".to_owned()) }
    }

    #[track_caller]
    fn check(base: &str, path: &str, status: &str, kind: &str) {
        let response = site(base).answer(path);
        assert_eq!((response.status, response.kind), (status, kind), "{path}");
    }

    #[test]
    fn paths_and_types() {
        const TEXT: &str = "text/plain; charset=utf-8";
        check("/", "/main.rs", "200 OK", "application/octet-stream");
        check("/", "/", "404 Not Found", TEXT);
        check("/", "/../Cargo.toml", "404 Not Found", TEXT);
        check("/", "//etc/passwd", "404 Not Found", TEXT);
        check("/a/b/", "/a/b/main.rs", "200 OK", "application/octet-stream");
        check("/a/b/", "/a/b", "301 Moved Permanently", TEXT);
        check("/a/b/", "/main.rs", "404 Not Found", TEXT);
        assert_eq!(media_type(Path::new("x/app_bg.wasm")), "application/wasm");
        assert_eq!(media_type(Path::new("app.js")), "text/javascript; charset=utf-8");
    }

    #[track_caller]
    fn exchange(request: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let server = thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a connection");
            site("/").handle(&stream).expect("an answer");
        });
        let mut client = TcpStream::connect(address).expect("the server listens");
        client.write_all(request.as_bytes()).expect("the server reads");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("the server writes");
        server.join().expect("the server does not panic");
        answer
    }

    #[test]
    fn a_whole_exchange() {
        let answer = exchange("GET /main.rs?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("\r\nContent-Security-Policy: default-src 'self'\r\n"), "{answer}");
        assert!(answer.contains("fn main()"), "{answer}");
        let head = exchange("HEAD /main.rs HTTP/1.1\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        let post = exchange("POST /main.rs HTTP/1.1\r\n\r\n");
        assert!(post.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{post}");
    }
}
