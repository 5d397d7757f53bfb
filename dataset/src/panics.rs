//! Panics of libraries that meet what their format does not allow, as errors: nobody but the log is shown them.

use std::{
    any::Any,
    panic::{self, AssertUnwindSafe},
    sync::{Mutex, PoisonError},
};

/// What the last panic said, and where.
static LAST: Mutex<String> = Mutex::new(String::new());

/// Does a piece of work; a panic is an error, in the words of the panic. What the work has changed must not be used after one.
///
/// # Errors
/// The panic's text.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| text(panic.as_ref()).to_owned())
}

/// The text of a panic.
fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// From now on a panic is an event of the log at the level `debug`, and no lines on standard error: whoever catches it says what it means.
pub fn keep_quiet() {
    panic::set_hook(Box::new(|panic| {
        let said = panic.to_string();
        tracing::debug!("{said}");
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = said;
    }));
}

/// What the last panic since [`keep_quiet`] said, and where in the program's text; empty where there was none.
pub fn last() -> String {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    fn a_panic_is_an_error_with_its_words() {
        assert_eq!(caught(|| 7), Ok(7));
        assert_eq!(caught(|| -> u8 { panic!("range end {} is beyond 2", 3) }), Err("range end 3 is beyond 2".to_owned()));
        assert_eq!(caught(|| -> u8 { panic!("plain") }), Err("plain".to_owned()));
    }
}
