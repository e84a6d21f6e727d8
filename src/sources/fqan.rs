//! VOMS attribute names (`/atlas/uk/Role=production/Capability=NULL`) taken apart by APEL's rule.

/// VO, group and role of a primary FQAN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fqan<'a> {
    /// First path element, or the whole text when it is not a path.
    pub vo: &'a str,
    /// Everything before the role; without a role everything, even `/Capability=NULL`.
    pub group: Option<&'a str>,
    /// The first element that starts with `role=` in any case, as written (`Role=production`, also `Role=NULL`).
    pub role: Option<&'a str>,
}

impl<'a> Fqan<'a> {
    /// Takes the first of several names separated by `;`. Rule: APEL 2.5 `parse_fqan`.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let primary = text.split_once(';').map_or(text, |(first, _)| first).trim();
        let Some(path) = primary.strip_prefix('/') else {
            return Self {
                vo: primary,
                group: None,
                role: None,
            };
        };
        let vo = path.split('/').next().unwrap_or(path);
        let mut end = 0;
        for element in path.split('/') {
            // `end` counts the bytes of `primary` before this element's slash.
            if element.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("role=")) {
                return Self {
                    vo,
                    group: primary.get(..end).filter(|group| !group.is_empty()),
                    role: Some(element),
                };
            }
            end += 1 + element.len();
        }
        Self {
            vo,
            group: Some(primary),
            role: None,
        }
    }
}
