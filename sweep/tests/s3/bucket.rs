//! A bucket of the server under test, looked at without the program's own code: plain HTTP, with a signature that nobody checks.

use crate::Files;
use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
};

/// A new bucket: its name ends in this process's number, as a server may outlive several.
pub(crate) struct Bucket {
    /// `http://host:port`.
    pub(crate) server: String,
    pub(crate) name: String,
}

impl Bucket {
    /// `None`, with a word, where no server is given.
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    pub(crate) fn create(name: &str) -> Option<Self> {
        let Ok(server) = std::env::var("RANKSWEEP_S3") else {
            eprintln!("skipped: RANKSWEEP_S3 names no S3 server");
            return None;
        };
        let bucket = Self { server, name: format!("{name}-{}", std::process::id()) };
        bucket.request("PUT", "", b"");
        Some(bucket)
    }

    /// All files below a prefix, by their names after it.
    pub(crate) fn files(&self, prefix: &str) -> Files {
        let listing = String::from_utf8(self.request("GET", &format!("?list-type=2&max-keys=10000&prefix={prefix}"), b"")).unwrap();
        assert!(listing.contains("<IsTruncated>false</IsTruncated>"), "{listing}");
        let keys = listing.split("<Key>").skip(1).map(|part| part.split("</Key>").next().unwrap());
        keys.map(|key| (key.strip_prefix(prefix).unwrap().to_owned(), self.request("GET", &format!("/{key}"), b""))).collect()
    }

    /// Stores a file.
    pub(crate) fn put(&self, path: &str, content: &[u8]) {
        self.request("PUT", path, content);
    }

    /// The body of the answer.
    fn request(&self, method: &str, path: &str, content: &[u8]) -> Vec<u8> {
        let host = self.server.trim_start_matches("http://").trim_end_matches('/');
        let mut server = TcpStream::connect(host).unwrap();
        let name = &self.name;
        let signed = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
        let head = format!("Host: {host}\r\nAuthorization: {signed}\r\nConnection: close\r\nContent-Length: {}", content.len());
        write!(server, "{method} /{name}{path} HTTP/1.0\r\n{head}\r\n\r\n").unwrap();
        server.write_all(content).unwrap();
        let mut answer = Vec::new();
        server.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
        assert!(answer[8..].starts_with(b" 200"), "{method} {path}: {}", String::from_utf8_lossy(&answer[..head]));
        answer.split_off(head)
    }
}

/// The environment of a program that uses the server, and of no other.
pub(crate) fn credentials<'a>(command: &'a mut Command, endpoint: &str) -> &'a mut Command {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
        command.env_remove(name);
    }
    command.args(["--cache", "cache"]);
    command.env("AWS_ENDPOINT_URL", endpoint).env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test")
}
