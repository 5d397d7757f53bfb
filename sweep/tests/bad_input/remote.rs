//! A storage behind a network that is away, silent, closed or not there: one line, before any work.

use crate::support::{Ended, SWEEP, Sandbox};
use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::atomic::{AtomicBool, Ordering},
};

/// Runs the sweep on `s3://bucket/runs` at an endpoint.
fn run(sandbox: &Sandbox, endpoint: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = sandbox.command(&["run", "s.yaml", "--storage", "s3://bucket/runs"]);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
        command.env_remove(name);
    }
    command.env("AWS_ENDPOINT_URL", endpoint).env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
    command.envs(variables.iter().copied());
    sandbox.ended(&mut command)
}

/// A server that gives every request the same answer, while `work` runs. `None` is no answer at all.
fn answering<T>(answer: Option<&str>, work: impl FnOnce(&str) -> T) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut open = Vec::new();
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                if let Some(answer) = answer {
                    let mut request = [0; 16 << 10];
                    // What a client that has gone away does not hear is no matter.
                    let _ = connection.read(&mut request);
                    let _ = connection.write_all(answer.as_bytes());
                } else {
                    open.push(connection);
                }
            }
        });
        let result = work(&endpoint);
        is_over.store(true, Ordering::Relaxed);
        drop(std::net::TcpStream::connect(endpoint.trim_start_matches("http://")));
        result
    })
}

/// An answer as S3 gives it.
fn s3_error(status: &str, code: &str, message: &str) -> String {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>\n<Code>{code}</Code>\n<Message>{message}</Message>\n<RequestId>1</RequestId></Error>"
    );
    format!("HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn an_endpoint_where_nobody_listens_is_named() {
    let endpoint = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{endpoint}");
    let complaint = run(&Sandbox::new(SWEEP), &endpoint, &[]).complaint(1).to_owned();
    let expected = format!(
        "cannot reach s3://bucket/runs: no connection to {endpoint} (Connection refused (os error 111)); \
         correct AWS_ENDPOINT_URL, or start the server, then run this again"
    );
    assert_eq!(complaint, expected);
}

/// Neither in what is logged while it is tried, nor in the end.
#[test]
fn a_password_in_an_endpoint_is_not_shown() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ended = run(&Sandbox::new(SWEEP), &format!("http://ann:hunter2@{nobody}"), &[]);
    let complaint = ended.complaint(1);
    assert!(complaint.contains(&format!("no connection to http://***@{nobody} ")), "{complaint}");
    assert!(ended.error.contains("is tried again for up to 8 s"), "{}", ended.error);
    assert!(!ended.error.contains("hunter2") && !ended.error.contains("ann:"), "{}", ended.error);
    let ended = run(&Sandbox::new(SWEEP), "not a url of hunter2hunter2", &[("MY_TOKEN", "hunter2hunter2")]);
    assert!(!ended.error.contains("hunter2"), "{}", ended.error);
}

#[test]
fn an_endpoint_that_is_silent_is_given_up() {
    let ended = answering(None, |endpoint| (run(&Sandbox::new(SWEEP), endpoint, &[("AWS_TIMEOUT", "1 second")]), endpoint.to_owned()));
    let expected =
        format!("cannot reach s3://bucket/runs: {} did not answer in time; correct AWS_ENDPOINT_URL, or see to the server", ended.1);
    assert_eq!(ended.0.complaint(1), expected);
}

#[test]
fn what_a_server_refuses_is_said_with_what_to_do() {
    let cases = [
        (
            s3_error("403 Forbidden", "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."),
            "ENDPOINT refuses the credentials (403 InvalidAccessKeyId: The AWS Access Key Id you provided does not exist in our records); \
             correct them in the environment, or allow them to list, read, write and delete there",
        ),
        (
            s3_error("403 Forbidden", "RequestTimeTooSkewed", "The difference between the request time and the current time is too large."),
            "the clock of this machine and that of ENDPOINT differ too much (403 RequestTimeTooSkewed: The difference between the request time \
             and the current time is too large); set this one, then run this again",
        ),
        (
            s3_error("404 Not Found", "NoSuchBucket", "The specified bucket does not exist"),
            "there is no such bucket; create it, or correct the URL",
        ),
        (
            "HTTP/1.1 301 Moved Permanently\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned(),
            "the bucket is in another region; set AWS_REGION to the bucket's",
        ),
        (
            s3_error("503 Service Unavailable", "SlowDown", "Please reduce your request rate."),
            "ENDPOINT answered 503 SlowDown: Please reduce your request rate; see to the server, then run this again",
        ),
    ];
    for (answer, expected) in cases {
        let sandbox = Sandbox::new(SWEEP);
        let (ended, endpoint) = answering(Some(&answer), |endpoint| (run(&sandbox, endpoint, &[]), endpoint.to_owned()));
        let expected = format!("cannot reach s3://bucket/runs: {}", expected.replace("ENDPOINT", &endpoint));
        assert_eq!(ended.complaint(1), expected);
    }
}

#[test]
fn missing_credentials_are_asked_for() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let sandbox = Sandbox::new(SWEEP);
    let mut command = sandbox.command(&["run", "s.yaml", "--storage", "s3://bucket/runs"]);
    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY").env("AWS_METADATA_ENDPOINT", format!("http://{nobody}"));
    let ended = sandbox.ended(&mut command);
    let expected = "cannot reach s3://bucket/runs: no credentials were found: set the cloud's environment variables \
                    (for S3, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)";
    assert_eq!(ended.complaint(1), expected);
}
