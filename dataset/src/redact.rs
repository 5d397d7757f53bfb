//! What no message shows: passwords and signatures in URLs, and the values of secret variables of the environment.

use std::{borrow::Cow, sync::OnceLock};

/// What stands in the place of what is left out.
const LEFT_OUT: &str = "***";

/// Characters of a value below which it is found in too many other words.
const SHORTEST: usize = 8;

/// Variables by which stores, and our own ranks, take a secret; their clients find them in the environment.
const CREDENTIALS: [&str; 15] = [
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SSE_CUSTOMER_KEY_BASE64",
    "AZURE_CLIENT_SECRET",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_CLIENT_SECRET",
    "AZURE_STORAGE_CONNECTION_STRING",
    "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_MASTER_KEY",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_TOKEN",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "RANKSWEEP_RENDEZVOUS_SECRET",
];

/// How the names of other variables end that hold a secret.
const ENDINGS: [&str; 7] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "_PWD"];
/// How they end where an underscore or nothing stands before it.
const LAST_WORDS: [&str; 14] = [
    "API_KEY",
    "ACCESS_KEY",
    "ACCOUNT_KEY",
    "PRIVATE_KEY",
    "SECRET_KEY",
    "PASS",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
    "BEARER",
    "COOKIE",
    "PAT",
    "SAS",
    "SIG",
];

/// Whether a variable of the environment is known to hold a secret of a store, or of the ranks of a training.
pub fn is_credential(name: &str) -> bool {
    CREDENTIALS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether the name of a variable says that it holds a secret: a credential, or one that ends in a word such as `TOKEN`.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends_in = |word: &str| name.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with('_'));
    is_credential(&name) || ENDINGS.into_iter().any(|ending| name.ends_with(ending)) || LAST_WORDS.into_iter().any(ends_in)
}

/// The text without what it must not show: in URLs users, passwords and queries, and the values of secret variables anywhere.
pub fn redacted(text: &str) -> Cow<'_, str> {
    static SECRETS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    let secrets = SECRETS.get_or_init(|| {
        secrets(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))))
    });
    match without_values(text, secrets) {
        Cow::Borrowed(text) => without_users(text),
        Cow::Owned(text) => Cow::Owned(without_users(&text).into_owned()),
    }
}

/// The variables whose values are not shown, the longest value first, as one may be a part of another.
fn secrets(environment: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut secrets: Vec<(String, String)> =
        environment.filter(|(name, value)| is_secret(name) && value.trim().len() >= SHORTEST).collect();
    secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    secrets
}

fn without_values<'a>(text: &'a str, secrets: &[(String, String)]) -> Cow<'a, str> {
    secrets.iter().fold(Cow::Borrowed(text), |text, (name, value)| match text.contains(value.trim()) {
        true => text.replace(value.trim(), &format!("${{{name}}}")).into(),
        false => text,
    })
}

/// The text with what is secret in its URLs left out.
fn without_users(text: &str) -> Cow<'_, str> {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(start) = authority(rest) {
        let end = rest[start..].find(is_outside).map_or(rest.len(), |end| start + end);
        shown += &rest[..start];
        shown += &without_user(&rest[start..end]);
        rest = &rest[end..];
    }
    if shown.is_empty() { text.into() } else { (shown + rest).into() }
}

/// Whether a character ends a URL within a text.
fn is_outside(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>')
}

/// Where in a text the next URL names its host: behind a scheme of several letters and at least one slash. Files have none.
fn authority(text: &str) -> Option<usize> {
    text.match_indices(':').find_map(|(at, _)| {
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let scheme = &text[text[..at].trim_end_matches(is_of_scheme).len()..at];
        let after = text[at + 1..].trim_start_matches(['/', '\\']);
        let start = text.len() - after.len();
        let is_url = scheme.len() > 1 && start > at + 1 && !scheme.eq_ignore_ascii_case("file") && !scheme.eq_ignore_ascii_case("memory");
        is_url.then_some(start)
    })
}

/// What follows a URL's scheme, without user, password, query and fragment.
fn without_user(url: &str) -> String {
    let (place, query) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let host_ends = place.find(['/', '\\']).unwrap_or(place.len());
    // A password with a slash in it that was not encoded: no port follows the first colon.
    let is_cut = place[..host_ends].split_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_err());
    let user_ends = place[..host_ends].rfind('@').or_else(|| place.rfind('@').filter(|_| is_cut));
    let user = user_ends.map_or(String::new(), |_| format!("{LEFT_OUT}@"));
    let query = match query.len() {
        0 | 1 => query.to_owned(),
        _ => format!("{}{LEFT_OUT}", &query[..1]),
    };
    user + &place[user_ends.map_or(0, |at| at + 1)..] + &query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_passwords_and_queries_of_urls_are_left_out() {
        for (text, shown) in [
            ("no connection to http://ann:pass@minio:9000 (refused)", "no connection to http://***@minio:9000 (refused)"),
            ("`ftp://ann:p@ss@host/x?sig=abc` is not usable", "`ftp://***@host/x?***` is not usable"),
            ("https:/ann:pass@host/x", "https:/***@host/x"),
            ("s3://ann:pa/ss@bucket/x", "s3://***@bucket/x"),
            ("az://box/x?sv=1&sig=abc#part, then http://a:b@c", "az://box/x?*** then http://***@c"),
            ("GET http://minio:9000/bucket/a@b.csv#1", "GET http://minio:9000/bucket/a@b.csv#***"),
        ] {
            assert_eq!(without_users(text), shown);
        }
    }

    #[test]
    fn what_holds_no_secret_stays() {
        for text in [
            "s3://bucket/runs/trials/0a@1/done.json",
            "/home/ann@work/x?y",
            "file:///home/ann@work/x?y#z",
            "memory:///a@b",
            "s.yaml:12:9: grid[0].losses[1]: is it this one?",
            "http://minio:9000/bucket?",
            "C:/ann@work",
            "é://ann@work",
        ] {
            assert_eq!(without_users(text), text);
        }
    }

    #[test]
    fn names_tell_secrets() {
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "aws_session_token",
            "TOKEN",
            "HF_TOKEN",
            "MINIO_ROOT_PASSWORD",
            "OPENAI_API_KEY",
            "SASTOKEN",
            "APIKEY",
            "DB_PASS",
            "db_pwd",
            "GITHUB_PAT",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "HOME",
            "AWS_ACCESS_KEY_ID",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "TOKENIZERS_PARALLELISM",
            "MONKEY",
            "RATINGS",
            "BYPASS",
            "PWD",
            "OLDPWD",
            "MAX_TOKENS",
            "SSH_AUTH_SOCK",
        ] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(is_credential("AZURE_STORAGE_SAS_TOKEN") && !is_credential("TOKEN"));
    }

    #[test]
    fn values_of_secret_variables_are_named() {
        let pairs = [("TOKEN", "hunter2hunter2"), ("LONG_TOKEN", "xhunter2hunter2\n"), ("DATA", "not-secret"), ("PASSWORD", "short")];
        let secrets = secrets(pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
        let shown = without_values("xhunter2hunter2 and hunter2hunter2, not-secret, short", &secrets);
        assert_eq!(shown, "${LONG_TOKEN} and ${TOKEN}, not-secret, short");
    }
}
