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
        let end = text.bytes().position(|byte| byte == b';');
        let primary = end.and_then(|end| text.get(..end)).unwrap_or(text).trim();
        let Some(path) = primary.strip_prefix('/') else {
            return Self {
                vo: primary,
                group: None,
                role: None,
            };
        };
        let mut elements = elements(path);
        // Fallback: never taken, every path has a first element.
        let vo = elements.next().unwrap_or(path);
        // The bytes of `primary` before the slash of an element.
        let mut end = 0;
        for element in std::iter::once(vo).chain(elements) {
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

/// The elements of a path. Names are a few bytes long, and to split them by the library takes several calls for each element.
fn elements(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let path = rest?;
        let slash = path.bytes().position(|byte| byte == b'/');
        let (element, behind) = slash.and_then(|at| path.split_at_checked(at)).unwrap_or((path, ""));
        // Behind the slash, which is one byte.
        rest = behind.get(1..);
        Some(element)
    })
}
