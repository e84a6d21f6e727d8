//! Ages as options take them.

/// A number of seconds, minutes (`m`), hours (`h`) or days (`d`), in seconds.
pub(super) fn parse(text: &str) -> Result<i64, String> {
    let (number, unit_s) = match text.strip_suffix(['s', 'm', 'h', 'd']) {
        None => (text, 1),
        Some(number) if text.ends_with('m') => (number, 60),
        Some(number) if text.ends_with('h') => (number, 3600),
        Some(number) if text.ends_with('d') => (number, 86_400),
        Some(number) => (number, 1),
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = is_number
        .then(|| number.parse::<i64>().ok()?.checked_mul(unit_s))
        .flatten();
    seconds
        .filter(|seconds| *seconds > 0)
        .ok_or_else(|| "an age such as 26h, 90m, 2d or 3600 (seconds) is needed".to_owned())
}
