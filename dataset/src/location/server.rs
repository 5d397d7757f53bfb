//! The stores behind locations: how they are opened, and how long they are waited for.

use super::words;
use crate::{block_on, redact::redacted};
use object_store::{
    BackoffConfig, ObjectStore, ObjectStoreScheme, RetryConfig, aws::AmazonS3Builder, azure::MicrosoftAzureBuilder,
    gcp::GoogleCloudStorageBuilder, limit::LimitStore, local::LocalFileSystem, memory::InMemory,
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::time::Instant;
use url::Url;

/// How long a store that has answered before may stay away until its error is the caller's.
const PATIENCE: Duration = Duration::from_secs(300);
/// Seconds that a store which never answered may stay away until its error is the caller's: its address or its credentials are more likely wrong than
/// its servers down.
static FIRST_PATIENCE: AtomicU64 = AtomicU64::new(8);
/// The longest that one operation of a store that never answered may take.
const FIRST_ANSWER: Duration = Duration::from_secs(30);
/// The longest pause before an operation is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// Operations of one store at a time.
const REQUESTS: usize = 32;
/// What the client is told unless the environment says otherwise. A request includes its body, which is at most [`super::PART`]: 140 kB/s.
const LIMITS: [(&str, &str); 3] = [("connect_timeout", "5 seconds"), ("timeout", "60 seconds"), ("pool_idle_timeout", "30 seconds")];

/// When operations on stores elsewhere began that have not ended, by their numbers.
static UNDER_WAY: Mutex<BTreeMap<u64, Instant>> = Mutex::new(BTreeMap::new());

/// For how long the operation on a store elsewhere has lasted that has lasted longest of those under way, with all that it was tried again; `None` where none is.
pub fn longest_operation() -> Option<Duration> {
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    under_way.values().min().map(Instant::elapsed)
}

/// An operation that is under way for as long as this lives.
struct Operation(u64);

impl Operation {
    fn begin() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).insert(number, Instant::now());
        Self(number)
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// For how long a store that has not answered yet is tried again, of those that are opened from now on; 8 seconds unless it is said.
pub fn wait_for_first_answers(patience: Duration) {
    FIRST_PATIENCE.store(patience.as_secs(), Ordering::Relaxed);
}

/// A server and a bucket of it, this machine's file system, or memory.
pub(super) struct Server {
    pub(super) store: Arc<dyn ObjectStore>,
    /// The address that the environment gives in place of the cloud's own, as messages show it, with the variable that does.
    pub(super) endpoint: Option<(&'static str, String)>,
    is_remote: bool,
    has_answered: AtomicBool,
    first_patience: Duration,
}

impl Server {
    /// One for each base URL, so that connections and the contents of `memory://` are shared.
    ///
    /// # Errors
    /// A sentence on a scheme that no store has, or on a variable of the environment that cannot be.
    pub(super) fn of(url: &Url, base: &str) -> Result<Arc<Self>, String> {
        static SERVERS: OnceLock<Mutex<HashMap<String, Arc<Server>>>> = OnceLock::new();
        let mut servers = SERVERS.get_or_init(Mutex::default).lock().expect("no holder of this lock panics");
        if let Some(server) = servers.get(base) {
            return Ok(Arc::clone(server));
        }
        let server = Arc::new(Self::open(url)?);
        servers.insert(base.to_owned(), Arc::clone(&server));
        Ok(server)
    }

    fn open(url: &Url) -> Result<Self, String> {
        let first_patience = Duration::from_secs(FIRST_PATIENCE.load(Ordering::Relaxed));
        let near = |store| Self { store, endpoint: None, is_remote: false, has_answered: AtomicBool::new(true), first_patience };
        let far = |store, endpoint| Self { store, endpoint, is_remote: true, has_answered: AtomicBool::new(false), first_patience };
        /// Opens a cloud's store with the environment's settings; the builders have no trait in common.
        macro_rules! cloud {
            ($builder:ty, $settings:expr) => {{
                let builder = <$builder>::new().with_url(url.as_str()).with_retry(retries());
                let settled = $settings.into_iter().fold(builder, |builder, (name, value)| match name.parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
                let store = settled.build().map_err(|error| error.to_string())?;
                Arc::new(LimitStore::new(store, REQUESTS)) as Arc<dyn ObjectStore>
            }};
        }
        Ok(match ObjectStoreScheme::parse(url).map_err(|error| error.to_string())?.0 {
            ObjectStoreScheme::Local => near(Arc::new(LocalFileSystem::new())),
            ObjectStoreScheme::Memory => near(Arc::new(InMemory::new())),
            ObjectStoreScheme::AmazonS3 => {
                let settings = settings(&["aws_"])?;
                let endpoint = endpoint(&settings, &["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]);
                far(cloud!(AmazonS3Builder, settings), endpoint)
            }
            ObjectStoreScheme::GoogleCloudStorage => {
                let settings = settings(&["google_", "service_account"])?;
                let endpoint = endpoint(&settings, &["GOOGLE_BASE_URL"]);
                far(cloud!(GoogleCloudStorageBuilder, settings), endpoint)
            }
            ObjectStoreScheme::MicrosoftAzure => {
                let settings = settings(&["azure_", "msi_endpoint", "identity_endpoint"])?;
                let endpoint = endpoint(&settings, &["AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"]);
                far(cloud!(MicrosoftAzureBuilder, settings), endpoint)
            }
            _ => return Err("no store of this build has this scheme".to_owned()),
        })
    }

    /// Does what may be done again until it succeeds, fails for good, or the store has been away for too long.
    pub(super) fn attempt<T, F: Future<Output = object_store::Result<T>>>(&self, once: impl FnMut() -> F) -> object_store::Result<T> {
        block_on(self.attempted(once))
    }

    /// [`attempt`](Self::attempt) within asynchronous work.
    pub(super) async fn attempted<T, F>(&self, mut once: impl FnMut() -> F) -> object_store::Result<T>
    where
        F: Future<Output = object_store::Result<T>>,
    {
        let _under_way = self.is_remote.then(Operation::begin);
        let start = Instant::now();
        let (mut pause, mut is_first) = (Duration::from_millis(200), true);
        loop {
            let error = match self.bounded(once()).await {
                Err(error) if self.is_remote && words::may_pass(&error) => error,
                answer => {
                    self.has_answered.store(true, Ordering::Relaxed);
                    return answer;
                }
            };
            let patience = if self.has_answered.load(Ordering::Relaxed) { PATIENCE } else { self.first_patience };
            if start.elapsed() + pause > patience {
                return Err(error);
            }
            if std::mem::take(&mut is_first) {
                tracing::warn!("the storage fails, and is tried again for up to {} s: {}", patience.as_secs(), words::one_line(&error));
            }
            tokio::time::sleep(pause).await;
            pause = LONGEST_PAUSE.min(2 * pause);
        }
    }

    async fn bounded<T>(&self, once: impl Future<Output = object_store::Result<T>>) -> object_store::Result<T> {
        if self.has_answered.load(Ordering::Relaxed) {
            return once.await;
        }
        let silent = |_| object_store::Error::Generic { store: "storage", source: words::Silent(FIRST_ANSWER).into() };
        tokio::time::timeout(FIRST_ANSWER, once).await.map_err(silent)?
    }
}

/// What a single operation tries by itself, before [`Server::attempt`] begins it anew: enough for a server that is busy for a moment.
fn retries() -> RetryConfig {
    let backoff = BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(5), base: 2.0 };
    RetryConfig { backoff, max_retries: 4, retry_timeout: Duration::from_secs(20) }
}

/// The environment's variables that begin like this, by their names in lower case, on top of the clients' limits.
///
/// # Errors
/// A sentence that names a variable whose value cannot be.
fn settings(prefixes: &[&str]) -> Result<Vec<(String, String)>, String> {
    // No setting is other than Unicode; variables that are belong to something else.
    let environment = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let is_ours = |(name, _): &(String, String)| prefixes.iter().any(|prefix| name.to_ascii_lowercase().starts_with(prefix));
    Ok(settled(environment.filter(is_ours).map(setting).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()))
}

/// Variables whose values stand in the headers of requests.
const IN_HEADERS: [&str; 5] = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token", "aws_region", "aws_default_region"];

/// A variable by its name in lower case. What stands in headers and addresses is taken without blanks and ends of lines around it, as files of secrets have
/// them, and not at all where it is empty; others, such as a key in JSON, as they are.
///
/// # Errors
/// A sentence that names the variable, and shows nothing of its value.
fn setting((name, value): (String, String)) -> Result<Option<(String, String)>, String> {
    let key = name.to_ascii_lowercase();
    let is_address = key.starts_with("aws_endpoint") || ["google_base_url", "azure_endpoint", "azure_storage_endpoint"].contains(&&*key);
    if !is_address && !IN_HEADERS.contains(&&*key) {
        return Ok(Some((key, value)));
    }
    let value = value.trim();
    if value.chars().any(char::is_control) {
        return Err(format!("the environment variable {name} has an end of line or another control character in its value: correct it"));
    }
    if is_address && !value.is_empty() && !["http://", "https://"].iter().any(|scheme| value.starts_with(scheme)) {
        return Err(format!("the environment variable {name} is no address: expected one that begins with http:// or https://"));
    }
    Ok((!value.is_empty()).then(|| (key, value.to_owned())))
}

/// What is said later counts. Whoever gives an address without encryption means it.
fn settled(environment: Vec<(String, String)>) -> Vec<(String, String)> {
    let is_plain = environment.iter().any(|(name, value)| name.contains("endpoint") && value.starts_with("http://"));
    let plain = is_plain.then_some(("allow_http", "true"));
    let ours = plain.into_iter().chain(LIMITS).map(|(name, value)| (name.to_owned(), value.to_owned()));
    ours.chain(environment).collect()
}

fn endpoint(settings: &[(String, String)], variables: &[&'static str]) -> Option<(&'static str, String)> {
    let set = |variable: &str| settings.iter().find(|(name, _)| *name == variable.to_ascii_lowercase()).map(|(_, value)| value.clone());
    variables.iter().find_map(|variable| Some((*variable, redacted(&set(variable)?).into_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// One that never answered.
    fn server(first_patience: Duration) -> Server {
        Server { store: Arc::new(InMemory::new()), endpoint: None, is_remote: true, has_answered: AtomicBool::new(false), first_patience }
    }

    /// How often an operation is tried whose first two tries fail like this, and whether it succeeds.
    fn tries(text: &str, is_remote: bool) -> (u32, bool) {
        let server = Server { is_remote, has_answered: AtomicBool::new(true), ..server(PATIENCE) };
        let count = Cell::new(0);
        let result = server.attempt(|| {
            count.set(count.get() + 1);
            let failure = object_store::Error::Generic { store: "S3", source: text.into() };
            std::future::ready(if count.get() < 3 { Err(failure) } else { Ok(()) })
        });
        (count.get(), result.is_ok())
    }

    #[test]
    fn what_may_pass_is_tried_again_and_nothing_else() {
        let status = |status: &str| format!("Error performing GET http://x: Server returned non-2xx status code: {status}: ");
        for passing in ["Got invalid list response: unexpected end", &status("503 Service Unavailable"), &status("429 Too Many Requests")] {
            assert_eq!(tries(passing, true), (3, true), "{passing}");
            assert_eq!(tries(passing, false), (1, false), "{passing}");
        }
        let elsewhere = "Received redirect without LOCATION, this normally indicates an incorrectly configured region";
        for lasting in [&status("403 Forbidden"), &status("400 Bad Request"), elsewhere, "No space left on device"] {
            assert_eq!(tries(lasting, true), (1, false), "{lasting}");
        }
    }

    /// For how many seconds a store is tried that never answers, on a clock that leaps over pauses.
    fn seconds_until_given_up(seconds: u64) -> u64 {
        let server = server(Duration::from_secs(seconds));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let start = Instant::now();
            let away = || object_store::Error::Generic { store: "S3", source: "Got invalid list response: unexpected end".into() };
            server.attempted(|| std::future::ready(Err::<(), _>(away()))).await.unwrap_err();
            start.elapsed().as_secs()
        })
    }

    #[test]
    fn an_operation_is_under_way_until_it_has_ended() {
        let seen = Cell::new(None);
        let answered = Server { has_answered: AtomicBool::new(true), ..server(PATIENCE) };
        let result = answered.attempt(|| {
            seen.set(longest_operation());
            std::future::ready(Ok(()))
        });
        assert!(result.is_ok() && seen.get().is_some());
        let operation = Operation::begin();
        let number = operation.0;
        assert!(UNDER_WAY.lock().unwrap().contains_key(&number));
        drop(operation);
        assert!(!UNDER_WAY.lock().unwrap().contains_key(&number));
    }

    #[test]
    fn a_store_that_never_answered_is_given_up_early_unless_it_is_waited_for() {
        assert!((3..=8).contains(&seconds_until_given_up(8)));
        assert!((280..=300).contains(&seconds_until_given_up(300)));
    }

    #[test]
    fn variables_are_taken_as_they_were_meant_or_named() {
        let set = |name: &str, value: &str| setting((name.to_owned(), value.to_owned()));
        let of = |name: &str, value: &str| Ok(Some((name.to_owned(), value.to_owned())));
        assert_eq!(set("AWS_ACCESS_KEY_ID", "key\n"), of("aws_access_key_id", "key"));
        assert_eq!(set("AWS_ENDPOINT_URL", " https://minio:9000 "), of("aws_endpoint_url", "https://minio:9000"));
        assert_eq!(set("AWS_ENDPOINT_URL", ""), Ok(None));
        let json = "{\n  \"type\": \"service_account\"\n}\n";
        assert_eq!(set("GOOGLE_SERVICE_ACCOUNT_KEY", json), of("google_service_account_key", json));
        let said = |name: &str, value: &str| set(name, value).unwrap_err();
        assert!(
            said("AWS_ENDPOINT_URL_S3", "minio:9000").starts_with("the environment variable AWS_ENDPOINT_URL_S3 is no address: expected")
        );
        assert!(said("AWS_SESSION_TOKEN", "secret\nvalue").starts_with("the environment variable AWS_SESSION_TOKEN has an end of line"));
        assert!(!said("AWS_SESSION_TOKEN", "secret\nvalue").contains("secret"));
    }

    #[test]
    fn an_address_without_encryption_is_allowed_where_it_is_given() {
        let given = |value: &str| settled(vec![("aws_endpoint_url".to_owned(), value.to_owned())]);
        assert_eq!(given("http://minio:9000")[0], ("allow_http".to_owned(), "true".to_owned()));
        assert!(given("https://minio:9000").iter().all(|(name, _)| name != "allow_http"));
    }
}
