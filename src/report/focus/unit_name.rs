//! Units as FOCUS spells them.

/// A policy's unit as FOCUS spells units: `service_unit` is `Service Units`, `gpu_hour` is `GPU-Hours`.
#[must_use]
pub fn unit_name(unit: &str) -> String {
    const TIMES: [&str; 6] = ["second", "minute", "hour", "day", "month", "year"];
    const SPELLED: [(&str, &str); 10] = [
        ("gpu", "GPU"),
        ("cpu", "CPU"),
        ("rgu", "RGU"),
        ("tres", "TRES"),
        ("hs23", "HS23"),
        ("hs06", "HS06"),
        ("gb", "GB"),
        ("tb", "TB"),
        ("gib", "GiB"),
        ("tib", "TiB"),
    ];
    let spelled = |word: &str| {
        let known = SPELLED.iter().find(|(known, _)| *known == word);
        let mut letters = word.chars();
        known.map_or_else(
            || {
                letters
                    .next()
                    .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
            },
            |(_, name)| (*name).to_owned(),
        )
    };
    let words: Vec<&str> = unit.split('_').filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [] => "Units".to_owned(),
        [things @ .., time] if !things.is_empty() && TIMES.contains(time) => {
            let things: Vec<String> = things.iter().map(|word| spelled(word)).collect();
            format!("{}-{}s", things.join(" "), spelled(time))
        }
        words => {
            let words: Vec<String> = words.iter().map(|word| spelled(word)).collect();
            format!("{}s", words.join(" "))
        }
    }
}
