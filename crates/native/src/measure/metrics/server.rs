//! The metrics over HTTP, from a thread of its own.
//!
//! It answers `GET` and `HEAD` and knows no more of HTTP than that; hyper knows the rest.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::exposition;
use super::state::Metrics;
use crate::say::say;

const OPTION: &str = "--metrics-listen";
const PATH: &str = "/metrics";
/// Connections at once; more wait until one ends.
const CONNECTIONS: usize = 64;
/// How long a connection may say nothing: longer than the usual interval of scrapes, so that it is kept between two.
const SILENCE: Duration = Duration::from_mins(2);
/// A pause where no connection can be taken, as when the process has too many files.
const PAUSE: Duration = Duration::from_millis(200);

/// A port that answers as long as the process lives.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
}

impl Server {
    /// Takes the port, or says why it cannot be had.
    pub(super) fn start(address: SocketAddr, metrics: Arc<Metrics>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).map_err(|error| refusal(address, error))?;
        let address = listener.local_addr().context("the port that was taken cannot be named")?;
        listener.set_nonblocking(true).context("the port cannot be waited for")?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the runtime that serves the metrics")?;
        let serve = move || runtime.block_on(accept(listener, metrics));
        thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(serve)
            .context("cannot start the thread that serves the metrics")?;
        Ok(Self { address })
    }

    /// Where the metrics are.
    pub(super) fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }
}

/// Why the port cannot be had, and what can.
fn refusal(address: SocketAddr, error: io::Error) -> anyhow::Error {
    let (why, allowed) = match error.kind() {
        io::ErrorKind::AddrInUse => ("is in use by another program", "a free port; port 0 takes one"),
        io::ErrorKind::AddrNotAvailable => ("is no address of this machine", "127.0.0.1 or another of its addresses"),
        io::ErrorKind::PermissionDenied => ("is not allowed to this user", "a port from 1024 on"),
        _ => return anyhow!(error).context(format!("{OPTION}: {address} cannot be listened on")),
    };
    anyhow!("{OPTION}: {address} {why}; allowed: {allowed}")
}

async fn accept(listener: TcpListener, metrics: Arc<Metrics>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return say(format_args!("error: the metrics cannot be served: {error}")),
    };
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let metrics = Arc::clone(&metrics);
                tokio::spawn(async move {
                    serve(stream, metrics).await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Answers one connection until it ends; one that breaks is the other side's affair.
async fn serve(stream: TcpStream, metrics: Arc<Metrics>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = answer(request.method(), request.uri().path(), &metrics);
        async move { Ok::<_, Infallible>(answer) }
    });
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SILENCE)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

fn answer(method: &Method, path: &str, metrics: &Arc<Metrics>) -> Response<Full<Bytes>> {
    let plain = "text/plain; charset=utf-8";
    let known = path == PATH || path == "/";
    let (status, kind, text) = match *method {
        Method::GET | Method::HEAD if path == PATH => {
            (StatusCode::OK, exposition::CONTENT_TYPE, exposition::text(metrics))
        }
        Method::GET | Method::HEAD if known => {
            (StatusCode::OK, plain, format!("parkbench {}: metrics are at {PATH}\n", env!("CARGO_PKG_VERSION")))
        }
        _ if known => (StatusCode::METHOD_NOT_ALLOWED, plain, "allowed: GET, HEAD\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, plain, format!("nothing is here; metrics are at {PATH}\n")),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, hyper::header::HeaderValue::from_static("GET, HEAD"));
    }
    response
}
