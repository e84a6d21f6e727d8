//! Which charges count: those of the site's own account of jobs, and those of what is charged whether jobs use it or not.

use super::policy::Subject;

/// The view of jobs whose hours are the site's own account; other views describe the same hours.
const JOB_VIEW: &str = "batch";

/// The view that charges of reservations are in.
pub(crate) const RESERVATION_VIEW: &str = "reservation";

/// Whether charges of a view count: hours of jobs in other views are counted already.
pub(crate) fn is_counted(subject: &str, view: &str) -> bool {
    subject != Subject::Jobs.as_str() || view == JOB_VIEW
}
